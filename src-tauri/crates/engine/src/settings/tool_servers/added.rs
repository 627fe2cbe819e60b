//! Adds servers from the JSON that documentation and other apps use.

use mcp::{Pasted, PastedServer};

use super::list::transport;
use super::values::joined;
use crate::api::{self, AddedToolServers, Changed, SkippedToolServer, ToolServerValueDraft};
use crate::base::error::{ApiResult, bad_input, sentence};
use crate::settings::tool_servers::ToolServers;

impl ToolServers {
    /// Adds every server of a text. All are switched off, and placeholders of keys get no value.
    ///
    /// # Errors
    /// `BadInput` if the text contains no server. A server that cannot be added is listed with its
    /// reason.
    pub(crate) async fn add_tool_servers(&self, text: String) -> ApiResult<AddedToolServers> {
        let servers = mcp::read_servers(&text).map_err(|error| {
            bad_input(
                sentence(&error.to_string()),
                "Paste the part with \"mcpServers\" from the server's documentation or from another app's settings.",
            )
        })?;
        let mut report = AddedToolServers::default();
        for Pasted { name, server } in servers {
            let added = match server {
                Ok(server) => self.add_pasted(&name, server).await,
                Err(reason) => Err(bad_input(sentence(reason), "")),
            };
            match added {
                Ok(server) => report.added.push(server),
                Err(error) => report.skipped.push(SkippedToolServer {
                    name,
                    reason: error.to_string(),
                }),
            }
        }
        if !report.added.is_empty() {
            self.base().events().changed(Changed::ToolServers, None);
        }
        Ok(report)
    }

    async fn add_pasted(&self, name: &str, server: PastedServer) -> ApiResult<api::ToolServer> {
        self.check_name(name, None).await?;
        let (how, values) = match server {
            PastedServer::Process { command, args, env } => {
                (api::ToolServerTransport::Process { command, args }, env)
            }
            PastedServer::Http { url, headers } => {
                (api::ToolServerTransport::Http { url }, headers)
            }
        };
        let draft = |(name, value)| ToolServerValueDraft {
            name,
            value: Some(value),
        };
        let (names, values) = joined(values.into_iter().map(draft).collect(), &Default::default())?;
        let server = domain::tool_server::ToolServer {
            id: domain::ToolServerId(uuid::Uuid::now_v7()),
            name: name.to_owned(),
            enabled: false,
            transport: transport(how, names)?,
            tools: Vec::new(),
        };
        self.keep_server(&server, &values, None).await?;
        self.shown_server(server).await
    }
}
