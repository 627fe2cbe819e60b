//! What is near a question by its meaning besides messages: memories, passages of documents, entries of lorebooks (S4.63). Below
//! [`NEAR`] nothing is: a question that nothing fits gets nothing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use context::similarity::Rows;
use local::Embedding;
use store::{Among, Read, StoreError, VectorRevision};
use tokio::sync::OnceCell;

use crate::Engine;
use crate::collect::Collected;

/// Groups whose vectors stay in memory: those of ten thousand memories are 4 MiB.
const GROUPS: usize = 32;
/// The cosine from which on something is about the question. Sentences that have nothing to do with each other stay below 0.2.
const NEAR: f32 = 0.3;
/// What a turn tells that the encoder did not help.
const LEXICAL: &str = "Memory: by words only, the model that understands them did not answer in time.";

/// A question as the encoder understands it, and which encoder that is.
pub(crate) type Understood = Arc<(Embedding, String)>;

/// This turn's question, understood once, where something needs it.
#[derive(Default)]
pub(crate) struct Asked(OnceCell<(Option<Understood>, Option<String>)>);

impl Asked {
    /// Why words alone had to do.
    pub(crate) fn notice(&self) -> Option<&String> {
        self.0.get().and_then(|(_, notice)| notice.as_ref())
    }
}

impl Engine {
    /// This turn's question as the encoder understands it; `None` without an encoder, and where it was not in time.
    pub(crate) async fn understood(&self, collected: &Collected) -> Option<Understood> {
        let understand = || async {
            let (understood, failed) = self.meaning(&super::plain_words(collected)).await;
            (understood.map(Arc::new), failed.then(|| LEXICAL.to_owned()))
        };
        collected.asked.0.get_or_init(understand).await.0.clone()
    }

    /// [`Self::understood`], if there is anything among `groups` that it can be compared with.
    pub(crate) async fn understood_for(&self, collected: &Collected, groups: Vec<Among>) -> Option<Understood> {
        self.reading().encoder()?;
        let known = move |store: &Read<'_>| {
            let known = groups.iter().map(|among| Ok(store.meanings().revision(*among)?.passages > 0));
            Ok(known.collect::<Result<Vec<bool>, StoreError>>()?.into_iter().any(|known| known))
        };
        match self.store().read(known).await {
            Ok(true) => self.understood(collected).await,
            _ => None,
        }
    }
}

/// The vectors of one group, as of one revision.
struct Group {
    revision: VectorRevision,
    owners: Vec<i64>,
    rows: Rows,
}

/// Groups that were looked at lately, the latest last.
#[derive(Default)]
pub(crate) struct NearCache {
    groups: Mutex<Vec<(Among, Arc<Group>)>>,
}

impl NearCache {
    /// Numbers of what is near enough, the nearest first, each with its cosine.
    pub(crate) fn near(
        &self,
        store: &Read<'_>,
        among: Among,
        understood: &Understood,
    ) -> Result<Vec<(i64, f32)>, StoreError> {
        let (asked, model) = &**understood;
        let group = self.of(store, among, model)?;
        let mut best: HashMap<i64, f32> = HashMap::new();
        for (owner, cosine) in group.owners.iter().zip(group.rows.products(&asked.mean)) {
            let known = best.entry(*owner).or_insert(cosine);
            *known = known.max(cosine);
        }
        let mut near: Vec<(i64, f32)> = best.into_iter().filter(|(_, cosine)| *cosine >= NEAR).collect();
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        Ok(near)
    }

    fn of(&self, store: &Read<'_>, among: Among, model: &str) -> Result<Arc<Group>, StoreError> {
        let revision = store.meanings().revision(among)?;
        let group = match self.take(among) {
            Some(known) if known.revision == revision => known,
            _ => Arc::new(read(store, among, model, revision)?),
        };
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        if groups.len() >= GROUPS {
            groups.remove(0);
        }
        groups.push((among, Arc::clone(&group)));
        Ok(group)
    }

    fn take(&self, among: Among) -> Option<Arc<Group>> {
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        let place = groups.iter().position(|(known, _)| *known == among)?;
        Some(groups.remove(place).1)
    }
}

fn read(store: &Read<'_>, among: Among, model: &str, revision: VectorRevision) -> Result<Group, StoreError> {
    let mut group = Group { revision, owners: Vec::new(), rows: Rows::default() };
    for meant in store.meanings().of(among, model)? {
        group.owners.push(meant.owner);
        group.rows.push(&meant.vector, meant.scale);
    }
    Ok(group)
}

#[cfg(test)]
mod tests {
    use store::Store;

    use super::*;

    /// What the cache knows is what the store has: what is new is found, and what is gone is not.
    #[tokio::test]
    async fn what_is_near_enough_is_found_and_nothing_else() {
        let store = Store::in_memory().unwrap();
        let (entry, book) =
            (|uid: &str| store::LoreEntry { uid: uid.into(), text: uid.into() }, domain::LorebookId(uuid::Uuid::nil()));
        let among = Among::Entries(book);
        let asked: Understood = Arc::new((
            Embedding { mean: vec![1.0, 0.0], tokens: Vec::new(), vectors: Vec::new() },
            "encoder".to_owned(),
        ));
        let cache = Arc::new(NearCache::default());
        let near = async || {
            let (cache, asked) = (Arc::clone(&cache), Arc::clone(&asked));
            let near = store.read(move |store| cache.near(store, among, &asked)).await.unwrap();
            near.into_iter().map(|(number, cosine)| (number, (cosine * 10.0).round() as i32)).collect::<Vec<_>>()
        };
        assert!(near().await.is_empty());
        store.write(move |w| w.meanings_mut().put_entries(book, &[entry("1"), entry("2"), entry("3")])).await.unwrap();
        for thing in store.read(|r| r.meanings().unread(9)).await.unwrap() {
            // At 0, at 45 and at 90 degrees.
            let vector = match thing.text.as_str() {
                "1" => (vec![127, 0], 1.0 / 127.0),
                "2" => (vec![90, 90], 1.0 / 127.0),
                _ => (vec![0, 127], 1.0 / 127.0),
            };
            store.write(move |w| w.meanings_mut().keep(&thing, "encoder", &[vector])).await.unwrap();
        }
        assert_eq!(near().await, [(1, 10), (2, 7)]);
        store.write(move |w| w.meanings_mut().put_entries(book, &[entry("2")])).await.unwrap();
        assert_eq!(near().await, [(2, 7)]);
    }
}
