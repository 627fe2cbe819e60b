//! What the user changes of what was said: another swipe, other words, nothing at all. The prompt that was sent is not valid any
//! more, so its epoch ends with it.

use domain::chat::{Message, Role, WindowState};
use domain::{ChatId, MessageId};

use crate::Engine;
use crate::api;
use crate::error::{Answer, bad_input};
use crate::macro_variables;
use crate::memory::{self, Said};
use crate::running::Place;

impl Engine {
    pub async fn select_swipe(&self, message: String, index: u32) -> Answer<api::Message> {
        let (message, place) = self.quiet_message(&message).await?;
        let (id, chat) = (message.id, message.chat);
        let [shown, next] = [message.selected, index].map(|at| message.swipes.get(at as usize).map(|swipe| swipe.id));
        let select = move |store: &mut store::Write<'_>| {
            store.swipes_mut().select(id, index)?;
            macro_variables::show_greeting(store, chat, shown, next)
        };
        self.change(&message, place, select).await?;
        self.shown_message(id).await
    }

    pub async fn edit_message(&self, message: String, text: String) -> Answer<api::Message> {
        let (message, place) = self.quiet_message(&message).await?;
        let chat = self.chat(message.chat).await?;
        let before = self.macro_state(&chat).await?;
        let mut after = before.clone();
        let text = self.stored_edit(&message, text).await?;
        let text = self.resolve_edit(&chat, message.id, &text, &mut after).await?;
        if text.trim().is_empty() {
            return Err(bad_input("A message cannot be empty.", "Delete it instead."));
        }
        let learns = message.role == Role::User && self.resolved(&chat, None, None).await?.values.memory;
        let (persona, row, id, now) = (self.persona_in(&chat).await?, chat.clone(), message.id, self.now());
        let was = message.text().to_owned();
        let edit = move |store: &mut store::Write<'_>| {
            macro_variables::keep(store, &row, &before, &after)?;
            store.messages_mut().edit(id, &text)?;
            store.stale_caches_mut().note(row.id)?;
            let said = Said { chat: &row, persona: &persona, message: id, text: &text, now };
            if learns { memory::obey_edit(store, &said, &was) } else { Ok(Vec::new()) }
        };
        let done = self.change(&message, place, edit).await?;
        self.tell(&chat, done);
        self.shown_message(id).await
    }

    pub async fn delete_message(&self, message: String) -> Answer<()> {
        let (message, _place) = self.quiet_message(&message).await?;
        let (id, chat, now) = (message.id, message.chat, self.now());
        self.store()
            .write(move |store| {
                store.messages_mut().soft_delete(id, now)?;
                memory::withdraw(store, id)?;
                store.stale_caches_mut().note(chat)?;
                end_epoch(store, chat)
            })
            .await?;
        self.messages_changed(chat);
        Ok(())
    }

    /// Hides a message from the model, or shows it again. Later prompts exclude what was learned from a hidden one.
    pub async fn hide_message(&self, message: String, hidden: bool) -> Answer<api::Message> {
        let (message, place) = self.quiet_message(&message).await?;
        let (id, chat) = (message.id, message.chat);
        let hide = move |store: &mut store::Write<'_>| {
            store.messages_mut().set_hidden(id, hidden)?;
            if hidden {
                memory::withdraw(store, id)?;
                store.stale_caches_mut().note(chat)?;
            }
            end_epoch(store, chat)
        };
        self.store().write(hide).await?;
        drop(place);
        self.messages_changed(chat);
        self.shown_message(id).await
    }

    pub async fn restore_message(&self, message: String) -> Answer<()> {
        let id = message.parse::<MessageId>()?;
        let chat = self
            .store()
            .write(move |store| {
                store.messages_mut().restore(&[id])?;
                let chat = store.messages().get(id)?.map(|message| message.chat);
                chat.map(|chat| end_epoch(store, chat)).transpose()?;
                Ok(chat)
            })
            .await?;
        if let Some(chat) = chat {
            self.messages_changed(chat);
        }
        Ok(())
    }

    /// A message of a chat in which no reply is being written, and none begins while the place is held: an edit under a
    /// running reply would change what it answers.
    async fn quiet_message(&self, id: &str) -> Answer<(Message, Place)> {
        let message = self.message(id.parse()?).await?;
        let place = self.running().begin(message.chat)?;
        Ok((message, place))
    }

    /// Changes a message, with what was made of it, and the epoch ends.
    async fn change<T, F>(&self, message: &Message, place: Place, work: F) -> Answer<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut store::Write<'_>) -> Result<T, store::StoreError> + Send + 'static,
    {
        let (id, chat) = (message.id, message.chat);
        let done = self.store().write(move |store| {
            memory::reworded(store, id)?;
            let done = work(store)?;
            end_epoch(store, chat)?;
            Ok(done)
        });
        let done = done.await?;
        drop(place);
        self.messages_changed(chat);
        Ok(done)
    }
}

/// Makes the next prompt start a new epoch.
fn end_epoch(store: &mut store::Write<'_>, chat: ChatId) -> Result<(), store::StoreError> {
    let Some(found) = store.chats().get(chat)? else { return Ok(()) };
    store.chats_mut().set_window(chat, &WindowState { fingerprint: String::new(), ..found.window })
}
