//! Collects the lorebooks of a chat: the card's own, and those bound to the chat, its character,
//! its persona or everything.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use context::lore::{Bindings, LoreSettings, NamedBook, PreparedBooks, Profile, Strategy};
use context::unix_lines;
use domain::card::Card;
use domain::lorebook::{Binding, Book, Entry};
use domain::settings::{LoreProfile, LoreStrategy, Values};
use domain::{CharacterId, LorebookId};
use store::{BoundLorebook, Lorebook};

use crate::base::error::ApiResult;
use crate::library::lorebooks::stored_book::{StoredBook, free_name};
use crate::turn::inputs::turn_inputs::TurnInputs;
use crate::turn::lore::LoreActivation;
use crate::turn::lore::cache::PreparedBookSet;

/// Books under unique names, with their bindings.
#[derive(Default)]
pub(crate) struct BookSet {
    books: Vec<NamedBook>,
    bindings: Bindings,
    ids: Vec<(LorebookId, String)>,
}

impl LoreActivation {
    /// The chat's books, prepared; `None` if they have no entries.
    pub(crate) async fn books(
        &self,
        inputs: &TurnInputs,
    ) -> ApiResult<Option<Arc<PreparedBookSet>>> {
        let bound = &inputs.bound;
        if bound.is_empty() && inputs.voice().0.character_book().is_none() {
            return Ok(None);
        }
        let key = key(inputs, bound);
        let known = self
            .lore_cache()
            .last
            .clone()
            .filter(|(known, _)| *known == key);
        let prepared = match known {
            Some((_, prepared)) => prepared,
            None => {
                let shelf = self.shelf(inputs).await?;
                let prepared = shelf.prepared(&settings(&inputs.values));
                let private = if inputs.known.is_scene {
                    shelf.private_books()
                } else {
                    HashSet::new()
                };
                let prepared = Arc::new(PreparedBookSet {
                    prepared,
                    ids: shelf.ids,
                    private,
                });
                self.lore_cache().last = Some((key, prepared.clone()));
                prepared
            }
        };
        Ok(Some(prepared).filter(|shelved| !shelved.prepared.is_empty()))
    }

    /// Collects the card's own book and the bound ones, under the names that prompts use.
    pub(crate) async fn shelf(&self, inputs: &TurnInputs) -> ApiResult<BookSet> {
        let ids: BTreeSet<LorebookId> = inputs.bound.iter().map(|bound| bound.id).collect();
        let rows = self.base().store().read(move |store| {
            let books = ids.into_iter().map(|id| store.lorebooks().get(id));
            books
                .filter_map(Result::transpose)
                .collect::<Result<Vec<Lorebook>, _>>()
        });
        Ok(BookSet::new(
            (
                inputs.voice().0,
                inputs.known.character(&inputs.snapshot.chat),
            ),
            &inputs.bound,
            rows.await?,
        ))
    }
}

impl BookSet {
    /// The entries of all books.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.books
            .iter()
            .flat_map(|named| named.book.entries.iter())
    }

    fn new(
        (card, character): (&Card, CharacterId),
        bound: &[BoundLorebook],
        rows: Vec<Lorebook>,
    ) -> Self {
        let mut shelf = Self::default();
        let mut names: HashMap<LorebookId, String> = HashMap::new();
        for row in rows {
            let id = row.id;
            // An unreadable book does not stop the turn. The error is already logged.
            if let Ok(found) = StoredBook::in_library(row) {
                let name = shelf.put(&found.name(), found.book);
                shelf.ids.push((id, name.clone()));
                names.insert(id, name);
            }
        }
        let linked = linked(card, bound);
        if let Some(raw) = card.character_book().filter(|_| !linked) {
            let (own, _) = Book::from_character_book(raw);
            if !shelf
                .books
                .iter()
                .any(|known| tells_the_same(&known.book, &own))
            {
                let name = if own.name().is_empty() {
                    card.name()
                } else {
                    own.name()
                }
                .to_owned();
                let name = shelf.put(&name, own);
                shelf.ids.push((LorebookId(character.0), name.clone()));
                shelf.bindings.character.push(name);
            }
        }
        for BoundLorebook { id, binding, .. } in bound {
            let Some(name) = names.get(id) else { continue };
            let Bindings {
                global,
                character,
                chat,
                persona,
            } = &mut shelf.bindings;
            let list = match binding {
                Binding::Global => global,
                Binding::Character(_) => character,
                Binding::Chat(_) => chat,
                Binding::Persona(_) => persona,
            };
            list.push(name.clone());
        }
        shelf
    }

    /// Adds a book that applies everywhere. Returns its unique name.
    pub(crate) fn add(&mut self, name: &str, book: Book) -> String {
        let name = self.put(name, book);
        self.bindings.global.push(name.clone());
        name
    }

    pub(crate) fn ids(&self) -> &[(LorebookId, String)] {
        &self.ids
    }

    pub(crate) fn prepared(&self, settings: &LoreSettings) -> PreparedBooks {
        PreparedBooks::new(&self.books, &self.bindings, settings)
    }

    pub(crate) fn books(&self) -> &[NamedBook] {
        &self.books
    }

    /// Names of the books that belong to the character alone: its card's own and those bound only
    /// to it.
    fn private_books(&self) -> HashSet<String> {
        let Bindings {
            global,
            character,
            chat,
            persona,
        } = &self.bindings;
        let shared = |name: &&String| {
            [global, chat, persona]
                .iter()
                .any(|books| books.contains(name))
        };
        character
            .iter()
            .filter(|name| !shared(name))
            .cloned()
            .collect()
    }

    fn put(&mut self, name: &str, mut book: Book) -> String {
        for entry in &mut book.entries {
            let keys = entry.keys.iter_mut().chain(&mut entry.secondary_keys);
            for text in keys
                .chain([&mut entry.content])
                .filter(|text| text.contains('\r'))
            {
                *text = unix_lines(text).into_owned();
            }
        }
        let taken: Vec<&str> = self.books.iter().map(|book| &*book.name).collect();
        let name = free_name(name, &taken);
        self.books.push(NamedBook {
            name: name.as_str().into(),
            book: Arc::new(book),
        });
        name
    }
}

