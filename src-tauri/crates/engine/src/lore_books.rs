//! Which books count in a chat: the card's own, and those that are bound to it, its character, its persona or everything
//! (formats 1.4.3, steps 1 and 2).

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use context::lore::{Bindings, LoreSettings, NamedBook, PreparedBooks, Profile, Strategy};
use context::unix_lines;
use domain::card::Card;
use domain::lorebook::{Binding, Book, Entry};
use domain::settings::{LoreProfile, LoreStrategy, Values};
use domain::{CharacterId, LorebookId};
use store::{BoundLorebook, Company, Lorebook, StoreError};

use crate::Engine;
use crate::collect::Collected;
use crate::error::Answer;
use crate::lorebooks::{Found, free_name};

/// Books under names of their own, and how they are bound.
#[derive(Default)]
pub(crate) struct Shelf {
    books: Vec<NamedBook>,
    bindings: Bindings,
    ids: Vec<(LorebookId, String)>,
}

/// The books of a chat as a turn runs them.
pub(crate) struct Shelved {
    pub(crate) prepared: PreparedBooks,
    /// As the store knows them, and as prompts call them.
    pub(crate) ids: Vec<(LorebookId, String)>,
}

impl Engine {
    /// The chat's books, prepared; `None` if there is not one entry.
    pub(crate) async fn books(&self, collected: &Collected) -> Answer<Option<Arc<Shelved>>> {
        let bound = &collected.bound;
        if bound.is_empty() && collected.card.character_book().is_none() {
            return Ok(None);
        }
        let key = key(collected, bound);
        let known = self.lore_cache().last.clone().filter(|(known, _)| *known == key);
        let prepared = match known {
            Some((_, prepared)) => prepared,
            None => {
                let shelf = self.shelf(collected).await?;
                let prepared = shelf.prepared(&settings(&collected.values));
                let prepared = Arc::new(Shelved { prepared, ids: shelf.ids });
                self.lore_cache().last = Some((key, prepared.clone()));
                prepared
            }
        };
        Ok(Some(prepared).filter(|shelved| !shelved.prepared.is_empty()))
    }

    /// The books that are bound in such company, read at once.
    pub(crate) fn bound_in(
        &self,
        company: Company,
    ) -> impl Future<Output = Result<Vec<BoundLorebook>, StoreError>> + Send + use<> {
        self.store().read(move |store| store.lorebooks().bound(company))
    }

    /// The card's own book and those that are bound, under the names that prompts tell them by.
    pub(crate) async fn shelf(&self, collected: &Collected) -> Answer<Shelf> {
        let ids: BTreeSet<LorebookId> = collected.bound.iter().map(|bound| bound.id).collect();
        let rows = self.store().read(move |store| {
            let books = ids.into_iter().map(|id| store.lorebooks().get(id));
            books.filter_map(Result::transpose).collect::<Result<Vec<Lorebook>, _>>()
        });
        Ok(Shelf::new((&collected.card, collected.chat.character), &collected.bound, rows.await?))
    }
}

impl Shelf {
    fn new((card, character): (&Card, CharacterId), bound: &[BoundLorebook], rows: Vec<Lorebook>) -> Self {
        let mut shelf = Self::default();
        let mut names: HashMap<LorebookId, String> = HashMap::new();
        for row in rows {
            let id = row.id;
            // Odd data never stops a turn; reading it has logged why.
            if let Ok(found) = Found::in_library(row) {
                let name = shelf.put(&found.name(), found.book);
                shelf.ids.push((id, name.clone()));
                names.insert(id, name);
            }
        }
        let linked = linked(card, bound);
        if let Some(raw) = card.character_book().filter(|_| !linked) {
            let (own, _) = Book::from_character_book(raw);
            if !shelf.books.iter().any(|known| tells_the_same(&known.book, &own)) {
                let name = if own.name().is_empty() { card.name() } else { own.name() }.to_owned();
                let name = shelf.put(&name, own);
                shelf.ids.push((LorebookId(character.0), name.clone()));
                shelf.bindings.character.push(name);
            }
        }
        for BoundLorebook { id, binding, .. } in bound {
            let Some(name) = names.get(id) else { continue };
            let Bindings { global, character, chat, persona } = &mut shelf.bindings;
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

    /// A book that counts in every chat. Returns the name that it gets.
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

    fn put(&mut self, name: &str, mut book: Book) -> String {
        for entry in &mut book.entries {
            let keys = entry.keys.iter_mut().chain(&mut entry.secondary_keys);
            for text in keys.chain([&mut entry.content]).filter(|text| text.contains('\r')) {
                *text = unix_lines(text).into_owned();
            }
        }
        let taken: Vec<&str> = self.books.iter().map(|book| &*book.name).collect();
        let name = free_name(name, &taken);
        self.books.push(NamedBook { name: name.as_str().into(), book: Arc::new(book) });
        name
    }
}

/// What a chat's settings say of its books.
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

/// What decides over the books of a chat.
fn key(collected: &Collected, bound: &[BoundLorebook]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (collected.card_hash, settings(&collected.values)).hash(&mut hasher);
    for BoundLorebook { id, name, updated, binding } in bound {
        (id, name, updated.0, binding).hash(&mut hasher);
    }
    hasher.finish()
}

/// SillyTavern writes a copy of the book that a character is linked with into the card. Where the linked one is bound to the
/// character, it is the one that counts.
fn linked(card: &Card, bound: &[BoundLorebook]) -> bool {
    let world = card.extensions().and_then(|extensions| extensions.get("world")?.as_str()).unwrap_or_default();
    let is_it = |bound: &BoundLorebook| bound.name == world && matches!(bound.binding, Binding::Character(_));
    !world.is_empty() && bound.iter().any(is_it)
}

/// The same texts for the same keys, in whatever order and form: one book, imported twice.
fn tells_the_same(one: &Book, other: &Book) -> bool {
    let told = |book: &Book| -> Vec<_> {
        let told = |entry: &Entry| {
            (entry.content.clone(), entry.keys.clone(), entry.secondary_keys.clone(), entry.constant, entry.disable)
        };
        let mut all: Vec<_> = book.entries.iter().map(told).collect();
        all.sort_unstable();
        all
    };
    one.entries.len() == other.entries.len() && told(one) == told(other)
}
