//! What stands around a chat, whatever is said in it.

use std::collections::BTreeSet;

use domain::LorebookId;
use domain::document::DocumentOwner;
use store::{BoundLorebook, Company, Read, StoreError};

#[derive(Default)]
pub(crate) struct Around {
    /// The books that count in it.
    pub(crate) bound: Vec<BoundLorebook>,
    /// Whose documents count in it: its own, its character's, and those of these books; only of whom there are some. `None`
    /// where they could not be read, which stops no turn.
    pub(crate) documents: Option<Vec<DocumentOwner>>,
}

impl Around {
    pub(crate) fn read(store: &Read<'_>, company: Company) -> Result<Self, StoreError> {
        let bound = store.lorebooks().bound(company)?;
        let documents = with_documents(store, company, &bound);
        let documents = documents.inspect_err(|error| tracing::warn!(?error, "documents could not be read")).ok();
        Ok(Self { bound, documents })
    }
}

fn with_documents(
    store: &Read<'_>,
    company: Company,
    bound: &[BoundLorebook],
) -> Result<Vec<DocumentOwner>, StoreError> {
    let books: BTreeSet<LorebookId> = bound.iter().map(|book| book.id).collect();
    let own = [DocumentOwner::Chat(company.chat), DocumentOwner::Character(company.character)];
    let mut owners = Vec::new();
    for owner in own.into_iter().chain(books.into_iter().map(DocumentOwner::Lorebook)) {
        if !store.documents().of(owner)?.is_empty() {
            owners.push(owner);
        }
    }
    Ok(owners)
}
