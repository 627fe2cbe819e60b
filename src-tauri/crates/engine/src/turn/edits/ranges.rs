//! Changes of several messages: deleting from one on, hiding a range, moving one. Each ends the
//! epoch, because the prompt that was sent is no longer valid.

use domain::{ChatId, MessageId};
use store::{StoreError, WriteTransaction};

use crate::base::error::{ApiResult, bad_input};
use crate::turn::edits::Edits;
use crate::turn::edits::branches::remove_from;
use crate::turn::edits::messages::{end_epoch, restore};

impl Edits {
    /// Deletes a message and all later ones. Returns them, for [`Self::restore_messages`].
    pub(crate) async fn delete_from(&self, message: MessageId) -> ApiResult<Vec<MessageId>> {
        let (message, place) = self.quiet_message(message).await?;
        let chat = message.chat;
        let position = message.position;
        let now = self.base().now();
        let gone = self
            .base()
            .store()
            .write(move |store| remove_from(store, chat, position, now))
            .await?;
        drop(place);
        self.library().chat_lookup.messages_changed(chat);
        Ok(gone)
    }

    pub(crate) async fn restore_messages(&self, messages: Vec<MessageId>) -> ApiResult<()> {
        if let Some(chat) = self
            .base()
            .store()
            .write(move |store| restore(store, &messages))
            .await?
        {
            self.library().chat_lookup.messages_changed(chat);
        }
        Ok(())
    }

    /// Hides the messages between two of a chat, both included, from the model, or shows them
    /// again. Returns those that changed.
    pub(crate) async fn hide_range(
        &self,
        first: MessageId,
        last: MessageId,
        hidden: bool,
    ) -> ApiResult<Vec<MessageId>> {
        let (first, place) = self.quiet_message(first).await?;
        let last = self.library().chat_lookup.message(last).await?;
        let chat = first.chat;
        if last.chat != chat {
            return Err(bad_input(
                "The messages are in different chats.",
                "Choose two messages of one chat.",
            ));
        }
        let from = first.position.min(last.position);
        let to = first.position.max(last.position);
        let hide = move |store: &mut WriteTransaction<'_>| {
            let ids = store.messages().between(chat, from, to)?;
            hide(store, chat, &ids, hidden)
        };
        let changed = self.base().store().write(hide).await?;
        drop(place);
        self.library().chat_lookup.messages_changed(chat);
        Ok(changed)
    }

    /// Hides messages of one chat from the model, or shows them again.
    pub(crate) async fn hide_messages(
        &self,
        messages: Vec<MessageId>,
        hidden: bool,
    ) -> ApiResult<()> {
        let Some(first) = messages.first() else {
            return Ok(());
        };
        let (first, place) = self.quiet_message(*first).await?;
        let chat = first.chat;
        self.base()
            .store()
            .write(move |store| hide(store, chat, &messages, hidden))
            .await?;
        drop(place);
        self.library().chat_lookup.messages_changed(chat);
        Ok(())
    }

    /// Exchanges a message with the next one of its chat, or with the previous one. The opposite
    /// move undoes it.
    pub(crate) async fn move_message(&self, message: MessageId, down: bool) -> ApiResult<()> {
        let (message, place) = self.quiet_message(message).await?;
        let id = message.id;
        let chat = message.chat;
        let exchange = move |store: &mut WriteTransaction<'_>| {
            let other = if down {
                store.messages().after(id)?
            } else {
                store.messages().before(id)?.map(|message| message.id)
            };
            let Some(other) = other else { return Ok(false) };
            store.messages_mut().exchange(id, other)?;
            store.stale_caches_mut().mark(chat)?;
            end_epoch(store, chat)?;
            Ok(true)
        };
        let moved = self.base().store().write(exchange).await?;
        drop(place);
        if !moved {
            let place = if down { "last" } else { "first" };
            return Err(bad_input(
                format!("This is the {place} message already."),
                "Move another one.",
            ));
        }
        self.library().chat_lookup.messages_changed(chat);
        Ok(())
    }
}

/// Later prompts exclude what was learned from hidden messages.
fn hide(
    store: &mut WriteTransaction<'_>,
    chat: ChatId,
    ids: &[MessageId],
    hidden: bool,
) -> Result<Vec<MessageId>, StoreError> {
    let changed = store.messages_mut().hide_all(ids, hidden)?;
    if hidden {
        changed
            .iter()
            .try_for_each(|id| crate::base::records::retraction::withdraw(store, *id))?;
        store.stale_caches_mut().mark(chat)?;
    }
    if !changed.is_empty() {
        end_epoch(store, chat)?;
    }
    Ok(changed)
}
