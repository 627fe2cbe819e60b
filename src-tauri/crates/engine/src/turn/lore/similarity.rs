//! Finds lorebook entries that are marked as `vectorized` by meaning. Their keys keep working.

use domain::LorebookId;
use store::{EmbeddingGroup, ReadTransaction, StoreError};

use crate::turn::inputs::turn_inputs::TurnInputs;
use crate::turn::lore::LoreActivation;

/// Maximum number of such entries per turn.
const NEAREST: usize = 5;

/// An entry that matches the turn by meaning.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NearEntry {
    /// Name of the book in prompts.
    pub(crate) book: String,
    pub(crate) uid: String,
    /// Cosine similarity.
    pub(crate) nearness: f32,
}

impl LoreActivation {
    /// The most similar entries of `books` above the threshold. Without the encoder there are none,
    /// and the turn continues.
    pub(crate) async fn near_entries(
        &self,
        inputs: &TurnInputs,
        books: &[(LorebookId, String)],
    ) -> Vec<NearEntry> {
        let groups: Vec<EmbeddingGroup> = books
            .iter()
            .map(|(id, _)| EmbeddingGroup::Entries(*id))
            .collect();
        let Some(understood) = self
            .recall_service()
            .understood_for(&inputs.recall_query(), groups)
            .await
        else {
            return Vec::new();
        };
        let books = books.to_vec();
        let cache = self.recall_service().reading().near();
        let find = move |store: &ReadTransaction<'_>| {
            let mut near = Vec::new();
            for (id, name) in &books {
                for (number, nearness) in
                    cache.near(store, EmbeddingGroup::Entries(*id), &understood, NEAREST)?
                {
                    let uid = store.item_embeddings().entry(number)?;
                    near.extend(uid.map(|uid| NearEntry {
                        book: name.clone(),
                        uid,
                        nearness,
                    }));
                }
            }
            Ok::<_, StoreError>(near)
        };
        let mut near = self
            .base()
            .store()
            .read(find)
            .await
            .unwrap_or_else(|error| {
                tracing::warn!(?error, "the search for lorebook entries by meaning failed");
                Vec::new()
            });
        near.sort_by(|a, b| b.nearness.total_cmp(&a.nearness));
        near.truncate(NEAREST);
        near
    }
}
