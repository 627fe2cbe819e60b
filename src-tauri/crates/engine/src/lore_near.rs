//! Entries that are marked as `vectorized` are found by their meaning too; their keys keep working (formats.md, 1.4.1).

use domain::LorebookId;
use store::{Among, Read, StoreError};

use crate::Engine;
use crate::collect::Collected;

/// Entries of one turn at the most.
const NEAREST: usize = 5;

/// An entry that this turn is about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NearEntry {
    /// As prompts call the book.
    pub(crate) book: String,
    pub(crate) uid: String,
    /// The cosine of their meanings.
    pub(crate) nearness: f32,
}

impl Engine {
    /// The nearest entries of `books`, if any is near enough. Without the encoder there is none, and a turn goes on.
    pub(crate) async fn near_entries(&self, collected: &Collected, books: &[(LorebookId, String)]) -> Vec<NearEntry> {
        let groups: Vec<Among> = books.iter().map(|(id, _)| Among::Entries(*id)).collect();
        let Some(understood) = self.understood_for(collected, groups).await else { return Vec::new() };
        let (books, cache) = (books.to_vec(), self.reading().near());
        let find = move |store: &Read<'_>| {
            let mut near = Vec::new();
            for (id, name) in &books {
                for (number, nearness) in cache.near(store, Among::Entries(*id), &understood, NEAREST)? {
                    let uid = store.meanings().entry(number)?;
                    near.extend(uid.map(|uid| NearEntry { book: name.clone(), uid, nearness }));
                }
            }
            Ok::<_, StoreError>(near)
        };
        let mut near = self.store().read(find).await.unwrap_or_else(|error| {
            tracing::warn!(?error, "no entry could be found by its meaning");
            Vec::new()
        });
        near.sort_by(|a, b| b.nearness.total_cmp(&a.nearness));
        near.truncate(NEAREST);
        near
    }
}
