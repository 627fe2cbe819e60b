//! Documents that are attached to a chat, a character or a lorebook: attach, list, remove and
//! restore. `memory::passages` searches them.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use documents::{DocumentError, MAX_BYTES, MAX_FILE};
use domain::document::{Document, DocumentOwner};
use domain::{CharacterId, DocumentId, LorebookId};
use store::{ChatParticipants, StoreError};
use uuid::Uuid;

use crate::api::{self, ApiError, Changed};
use crate::base::clock::rfc3339;
use crate::base::error::{ApiResult, bad_input, not_found};
use crate::base::running::ChatReservation;
use crate::library::assets::pictures::plain;
use crate::library::documents::{Documents, files};

/// Maximum number of documents per owner. Each is searched separately on every turn.
const MAX_DOCUMENTS: usize = 10;

impl Documents {
    /// Lists the documents of a chat, a character or a lorebook, oldest first.
    ///
    /// # Errors
    /// `NotFound` if the owner does not exist.
    pub(crate) async fn list_documents(
        &self,
        owner: api::DocumentOwner,
    ) -> ApiResult<Vec<api::AttachedDocument>> {
        let owner = self.document_owner(owner).await?;
        let found = self.base().store().read(move |store| {
            let documents = store.documents().of(owner)?.into_iter();
            documents
                .map(|document| Ok((store.documents().count_passages(document.id)?, document)))
                .collect()
        });
        let documents: Vec<(u32, Document)> = found.await?;
        Ok(documents
            .into_iter()
            .map(|(passages, document)| shown(document, passages))
            .collect())
    }

    pub(crate) async fn get_document(&self, id: DocumentId) -> ApiResult<api::AttachedDocument> {
        let document = self.document(id).await?;
        let id = document.id;
        let passages = self
            .base()
            .store()
            .read(move |store| store.documents().count_passages(id))
            .await?;
        Ok(shown(document, passages))
    }

    pub(crate) async fn attach_document(
        &self,
        owner: api::DocumentOwner,
        name: String,
        data: String,
    ) -> ApiResult<api::AttachedDocument> {
        let bytes = BASE64_STANDARD
            .decode(data)
            .map_err(|_| bad_input("The document is not base64.", "Send the file again."))?;
        self.attach_document_bytes(owner, name, bytes).await
    }

