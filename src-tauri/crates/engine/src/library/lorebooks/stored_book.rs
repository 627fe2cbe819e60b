//! A lorebook in the library or inside a card.

use domain::card::Card;
use domain::lorebook::{Binding, Book, Skipped};
use domain::{CharacterId, LorebookId};
use store::{Character, ReadTransaction, StoreError, WriteTransaction};

use crate::api::{Lorebook, LorebookBinding, LorebookFields, LorebookSummary};
use crate::base::error::{ApiResult, bad_input, internal, not_found};
use crate::base::panics;
use crate::library::characters::cards::card_of;
use crate::library::lorebooks::entries;

/// A book and where it is stored.
pub(crate) struct StoredBook {
    pub(super) place: BookLocation,
    pub(crate) book: Book,
    pub(super) unread: Vec<Skipped>,
}

/// The place where a book is stored.
pub(super) enum BookLocation {
    Library(store::Lorebook),
    Card(Character, Box<Card>),
}

impl StoredBook {
    pub(crate) fn in_library(row: store::Lorebook) -> ApiResult<Self> {
        let (book, unread) =
            Book::read(row.json.as_bytes()).map_err(|error| internal(&error.to_string()))?;
        Ok(Self {
            place: BookLocation::Library(row),
            book,
            unread,
        })
    }

    /// `None` if the card has no book.
    pub(super) fn in_card(character: Character) -> ApiResult<Option<Self>> {
        let card = card_of(&character)?;
        let Some(raw) = card.character_book() else {
            return Ok(None);
        };
        let (book, unread) = Book::from_character_book(raw);
        Ok(Some(Self {
            place: BookLocation::Card(character, Box::new(card)),
            book,
            unread,
        }))
    }

    /// Name for users and prompts.
    pub(crate) fn name(&self) -> String {
        match &self.place {
            BookLocation::Library(row) => row.name.clone(),
            BookLocation::Card(character, _) if self.book.name().is_empty() => {
                character.name.clone()
            }
            BookLocation::Card(..) => self.book.name().to_owned(),
        }
    }

    pub(super) fn rename(&mut self, name: &str, taken: &[String]) -> ApiResult<()> {
        if self.name() == name {
            return Ok(());
        }
        if let BookLocation::Library(row) = &mut self.place {
            if taken.iter().any(|known| known == name) {
                return Err(bad_input(
                    format!("There is already a lorebook \"{name}\"."),
                    "Give it another name.",
                ));
            }
            name.clone_into(&mut row.name);
        }
        self.book.set_name(name);
        Ok(())
    }

    /// Stores the changed book, unless it could not be read again.
    pub(super) fn keep(
        self,
        store: &mut WriteTransaction<'_>,
        now: domain::Timestamp,
    ) -> Result<ApiResult<()>, StoreError> {
        let too_much = |why: String| {
            bad_input(
                format!("The lorebook cannot be saved: {why}."),
                "Shorten it.",
            )
        };
        match self.place {
            BookLocation::Library(row) => {
                let json = self.book.to_value().to_string();
                if let Err(error) = Book::read(json.as_bytes()) {
                    return Ok(Err(too_much(error.to_string())));
                }
                store.lorebooks_mut().update(&store::Lorebook {
                    json,
                    updated: now,
                    ..row
                })?;
            }
            BookLocation::Card(character, mut card) => {
                // A book in a card is always stored in the format of cards.
                if let serde_json::Value::Object(raw) = self.book.to_value() {
                    card.set_character_book(raw);
                }
                let card_json = card.to_json();
                if let Err(error) = Card::from_json(card_json.as_bytes()) {
                    return Ok(Err(too_much(error.to_string())));
                }
                store.characters_mut().update(&Character {
                    card_json,
                    updated: now,
                    ..character
                })?;
            }
        }
        Ok(Ok(()))
    }

