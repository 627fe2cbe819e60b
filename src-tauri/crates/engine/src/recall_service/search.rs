//! The search over everything, by words and also by meaning.
//!
//! A search by meaning uses the embeddings that exist: of messages, memories and marked lorebook
//! entries. It embeds only the search text. If that fails, the words are searched alone.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use domain::search_query::{SearchQuery, SearchTerm};
use domain::{ChatId, SwipeId};
use recall::query_embedding::Understood;
use recall::weights::memories::MIN_SIMILARITY;
use store::{EmbeddingGroup, FoundItem, ItemKind, ReadTransaction, SearchFilter, StoreError};
use tokio::time::timeout;

use crate::api::{ItemHit, SearchGroup, SearchHit, SearchResults};
use crate::base::error::ApiResult;
use crate::library::chats::item_search::{filters_messages, group_kind, item_hit, lexical_results};
use crate::library::chats::message_search::{filter, hit};
use crate::recall_service::embeddings::vector_cache::VectorCache;
use crate::recall_service::handle::RecallService;
use crate::recall_service::messages::near_cache::NearCache;

/// Maximum time for the embedding of the search text; the encoder may have to start.
const EMBED_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of messages, and of items of each kind, that are found by meaning alone.
const BY_MEANING: usize = 20;

/// The embedded search text, and the vectors to compare it with.
struct MeaningQuery {
    asked: Understood,
    vectors: Arc<VectorCache>,
    near: Arc<NearCache>,
}

impl RecallService {
    /// Everything that matches `text`, in one chat or in all. With `meaning`, hits by meaning
    /// follow those by words.
    pub(crate) async fn search(
        &self,
        text: String,
        chat: Option<ChatId>,
        meaning: bool,
    ) -> ApiResult<SearchResults> {
        let query = SearchQuery::parse(&text);
        let can_find_meaning = self.can_find_meaning().await?;
        if query.is_empty() {
            return Ok(SearchResults {
                can_find_meaning,
                ..SearchResults::default()
            });
        }
        let wanted = if meaning && can_find_meaning {
            self.meaning_query(&query).await
        } else {
            None
        };
        let filter = filter(&query, chat, self.base().clock());
        let find = move |store: &ReadTransaction<'_>| {
            let mut results = lexical_results(store, &query, &filter)?;
            results.can_find_meaning = can_find_meaning;
            if let Some(wanted) = wanted {
                wanted.add_messages(store, &filter, &mut results)?;
                if !filters_messages(&query) {
                    wanted.add_items(store, filter.chat, &mut results)?;
                }
            }
            Ok(results)
        };
        Ok(self.base().store().read(find).await?)
    }

    /// Whether there is an encoder, and something it has embedded.
    async fn can_find_meaning(&self) -> ApiResult<bool> {
        if self.reading().encoder().is_none() {
            return Ok(false);
        }
        Ok(self
            .base()
            .store()
            .read(|store| store.vectors().any())
            .await?)
    }

    /// `None` if the search has no words, or they cannot be embedded.
    async fn meaning_query(&self, query: &SearchQuery) -> Option<MeaningQuery> {
        let encoder = self.reading().encoder()?;
        let words = query
            .terms
            .iter()
            .map(|(SearchTerm::Word(text) | SearchTerm::Phrase(text))| text.as_str());
        let words = words.collect::<Vec<_>>().join(" ");
        if words.is_empty() {
            return None;
        }
        let _guard = self.reading().ask();
        let asked = match self.reading().lately().of(&words, encoder.model()) {
            Some(known) => Some(known),
            None => match timeout(EMBED_TIMEOUT, self.understand(&encoder, &words)).await {
                Ok(Ok(asked)) => asked,
                Ok(Err(error)) => {
                    tracing::warn!(%error, "a search could not be embedded");
                    None
                }
                Err(_) => None,
            },
        };
        Some(MeaningQuery {
            asked: asked?,
            vectors: self.reading().cache(),
            near: self.reading().near(),
        })
    }
}

