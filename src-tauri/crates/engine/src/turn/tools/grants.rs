//! The user's decisions about tools, as the settings list them.

use domain::ChatId;

use crate::api::{Changed, ToolGrant};
use crate::base::error::ApiResult;
use crate::turn::tools::Tools;

impl Tools {
    /// All decisions, the newest first.
    pub(crate) async fn tool_grants(&self) -> ApiResult<Vec<ToolGrant>> {
        let rows = self.base().store().read(|store| {
            let rows = store.tool_grants().list()?.into_iter();
            rows.map(|grant| {
                Ok((
                    grant
                        .chat
                        .map(|chat| store.chats().get(chat))
                        .transpose()?
                        .flatten(),
                    grant,
                ))
            })
            .collect()
        });
        let rows: Vec<(Option<domain::chat::Chat>, store::ToolGrant)> = rows.await?;
        let shown = |(chat, grant): (Option<domain::chat::Chat>, store::ToolGrant)| ToolGrant {
            source: grant.source,
            tool: grant.tool,
            chat: grant.chat,
            chat_title: chat.map(|chat| chat.title),
            allowed: grant.allowed,
        };
        Ok(rows.into_iter().map(shown).collect())
    }

    /// Deletes a decision, so that the user is asked again.
    pub(crate) async fn forget_tool_grant(
        &self,
        source: String,
        tool: String,
        chat: Option<ChatId>,
    ) -> ApiResult<()> {
        self.base()
            .store()
            .write(move |store| store.tool_grants_mut().forget(&source, &tool, chat))
            .await?;
        self.base().events().changed(Changed::Settings, None);
        Ok(())
    }
}
