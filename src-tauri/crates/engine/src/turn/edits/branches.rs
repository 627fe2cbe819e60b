//! New chats from parts of a chat: branching and splitting. Both keep the old chat's settings.

use std::collections::BTreeMap;

use domain::chat::{Chat, WindowState};
use domain::{ChatId, MessageId};
use store::{CopiedRange, Copies, StoreError, WriteTransaction};
use uuid::Uuid;

use crate::api::{self, Changed, SplitChat};
use crate::base::error::{ApiResult, bad_input};
use crate::library::snapshots::chat_macros::StoredMacroState;
use crate::library::snapshots::macro_variables;
use crate::turn::edits::Edits;
use crate::turn::edits::messages::end_epoch;

/// Maximum length of a title, in characters.
const MAX_TITLE: usize = 200;

impl Edits {
    /// Copies a chat up to a message into a new chat, which is linked to that message. With
    /// `swipe`, the index of one of its swipes, the branch shows that one.
    pub(crate) async fn branch_chat(
        &self,
        message: MessageId,
        swipe: Option<u32>,
        title: Option<String>,
    ) -> ApiResult<api::Chat> {
        let (message, place) = self.quiet_message(message).await?;
        if swipe.is_some_and(|swipe| swipe as usize >= message.swipes.len()) {
            return Err(bad_input(
                "The message has no such version.",
                "Choose another one.",
            ));
        }
        let old = self.library().chat_lookup.chat(message.chat).await?;
        let chat = message.chat;
        let number = self
            .base()
            .store()
            .read(move |store| Ok(store.branch_links().of(chat)?.len() + 1))
            .await?;
        let title = named(title, || format!("{} - Branch #{number}", old.title));
        let new = self.successor(&old, title);
        let id = new.id;
        let at = message.id;
        let last = message.position;
        let range = CopiedRange {
            from: old.id,
            to: id,
            first: i64::MIN,
            last,
            shift: 0,
        };
        let branch = move |store: &mut WriteTransaction<'_>| {
            let copies = copy(store, &old, new, range)?;
            store.branch_links_mut().copy_extraction(old.id, id, last)?;
            store.branch_links_mut().link(id, old.id, Some(at))?;
            match (swipe, copies.messages.get(&at)) {
                (Some(swipe), Some(copy)) => store.swipes_mut().select(*copy, swipe),
                _ => Ok(()),
            }
        };
        self.base().store().write(branch).await?;
        drop(place);
        self.base()
            .events()
            .changed(Changed::Chats, Some(id.to_string()));
        self.base()
            .events()
            .changed(Changed::Messages, Some(message.chat.to_string()));
        self.library().chats.open_chat(id).await
    }

    /// Moves a message and all later ones into a new chat. Deleting the new chat and restoring the
    /// messages undoes it.
    pub(crate) async fn split_chat(&self, message: MessageId) -> ApiResult<SplitChat> {
        let (message, place) = self.quiet_message(message).await?;
        let old = self.library().chat_lookup.chat(message.chat).await?;
        let new = self.successor(&old, format!("{} (2)", old.title));
        let id = new.id;
        let first = message.position;
        let chat = old.id;
        let now = self.base().now();
        let range = CopiedRange {
            from: chat,
            to: id,
            first,
            last: i64::MAX,
            shift: -first,
        };
        let split = move |store: &mut WriteTransaction<'_>| {
            copy(store, &old, new, range)?;
            remove_from(store, chat, first, now)
        };
        let moved = self.base().store().write(split).await?;
        drop(place);
        self.library().chat_lookup.messages_changed(chat);
        self.base()
            .events()
            .changed(Changed::Chats, Some(id.to_string()));
        Ok(SplitChat {
            chat: self.library().chats.open_chat(id).await?,
            moved,
        })
    }

    /// A new chat with the same participants, whose messages are not stored yet.
    fn successor(&self, old: &Chat, title: String) -> Chat {
        let now = self.base().now();
        Chat {
            id: ChatId(Uuid::now_v7()),
            title,
            draft: String::new(),
            window: WindowState::default(),
            created: now,
            updated: now,
            ..old.clone()
        }
    }
}

/// Deletes the messages of a chat from a position on, and returns them.
pub(crate) fn remove_from(
    store: &mut WriteTransaction<'_>,
    chat: ChatId,
    position: i64,
    now: domain::Timestamp,
) -> Result<Vec<MessageId>, StoreError> {
    let last = store
        .messages()
        .page(chat, None, u32::MAX)?
        .into_iter()
        .rev();
    for message in last.take_while(|message| message.position >= position) {
        macro_variables::show_version(store, chat, Some(message.swipe().id), None)?;
    }
    let gone = store.messages_mut().delete_from(chat, position, now)?;
    gone.iter()
        .try_for_each(|id| crate::base::records::retraction::withdraw(store, *id))?;
    store.stale_caches_mut().mark(chat)?;
    end_epoch(store, chat)?;
    Ok(gone)
}

/// Stores the chat `new` with the messages of a range and the settings of `old`.
fn copy(
    store: &mut WriteTransaction<'_>,
    old: &Chat,
    new: Chat,
    range: CopiedRange,
) -> Result<Copies, StoreError> {
    let scene = old
        .scene_after
        .map(|after| after.saturating_add(range.shift))
        .filter(|after| *after >= 0);
    let id = new.id;
    let updated = new.updated;
    store.chats_mut().insert(&Chat {
        scene_after: scene,
        ..new
    })?;
    let new_id = &mut Uuid::now_v7;
    store.branch_links_mut().copy_settings(old.id, id, new_id)?;
    let copies = store.branch_links_mut().copy_messages(range, new_id)?;
    store
        .chats_mut()
        .set_variables(id, &variables(old, &copies).to_json())?;
    store.chats_mut().touch(id, updated)?;
    Ok(copies)
}

/// The macro variables of a copied chat. The state of an epoch and of lorebook timers belongs to
/// the old chat.
fn variables(old: &Chat, copies: &Copies) -> StoredMacroState {
    let known = StoredMacroState::of(old);
    let renamed: BTreeMap<String, String> = copies
        .swipes
        .iter()
        .map(|(old, new)| (old.to_string(), new.to_string()))
        .collect();
    let greetings = known.greetings.into_iter();
    let greetings = greetings
        .filter_map(|(swipe, set)| Some((renamed.get(&swipe)?.clone(), set)))
        .collect();
    StoredMacroState {
        variables: known.variables,
        greetings,
        ..StoredMacroState::default()
    }
}

fn named(title: Option<String>, default: impl FnOnce() -> String) -> String {
    let title = title
        .map(|title| title.trim().to_owned())
        .filter(|title| !title.is_empty());
    title
        .unwrap_or_else(default)
        .chars()
        .take(MAX_TITLE)
        .collect()
}