    /// Attaches a UTF-8 text, such as a Markdown file, a web page, an EPUB or a PDF. Passages that
    /// match a turn are added to its prompt, in every chat where the owner applies.
    ///
    /// # Errors
    /// `NotFound` if the owner does not exist. `BadInput` if the file contains no text, more than
    /// [`MAX_BYTES`] of text or more than [`MAX_FILE`] in total, if its name is empty or already
    /// used, or if the owner has [`MAX_DOCUMENTS`].
    pub(crate) async fn attach_document_bytes(
        &self,
        owner: api::DocumentOwner,
        name: String,
        bytes: Vec<u8>,
    ) -> ApiResult<api::AttachedDocument> {
        let owner = self.document_owner(owner).await?;
        let name = plain(&name);
        if name.is_empty() {
            return Err(bad_input(
                "The document has no name.",
                "Name the file: prompts cite passages by its name.",
            ));
        }
        let size = bytes.len() as u64;
        let read = files::read(name.clone(), bytes).await;
        let passages = read.map_err(|error| refused(&name, &error))?;
        let count = passages.len();
        let document = Document {
            id: DocumentId(Uuid::now_v7()),
            owner,
            name,
            bytes: size,
            created: self.base().now(),
        };
        let kept = document.clone();
        // Check in the same transaction, so that no document is added in between.
        let attach = self.base().store().write(move |store| {
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

    /// Removes a document from all later prompts at once. The next purge deletes it from the
    /// database; until then it can be restored.
    ///
    /// # Errors
    /// `NotFound` if it does not exist; `Busy` while a reply that may quote it is being written.
    pub(crate) async fn remove_document(&self, id: DocumentId) -> ApiResult<()> {
        let now = self.base().now();
        let owner = self.document(id).await?.owner;
        let reservations = self.reservations_of(owner).await?;
        self.base()
            .store()
            .write(move |store| {
                store.documents_mut().soft_delete(id, now)?;
                crate::base::records::retraction::withdraw_document(store, id)
            })
            .await?;
        drop(reservations);
        self.documents_changed(owner);
        Ok(())
    }

    pub(crate) async fn restore_document(&self, id: DocumentId) -> ApiResult<()> {
        self.base()
            .store()
            .write(move |store| store.documents_mut().restore(id))
            .await?;
        let owner = self.document(id).await?.owner;
        self.documents_changed(owner);
        Ok(())
    }

    /// Starts to read whose documents apply in a chat: the chat, its character and its bound
    /// lorebooks. Owners without documents are left out.
    pub(crate) fn documents_in(
        &self,
        company: ChatParticipants,
    ) -> impl Future<Output = Result<Vec<DocumentOwner>, StoreError>> + Send + use<> {
        self.base().store().read(move |store| {
            let bound = store.lorebooks().bound(company)?;
            let books: BTreeSet<LorebookId> = bound.into_iter().map(|book| book.id).collect();
            let own = [
                DocumentOwner::Chat(company.chat),
                DocumentOwner::Character(company.character),
            ];
            let mut owners = Vec::new();
            for owner in own
                .into_iter()
                .chain(books.into_iter().map(DocumentOwner::Lorebook))
            {
                if !store.documents().of(owner)?.is_empty() {
                    owners.push(owner);
                }
            }
            Ok(owners)
        })
    }

    /// Reserves all chats in which an owner may apply, so that no reply is written there meanwhile.
    async fn reservations_of(&self, owner: DocumentOwner) -> ApiResult<Vec<ChatReservation>> {
        let chats = self.base().store().read(move |store| match owner {
            DocumentOwner::Chat(chat) => Ok(vec![chat]),
            DocumentOwner::Character(character) => store.chats().ids(Some(character)),
            DocumentOwner::Lorebook(_) => store.chats().ids(None),
        });
        chats
            .await?
            .into_iter()
            .map(|chat| self.base().running().begin(chat))
            .collect()
    }

    async fn document_owner(&self, owner: api::DocumentOwner) -> ApiResult<DocumentOwner> {
        let book = match owner {
            api::DocumentOwner::Chat { id } => {
                return Ok(DocumentOwner::Chat(self.chat_lookup.chat(id).await?.id));
            }
            api::DocumentOwner::Character { id } => {
                return Ok(DocumentOwner::Character(
                    self.characters.character(id).await?.id,
                ));
            }
            api::DocumentOwner::Lorebook { id } => id,
        };
        let found = self.base().store().read(move |store| {
            if store.lorebooks().get(book)?.is_some() {
                return Ok(Some(DocumentOwner::Lorebook(book)));
            }
            let character = store.characters().get(CharacterId(book.0))?;
            Ok(character.map(|character| DocumentOwner::Character(character.id)))
        });
        found.await?.ok_or_else(|| not_found("lorebook"))
    }

    async fn document(&self, id: DocumentId) -> ApiResult<Document> {
        self.base()
            .store()
            .read(move |store| store.documents().get(id))
            .await?
            .ok_or_else(|| not_found("document"))
    }

    fn documents_changed(&self, owner: DocumentOwner) {
        self.base()
            .events()
            .changed(Changed::Documents, Some(named(owner).1));
    }
}

/// Kind of an owner for messages, and its id.
fn named(owner: DocumentOwner) -> (&'static str, String) {
    match owner {
        DocumentOwner::Chat(id) => ("chat", id.to_string()),
        DocumentOwner::Character(id) => ("character", id.to_string()),
        DocumentOwner::Lorebook(id) => ("lorebook", id.to_string()),
    }
}

/// The reason why an owner cannot take a document with this name, if any.
fn no_place(owner: DocumentOwner, there: &[Document], name: &str) -> Option<ApiError> {
    let (owner, _) = named(owner);
    if there.iter().any(|document| document.name == name) {
        let hint = "Remove that one first, or give the file another name.";
        return Some(bad_input(
            format!("\"{name}\" is already attached to this {owner}."),
            hint,
        ));
    }
    let full = format!("This {owner} already has {MAX_DOCUMENTS} documents, which is the maximum.");
    (there.len() >= MAX_DOCUMENTS).then(|| bad_input(full, "Remove one that you no longer need."))
}

fn refused(name: &str, error: &DocumentError) -> ApiError {
    let mib = |bytes: usize| bytes >> 20;
    let hint = match error {
        DocumentError::TooLarge { limit, .. } => {
            format!("Attach at most {} MiB, split if necessary.", mib(*limit))
        }
        DocumentError::TooMuchText => {
            format!("Attach parts with at most {} MiB of text.", mib(MAX_BYTES))
        }
        DocumentError::NotText => {
            "Save it as plain text (UTF-8), Markdown, HTML, EPUB or PDF.".to_owned()
        }
        DocumentError::NotABook => "Save it as PDF, EPUB, HTML or plain text.".to_owned(),
        DocumentError::Empty => "Choose another file.".to_owned(),
        DocumentError::TooManyPassages => "Attach it in parts, or with fewer headings.".to_owned(),
        DocumentError::Unpacked { .. } => {
            format!(
                "Attach a smaller book. The file limit is {} MiB; unpacked text is limited too.",
                mib(MAX_FILE)
            )
        }
        DocumentError::CopyProtected => "Use an edition without copy protection (DRM).".to_owned(),
        DocumentError::Locked => "Open it with its password, and save it without one.".to_owned(),
        DocumentError::OnlyPictures => {
            "Run text recognition (OCR) on it, and attach the result.".to_owned()
        }
        DocumentError::Archive(_)
        | DocumentError::DamagedBook { .. }
        | DocumentError::DamagedPdf
        | DocumentError::TooSlow
        | DocumentError::Unreadable => {
            "Download the file again, or save it as plain text.".to_owned()
        }
    };
    bad_input(format!("\"{name}\" cannot be attached: {error}."), hint)
}

fn shown(document: Document, passages: u32) -> api::AttachedDocument {
    let owner = match document.owner {
        DocumentOwner::Chat(id) => api::DocumentOwner::Chat { id },
        DocumentOwner::Character(id) => api::DocumentOwner::Character { id },
        DocumentOwner::Lorebook(id) => api::DocumentOwner::Lorebook { id },
    };
    api::AttachedDocument {
        id: document.id,
        owner,
        name: document.name,
        bytes: document.bytes.try_into().unwrap_or(u32::MAX),
        passages,
        created: rfc3339(document.created),
    }
}
