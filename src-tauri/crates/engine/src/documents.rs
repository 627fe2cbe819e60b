//! Texts that people attach to a chat, a character or a lorebook: taken in, listed, taken out again (S4.27). `memory::passages`
//! finds what is in them.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use domain::document::{Document, DocumentError, DocumentOwner, MAX_BYTES, MAX_FILE};
use domain::{CharacterId, DocumentId, LorebookId};
use store::{Company, StoreError};
use uuid::Uuid;

use crate::Engine;
use crate::api::{self, ApiError, Changed};
use crate::clock::rfc3339;
use crate::document_files;
use crate::error::{Answer, bad_input, not_found};
use crate::memory;
use crate::pictures::plain;
use crate::running::Place;

/// Documents of one owner. Each is searched by itself on every turn.
const MAX_DOCUMENTS: usize = 10;

impl Engine {
    /// The texts that are attached to a chat, a character or a lorebook, the oldest first.
    ///
    /// # Errors
    /// `NotFound` if that is not there.
    pub async fn list_documents(&self, owner: api::DocumentOwner) -> Answer<Vec<api::AttachedDocument>> {
        let owner = self.document_owner(owner).await?;
        let found = self.store().read(move |store| {
            let documents = store.documents().of(owner)?.into_iter();
            documents.map(|document| Ok((store.documents().count_passages(document.id)?, document))).collect()
        });
        let documents: Vec<(u32, Document)> = found.await?;
        Ok(documents.into_iter().map(|(passages, document)| shown(document, passages)).collect())
    }

    pub async fn get_document(&self, id: String) -> Answer<api::AttachedDocument> {
        let document = self.document(id.parse()?).await?;
        let id = document.id;
        let passages = self.store().read(move |store| store.documents().count_passages(id)).await?;
        Ok(shown(document, passages))
    }

    pub async fn attach_document(
        &self,
        owner: api::DocumentOwner,
        name: String,
        data: String,
    ) -> Answer<api::AttachedDocument> {
        let bytes = BASE64_STANDARD
            .decode(data)
            .map_err(|_| bad_input("The document is not base64.", "Send the file again."))?;
        self.attach_document_bytes(owner, name, bytes).await
    }

    /// Attaches a text in UTF-8, such as a Markdown file, a page of the web, an EPUB or a PDF: what of it fits the words of a turn
    /// goes with them, in the chats where its owner counts.
    ///
    /// # Errors
    /// `NotFound` without the owner; `BadInput` for a file without such a text, with more than [`MAX_BYTES`] of it, or with more
    /// than [`MAX_FILE`] in all, for one without a name or with that of another, and for more than [`MAX_DOCUMENTS`].
    pub async fn attach_document_bytes(
        &self,
        owner: api::DocumentOwner,
        name: String,
        bytes: Vec<u8>,
    ) -> Answer<api::AttachedDocument> {
        let (owner, name) = (self.document_owner(owner).await?, plain(&name));
        if name.is_empty() {
            return Err(bad_input("The document has no name.", "Give the file one: its passages are told by it."));
        }
        let size = bytes.len() as u64;
        let read = document_files::read(name.clone(), bytes).await;
        let passages = read.map_err(|error| refused(&name, &error))?;
        let count = passages.len();
        let document = Document { id: DocumentId(Uuid::now_v7()), owner, name, bytes: size, created: self.now() };
        let kept = document.clone();
        // What is there is looked at where nothing can come in between.
        let attach = self.store().write(move |store| {
            let there = store.documents().of(owner)?;
            let refusal = no_place(owner, &there, &document.name);
            if refusal.is_none() {
                store.documents_mut().insert(&document, &passages)?;
            }
            Ok(refusal)
        });
        if let Some(refusal) = attach.await? {
            return Err(refusal);
        }
        self.documents_changed(owner);
        Ok(shown(kept, count.try_into().unwrap_or(u32::MAX)))
    }

    /// Takes a document out of every later prompt at once, and out of the file with the next purge; until then it can be restored.
    ///
    /// # Errors
    /// `NotFound` if it is not there (any more); `Busy` while a reply is written that may quote it.
    pub async fn remove_document(&self, id: String) -> Answer<()> {
        let (id, now) = (id.parse::<DocumentId>()?, self.now());
        let owner = self.document(id).await?.owner;
        let places = self.places_of(owner).await?;
        self.store()
            .write(move |store| {
                store.documents_mut().soft_delete(id, now)?;
                memory::withdraw_document(store, id)
            })
            .await?;
        drop(places);
        self.documents_changed(owner);
        Ok(())
    }

    pub async fn restore_document(&self, id: String) -> Answer<()> {
        let id = id.parse::<DocumentId>()?;
        self.store().write(move |store| store.documents_mut().restore(id)).await?;
        let owner = self.document(id).await?.owner;
        self.documents_changed(owner);
        Ok(())
    }

    /// Whose documents count in such company, read at once: the chat's own, its character's, and those of the books that are bound
    /// to it; only of whom there are some.
    pub(crate) fn documents_in(
        &self,
        company: Company,
    ) -> impl Future<Output = Result<Vec<DocumentOwner>, StoreError>> + Send + use<> {
        self.store().read(move |store| {
            let bound = store.lorebooks().bound(company)?;
            let books: BTreeSet<LorebookId> = bound.into_iter().map(|book| book.id).collect();
            let own = [DocumentOwner::Chat(company.chat), DocumentOwner::Character(company.character)];
            let mut owners = Vec::new();
            for owner in own.into_iter().chain(books.into_iter().map(DocumentOwner::Lorebook)) {
                if !store.documents().of(owner)?.is_empty() {
                    owners.push(owner);
                }
            }
            Ok(owners)
        })
    }

