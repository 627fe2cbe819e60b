//! Hooks that rooms above set: a listener for complete replies, and automatic quick replies.

use std::sync::OnceLock;

use domain::ChatId;
use domain::chat::Chat;
use futures_util::future::BoxFuture;

use crate::api::TurnOptions;
use crate::base::error::ApiResult;
use crate::library::quick_replies::automatic::Moment;
use crate::turn::replies::Generation;

/// Called after each complete reply; the turn's task ends after the returned future.
pub(crate) type ReplyListener =
    Box<dyn Fn(ChatId, TurnOptions) -> BoxFuture<'static, ()> + Send + Sync>;

/// Runs the automatic quick replies of a chat.
pub(crate) type AutomaticCommands =
    Box<dyn Fn(Chat, Moment) -> BoxFuture<'static, ApiResult<()>> + Send + Sync>;

/// Each is set once, when the engine opens.
#[derive(Default)]
pub(crate) struct Hooks {
    listener: OnceLock<ReplyListener>,
    automatic: OnceLock<AutomaticCommands>,
}

impl Generation {
    /// Registers the listener for complete replies. A second registration has no effect.
    pub(crate) fn on_reply(&self, listener: ReplyListener) {
        let _ = self.hooks.listener.set(listener);
    }

    pub(crate) async fn after_reply(&self, chat: ChatId, options: TurnOptions) {
        if let Some(listener) = self.hooks.listener.get() {
            listener(chat, options).await;
        }
    }

    /// Registers what runs automatic quick replies. A second registration has no effect.
    pub(crate) fn on_automatic(&self, commands: AutomaticCommands) {
        let _ = self.hooks.automatic.set(commands);
    }

    /// Runs the automatic quick replies for `moment`.
    pub(crate) async fn run_automatic(&self, chat: &Chat, moment: Moment) -> ApiResult<()> {
        match self.hooks.automatic.get() {
            Some(commands) => commands(chat.clone(), moment).await,
            None => Ok(()),
        }
    }
}
