//! Keeps the vectors of memories, passages and entries in memory, and searches them.

use std::sync::{Arc, Mutex, PoisonError};

use recall::query_embedding::Understood;
use recall::similarity::VectorRows;
use recall::weights::memories;
use store::{EmbeddingGroup, ReadTransaction, StoreError, VectorRevision};

/// Number of groups whose vectors stay in memory. Those of ten thousand memories take 4 MiB.
pub(crate) const GROUPS: usize = 32;

/// The vectors of one group at one revision.
pub(crate) struct VectorGroup {
    pub(crate) revision: VectorRevision,
    /// The encoder that made them.
    model: String,
    /// The parts of one owner are adjacent.
    pub(crate) owners: Vec<i64>,
    pub(crate) rows: VectorRows,
}

/// Recently searched groups, the latest last.
#[derive(Default)]
pub(crate) struct NearCache {
    pub(crate) groups: Mutex<Vec<(EmbeddingGroup, Arc<VectorGroup>)>>,
}

impl NearCache {
    /// Whether a cached group of these has vectors.
    pub(crate) fn knows_some(&self, groups: &[EmbeddingGroup]) -> bool {
        let known = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        known
            .iter()
            .any(|(among, group)| groups.contains(among) && !group.rows.is_empty())
    }

    /// The numbers of the `count` nearest owners with their cosine similarity, nearest first. An
    /// owner with several parts has the similarity of its nearest part. Anything below
    /// [`memories::MIN_SIMILARITY`] is left out.
    pub(crate) fn near(
        &self,
        store: &ReadTransaction<'_>,
        among: EmbeddingGroup,
        understood: &Understood,
        count: usize,
    ) -> Result<Vec<(i64, f32)>, StoreError> {
        let group = self.of(store, among, &understood.model)?;
        let mut near: Vec<(i64, f32)> = Vec::new();
        for (owner, cosine) in group
            .owners
            .iter()
            .zip(group.rows.products(&understood.embedding.mean))
        {
            match near.last_mut().filter(|(last, _)| last == owner) {
                Some((_, known)) => *known = known.max(cosine),
                None => near.push((*owner, cosine)),
            }
        }
        near.retain(|(_, cosine)| *cosine >= memories::MIN_SIMILARITY);
        let nearer = |a: &(i64, f32), b: &(i64, f32)| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0));
        if near.len() > count {
            near.select_nth_unstable_by(count, nearer);
            near.truncate(count);
        }
        near.sort_unstable_by(nearer);
        Ok(near)
    }

    pub(crate) fn of(
        &self,
        store: &ReadTransaction<'_>,
        among: EmbeddingGroup,
        model: &str,
    ) -> Result<Arc<VectorGroup>, StoreError> {
        let revision = store.item_embeddings().revision(among)?;
        let group = match self.take(among) {
            Some(known) if known.revision == revision && known.model == model => known,
            _ => Arc::new(read(store, among, model, revision)?),
        };
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        if groups.len() >= GROUPS {
            groups.remove(0);
        }
        groups.push((among, Arc::clone(&group)));
        Ok(group)
    }

    pub(crate) fn take(&self, among: EmbeddingGroup) -> Option<Arc<VectorGroup>> {
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        let place = groups.iter().position(|(known, _)| *known == among)?;
        Some(groups.remove(place).1)
    }
}

pub(crate) fn read(
    store: &ReadTransaction<'_>,
    among: EmbeddingGroup,
    model: &str,
    revision: VectorRevision,
) -> Result<VectorGroup, StoreError> {
    let mut group = VectorGroup {
        revision,
        model: model.to_owned(),
        owners: Vec::new(),
        rows: VectorRows::default(),
    };
    for meant in store.item_embeddings().of(among, model)? {
        group.owners.push(meant.owner);
        group.rows.push(&meant.vector, meant.scale);
    }
    Ok(group)
}

#[cfg(test)]
mod tests {
    use domain::embedding::Embedding;
    use recall::query_embedding::QueryEmbedding;
    use store::Store;

    use super::*;

    /// The cache follows the store: new vectors are found, removed ones are not.
    #[tokio::test]
    async fn finds_only_vectors_above_the_threshold() {
        let store = Store::in_memory().unwrap();
        let entry = |uid: &str| store::LoreEntryText {
            uid: uid.into(),
            text: uid.into(),
        };
        let book = domain::LorebookId(uuid::Uuid::nil());
        let among = EmbeddingGroup::Entries(book);
        let embedding = Embedding {
            mean: vec![1.0, 0.0],
            tokens: Vec::new(),
            vectors: Vec::new(),
        };
        let other = Arc::new(QueryEmbedding::new(embedding.clone(), "another encoder"));
        let asked = Arc::new(QueryEmbedding::new(embedding, "encoder"));
        let cache = Arc::new(NearCache::default());
        let near = async || {
            let cache = Arc::clone(&cache);
            let asked = Arc::clone(&asked);
            let near = store
                .read(move |store| cache.near(store, among, &asked, 9))
                .await
                .unwrap();
            near.into_iter()
                .map(|(number, cosine)| (number, (cosine * 10.0).round() as i32))
                .collect::<Vec<_>>()
        };
        assert!(near().await.is_empty());
        store
            .write(move |w| {
                w.item_embeddings_mut()
                    .put_entries(book, &[entry("1"), entry("2"), entry("3")])
            })
            .await
            .unwrap();
        for thing in store.read(|r| r.item_embeddings().queued(9)).await.unwrap() {
            // At 0, 45 and 90 degrees to the question.
            let vector = match thing.text.as_str() {
                "1" => (vec![127, 0], 1.0 / 127.0),
                "2" => (vec![90, 90], 1.0 / 127.0),
                _ => (vec![0, 127], 1.0 / 127.0),
            };
            store
                .write(move |w| w.item_embeddings_mut().keep(&thing, "encoder", &[vector]))
                .await
                .unwrap();
        }
        assert_eq!(near().await, [(1, 10), (2, 7)]);
        let known = Arc::clone(&cache);
        let of_other = Arc::clone(&other);
        let near_other = store
            .read(move |store| known.near(store, among, &of_other, 9))
            .await
            .unwrap();
        assert!(
            near_other.is_empty(),
            "vectors of another encoder are never compared"
        );
        assert_eq!(near().await, [(1, 10), (2, 7)]);
        store
            .write(move |w| w.item_embeddings_mut().put_entries(book, &[entry("2")]))
            .await
            .unwrap();
        assert_eq!(near().await, [(2, 7)]);
    }
}
