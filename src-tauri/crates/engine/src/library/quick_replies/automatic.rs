//! Quick replies that run by themselves.

use domain::chat::Chat;
use domain::quick_reply::QuickReply;

use crate::base::error::ApiResult;
use crate::library::quick_replies::QuickReplySets;

/// The moment at which quick replies run by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    Opened,
    UserMessage,
    Reply,
}

impl Moment {
    fn starts(self, reply: &QuickReply) -> bool {
        match self {
            Self::Opened => reply.on_open,
            Self::UserMessage => reply.on_user_message,
            Self::Reply => reply.on_reply,
        }
    }
}

impl QuickReplySets {
    /// Whether quick replies would run by themselves now.
    pub(crate) async fn has_automatic(&self, chat: &Chat, moment: Moment) -> bool {
        self.automatic(chat, moment)
            .await
            .is_ok_and(|found| !found.is_empty())
    }

    pub(crate) async fn automatic(
        &self,
        chat: &Chat,
        moment: Moment,
    ) -> ApiResult<Vec<QuickReply>> {
        let active = self.active_quick_replies(chat).await?;
        let replies = active
            .into_iter()
            .filter(|set| set.allowed)
            .flat_map(|set| set.set.replies);
        Ok(replies
            .filter(|reply| moment.starts(reply) && reply.is_automatic())
            .collect())
    }
}
