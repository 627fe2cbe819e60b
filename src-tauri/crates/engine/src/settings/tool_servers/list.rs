//! The list of tool servers and its changes.

use std::time::Instant;

use domain::ToolServerId;
use domain::tool_server::{ServerTool, ToolServer, ToolServerTransport};
use uuid::Uuid;

use super::running::failed;
use super::values::{Values, joined};
use crate::api::{self, Changed, DraftKind, ToolServerDraft, ToolServerTest};
use crate::base::error::{ApiResult, bad_input, not_found};
use crate::settings::tool_servers::ToolServers;

/// Characters of a server's name.
const MAX_NAME: usize = 60;

/// Tool servers.
const MAX_SERVERS: usize = 50;

impl ToolServers {
    pub(crate) async fn list_tool_servers(&self) -> ApiResult<Vec<api::ToolServer>> {
        let all = self.stored_servers().await?;
        let mut shown = Vec::with_capacity(all.len());
        for server in all.clone() {
            shown.push(self.shown_among(&all, server).await?);
        }
        Ok(shown)
    }

    /// Adds or changes a server. A new one is off. If the program, its arguments or the address
    /// change, its tools and the permissions for them are forgotten; stored headers are not sent to
    /// another address.
    pub(crate) async fn save_tool_server(
        &self,
        draft: ToolServerDraft,
    ) -> ApiResult<api::ToolServer> {
        let stored = match &draft.id {
            Some(id) => Some(self.stored_server(*id).await?),
            None => None,
        };
        self.check_name(draft.name.trim(), stored.as_ref().map(|server| server.id))
            .await?;
        let (server, values) = self.parsed(draft, stored.as_ref()).await?;
        self.keep_server(&server, &values, stored.as_ref()).await?;
        self.running().end(server.id).await;
        self.base()
            .events()
            .changed(Changed::ToolServers, Some(server.id.to_string()));
        self.shown_server(server).await
    }

    pub(crate) async fn delete_tool_server(&self, id: ToolServerId) -> ApiResult<()> {
        self.running().end(id).await;
        let delete = self.base().store().write(move |store| {
            store
                .drafts_mut()
                .forget(&DraftKind::ToolServer.name(), "", &id.to_string())?;
            store.tool_servers_mut().delete(id)
        });
        delete.await?;
        // Files that the server has written may be the user's, so only an empty folder is removed.
        let _ = tokio::fs::remove_dir(self.server_folder(id)).await;
        self.base()
            .events()
            .changed(Changed::ToolServers, Some(id.to_string()));
        self.keep_values(id, &Values::new()).await
    }

    /// Switches a server on or off. A server that is switched on is started and asked for its
    /// tools. It stays on if that fails; its state has the reason.
    pub(crate) async fn switch_tool_server(
        &self,
        id: ToolServerId,
        on: bool,
    ) -> ApiResult<api::ToolServer> {
        if on {
            // A missing value is an error before anything changes.
            self.server_values(&self.stored_server(id).await?).await?;
        }
        self.base()
            .store()
            .write(move |store| store.tool_servers_mut().set_enabled(id, on))
            .await?;
        self.running().end(id).await;
        self.base()
            .events()
            .changed(Changed::ToolServers, Some(id.to_string()));
        let server = self.stored_server(id).await?;
        if on {
            let running = self.running_server(&server).await?;
            match running.tools().await {
                Ok(list) => self.keep_tools(&server, list.tools).await?,
                // The error may quote the output of the server.
                Err(_) => tracing::info!(server = %id, "a tool server did not start"),
            }
        }
        self.shown_server(self.stored_server(id).await?).await
    }

    /// Starts or reaches the server, also if it is off, and lists its tools and resources.
    pub(crate) async fn test_tool_server(&self, id: ToolServerId) -> ApiResult<ToolServerTest> {
        let server = self.stored_server(id).await?;
        let running = if server.enabled {
            self.running_server(&server).await?
        } else {
            self.separate_server(&server).await?
        };
        running.forgive();
        let started = Instant::now();
        let connection = running.connection().await.map_err(|error| failed(&error))?;
        let tools = running.tools().await.map_err(|error| failed(&error))?;
        let resources = running.resources().await.map_err(|error| failed(&error))?;
        let took_ms = started.elapsed().as_secs_f64() * 1000.0;
        let about = connection.about();
        drop(connection);
        if !server.enabled {
            running.stop().await;
        }
        self.keep_tools(&server, tools.tools).await?;
        let mut server = self
            .shown_server(self.stored_server(server.id).await?)
            .await?;
        server.left_out = tools.left_out;
        Ok(ToolServerTest {
            name: about.name,
            version: about.version,
            took_ms,
            server,
            resources,
        })
    }

    /// Reads a resource of a server that is on, as text.
    pub(crate) async fn read_server_resource(
        &self,
        id: ToolServerId,
        uri: String,
    ) -> ApiResult<String> {
        let server = self.stored_server(id).await?;
        if !server.enabled {
            return Err(bad_input(
                format!("{} is switched off.", server.name),
                "Switch it on first.",
            ));
        }
        self.running_server(&server)
            .await?
            .read(&uri)
            .await
            .map_err(|error| failed(&error))
    }

    pub(super) async fn stored_servers(&self) -> ApiResult<Vec<ToolServer>> {
        Ok(self
            .base()
            .store()
            .read(|store| store.tool_servers().list())
            .await?)
    }