/// The lorebook settings of a chat.
pub(crate) fn settings(values: &Values) -> LoreSettings {
    LoreSettings {
        profile: match values.lore_profile {
            LoreProfile::Corrected => Profile::Corrected,
            LoreProfile::Compatible => Profile::Compatible,
        },
        scan_depth: values.lore_scan_depth.into(),
        budget_percent: values.lore_budget_percent,
        budget_cap: values.lore_budget_cap.unwrap_or_default(),
        min_activations: values.lore_min_activations,
        min_activations_depth_max: values.lore_min_activations_depth.unwrap_or_default(),
        max_recursion_steps: values.lore_recursion_steps.unwrap_or_default(),
        include_names: values.lore_include_names,
        recursive: values.lore_recursive,
        case_sensitive: values.lore_case_sensitive,
        match_whole_words: values.lore_whole_words,
        use_group_scoring: values.lore_group_scoring,
        strategy: match values.lore_strategy {
            LoreStrategy::CharacterFirst => Strategy::CharacterFirst,
            LoreStrategy::GlobalFirst => Strategy::GlobalFirst,
            LoreStrategy::Evenly => Strategy::Evenly,
        },
    }
}

/// Cache key of everything that affects the books of a chat.
fn key(inputs: &TurnInputs, bound: &[BoundLorebook]) -> u64 {
    let mut hasher = DefaultHasher::new();
    let (_, card_hash) = inputs.voice();
    (card_hash, settings(&inputs.values)).hash(&mut hasher);
    (
        inputs.known.is_scene,
        inputs.known.character(&inputs.snapshot.chat).0.as_u128(),
    )
        .hash(&mut hasher);
    for BoundLorebook {
        id,
        name,
        updated,
        binding,
    } in bound
    {
        (id, name, updated.0, binding).hash(&mut hasher);
    }
    hasher.finish()
}

/// SillyTavern copies the book that a character is linked to into the card. If the linked book is
/// bound to the character, the copy is ignored.
fn linked(card: &Card, bound: &[BoundLorebook]) -> bool {
    let world = card
        .extensions()
        .and_then(|extensions| extensions.get("world")?.as_str())
        .unwrap_or_default();
    let is_it = |bound: &BoundLorebook| {
        bound.name == world && matches!(bound.binding, Binding::Character(_))
    };
    !world.is_empty() && bound.iter().any(is_it)
}

/// Whether both books have the same texts for the same keys, in any order and format. One book may
/// be imported twice.
fn tells_the_same(one: &Book, other: &Book) -> bool {
    let told = |book: &Book| -> Vec<_> {
        let told = |entry: &Entry| {
            (
                entry.content.clone(),
                entry.keys.clone(),
                entry.secondary_keys.clone(),
                entry.constant,
                entry.disable,
            )
        };
        let mut all: Vec<_> = book.entries.iter().map(told).collect();
        all.sort_unstable();
        all
    };
    one.entries.len() == other.entries.len() && told(one) == told(other)
}
