//! Memories as users see and edit them.

use domain::memory::{MAX_CONFIDENCE, Memory, MemoryOrigin, MemoryScope, MemoryType};
use domain::{CharacterId, ChatId, LorebookId, MemoryId, PersonaId};
use recall::tokens;
use store::{ChatParticipants, FoundMemory, MemoryFilter, Query};
use uuid::Uuid;

use crate::api::{self, Changed, MemoryDraft};
use crate::base::clock::rfc3339;
use crate::base::error::{ApiResult, bad_input, not_found};
use crate::library::memories::{Memories, exclusion};

/// Memories per page of the list.
const LISTED: u32 = 500;
/// Memories per page of search results.
const SEARCHED: u32 = 50;
/// Maximum characters of a memory.
const MAX_TEXT: usize = 2_000;

impl Memories {
    /// The first page of a character's memories; with a query, of those that match it, best first.
    pub(crate) async fn list_memories(
        &self,
        character: CharacterId,
        query: String,
    ) -> ApiResult<Vec<api::Memory>> {
        Ok(self
            .find_memories(character, query, api::MemoryFilter::default(), 1)
            .await?
            .memories)
    }

    /// The first `pages` pages, at least one, of the memories that match `filter`.
    pub(crate) async fn find_memories(
        &self,
        character: CharacterId,
        query: String,
        filter: api::MemoryFilter,
        pages: u32,
    ) -> ApiResult<api::FoundMemories> {
        let filter = narrowed(&filter);
        // One more row shows whether there are more.
        let with_next = |page: u32| page.saturating_mul(pages.max(1)).saturating_add(1);
        if query.trim().is_empty() {
            let most = with_next(LISTED);
            let memories = self
                .base()
                .store()
                .read(move |store| store.memories().of_character(character, filter, most))
                .await?;
            return Ok(cut(
                memories
                    .into_iter()
                    .map(|memory| shown(memory, None))
                    .collect(),
                most,
            ));
        }
        let words = tokens::terms(&query, &[]);
        let query = Query::any_word(words.iter().map(String::as_str));
        let most = with_next(SEARCHED);
        let search = move |store: &store::ReadTransaction<'_>| {
            store
                .memories()
                .search_of_character(character, &query, filter, most)
        };
        let found = self.base().store().read(search).await?;
        let best = found.iter().map(|found| found.score).fold(0.0, f64::max);
        let scored = |found: FoundMemory| {
            shown(
                found.memory,
                (best > 0.0).then_some((found.score / best) as f32),
            )
        };
        Ok(cut(found.into_iter().map(scored).collect(), most))
    }

    /// All memories of a character, without a limit; the archived ones come last.
    pub(crate) async fn every_memory(&self, character: CharacterId) -> ApiResult<Vec<api::Memory>> {
        let all = move |store: &store::ReadTransaction<'_>| {
            let of = |archived| MemoryFilter {
                archived,
                ..MemoryFilter::default()
            };
            let mut all = store
                .memories()
                .of_character(character, of(false), u32::MAX)?;
            all.extend(
                store
                    .memories()
                    .of_character(character, of(true), u32::MAX)?,
            );
            Ok(all)
        };
        Ok(self
            .base()
            .store()
            .read(all)
            .await?
            .into_iter()
            .map(|memory| shown(memory, None))
            .collect())
    }

    pub(crate) async fn save_memory(&self, draft: MemoryDraft) -> ApiResult<api::Memory> {
        let text = checked(&draft.text)?;
        let known = match draft.id {
            Some(id) => Some(self.memory(id).await?),
            None => None,
        };
        let now = self.base().now();
        let memory = Memory {
            id: known
                .as_ref()
                .map_or_else(|| MemoryId(Uuid::now_v7()), |known| known.id),
            kind: MemoryType::of(&draft.kind),
            scope: self.scope(&draft).await?,
            text,
            importance: u8::try_from(draft.importance.clamp(1, 10)).unwrap_or(5),
            origin: MemoryOrigin::User,
            confidence: MAX_CONFIDENCE,
            pinned: draft.pinned,
            sources: known
                .as_ref()
                .map_or_else(Vec::new, |known| known.sources.clone()),
            merged_sources: known
                .as_ref()
                .map_or_else(Vec::new, |known| known.merged_sources.clone()),
            archived: None,
            created: known.as_ref().map_or(now, |known| known.created),
            updated: now,
        };
        let saved = memory.clone();
        self.base()
            .store()
            .write(move |store| match known {
                None => store.memories_mut().insert(&memory),
                Some(known) => {
                    store.memories_mut().update(&memory)?;
                    if known.archived.is_some() {
                        store.memories_mut().unarchive(memory.id)?;
                    }
                    // No later prompt may contain the old text.
                    store.memories_mut().retract(memory.id.0)
                }
            })
            .await?;
        self.memories_changed(Some(draft.character));
        Ok(shown(saved, None))
    }

    /// Removes a memory from every later prompt at once, and its source messages from recall. The
    /// next purge deletes the row; until then it can be restored.
    pub(crate) async fn delete_memory(&self, id: MemoryId) -> ApiResult<()> {
        let now = self.base().now();
        self.base()
            .store()
            .write(move |store| exclusion::forget(store, id, now))
            .await?;
        self.memories_changed(None);
        Ok(())
    }

    pub(crate) async fn restore_memory(&self, id: MemoryId) -> ApiResult<()> {
        self.base()
            .store()
            .write(move |store| exclusion::remember_again(store, id))
            .await?;
        self.memories_changed(None);
        Ok(())
    }

    /// A pinned memory is always included, so pinning also takes it out of the archive.
    pub(crate) async fn pin_memory(&self, id: MemoryId, pinned: bool) -> ApiResult<api::Memory> {
        let known = self.memory(id).await?;
        let was_archived = known.archived.is_some();
        let memory = Memory {
            pinned,
            archived: known.archived.filter(|_| !pinned),
            ..known
        };
        let row = memory.clone();
        let pin = move |store: &mut store::WriteTransaction<'_>| {
            store.memories_mut().update(&row)?;
            if was_archived && pinned {
                store.memories_mut().unarchive(row.id)
            } else {
                Ok(())
            }
        };
        self.base().store().write(pin).await?;
        self.memories_changed(None);
        Ok(shown(memory, None))
    }

    pub(crate) async fn memory(&self, id: MemoryId) -> ApiResult<Memory> {
        self.base()
            .store()
            .read(move |store| store.memories().get(id))
            .await?
            .ok_or_else(|| not_found("memory"))
    }

    async fn scope(&self, draft: &MemoryDraft) -> ApiResult<MemoryScope> {
        let character = draft.character;
        Ok(match draft.scope {
            api::MemoryScope::Profile => MemoryScope::Profile,
            api::MemoryScope::Character => MemoryScope::Character(character),
            api::MemoryScope::Pair => {
                let persona = self.personas.persona_of(draft.persona).await?.id;
                MemoryScope::Pair {
                    character,
                    persona: Some(persona).filter(|id| !id.0.is_nil()),
                }
            }
            api::MemoryScope::Chat => match &draft.chat {
                Some(chat) => MemoryScope::Chat(self.chat_lookup.chat(*chat).await?.id),
                None => {
                    return Err(bad_input(
                        "A memory of a chat needs the chat.",
                        "Name the chat, or choose another scope.",
                    ));
                }
            },
            api::MemoryScope::World => MemoryScope::World(self.world(draft.world).await?),
        })
    }

    /// The ids of the lorebooks outside cards that apply with a character and a persona, and in a
    /// chat if there is one.
    pub(crate) async fn memory_worlds(
        &self,
        character: CharacterId,
        persona: PersonaId,
        chat: Option<ChatId>,
    ) -> ApiResult<Vec<LorebookId>> {
        let company = ChatParticipants {
            character,
            chat: chat.unwrap_or(ChatId(Uuid::nil())),
            persona,
        };
        let mut worlds: Vec<LorebookId> = self
            .lorebooks
            .bound_in(company)
            .await?
            .into_iter()
            .map(|bound| bound.id)
            .collect();
        worlds.dedup();
        Ok(worlds)
    }

    /// The lorebook of a memory. It must be outside a card, so that other characters can have it
    /// too.
    async fn world(&self, id: Option<LorebookId>) -> ApiResult<LorebookId> {
        let hint = "Name a lorebook of the library, or choose another scope. The book of a card can be exported and imported.";
        let Some(id) = id else {
            return Err(bad_input("A memory of a world needs its lorebook.", hint));
        };
        let book = self
            .base()
            .store()
            .read(move |store| store.lorebooks().get(id))
            .await?;
        book.map(|book| book.id)
            .ok_or_else(|| bad_input("The lorebook of this memory is not in the library.", hint))
    }

    pub(crate) fn memories_changed(&self, character: Option<CharacterId>) {
        let id = character.map(|id| id.to_string());
        self.base().events().changed(Changed::Memories, id);
    }
}

