//! The memories that a turn may use, by character, persona and chat.

use domain::memory::{Memory, MemoryOrigin, MemoryScope};
use store::{ChatParticipants, ReadTransaction, StoreError};

use crate::library::groups::presence::Knowledge;
use crate::recall_service::messages::branches::Branches;

/// The memories that apply in a chat.
#[derive(Clone)]
pub(crate) struct MemoryScopes {
    /// The chat with its participants. The lorebooks bound to them are the worlds that apply.
    pub(crate) company: ChatParticipants,
    /// The scopes that apply whatever the lorebooks; the second is the pair's.
    pub(crate) scopes: Vec<MemoryScope>,
    /// Knowledge of the speaker.
    pub(crate) known: Knowledge,
    /// Whether memories made from other chats apply (setting `memory_other_chats`). A memory that
    /// the user wrote was made from no chat; one that has outlived its chat was.
    pub(crate) others: bool,
}

impl MemoryScopes {
    /// All scopes, with the worlds. Worlds are looked up together with the memories, to save a
    /// wait.
    pub(super) fn everywhere(
        &self,
        store: &ReadTransaction<'_>,
    ) -> Result<Vec<MemoryScope>, StoreError> {
        let worlds = store.memories().worlds(self.company)?;
        Ok(self
            .scopes
            .iter()
            .copied()
            .chain(worlds.into_iter().map(MemoryScope::World))
            .collect())
    }

    /// Number of rows to read to find `wanted` memories that apply: if other chats or branches are
    /// excluded, most rows may be theirs.
    pub(super) fn among(&self, branches: &Branches, wanted: u32) -> u32 {
        if self.others && branches.are_none() && self.known.missed_nothing() {
            wanted
        } else {
            20 * wanted
        }
    }

    /// The first `most` memories that apply.
    pub(super) fn first<T>(
        &self,
        (store, branches): (&ReadTransaction<'_>, &Branches),
        most: u32,
        all: Vec<T>,
        of: impl Fn(&T) -> &Memory,
    ) -> Result<Vec<T>, StoreError> {
        let mut kept = Vec::new();
        for one in all {
            if kept.len() == most as usize {
                break;
            }
            if self.known.knows(of(&one))
                && self.counts(store, of(&one))?
                && !branches.have_left(store, of(&one))?
            {
                kept.push(one);
            }
        }
        Ok(kept)
    }

    fn counts(
        &self,
        store: &ReadTransaction<'_>,
        Memory {
            sources,
            merged_sources: echoes,
            origin,
            ..
        }: &Memory,
    ) -> Result<bool, StoreError> {
        Ok(self.others
            || sources.is_empty() && *origin == MemoryOrigin::User
            || store.memories().any_in_chat(self.company.chat, sources)?
            || store.memories().any_in_chat(self.company.chat, echoes)?)
    }
}