impl MeaningQuery {
    /// Adds the most similar messages that the words did not find.
    fn add_messages(
        &self,
        store: &ReadTransaction<'_>,
        filter: &SearchFilter,
        results: &mut SearchResults,
    ) -> Result<(), StoreError> {
        let chats = match filter.chat {
            Some(chat) => vec![chat],
            None => store.vectors().chats()?,
        };
        let mut near: Vec<(f32, (ChatId, i64))> = Vec::new();
        for chat in chats {
            let of_chat = self.vectors.similarities(store, chat, &self.asked)?;
            near.extend(
                of_chat
                    .into_iter()
                    .map(|(position, similarity)| (similarity, (chat, position))),
            );
            near = nearest(near);
        }
        let places: Vec<(ChatId, i64)> = near.into_iter().map(|(_, place)| place).collect();
        let known: HashSet<SwipeId> = results.messages.hits.iter().map(|hit| hit.swipe).collect();
        let found = store
            .message_search()
            .at(&places, filter)?
            .into_iter()
            .map(hit);
        let new = found
            .filter(|hit| !known.contains(&hit.swipe))
            .map(|hit| SearchHit {
                by_meaning: true,
                ..hit
            });
        results.messages.hits.extend(new);
        Ok(())
    }

    /// Adds the most similar memories and lorebook entries that the words did not find.
    fn add_items(
        &self,
        store: &ReadTransaction<'_>,
        chat: Option<ChatId>,
        results: &mut SearchResults,
    ) -> Result<(), StoreError> {
        let memories = self
            .near
            .near(store, EmbeddingGroup::Memories, &self.asked, BY_MEANING)?;
        let found = memories
            .iter()
            .map(|(number, _)| store.item_search().memory(*number, chat));
        add(
            ItemKind::Memory,
            found.collect::<Result<Vec<_>, _>>()?,
            results,
        );
        let mut entries: Vec<(f32, i64)> = Vec::new();
        for book in store.item_embeddings().books()? {
            let of_book = self.near.near(
                store,
                EmbeddingGroup::Entries(book),
                &self.asked,
                BY_MEANING,
            )?;
            entries.extend(
                of_book
                    .into_iter()
                    .map(|(number, similarity)| (similarity, number)),
            );
        }
        let found = nearest(entries)
            .into_iter()
            .map(|(_, number)| store.item_search().entry(number, chat));
        add(
            ItemKind::Entry,
            found.collect::<Result<Vec<_>, _>>()?,
            results,
        );
        Ok(())
    }
}

/// The most similar ones, the nearest first.
fn nearest<T>(mut near: Vec<(f32, T)>) -> Vec<(f32, T)> {
    near.retain(|(similarity, _)| *similarity >= MIN_SIMILARITY);
    near.sort_by(|one, two| two.0.total_cmp(&one.0));
    near.truncate(BY_MEANING);
    near
}

fn add(kind: ItemKind, found: Vec<Option<FoundItem>>, results: &mut SearchResults) {
    let kind = group_kind(kind);
    let known = results.groups.iter().position(|group| group.kind == kind);
    let items = known
        .map(|at| &results.groups[at].items[..])
        .unwrap_or_default();
    let is_new = |hit: &ItemHit| items.iter().all(|item| item.place != hit.place);
    let new = found
        .into_iter()
        .flatten()
        .filter_map(item_hit)
        .filter(is_new);
    let new: Vec<ItemHit> = new
        .map(|hit| ItemHit {
            by_meaning: true,
            ..hit
        })
        .collect();
    match known {
        Some(at) => results.groups[at].items.extend(new),
        None if new.is_empty() => {}
        None => {
            let group = SearchGroup {
                kind,
                items: new,
                more: false,
            };
            results.groups.push(group);
            results.groups.sort_by_key(|group| {
                ItemKind::ALL
                    .map(group_kind)
                    .iter()
                    .position(|of| *of == group.kind)
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_similar_hits_are_left_the_nearest_first() {
        assert_eq!(
            nearest(vec![(0.4, 1), (0.29, 2), (0.9, 3), (MIN_SIMILARITY, 4)]),
            [(0.9, 3), (0.4, 1), (0.3, 4)]
        );
        assert_eq!(
            nearest((0..50).map(|number| (0.5, number)).collect()).len(),
            BY_MEANING
        );
    }
}
