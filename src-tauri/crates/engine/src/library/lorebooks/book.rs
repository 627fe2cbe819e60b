//! Lorebooks in the library and in cards. A book in a card has the id of its character.

use domain::card::Card;
use domain::lorebook::{Binding, Book, Skipped};
use domain::{CharacterId, LorebookId};
use store::{
    BoundLorebook, Character, ChatParticipants, ReadTransaction, StoreError, WriteTransaction,
};
use uuid::Uuid;

use crate::api::{
    Changed, Lorebook, LorebookBinding, LorebookFields, LorebookFormat, LorebookSummary,
};
use crate::base::error::{ApiResult, bad_input, internal, not_found};
use crate::base::panics;
use crate::library::characters::cards::{Exported, card_of, file_name};
use crate::library::characters::duplicate::copy_name;
use crate::library::lorebooks::{Lorebooks, entries};

/// Maximum length of a book's name, in characters.
const MAX_NAME: usize = 200;

/// A book and where it is stored.
pub(crate) struct StoredBook {
    place: BookLocation,
    pub(crate) book: Book,
    unread: Vec<Skipped>,
}

/// The place where a book is stored.
enum BookLocation {
    Library(store::Lorebook),
    Card(Character, Box<Card>),
}

fn summarised(summary: impl FnOnce() -> Option<LorebookSummary>) -> Option<LorebookSummary> {
    panics::or_plain("a row of the lorebooks", summary, || None)
}

impl Lorebooks {
    /// Starts to read the books that are bound in such a chat.
    pub(crate) fn bound_in(
        &self,
        company: ChatParticipants,
    ) -> impl Future<Output = Result<Vec<BoundLorebook>, StoreError>> + Send + use<> {
        self.base()
            .store()
            .read(move |store| store.lorebooks().bound(company))
    }

    /// Lists the library's books by name, then the books in cards by the names of their characters.
    pub(crate) async fn list_lorebooks(&self) -> ApiResult<Vec<LorebookSummary>> {
        let (own, bindings, characters) = self
            .base()
            .store()
            .read(|store| {
                let books = store.lorebooks();
                Ok((
                    books.list()?,
                    books.bindings()?,
                    store.characters().with_lorebooks()?,
                ))
            })
            .await?;
        let own = own.into_iter().filter_map(|row| {
            let bindings = bindings.get(&row.id).map(Vec::as_slice).unwrap_or_default();
            // An unreadable book must not hide the others.
            summarised(|| Some(StoredBook::in_library(row).ok()?.summary(bindings)))
        });
        let of_cards = characters
            .into_iter()
            .filter_map(|one| summarised(|| Some(StoredBook::in_card(one).ok()??.summary(&[]))));
        Ok(own.chain(of_cards).collect())
    }

    /// Returns a book of either kind.
    ///
    /// # Errors
    /// `NotFound` if there is no such book, and no character with this id whose card has a book.
    pub(crate) async fn get_lorebook(&self, id: String) -> ApiResult<Lorebook> {
        let id = id.parse::<LorebookId>()?;
        let (found, bindings) = self
            .base()
            .store()
            .read(move |store| Ok((find(store, id)?, store.lorebooks().bindings_of(id)?)))
            .await?;
        Ok(found?.whole(&bindings))
    }

    /// Creates a book without entries and bindings.
    pub(crate) async fn create_lorebook(&self, name: String) -> ApiResult<Lorebook> {
        let name = checked(&name)?;
        let json = Book::new(&name).to_value().to_string();
        let row = self.add_lorebook(name, json, None, Vec::new()).await?;
        self.get_lorebook(row.id.to_string()).await
    }

    /// Changes the properties of a book. Names in the library are unique.
    pub(crate) async fn update_lorebook(
        &self,
        id: String,
        fields: LorebookFields,
    ) -> ApiResult<Lorebook> {
        let name = checked(&fields.name)?;
        self.change_lorebook(id.clone(), move |found, taken| {
            found.rename(&name, taken)?;
            let book = &mut found.book;
            book.set_description(&fields.description);
            if fields.scan_depth != shown(book.scan_depth()) {
                book.set_scan_depth(fields.scan_depth.map(i64::from));
            }
            if fields.token_budget != shown(book.token_budget()) {
                book.set_token_budget(fields.token_budget.map(i64::from));
            }
            book.set_recursive_scanning(fields.recursive_scanning);
            Ok(())
        })
        .await?;
        self.get_lorebook(id).await
    }