/// Without the extra row, which shows that there are more.
fn cut(mut memories: Vec<api::Memory>, most: u32) -> api::FoundMemories {
    let more = memories.len() == most as usize;
    memories.truncate(most.saturating_sub(1) as usize);
    api::FoundMemories { memories, more }
}

/// The trimmed text, if a memory may have it.
pub(crate) fn checked(text: &str) -> ApiResult<String> {
    let text = text.trim().to_owned();
    if text.is_empty() || text.chars().count() > MAX_TEXT {
        let hint = format!("Write a sentence or a few; at most {MAX_TEXT} characters.");
        return Err(bad_input(
            "A memory needs a text, and it must be short.",
            hint,
        ));
    }
    Ok(text)
}

fn narrowed(filter: &api::MemoryFilter) -> MemoryFilter {
    MemoryFilter {
        kind: filter.kind.as_deref().map(MemoryType::of),
        scope: filter.scope.map(|scope| match scope {
            api::MemoryScope::Profile => "profile",
            api::MemoryScope::Character => "character",
            api::MemoryScope::Pair => "pair",
            api::MemoryScope::Chat => "chat",
            api::MemoryScope::World => "world",
        }),
        from_messages: filter.made.map(|made| made == api::MadeFrom::Words),
        archived: filter.archived,
    }
}

