//! What is near a question by its meaning besides messages: memories, passages of documents, entries of lorebooks (S4.63). Below
//! [`NEAR`] nothing is: a question that nothing fits gets nothing.

use std::sync::{Arc, Mutex, PoisonError};

use context::similarity::Rows;
use domain::ChatId;
use domain::chat::{Chat, Role};
use store::{Among, Read, StoreError, VectorRevision};
use tokio::sync::OnceCell;

use super::asking;
use super::beside::Learner;
use super::sense::{Sense, Understood};
use crate::Engine;
use crate::collect::Collected;
use crate::error::Answer;

/// Groups whose vectors stay in memory: those of ten thousand memories are 4 MiB.
const GROUPS: usize = 32;
/// The cosine from which on something is about the question. Sentences that have nothing to do with each other stay below 0.2.
const NEAR: f32 = 0.3;
/// What a turn tells that the encoder did not help.
const LEXICAL: &str = "Memory: by words only, the model that understands them did not answer in time.";
/// The same, where what was said before had been understood.
const CACHED: &str = "Memory: cached, the model that understands words did not answer in time. Messages were looked for by words \
                      only, and everything else by what was said before.";
/// Messages that are understood in advance: three exchanges (S3.32).
const IN_ADVANCE: u32 = 6;

/// This turn's question, understood once, where something needs it.
#[derive(Default)]
pub(crate) struct Asked(OnceCell<Understanding>);

#[derive(Default)]
struct Understanding {
    words: Option<Understood>,
    /// What was understood in advance, where the words were not in time.
    before: Option<Understood>,
    notice: Option<&'static str>,
}

impl Asked {
    /// Why this turn's own words did not do.
    pub(crate) fn notice(&self) -> Option<&'static str> {
        self.0.get()?.notice
    }
}

/// What the user said last in one scene of a chat, understood while nobody waited.
#[derive(Default)]
pub(super) struct InAdvance(Mutex<Option<(ChatId, Option<i64>, Understood)>>);

impl InAdvance {
    fn put(&self, chat: &Chat, understood: Understood) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((chat.id, chat.scene_after, understood));
    }

    /// Of another scene nothing is told (S3.30).
    fn of(&self, chat: &Chat) -> Option<Understood> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (id, scene, understood) = known.as_ref()?;
        (*id == chat.id && *scene == chat.scene_after).then(|| Arc::clone(understood))
    }
}

impl Engine {
    /// This turn's question as the encoder understands it; `None` without an encoder, and where it was not in time.
    pub(crate) async fn understood(&self, collected: &Collected) -> Option<Understood> {
        self.understanding(collected).await.words.clone()
    }

    /// The same, where nobody has to wait for it.
    pub(super) fn understood_at_once(&self, collected: &Collected) -> Option<Option<Understood>> {
        match self.reading().encoder() {
            Some(_) => self.reading().lately().of(&asking::plain_words(collected)).map(Some),
            None => Some(None),
        }
    }

    /// [`Self::understood`], if there is anything among `groups` that it can be compared with. Where it was not in time, what
    /// was understood in advance.
    pub(crate) async fn understood_for(&self, collected: &Collected, groups: Vec<Among>) -> Option<Understood> {
        self.reading().encoder()?;
        if !self.reading().near().knows_some(&groups) && !self.has_some(groups).await {
            return None;
        }
        let understanding = self.understanding(collected).await;
        understanding.words.as_ref().or(understanding.before.as_ref()).cloned()
    }

    async fn has_some(&self, groups: Vec<Among>) -> bool {
        let known = move |store: &Read<'_>| {
            let known = groups.iter().map(|among| Ok(store.meanings().revision(*among)?.passages > 0));
            Ok(known.collect::<Result<Vec<bool>, StoreError>>()?.into_iter().any(|known| known))
        };
        self.store().read(known).await.unwrap_or_default()
    }

    async fn understanding<'c>(&self, collected: &'c Collected) -> &'c Understanding {
        let understand = || async {
            let (words, failed) = self.meaning(&asking::plain_words(collected)).await;
            let before = if failed { self.reading().in_advance().of(&collected.chat) } else { None };
            let notice = failed.then_some(if before.is_some() { CACHED } else { LEXICAL });
            Understanding { words, before, notice }
        };
        collected.asked.0.get_or_init(understand).await
    }

    /// Understands what the user said last, for a turn whose own words are not understood in time (S3.32).
    pub(super) async fn understand_in_advance(&self, learner: &Learner) -> Answer<()> {
        let Some(encoder) = self.reading().encoder() else { return Ok(()) };
        let chat = learner.chat.id;
        let told = self.store().read(move |store| store.message_texts().told_after(chat, -1, IN_ADVANCE)).await?;
        let said = told.iter().filter(|text| text.role == Role::User).map(|text| text.text.trim());
        if let Some(understood) = encoder.understand(&said.collect::<Vec<_>>().join("\n")).await? {
            self.reading().in_advance().put(&learner.chat, Arc::new(Sense::new(understood, encoder.model())));
        }
        Ok(())
    }
}

/// The vectors of one group, as of one revision.
struct Group {
    revision: VectorRevision,
    /// Parts of one thing stand together.
    owners: Vec<i64>,
    rows: Rows,
}

/// Groups that were looked at lately, the latest last.
#[derive(Default)]
pub(crate) struct NearCache {
    groups: Mutex<Vec<(Among, Arc<Group>)>>,
}

impl NearCache {
    /// Something of these was there when it was looked at last.
    fn knows_some(&self, groups: &[Among]) -> bool {
        let known = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().any(|(among, group)| groups.contains(among) && !group.rows.is_empty())
    }

    /// Numbers of what is near enough, `count` at the most, the nearest first, each with its cosine.
    pub(crate) fn near(
        &self,
        store: &Read<'_>,
        among: Among,
        understood: &Understood,
        count: usize,
    ) -> Result<Vec<(i64, f32)>, StoreError> {
        let group = self.of(store, among, &understood.model)?;
        let mut near: Vec<(i64, f32)> = Vec::new();
        for (owner, cosine) in group.owners.iter().zip(group.rows.products(&understood.embedding.mean)) {
            match near.last_mut().filter(|(last, _)| last == owner) {
                Some((_, known)) => *known = known.max(cosine),
                None => near.push((*owner, cosine)),
            }
        }
        near.retain(|(_, cosine)| *cosine >= NEAR);
        let nearer = |a: &(i64, f32), b: &(i64, f32)| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0));
        if near.len() > count {
            near.select_nth_unstable_by(count, nearer);
            near.truncate(count);
        }
        near.sort_unstable_by(nearer);
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
    use local::Embedding;
    use store::Store;

    use super::*;

    /// What the cache knows is what the store has: what is new is found, and what is gone is not.
    #[tokio::test]
    async fn what_is_near_enough_is_found_and_nothing_else() {
        let store = Store::in_memory().unwrap();
        let (entry, book) =
            (|uid: &str| store::LoreEntry { uid: uid.into(), text: uid.into() }, domain::LorebookId(uuid::Uuid::nil()));
        let among = Among::Entries(book);
        let embedding = Embedding { mean: vec![1.0, 0.0], tokens: Vec::new(), vectors: Vec::new() };
        let asked = Arc::new(Sense::new(embedding, "encoder"));
        let cache = Arc::new(NearCache::default());
        let near = async || {
            let (cache, asked) = (Arc::clone(&cache), Arc::clone(&asked));
            let near = store.read(move |store| cache.near(store, among, &asked, 9)).await.unwrap();
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