    pub(super) async fn stored_server(&self, id: ToolServerId) -> ApiResult<ToolServer> {
        let found = self
            .base()
            .store()
            .read(move |store| store.tool_servers().get(id))
            .await?;
        found.ok_or_else(|| not_found("tool server"))
    }

    /// Stores a list of tools if it differs from the stored one.
    pub(super) async fn keep_tools(
        &self,
        server: &ToolServer,
        tools: Vec<ServerTool>,
    ) -> ApiResult<()> {
        if tools == server.tools {
            return Ok(());
        }
        let id = server.id;
        self.base()
            .store()
            .write(move |store| store.tool_servers_mut().set_tools(id, &tools))
            .await?;
        self.base()
            .events()
            .changed(Changed::ToolServers, Some(id.to_string()));
        Ok(())
    }

    /// # Errors
    /// `BadInput` if the name is missing, too long or taken, or if there are too many servers.
    pub(super) async fn check_name(&self, name: &str, own: Option<ToolServerId>) -> ApiResult<()> {
        if name.is_empty() || name.chars().count() > MAX_NAME {
            return Err(bad_input(
                format!("A tool server needs a name of at most {MAX_NAME} characters."),
                "Enter a short name, for example Files.",
            ));
        }
        let all = self.stored_servers().await?;
        if own.is_none() && all.len() >= MAX_SERVERS {
            return Err(bad_input(
                format!("There are already {MAX_SERVERS} tool servers."),
                "Remove one first.",
            ));
        }
        if all.iter().any(|server| {
            Some(server.id) != own && server.name.to_lowercase() == name.to_lowercase()
        }) {
            Err(bad_input(
                format!("There is already a tool server named {name}."),
                "Choose another name.",
            ))
        } else {
            Ok(())
        }
    }

    /// Parses a draft and loads the stored values that it keeps.
    async fn parsed(
        &self,
        draft: ToolServerDraft,
        stored: Option<&ToolServer>,
    ) -> ApiResult<(ToolServer, Values)> {
        let kept = match stored {
            Some(stored) if may_keep_values(stored, &draft.transport) => {
                self.stored_values(stored).await?
            }
            _ => Values::new(),
        };
        let (names, values) = joined(draft.values, &kept)?;
        let server = ToolServer {
            id: stored.map_or_else(|| ToolServerId(Uuid::now_v7()), |stored| stored.id),
            name: draft.name.trim().to_owned(),
            enabled: stored.is_some_and(|stored| stored.enabled),
            transport: transport(draft.transport, names)?,
            tools: Vec::new(),
        };
        let unchanged = stored.filter(|stored| stored.transport.is_same_server(&server.transport));
        Ok((
            ToolServer {
                tools: unchanged
                    .map(|stored| stored.tools.clone())
                    .unwrap_or_default(),
                ..server
            },
            values,
        ))
    }

    pub(super) async fn keep_server(
        &self,
        server: &ToolServer,
        values: &Values,
        stored: Option<&ToolServer>,
    ) -> ApiResult<()> {
        // Save the values first, so that a keychain error leaves no half-saved server.
        let had_values = stored.is_some_and(|stored| !stored.transport.value_names().is_empty());
        if had_values || !values.is_empty() {
            self.keep_values(server.id, values).await?;
        }
        let row = server.clone();
        let is_new = stored.is_none();
        let is_other =
            stored.is_some_and(|stored| !stored.transport.is_same_server(&server.transport));
        self.base()
            .store()
            .write(move |store| {
                let mut servers = store.tool_servers_mut();
                if is_new {
                    return servers.insert(&row);
                }
                servers.update(&row)?;
                if is_other {
                    servers.delete_grants(row.id, None)?;
                    servers.set_tools(row.id, &[])?;
                }
                Ok(())
            })
            .await?;
        Ok(())
    }
}

/// Stored values of an address belong to its origin, so that they never reach another one.
fn may_keep_values(stored: &ToolServer, draft: &api::ToolServerTransport) -> bool {
    match (&stored.transport, draft) {
        (ToolServerTransport::Process { .. }, api::ToolServerTransport::Process { .. }) => true,
        (
            ToolServerTransport::Http { url: old, .. },
            api::ToolServerTransport::Http { url: new },
        ) => mcp::same_origin(old, new),
        _ => false,
    }
}

/// # Errors
/// `BadInput` if the command or the address is missing or invalid.
pub(super) fn transport(
    draft: api::ToolServerTransport,
    names: Vec<String>,
) -> ApiResult<ToolServerTransport> {
    match draft {
        api::ToolServerTransport::Process { command, args } => {
            let command = command.trim().to_owned();
            if command.is_empty()
                || command.contains('\0')
                || args.iter().any(|arg| arg.contains('\0'))
            {
                return Err(bad_input(
                    "A tool server needs a command.",
                    "Enter a program, for example npx.",
                ));
            }
            Ok(ToolServerTransport::Process {
                command,
                args,
                env: names,
            })
        }
        api::ToolServerTransport::Http { url } => {
            let url = url.trim().to_owned();
            mcp::check_address(&url).map_err(|error| {
                bad_input(
                    crate::base::error::sentence(&error.to_string()),
                    error.hint(),
                )
            })?;
            Ok(ToolServerTransport::Http {
                url,
                headers: names,
            })
        }
    }
}