pub(crate) fn shown(memory: Memory, score: Option<f32>) -> api::Memory {
    let (scope, character, persona, chat, world) = match memory.scope {
        MemoryScope::Profile => (api::MemoryScope::Profile, None, None, None, None),
        MemoryScope::Character(character) => (
            api::MemoryScope::Character,
            Some(character),
            None,
            None,
            None,
        ),
        MemoryScope::Pair { character, persona } => {
            (api::MemoryScope::Pair, Some(character), persona, None, None)
        }
        MemoryScope::Chat(chat) => (api::MemoryScope::Chat, None, None, Some(chat), None),
        MemoryScope::World(world) => (api::MemoryScope::World, None, None, None, Some(world)),
    };
    api::Memory {
        id: memory.id,
        kind: memory.kind.as_str().to_owned(),
        text: memory.text,
        importance: u32::from(memory.importance),
        scope,
        character,
        persona,
        chat,
        world,
        pinned: memory.pinned,
        origin: memory.origin.as_str().to_owned(),
        confidence: u32::from(memory.confidence),
        sources: memory
            .sources
            .iter()
            .chain(&memory.merged_sources)
            .copied()
            .collect(),
        echoes: memory.merged_sources,
        archived: memory.archived.map(|archived| api::Archived {
            why: archived.reason.as_str().to_owned(),
            since: rfc3339(archived.since),
            by: archived.replaced_by,
        }),
        created: rfc3339(memory.created),
        updated: rfc3339(memory.updated),
        score,
    }
}
