//! Changes of sent messages: another swipe, an edit, hiding or deleting. Each ends the epoch,
//! because the prompt that was sent is no longer valid.

use domain::chat::{Message, Role, WindowState};
use domain::{ChatId, MessageId};

use crate::api;
use crate::base::error::{ApiResult, bad_input};
use crate::base::records::convert;
use crate::base::running::ChatReservation;
use crate::library::snapshots::macro_changes::VariableChanges;
use crate::library::snapshots::macro_variables;
use crate::turn::commands::tell::CommandMessage;
use crate::turn::edits::Edits;

impl Edits {
    pub(crate) async fn select_swipe(
        &self,
        message: MessageId,
        index: u32,
    ) -> ApiResult<api::Message> {
        let (message, reservation) = self.quiet_message(message).await?;
        let id = message.id;
        let chat = message.chat;
        let [shown, next] = [message.selected, index]
            .map(|at| message.swipes.get(at as usize).map(|swipe| swipe.id));
        let select = move |store: &mut store::WriteTransaction<'_>| {
            store.swipes_mut().select(id, index)?;
            macro_variables::show_version(store, chat, shown, next)
        };
        self.change(&message, reservation, select).await?;
        self.library().chats.shown_message(id).await
    }

    /// Deletes one version of a message for good. Another one is shown if it was the shown one.
    ///
    /// # Errors
    /// `BadInput` if the message has no such version, or no other one; `Busy` while a reply is
    /// being written in the chat.
    pub(crate) async fn delete_swipe(
        &self,
        message: MessageId,
        index: u32,
    ) -> ApiResult<api::Message> {
        let (message, reservation) = self.quiet_message(message).await?;
        let id = message.id;
        let chat = message.chat;
        let count = message.swipes.len() as u32;
        if index >= count {
            return Err(bad_input(
                "The message has no such version.",
                format!("Choose a number from 1 to {count}."),
            ));
        }
        if count == 1 {
            return Err(bad_input(
                "This is the only version of the message.",
                "Delete the message instead.",
            ));
        }
        let shown = message.selected;
        // The next version takes the place of a deleted one.
        let selected = if index < shown {
            shown - 1
        } else {
            shown.min(count - 2)
        };
        let swipe = |at: u32| message.swipes.get(at as usize).map(|swipe| swipe.id);
        let next = swipe(if index == shown {
            if index + 1 < count {
                index + 1
            } else {
                index - 1
            }
        } else {
            shown
        });
        let shown_now = swipe(shown);
        let delete = move |store: &mut store::WriteTransaction<'_>| {
            macro_variables::show_version(store, chat, shown_now, next)?;
            store.swipes_mut().delete(id, index, selected)
        };
        if index == shown {
            self.change(&message, reservation, delete).await?
        } else {
            self.base().store().write(delete).await?;
            drop(reservation);
            self.library().chat_lookup.messages_changed(chat);
        }
        self.library().chats.shown_message(id).await
    }

    /// Edits a message whose text is still `was`. `None` if it was changed meanwhile.
    pub(crate) async fn edit_message_from(
        &self,
        message: MessageId,
        was: String,
        text: String,
    ) -> ApiResult<Option<api::Message>> {
        let stored = self.library().chat_lookup.message(message).await?;
        if stored.text() != was && stored.text() != text {
            return Ok(None);
        }
        self.edit_message(message, text).await.map(Some)
    }

    pub(crate) async fn edit_message(
        &self,
        message: MessageId,
        text: String,
    ) -> ApiResult<api::Message> {
        let (message, reservation) = self.quiet_message(message).await?;
        let chat = self.library().chat_lookup.chat(message.chat).await?;
        let before = self.library().snapshots.macro_state(&chat).await?;
        let mut after = before.clone();
        let (text, changes) = self.library().scripts.stored_edit(&message, text).await?;
        changes.put_back(&mut after);
        let text = self
            .inputs
            .resolve_edit(&chat, message.id, &text, &mut after)
            .await?;
        if text.trim().is_empty() {
            return Err(bad_input(
                "A message cannot be empty.",
                "Delete it instead.",
            ));
        }
        let learns = message.role == Role::User
            && self
                .config()
                .setting_layers
                .resolved(&chat, None, None)
                .await?
                .values
                .memory;
        let persona = self.library().personas.persona_in(&chat).await?;
        let row = chat.clone();
        let id = message.id;
        let now = self.base().now();
        let was = message.text().to_owned();
        let swipe = Some(message.swipe().id).filter(|_| convert::is_reply(message.role));
        let edit = move |store: &mut store::WriteTransaction<'_>| {
            macro_variables::keep(store, &row, &before, &after)?;
            if let Some(swipe) = swipe {
                macro_variables::note_of_version(
                    store,
                    swipe,
                    VariableChanges::between(&before, &after),
                )?;
            }
            store.revisions_mut().keep(id, &text, now)?;
            store.messages_mut().edit(id, &text)?;
            store.stale_caches_mut().mark(row.id)?;
            let text = text.as_str();
            let limited = false;
            let said = CommandMessage {
                chat: &row,
                persona: &persona,
                message: id,
                text,
                now,
                limited,
            };
            if learns {
                crate::turn::commands::tell::obey_edit(store, &said, &was)
            } else {
                Ok(Vec::new())
            }
        };
        let done = self.change(&message, reservation, edit).await?;
        self.commands.tell(&chat, done);
        self.library().chats.shown_message(id).await
    }

    pub(crate) async fn delete_message(&self, message: MessageId) -> ApiResult<()> {
        let (message, _reservation) = self.quiet_message(message).await?;
        let id = message.id;
        let chat = message.chat;
        let swipe = message.swipe().id;
        let now = self.base().now();
        self.base()
            .store()
            .write(move |store| {
                macro_variables::show_version(store, chat, Some(swipe), None)?;
                store.messages_mut().soft_delete(id, now)?;
                crate::base::records::retraction::withdraw(store, id)?;
                store.stale_caches_mut().mark(chat)?;
                end_epoch(store, chat)
            })
            .await?;
        self.library().chat_lookup.messages_changed(chat);
        Ok(())
    }

    /// Hides a message from the model, or shows it again. Later prompts exclude what was learned
    /// from a hidden one.
    pub(crate) async fn hide_message(
        &self,
        message: MessageId,
        hidden: bool,
    ) -> ApiResult<api::Message> {
        let (message, reservation) = self.quiet_message(message).await?;
        let id = message.id;
        let chat = message.chat;
        let hide = move |store: &mut store::WriteTransaction<'_>| {
            store.messages_mut().set_hidden(id, hidden)?;
            if hidden {
                crate::base::records::retraction::withdraw(store, id)?;
                store.stale_caches_mut().mark(chat)?;
            }
            end_epoch(store, chat)
        };
        self.base().store().write(hide).await?;
        drop(reservation);
        self.library().chat_lookup.messages_changed(chat);
        self.library().chats.shown_message(id).await
    }

    pub(crate) async fn restore_message(&self, id: MessageId) -> ApiResult<()> {
        let chat = self
            .base()
            .store()
            .write(move |store| restore(store, &[id]))
            .await?;
        if let Some(chat) = chat {
            self.library().chat_lookup.messages_changed(chat);
        }
        Ok(())
    }

    /// A message whose chat is reserved, so that no reply is being written or starts. An edit
    /// during a reply would change what it answers.
    pub(crate) async fn quiet_message(
        &self,
        id: MessageId,
    ) -> ApiResult<(Message, ChatReservation)> {
        let message = self.library().chat_lookup.message(id).await?;
        let reservation = self.base().running().begin(message.chat)?;
        Ok((message, reservation))
    }

    /// Changes a message, retracts what was derived from it, and ends the epoch.
    async fn change<T, F>(
        &self,
        message: &Message,
        reservation: ChatReservation,
        work: F,
    ) -> ApiResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut store::WriteTransaction<'_>) -> Result<T, store::StoreError>
            + Send
            + 'static,
    {
        let id = message.id;
        let chat = message.chat;
        let done = self.base().store().write(move |store| {
            crate::base::records::retraction::reworded(store, id)?;
            let done = work(store)?;
            end_epoch(store, chat)?;
            Ok(done)
        });
        let done = done.await?;
        drop(reservation);
        self.library().chat_lookup.messages_changed(chat);
        Ok(done)
    }
}

/// Restores deleted messages of one chat, given in order. Returns the chat.
pub(crate) fn restore(
    store: &mut store::WriteTransaction<'_>,
    messages: &[MessageId],
) -> Result<Option<ChatId>, store::StoreError> {
    let mut chat = None;
    for id in messages {
        // A message that was restored before has its changes already.
        let was_there = store.messages().get(*id)?.is_some();
        store.messages_mut().restore(&[*id])?;
        let Some(message) = store.messages().get(*id)? else {
            continue;
        };
        if !was_there {
            macro_variables::show_version(store, message.chat, None, Some(message.swipe().id))?;
        }
        chat = Some(message.chat);
    }
    chat.map_or(Ok(()), |chat| end_epoch(store, chat))?;
    Ok(chat)
}

/// Makes the next prompt start a new epoch.
pub(crate) fn end_epoch(
    store: &mut store::WriteTransaction<'_>,
    chat: ChatId,
) -> Result<(), store::StoreError> {
    let Some(found) = store.chats().get(chat)? else {
        return Ok(());
    };
    store.chats_mut().set_window(
        chat,
        &WindowState {
            fingerprint: String::new(),
            ..found.window
        },
    )
}
