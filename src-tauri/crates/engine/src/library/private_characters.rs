//! Private characters of an encrypted data folder: marks them, shows them and hides them.
//!
//! The store leaves hidden characters out of everything that it reads. Whether they are shown
//! belongs to the open store, so each start hides them.

use std::sync::Arc;
use std::time::Instant;

use domain::{CharacterId, ChatId};
use futures_util::future::join_all;
use store::{StoreError, WriteTransaction};
use tokio::sync::Mutex;

use crate::api::{self, ApiError, Changed, SecretText};
use crate::base::error::{ApiResult, bad_input};
use crate::base::handle::Base;
use crate::base::protection::blocking;
use crate::base::protection::error::UnlockError;
use crate::base::protection::key_files::KeyFiles;
use crate::base::protection::unlock::check_passphrase;
use crate::base::protection::wrong_tries::WrongTries;
use crate::base::running::ChatReservation;

/// Row of the settings table: private characters are shown, or were when the app ended. Prompts of
/// other chats may contain memories from their chats.
const SHOWN: &str = "private_characters_shown";

/// Shows and hides private characters. Clones share one state.
#[derive(Clone)]
pub(crate) struct PrivateCharacters {
    base: Base,
    /// Locked while a passphrase is checked.
    tries: Arc<Mutex<WrongTries>>,
}

impl PrivateCharacters {
    pub(super) fn new(base: &Base) -> Self {
        Self {
            base: base.clone(),
            tries: Arc::default(),
        }
    }

    /// Begins a session, which shows private characters if `shown`.
    pub(crate) async fn begin(&self, shown: bool) -> ApiResult<()> {
        if self.base.keys().is_none() {
            return Ok(());
        }
        if shown {
            return self.show().await;
        }
        let were_shown = self.base.store().read(|store| store.settings().get(SHOWN));
        if were_shown.await?.is_some() {
            self.base.store().write(retract_shared_memories).await?;
        }
        Ok(())
    }

    pub(crate) async fn private_characters(&self) -> ApiResult<api::PrivateCharacters> {
        Ok(api::PrivateCharacters {
            available: self.base.keys().is_some(),
            shown: self.base.store().shows_private(),
        })
    }

    /// # Errors
    /// `BadInput` if the data folder is not encrypted; `NotFound` for an unknown or hidden
    /// character.
    pub(crate) async fn set_character_private(
        &self,
        character: CharacterId,
        on: bool,
    ) -> ApiResult<()> {
        if !on {
            return self.mark(character, false).await;
        }
        if self.base.keys().is_none() {
            return Err(not_encrypted());
        }
        if self.base.store().shows_private() {
            return self.mark(character, true).await;
        }
        let chats = self
            .base
            .store()
            .read(move |store| store.private_characters().chats_with(character));
        let _ended = self.end_replies(chats.await?).await;
        self.mark(character, true).await?;
        let retracted = self.base.store().write(retract_shared_memories).await;
        self.announce();
        Ok(retracted?)
    }

    /// # Errors
    /// `BadInput` for a wrong passphrase, for one that comes too early, and if the data folder is
    /// not encrypted.
    pub(crate) async fn show_private(&self, passphrase: SecretText) -> ApiResult<()> {
        let unlocked = self.base.keys().cloned().ok_or_else(not_encrypted)?;
        let mut tries = self.tries.lock().await;
        tries.refuse_early(Instant::now())?;
        let files = KeyFiles::of(self.base.store().dir());
        let checked = blocking(move || check_passphrase(&files, passphrase, &unlocked)).await;
        if let Err(error) = checked {
            if matches!(error, UnlockError::Wrong { .. }) {
                tries.record(Instant::now());
            }
            return Err(error.into());
        }
        tries.forget();
        self.show().await
    }

    /// # Errors
    /// `BadInput` if the data folder is not encrypted.
    pub(crate) async fn hide_private(&self) -> ApiResult<()> {
        if self.base.keys().is_none() {
            return Err(not_encrypted());
        }
        let chats = self
            .base
            .store()
            .read(|store| store.private_characters().chats());
        let _ended = self.end_replies(chats.await?).await;
        self.base.store().show_private(false);
        let retracted = self.base.store().write(retract_shared_memories).await;
        self.announce();
        Ok(retracted?)
    }

    async fn show(&self) -> ApiResult<()> {
        let noted = self
            .base
            .store()
            .write(|store| store.settings_mut().set(SHOWN, "true"));
        noted.await?;
        self.base.store().show_private(true);
        self.announce();
        Ok(())
    }

    async fn mark(&self, character: CharacterId, private: bool) -> ApiResult<()> {
        let mark = move |store: &mut WriteTransaction<'_>| {
            if store.characters().get(character)?.is_none() {
                return Err(StoreError::NotFound { what: "character" });
            }
            if private {
                store.private_characters_mut().add(character)
            } else {
                store.private_characters_mut().remove(character)
            }
        };
        self.base.store().write(mark).await?;
        self.announce();
        Ok(())
    }

    /// Stops the replies in these chats, and waits until their texts are stored. No reply begins in
    /// them while the result lives.
    async fn end_replies(&self, chats: Vec<ChatId>) -> Vec<ChatReservation> {
        let running = self.base.running();
        chats.iter().for_each(|chat| running.stop(*chat));
        let free = chats.into_iter().map(|chat| running.begin_when_free(chat));
        join_all(free).await
    }

    fn announce(&self) {
        self.base.events().changed(Changed::PrivateCharacters, None);
    }
}

/// Removes what other chats have recalled from private chats. A prompt repeats recalled texts, so
/// they would stay visible.
fn retract_shared_memories(store: &mut WriteTransaction<'_>) -> Result<(), StoreError> {
    let shared = store.private_characters().shared_memories()?;
    if !shared.is_empty() {
        store
            .memories_mut()
            .retract_all(&shared.into_iter().map(|id| id.0).collect())?;
    }
    store.settings_mut().remove(SHOWN)
}

fn not_encrypted() -> ApiError {
    bad_input(
        "Your data is not encrypted, so nothing can be hidden.",
        "Encrypt it first.",
    )
}
