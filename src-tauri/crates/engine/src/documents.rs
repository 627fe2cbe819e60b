//! Texts that people attach to a chat: taken in, listed, taken out again (S4.27). `memory::passages` finds what is in them.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use domain::document::{self, DocumentError, MAX_BYTES, MAX_FILE};
use domain::{ChatId, DocumentId};
use uuid::Uuid;

use crate::Engine;
use crate::api::{self, ApiError, Changed};
use crate::clock::rfc3339;
use crate::document_files;
use crate::error::{Answer, bad_input, not_found};
use crate::memory;
use crate::pictures::plain;

/// Documents of one chat. Each is searched by itself on every turn.
const MAX_DOCUMENTS: usize = 10;

impl Engine {
    /// The texts that are attached to a chat, the oldest first.
    ///
    /// # Errors
    /// `NotFound` without the chat.
    pub async fn list_documents(&self, chat: String) -> Answer<Vec<api::ChatDocument>> {
        let chat = self.chat(chat.parse()?).await?.id;
        let found = self.store().read(move |store| {
            let documents = store.documents().of(chat)?.into_iter();
            documents.map(|document| Ok((store.documents().count_passages(document.id)?, document))).collect()
        });
        let documents: Vec<(u32, document::Document)> = found.await?;
        Ok(documents.into_iter().map(|(passages, document)| shown(document, passages)).collect())
    }

    pub async fn attach_document(&self, chat: String, name: String, data: String) -> Answer<api::ChatDocument> {
        let bytes = BASE64_STANDARD
            .decode(data)
            .map_err(|_| bad_input("The document is not base64.", "Send the file again."))?;
        self.attach_document_bytes(chat, name, bytes).await
    }

    /// Attaches a text in UTF-8, such as a Markdown file, a page of the web, an EPUB or a PDF: what of it fits the words of a turn
    /// goes with them.
    ///
    /// # Errors
    /// `NotFound` without the chat; `BadInput` for a file without such a text, with more than [`MAX_BYTES`] of it, or with more
    /// than [`MAX_FILE`] in all, for one without a name or with that of another, and for more than [`MAX_DOCUMENTS`].
    pub async fn attach_document_bytes(&self, chat: String, name: String, bytes: Vec<u8>) -> Answer<api::ChatDocument> {
        let (chat, name) = (self.chat(chat.parse()?).await?.id, plain(&name));
        if name.is_empty() {
            return Err(bad_input("The document has no name.", "Give the file one: its passages are told by it."));
        }
        let size = bytes.len() as u64;
        let read = document_files::read(name.clone(), bytes).await;
        let passages = read.map_err(|error| refused(&name, &error))?;
        let count = passages.len();
        let id = DocumentId(Uuid::now_v7());
        let document = document::Document { id, chat, name, bytes: size, created: self.now() };
        let kept = document.clone();
        // What is there is looked at where nothing can come in between.
        let attach = self.store().write(move |store| {
            let there = store.documents().of(chat)?;
            let refusal = no_place(&there, &document.name);
            if refusal.is_none() {
                store.documents_mut().insert(&document, &passages)?;
            }
            Ok(refusal)
        });
        if let Some(refusal) = attach.await? {
            return Err(refusal);
        }
        self.documents_changed(chat);
        Ok(shown(kept, count.try_into().unwrap_or(u32::MAX)))
    }

    /// Takes a document out of the chat and of every later prompt at once, and out of the file with the next purge; until
    /// then it can be restored.
    ///
    /// # Errors
    /// `NotFound` if it is not there (any more); `Busy` while a reply is written with what it says.
    pub async fn remove_document(&self, id: String) -> Answer<()> {
        let (id, now) = (id.parse::<DocumentId>()?, self.now());
        let chat = self.document(id).await?.chat;
        let place = self.running().begin(chat)?;
        self.store()
            .write(move |store| {
                store.documents_mut().soft_delete(id, now)?;
                memory::withdraw_document(store, id)
            })
            .await?;
        drop(place);
        self.documents_changed(chat);
        Ok(())
    }

    pub async fn restore_document(&self, id: String) -> Answer<()> {
        let id = id.parse::<DocumentId>()?;
        self.store().write(move |store| store.documents_mut().restore(id)).await?;
        let chat = self.document(id).await?.chat;
        self.documents_changed(chat);
        Ok(())
    }

    async fn document(&self, id: DocumentId) -> Answer<document::Document> {
        self.store().read(move |store| store.documents().get(id)).await?.ok_or_else(|| not_found("document"))
    }

    fn documents_changed(&self, chat: ChatId) {
        self.events().changed(Changed::Documents, Some(chat.to_string()));
    }
}

/// Why a chat takes no document of that name besides those that are `there`.
fn no_place(there: &[document::Document], name: &str) -> Option<ApiError> {
    if there.iter().any(|document| document.name == name) {
        let hint = "Remove that one first, or give the file another name.";
        return Some(bad_input(format!("\"{name}\" is attached to this chat already."), hint));
    }
    let full = format!("This chat has {MAX_DOCUMENTS} documents, and no chat has more.");
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

fn shown(document: document::Document, passages: u32) -> api::ChatDocument {
    api::ChatDocument {
        id: document.id.to_string(),
        name: document.name,
        bytes: document.bytes.try_into().unwrap_or(u32::MAX),
        passages,
        created: rfc3339(document.created),
    }
}