    /// The places of all chats in which an owner may count: no reply is written there meanwhile.
    async fn places_of(&self, owner: DocumentOwner) -> Answer<Vec<Place>> {
        let chats = self.store().read(move |store| match owner {
            DocumentOwner::Chat(chat) => Ok(vec![chat]),
            DocumentOwner::Character(character) => store.chats().ids(Some(character)),
            DocumentOwner::Lorebook(_) => store.chats().ids(None),
        });
        chats.await?.into_iter().map(|chat| self.running().begin(chat)).collect()
    }

    async fn document_owner(&self, owner: api::DocumentOwner) -> Answer<DocumentOwner> {
        let book = match owner {
            api::DocumentOwner::Chat { id } => return Ok(DocumentOwner::Chat(self.chat(id.parse()?).await?.id)),
            api::DocumentOwner::Character { id } => {
                return Ok(DocumentOwner::Character(self.character(id.parse()?).await?.id));
            }
            api::DocumentOwner::Lorebook { id } => id.parse::<LorebookId>()?,
        };
        let found = self.store().read(move |store| {
            if store.lorebooks().get(book)?.is_some() {
                return Ok(Some(DocumentOwner::Lorebook(book)));
            }
            let character = store.characters().get(CharacterId(book.0))?;
            Ok(character.map(|character| DocumentOwner::Character(character.id)))
        });
        found.await?.ok_or_else(|| not_found("lorebook"))
    }

    async fn document(&self, id: DocumentId) -> Answer<Document> {
        self.store().read(move |store| store.documents().get(id)).await?.ok_or_else(|| not_found("document"))
    }

    fn documents_changed(&self, owner: DocumentOwner) {
        self.events().changed(Changed::Documents, Some(named(owner).1));
    }
}

/// What an owner is called, and its id.
fn named(owner: DocumentOwner) -> (&'static str, String) {
    match owner {
        DocumentOwner::Chat(id) => ("chat", id.to_string()),
        DocumentOwner::Character(id) => ("character", id.to_string()),
        DocumentOwner::Lorebook(id) => ("lorebook", id.to_string()),
    }
}

/// Why an owner takes no document of that name besides those that are `there`.
fn no_place(owner: DocumentOwner, there: &[Document], name: &str) -> Option<ApiError> {
    let (owner, _) = named(owner);
    if there.iter().any(|document| document.name == name) {
        let hint = "Remove that one first, or give the file another name.";
        return Some(bad_input(format!("\"{name}\" is attached to this {owner} already."), hint));
    }
    let full = format!("This {owner} has {MAX_DOCUMENTS} documents, and no {owner} has more.");
    (there.len() >= MAX_DOCUMENTS).then(|| bad_input(full, "Remove one that is not needed any more."))
}

fn refused(name: &str, error: &DocumentError) -> ApiError {
    let mib = |bytes: usize| bytes >> 20;
    let hint = match error {
        DocumentError::TooLarge { limit, .. } => format!("Attach at most {} MiB, in parts if need be.", mib(*limit)),
        DocumentError::TooMuchText => format!("Attach parts with at most {} MiB of text.", mib(MAX_BYTES)),
        DocumentError::NotText => "Save it as plain text (UTF-8), Markdown, HTML, EPUB or PDF.".to_owned(),
        DocumentError::NotABook => "Save it as PDF, EPUB, HTML or plain text.".to_owned(),
        DocumentError::Empty => "Choose another file.".to_owned(),
        DocumentError::TooManyPassages => "Attach it in parts, or with fewer headings.".to_owned(),
        DocumentError::Unpacked { .. } => {
            format!("A book may have {} MiB, but not unpack to so much.", mib(MAX_FILE))
        }
        DocumentError::CopyProtected => "Use an edition without copy protection (DRM).".to_owned(),
        DocumentError::Locked => "Open it with its password, and save it without one.".to_owned(),
        DocumentError::OnlyPictures => {
            "Let a program for text recognition (OCR) read it, and attach what it saves.".to_owned()
        }
        DocumentError::Archive(_)
        | DocumentError::DamagedBook { .. }
        | DocumentError::DamagedPdf
        | DocumentError::TooSlow
        | DocumentError::Unreadable => "Get the file anew, or save it as plain text.".to_owned(),
    };
    bad_input(format!("\"{name}\" cannot be attached: {error}."), hint)
}

fn shown(document: Document, passages: u32) -> api::AttachedDocument {
    let owner = match document.owner {
        DocumentOwner::Chat(id) => api::DocumentOwner::Chat { id: id.to_string() },
        DocumentOwner::Character(id) => api::DocumentOwner::Character { id: id.to_string() },
        DocumentOwner::Lorebook(id) => api::DocumentOwner::Lorebook { id: id.to_string() },
    };
    api::AttachedDocument {
        id: document.id.to_string(),
        owner,
        name: document.name,
        bytes: document.bytes.try_into().unwrap_or(u32::MAX),
        passages,
        created: rfc3339(document.created),
    }
}
