//! Copies of characters.

use domain::document::{Document, DocumentOwner};
use domain::lorebook::Binding;
use domain::settings::Owner;
use domain::{CharacterId, DocumentId};
use store::{Character, FolderKind, StoreError, WriteTransaction};
use uuid::Uuid;

use crate::api;
use crate::base::error::{ApiResult, not_found};
use crate::library::characters::shown;
use crate::library::handle::Library;

impl Library {
    /// Copies a character with its pictures, files, documents, settings, folder, persona and links to lorebooks, but
    /// without chats, memories and earlier versions. The copy has the same name, because prompts contain it.
    ///
    /// # Errors
    /// `NotFound`.
    pub(crate) async fn duplicate_character(&self, id: String) -> ApiResult<api::Character> {
        let (from, to, now) = (id.parse::<CharacterId>()?, CharacterId(Uuid::now_v7()), self.base().now());
        let copy = self.base().store().write(move |store| {
            let Some(original) = store.characters().get(from)? else { return Ok(None) };
            let copy = Character { id: to, created: now, updated: now, ..original };
            store.characters_mut().insert(&copy)?;
            copy_belongings(store, from, to)?;
            Ok(Some(copy))
        });
        let copy = copy.await?.ok_or_else(|| not_found("character"))?;
        self.library_changed();
        shown(&copy)
    }
}

fn copy_belongings(store: &mut WriteTransaction<'_>, from: CharacterId, to: CharacterId) -> Result<(), StoreError> {
    for file in store.card_files().of(from)? {
        store.card_files_mut().put(to, &file.path, file.asset)?;
    }
    for (key, value) in store.scoped_settings().of(Owner::Character(from))? {
        store.scoped_settings_mut().set(Owner::Character(to), &key, &value)?;
    }
    let bound = store.lorebooks().bindings()?;
    for book in bound.iter().filter(|(_, all)| all.contains(&Binding::Character(from))).map(|(book, _)| *book) {
        store.lorebooks_mut().add_binding(book, Binding::Character(to))?;
    }
    for document in store.documents().of(DocumentOwner::Character(from))? {
        let passages = store.documents().beginning(document.id, u32::MAX)?;
        let (id, owner) = (DocumentId(Uuid::now_v7()), DocumentOwner::Character(to));
        store.documents_mut().insert(&Document { id, owner, ..document }, &passages)?;
    }
    let persona = store.bound_personas().of(from)?;
    store.bound_personas_mut().set(to, persona)?;
    store.folders_mut().move_next_to(FolderKind::Character, to.0, from.0)
}