    pub(super) fn summary(&self, bindings: &[Binding]) -> LorebookSummary {
        let (id, character, character_name, enabled) = match &self.place {
            BookLocation::Library(row) => (row.id, None, String::new(), row.enabled),
            BookLocation::Card(one, _) => {
                (LorebookId(one.id.0), Some(one.id), one.name.clone(), true)
            }
        };
        LorebookSummary {
            id,
            name: self.name(),
            character,
            character_name,
            description: self.book.description().to_owned(),
            entry_count: u32::try_from(self.book.entries.len()).unwrap_or(u32::MAX),
            enabled,
            bindings: bindings.iter().map(in_words).collect(),
        }
    }

    pub(super) fn whole(&self, bindings: &[Binding]) -> Lorebook {
        let book = &self.book;
        Lorebook {
            about: self.summary(bindings),
            fields: LorebookFields {
                name: self.name(),
                description: book.description().to_owned(),
                scan_depth: shown(book.scan_depth()),
                token_budget: shown(book.token_budget()),
                recursive_scanning: book.recursive_scanning(),
            },
            entries: entries::shown(book),
            unread: self.unread.iter().map(ToString::to_string).collect(),
        }
    }
}

/// Finds the library's book with this id, or the book in the card of the character with this id.
pub(super) fn find(
    store: &ReadTransaction<'_>,
    id: LorebookId,
) -> Result<ApiResult<StoredBook>, StoreError> {
    if let Some(row) = store.lorebooks().get(id)? {
        return Ok(StoredBook::in_library(row));
    }
    let Some(character) = store.characters().get(CharacterId(id.0))? else {
        return Ok(Err(not_found("lorebook")));
    };
    Ok(StoredBook::in_card(character).and_then(|found| found.ok_or_else(|| not_found("lorebook"))))
}

/// Names of the library's books, except for one.
pub(super) fn taken(
    store: &ReadTransaction<'_>,
    but: Option<LorebookId>,
) -> Result<Vec<String>, StoreError> {
    let names = store
        .lorebooks()
        .names()?
        .into_iter()
        .filter(|(id, _)| Some(*id) != but);
    Ok(names.map(|(_, name)| name).collect())
}

/// Returns `name`, with a number if it is taken.
pub(crate) fn free_name(name: &str, taken: &[impl AsRef<str>]) -> String {
    let is_free = |name: &String| taken.iter().all(|known| known.as_ref() != name);
    let numbered = (2..).map(|number: u32| format!("{name} ({number})"));
    std::iter::once(name.to_owned())
        .chain(numbered)
        .find(is_free)
        .unwrap_or_default()
}

pub(super) fn checked(name: &str) -> ApiResult<String> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > MAX_NAME {
        let hint = format!("Write 1 to {MAX_NAME} characters.");
        return Err(bad_input(
            "The name of the lorebook is empty or too long.",
            hint,
        ));
    }
    Ok(name.to_owned())
}

pub(super) fn of_a_card(what: &str) -> crate::api::ApiError {
    let message = format!("This lorebook is part of a card and cannot be {what}.");
    bad_input(
        message,
        "Export it, then import the file: that makes a lorebook of its own.",
    )
}

pub(super) fn summarised(
    summary: impl FnOnce() -> Option<LorebookSummary>,
) -> Option<LorebookSummary> {
    panics::or_plain("a row of the lorebooks", summary, || None)
}

/// Maximum length of a book's name, in characters.
pub(super) const MAX_NAME: usize = 200;

/// Limits a number to the range of the API type.
pub(crate) fn shown(number: Option<i64>) -> Option<i32> {
    number.map(|number| number.clamp(i32::MIN.into(), i32::MAX.into()) as i32)
}

pub(super) fn in_words(binding: &Binding) -> LorebookBinding {
    match binding {
        Binding::Global => LorebookBinding::Global,
        Binding::Character(id) => LorebookBinding::Character { id: *id },
        Binding::Chat(id) => LorebookBinding::Chat { id: *id },
        Binding::Persona(id) => LorebookBinding::Persona { id: *id },
    }
}

pub(super) fn parsed(binding: &LorebookBinding) -> ApiResult<Binding> {
    Ok(match binding {
        LorebookBinding::Global => Binding::Global,
        LorebookBinding::Character { id } => Binding::Character(*id),
        LorebookBinding::Chat { id } => Binding::Chat(*id),
        LorebookBinding::Persona { id } => Binding::Persona(*id),
    })
}