    /// Copies a book of either kind into a book of the library with a name of its own. The copy
    /// applies nowhere until it is bound, because two books with the same entries would both be
    /// sent.
    ///
    /// # Errors
    /// `NotFound` if there is no such book; `BadInput` if it is too large.
    pub(crate) async fn duplicate_lorebook(&self, id: String) -> ApiResult<Lorebook> {
        let mut found = self.lorebook(id).await?;
        let known = self.base().store().read(|store| taken(store, None)).await?;
        let name = copy_name(&found.name(), &known);
        found.book.set_name(&name);
        let json = found.book.to_value().to_string();
        Book::read(json.as_bytes()).map_err(|error| {
            bad_input(
                format!("The lorebook cannot be copied: {error}."),
                "Shorten it.",
            )
        })?;
        let row = self.add_lorebook(name, json, None, Vec::new()).await?;
        self.get_lorebook(row.id.to_string()).await
    }

    /// Enables or disables a book of the library.
    pub(crate) async fn enable_lorebook(&self, id: String, enabled: bool) -> ApiResult<Lorebook> {
        self.change_lorebook(id.clone(), move |found, _| match &mut found.place {
            BookLocation::Library(row) => {
                row.enabled = enabled;
                Ok(())
            }
            BookLocation::Card(..) => Err(of_a_card("switched off")),
        })
        .await?;
        if !enabled {
            let book = id.parse::<LorebookId>()?;
            self.base()
                .store()
                .write(move |store| crate::base::records::retraction::withdraw_book(store, book))
                .await?;
        }
        self.get_lorebook(id).await
    }

    /// Replaces the bindings of a book of the library.
    pub(crate) async fn bind_lorebook(
        &self,
        id: String,
        bindings: Vec<LorebookBinding>,
    ) -> ApiResult<Lorebook> {
        let bindings = bindings
            .iter()
            .map(parsed)
            .collect::<ApiResult<Vec<Binding>>>()?;
        let book = id.parse::<LorebookId>()?;
        let bound = self
            .base()
            .store()
            .write(move |store| match find(store, book)? {
                Ok(StoredBook {
                    place: BookLocation::Library(_),
                    ..
                }) => {
                    store.lorebooks_mut().bind(book, &bindings)?;
                    // Retract the book everywhere. Chats where it still applies find its entries again.
                    Ok(Ok(crate::base::records::retraction::withdraw_book(
                        store, book,
                    )?))
                }
                Ok(_) => Ok(Err(of_a_card("bound to anything else"))),
                Err(error) => Ok(Err(error)),
            });
        bound.await??;
        self.lorebooks_changed(Some(id.clone()));
        self.get_lorebook(id).await
    }

    /// Removes a book from all later prompts at once. A purge deletes it permanently; until then it
    /// can be restored.
    pub(crate) async fn delete_lorebook(&self, id: String) -> ApiResult<()> {
        let book = id.parse::<LorebookId>()?;
        let now = self.base().now();
        let delete = self.base().store().write(move |store| {
            crate::base::records::retraction::withdraw_book(store, book)?;
            store.lorebooks_mut().soft_delete(book, now)
        });
        delete.await?;
        self.lorebooks_changed(Some(id));
        Ok(())
    }

    pub(crate) async fn restore_lorebook(&self, id: String) -> ApiResult<()> {
        let book = id.parse::<LorebookId>()?;
        self.base()
            .store()
            .write(move |store| store.lorebooks_mut().restore(book))
            .await?;
        self.lorebooks_changed(Some(id));
        Ok(())
    }

    /// Exports a book of either kind.
    ///
    /// # Errors
    /// `NotFound` if there is no such book, and no character with this id whose card has a book.
    pub(crate) async fn export_lorebook(
        &self,
        id: String,
        format: LorebookFormat,
    ) -> ApiResult<Exported> {
        let mut found = self.lorebook(id).await?;
        let name = found.name();
        if found.book.name().is_empty() {
            found.book.set_name(&name);
        }
        let value = match format {
            LorebookFormat::Native => found.book.to_native(),
            LorebookFormat::V3 => found.book.to_lorebook_v3(),
        };
        let bytes = format!("{value:#}").into_bytes();
        Ok(Exported {
            file_name: file_name(&name, "json"),
            mime: "application/json",
            bytes,
            warnings: Vec::new(),
        })
    }

    pub(crate) async fn lorebook(&self, id: String) -> ApiResult<StoredBook> {
        let id = id.parse::<LorebookId>()?;
        self.base()
            .store()
            .read(move |store| find(store, id))
            .await?
    }

