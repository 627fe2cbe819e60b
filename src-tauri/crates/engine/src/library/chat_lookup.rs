//! Finds the chat or the message of an id, for every room that works on one.

use domain::chat::{Chat, Message};
use domain::{ChatId, MessageId};

use crate::api::Changed;
use crate::base::error::{ApiResult, not_found};
use crate::base::handle::Base;

/// Chats and messages by their ids. Clones share one state.
#[derive(Clone)]
pub(crate) struct ChatLookup {
    base: Base,
}

impl ChatLookup {
    pub(super) fn new(base: &Base) -> Self {
        Self { base: base.clone() }
    }

    fn base(&self) -> &Base {
        &self.base
    }

    pub(crate) fn messages_changed(&self, chat: ChatId) {
        self.base()
            .events()
            .changed(Changed::Messages, Some(chat.to_string()));
        self.base()
            .events()
            .changed(Changed::Chats, Some(chat.to_string()));
    }

    pub(crate) async fn chat(&self, id: ChatId) -> ApiResult<Chat> {
        self.base()
            .store()
            .read(move |store| store.chats().get(id))
            .await?
            .ok_or_else(|| not_found("chat"))
    }

    pub(crate) async fn message(&self, id: MessageId) -> ApiResult<Message> {
        self.base()
            .store()
            .read(move |store| store.messages().get(id))
            .await?
            .ok_or_else(|| not_found("message"))
    }
}
