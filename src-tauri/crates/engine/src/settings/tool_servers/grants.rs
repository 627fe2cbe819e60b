//! Permissions for the tools of servers. Only the user's own actions call these functions.

use domain::tool_server::{ServerTool, ServerToolGrant};
use domain::{ChatId, ToolServerId};
use store::StoredGrant;

use crate::api::{self, Changed};
use crate::base::error::{ApiResult, bad_input, not_found};
use crate::settings::tool_servers::ToolServers;

impl ToolServers {
    /// The user's decision about a tool, in `chat` or everywhere. A decision to allow ends when the
    /// server changes the definition of the tool, because the user has not seen the new one.
    pub(crate) async fn grant_of(
        &self,
        server: ToolServerId,
        tool: &ServerTool,
        chat: Option<ChatId>,
    ) -> ApiResult<ServerToolGrant> {
        let name = tool.name.clone();
        let grants = self
            .base()
            .store()
            .read(move |store| store.tool_servers().grants(server, &name, chat))
            .await?;
        Ok(decided(&grants, &mcp::digest(tool)))
    }

    /// Stores the user's decision about a tool. `Ask` forgets every earlier decision about it.
    ///
    /// # Errors
    /// `NotFound`; `BadInput` if `Chat` names no chat.
    pub(crate) async fn set_tool_grant(
        &self,
        id: ToolServerId,
        tool: String,
        chat: Option<ChatId>,
        grant: api::ServerToolGrant,
    ) -> ApiResult<api::ToolServer> {
        let server = self.stored_server(id).await?;
        let known = server
            .tools
            .iter()
            .find(|known| known.name == tool)
            .ok_or_else(|| not_found("tool"))?;
        let definition = mcp::digest(known);
        let stored = match grant {
            api::ServerToolGrant::Ask => None,
            api::ServerToolGrant::Chat => {
                let chat = chat.ok_or_else(|| {
                    bad_input("A permission for a chat needs a chat.", "Name the chat.")
                })?;
                Some(StoredGrant {
                    chat: Some(chat),
                    allowed: true,
                    definition,
                })
            }
            api::ServerToolGrant::Always => Some(StoredGrant {
                chat: None,
                allowed: true,
                definition,
            }),
            api::ServerToolGrant::Never => Some(StoredGrant {
                chat: None,
                allowed: false,
                definition,
            }),
        };
        self.keep_grant(id, tool, stored).await?;
        self.base()
            .events()
            .changed(Changed::ToolServers, Some(id.to_string()));
        self.shown_server(server).await
    }

    /// Stores a decision. One for all chats replaces all earlier ones, `None` deletes them.
    pub(super) async fn keep_grant(
        &self,
        id: ToolServerId,
        tool: String,
        grant: Option<StoredGrant>,
    ) -> ApiResult<()> {
        let write = self.base().store().write(move |store| {
            let mut servers = store.tool_servers_mut();
            if grant.as_ref().is_none_or(|grant| grant.chat.is_none()) {
                servers.delete_grants(id, Some(&tool))?;
            }
            grant.map_or(Ok(()), |grant| servers.insert_grant(id, &tool, &grant))
        });
        Ok(write.await?)
    }
}

/// A refusal wins, and does not depend on the definition.
fn decided(grants: &[StoredGrant], definition: &str) -> ServerToolGrant {
    let allowed = |grant: &&StoredGrant| grant.allowed && grant.definition == definition;
    if grants.iter().any(|grant| !grant.allowed) {
        return ServerToolGrant::Never;
    }
    let applying: Vec<_> = grants.iter().filter(allowed).collect();
    match applying.iter().any(|grant| grant.chat.is_none()) {
        true => ServerToolGrant::Always,
        false if applying.is_empty() => ServerToolGrant::Ask,
        false => ServerToolGrant::Chat,
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn grant(chat: bool, allowed: bool, definition: &str) -> StoredGrant {
        let chat = chat.then_some(ChatId(Uuid::from_u128(1)));
        StoredGrant {
            chat,
            allowed,
            definition: definition.into(),
        }
    }

    #[test]
    fn refusal_wins_over_permissions() {
        let grants = [grant(true, true, "a"), grant(false, false, "old")];
        assert_eq!(decided(&grants, "a"), ServerToolGrant::Never);
    }

    #[test]
    fn changed_definition_asks_again() {
        for grants in [[grant(false, true, "a")], [grant(true, true, "a")]] {
            assert_ne!(decided(&grants, "a"), ServerToolGrant::Ask);
            assert_eq!(decided(&grants, "b"), ServerToolGrant::Ask);
        }
    }

    #[test]
    fn without_decision_each_call_asks() {
        assert_eq!(decided(&[], "a"), ServerToolGrant::Ask);
        assert_eq!(
            decided(&[grant(true, true, "a")], "a"),
            ServerToolGrant::Chat
        );
        assert_eq!(
            decided(&[grant(true, true, "a"), grant(false, true, "a")], "a"),
            ServerToolGrant::Always
        );
    }
}
