//! Lorebooks in the library and in cards. A book in a card has the id of its character.

use domain::LorebookId;
use domain::lorebook::{Binding, Book};
use store::{BoundLorebook, ChatParticipants, StoreError};
use uuid::Uuid;

use crate::api::{
    Changed, Lorebook, LorebookBinding, LorebookFields, LorebookFormat, LorebookSummary,
};
use crate::base::error::{ApiResult, bad_input};
use crate::library::characters::cards::{Exported, file_name};
use crate::library::characters::duplicate::copy_name;
use crate::library::lorebooks::Lorebooks;
use crate::library::lorebooks::stored_book::{
    BookLocation, StoredBook, checked, find, free_name, of_a_card, parsed, shown, summarised, taken,
};

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
    pub(crate) async fn get_lorebook(&self, id: LorebookId) -> ApiResult<Lorebook> {
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
        self.get_lorebook(row.id).await
    }

    /// Changes the properties of a book. Names in the library are unique.
    pub(crate) async fn update_lorebook(
        &self,
        id: LorebookId,
        fields: LorebookFields,
    ) -> ApiResult<Lorebook> {
        let name = checked(&fields.name)?;
        self.change_lorebook(id, move |found, taken| {
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
    pub(crate) async fn duplicate_lorebook(&self, id: LorebookId) -> ApiResult<Lorebook> {
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
        self.get_lorebook(row.id).await
    }

    /// Enables or disables a book of the library.
    pub(crate) async fn enable_lorebook(
        &self,
        book: LorebookId,
        enabled: bool,
    ) -> ApiResult<Lorebook> {
        self.change_lorebook(book, move |found, _| match &mut found.place {
            BookLocation::Library(row) => {
                row.enabled = enabled;
                Ok(())
            }
            BookLocation::Card(..) => Err(of_a_card("switched off")),
        })
        .await?;
        if !enabled {
            self.base()
                .store()
                .write(move |store| crate::base::records::retraction::withdraw_book(store, book))
                .await?;
        }
        self.get_lorebook(book).await
    }

    /// Replaces the bindings of a book of the library.
    pub(crate) async fn bind_lorebook(
        &self,
        book: LorebookId,
        bindings: Vec<LorebookBinding>,
    ) -> ApiResult<Lorebook> {
        let bindings = bindings
            .iter()
            .map(parsed)
            .collect::<ApiResult<Vec<Binding>>>()?;
        let bound = self
            .base()
            .store()
            .write(move |store| match find(store, book)? {
                Ok(StoredBook {
                    place: BookLocation::Library(_),
                    ..
                }) => {
                    store.lorebooks_mut().bind(book, &bindings)?;
                    // Retract the book everywhere. Chats where it still applies find its entries
                    // again.
                    Ok(Ok(crate::base::records::retraction::withdraw_book(
                        store, book,
                    )?))
                }
                Ok(_) => Ok(Err(of_a_card("bound to anything else"))),
                Err(error) => Ok(Err(error)),
            });
        bound.await??;
        self.lorebooks_changed(Some(book.to_string()));
        self.get_lorebook(book).await
    }

    /// Removes a book from all later prompts at once. A purge deletes it permanently; until then it
    /// can be restored.
    pub(crate) async fn delete_lorebook(&self, book: LorebookId) -> ApiResult<()> {
        let now = self.base().now();
        let delete = self.base().store().write(move |store| {
            crate::base::records::retraction::withdraw_book(store, book)?;
            store.lorebooks_mut().soft_delete(book, now)
        });
        delete.await?;
        self.lorebooks_changed(Some(book.to_string()));
        Ok(())
    }

    pub(crate) async fn restore_lorebook(&self, book: LorebookId) -> ApiResult<()> {
        self.base()
            .store()
            .write(move |store| store.lorebooks_mut().restore(book))
            .await?;
        self.lorebooks_changed(Some(book.to_string()));
        Ok(())
    }

    /// Exports a book of either kind.
    ///
    /// # Errors
    /// `NotFound` if there is no such book, and no character with this id whose card has a book.
    pub(crate) async fn export_lorebook(
        &self,
        id: LorebookId,
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

    pub(crate) async fn lorebook(&self, id: LorebookId) -> ApiResult<StoredBook> {
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
        book: LorebookId,
        change: impl FnOnce(&mut StoredBook, &[String]) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
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
        self.lorebooks_changed(Some(book.to_string()));
        Ok(answer)
    }

    pub(crate) fn lorebooks_changed(&self, id: Option<String>) {
        self.base().events().changed(Changed::Lorebooks, id);
    }
}