    /// Adds a book under a unique name.
    pub(crate) async fn add_lorebook(
        &self,
        name: String,
        json: String,
        source: Option<Vec<u8>>,
        bindings: Vec<Binding>,
    ) -> ApiResult<store::Lorebook> {
        let id = LorebookId(Uuid::now_v7());
        let now = self.base().now();
        let added = self.base().store().write(move |store| {
            let name = free_name(&name, &taken(store, None)?);
            let source = source
                .map(|bytes| store.assets_mut().put(&bytes, "application/json", now))
                .transpose()?;
            let row = store::Lorebook {
                id,
                name,
                json,
                source,
                enabled: true,
                created: now,
                updated: now,
            };
            store.lorebooks_mut().insert(&row)?;
            store.lorebooks_mut().bind(id, &bindings)?;
            Ok(row)
        });
        let added = added.await?;
        self.lorebooks_changed(Some(id.to_string()));
        Ok(added)
    }

    /// Changes a book of either kind in one transaction. `change` receives the names of all other
    /// books.
    pub(crate) async fn change_lorebook<T: Send + 'static>(
        &self,
        id: String,
        change: impl FnOnce(&mut StoredBook, &[String]) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let book = id.parse::<LorebookId>()?;
        let now = self.base().now();
        let changed = self.base().store().write(move |store| {
            let mut found = match find(store, book)? {
                Ok(found) => found,
                Err(error) => return Ok(Err(error)),
            };
            let answer = change(&mut found, &taken(store, Some(book))?);
            if answer.is_ok()
                && let Err(refusal) = found.keep(store, now)?
            {
                return Ok(Err(refusal));
            }
            Ok(answer)
        });
        let answer = changed.await??;
        self.lorebooks_changed(Some(id));
        Ok(answer)
    }

    pub(crate) fn lorebooks_changed(&self, id: Option<String>) {
        self.base().events().changed(Changed::Lorebooks, id);
    }
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
    fn in_card(character: Character) -> ApiResult<Option<Self>> {
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

    fn rename(&mut self, name: &str, taken: &[String]) -> ApiResult<()> {
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
    fn keep(
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

    fn summary(&self, bindings: &[Binding]) -> LorebookSummary {
        let (id, character, character_name, enabled) = match &self.place {
            BookLocation::Library(row) => (row.id.to_string(), None, String::new(), row.enabled),
            BookLocation::Card(one, _) => (
                one.id.to_string(),
                Some(one.id.to_string()),
                one.name.clone(),
                true,
            ),
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

    fn whole(&self, bindings: &[Binding]) -> Lorebook {
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
fn find(store: &ReadTransaction<'_>, id: LorebookId) -> Result<ApiResult<StoredBook>, StoreError> {
    if let Some(row) = store.lorebooks().get(id)? {
        return Ok(StoredBook::in_library(row));
    }
    let Some(character) = store.characters().get(CharacterId(id.0))? else {
        return Ok(Err(not_found("lorebook")));
    };
    Ok(StoredBook::in_card(character).and_then(|found| found.ok_or_else(|| not_found("lorebook"))))
}

/// Names of the library's books, except for one.
fn taken(store: &ReadTransaction<'_>, but: Option<LorebookId>) -> Result<Vec<String>, StoreError> {
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

fn checked(name: &str) -> ApiResult<String> {
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

fn of_a_card(what: &str) -> crate::api::ApiError {
    let message = format!("This lorebook is part of a card and cannot be {what}.");
    bad_input(
        message,
        "Export it, then import the file: that makes a lorebook of its own.",
    )
}

/// Limits a number to the range of the API type.
pub(crate) fn shown(number: Option<i64>) -> Option<i32> {
    number.map(|number| number.clamp(i32::MIN.into(), i32::MAX.into()) as i32)
}

fn in_words(binding: &Binding) -> LorebookBinding {
    match binding {
        Binding::Global => LorebookBinding::Global,
        Binding::Character(id) => LorebookBinding::Character { id: id.to_string() },
        Binding::Chat(id) => LorebookBinding::Chat { id: id.to_string() },
        Binding::Persona(id) => LorebookBinding::Persona { id: id.to_string() },
    }
}

fn parsed(binding: &LorebookBinding) -> ApiResult<Binding> {
    Ok(match binding {
        LorebookBinding::Global => Binding::Global,
        LorebookBinding::Character { id } => Binding::Character(id.parse()?),
        LorebookBinding::Chat { id } => Binding::Chat(id.parse()?),
        LorebookBinding::Persona { id } => Binding::Persona(id.parse()?),
    })
}
