//! Embedding search outside of messages: memories, passages of documents, entries of lorebooks.
//! Matches need a cosine similarity of [`recall::weights::memories::MIN_SIMILARITY`], so an
//! unrelated question finds nothing.

use std::sync::Arc;

use domain::chat::{Chat, Role};
use provider::ProviderError;
use recall::query_embedding::{QueryEmbedding, Understood};
use store::{EmbeddingGroup, ReadTransaction, StoreError};

use crate::base::error::ApiResult;
use crate::recall_service::embeddings::encoder::Encoder;
use crate::recall_service::embeddings::turn_embedding::Understanding;
use crate::recall_service::handle::RecallService;
use crate::recall_service::query::TurnQuery;
use crate::recall_service::query_terms;

/// Notice of a turn that had to do without embeddings.
const LEXICAL: &str =
    "Memory: searched by words only, because the embedding model did not answer in time.";
/// The same, if an embedding made in advance was used instead.
const CACHED: &str = "Memory: searched with an older embedding, because the embedding model did not answer in \
                      time. Messages were searched by words only.";
/// Number of messages that are embedded in advance: three exchanges.
const IN_ADVANCE: u32 = 6;

impl RecallService {
    /// Embeds `text` and keeps the embedding, or waits for the one that is in progress.
    pub(crate) async fn understand(
        &self,
        encoder: &Encoder,
        text: &str,
    ) -> Result<Option<Understood>, ProviderError> {
        let shared = |embedding| Arc::new(QueryEmbedding::new(embedding, encoder.model()));
        let embed = async {
            let embedding = encoder.understand(text).await;
            embedding.map(|known| known.map(shared))
        };
        self.reading()
            .lately()
            .of_or(text, encoder.model(), embed)
            .await
    }

    /// The embedding of this turn's question; `None` without an encoder, or if it did not come in
    /// time.
    pub(crate) async fn understood(&self, turn: &TurnQuery<'_>) -> Option<Understood> {
        self.understanding(turn).await.words.clone()
    }

    /// The same without waiting. The outer `None` means that the embedding has yet to be made.
    pub(crate) fn understood_at_once(&self, turn: &TurnQuery<'_>) -> Option<Option<Understood>> {
        match self.reading().encoder() {
            Some(encoder) => self
                .reading()
                .lately()
                .of(&query_terms::plain_words(turn), encoder.model())
                .map(Some),
            None => Some(None),
        }
    }

    /// [`Self::understood`], if one of `groups` has vectors to compare it with. Falls back to the
    /// embedding made in advance.
    pub(crate) async fn understood_for(
        &self,
        turn: &TurnQuery<'_>,
        groups: Vec<EmbeddingGroup>,
    ) -> Option<Understood> {
        self.reading().encoder()?;
        if !self.reading().near().knows_some(&groups) && !self.has_some(groups).await {
            return None;
        }
        let understanding = self.understanding(turn).await;
        understanding
            .words
            .as_ref()
            .or(understanding.before.as_ref())
            .cloned()
    }

    async fn has_some(&self, groups: Vec<EmbeddingGroup>) -> bool {
        let known = move |store: &ReadTransaction<'_>| {
            let known = groups
                .iter()
                .map(|among| Ok(store.item_embeddings().revision(*among)?.passages > 0));
            Ok(known
                .collect::<Result<Vec<bool>, StoreError>>()?
                .into_iter()
                .any(|known| known))
        };
        self.base().store().read(known).await.unwrap_or_default()
    }

    async fn understanding<'c>(&self, turn: &TurnQuery<'c>) -> &'c Understanding {
        let understand = || async {
            let (words, failed) = self.meaning(&query_terms::plain_words(turn)).await;
            let encoder = self.reading().encoder().filter(|_| failed);
            let before = encoder
                .and_then(|encoder| self.reading().in_advance().of(turn.chat, encoder.model()));
            let notice = failed.then_some(if before.is_some() { CACHED } else { LEXICAL });
            Understanding {
                words,
                before,
                notice,
            }
        };
        turn.embedding.0.get_or_init(understand).await
    }

    /// Embeds the user's latest messages, as a fallback for a turn whose question is not embedded
    /// in time.
    pub(crate) async fn understand_in_advance(&self, chat: &Chat) -> ApiResult<()> {
        let Some(encoder) = self.reading().encoder() else {
            return Ok(());
        };
        let id = chat.id;
        let told = self
            .base()
            .store()
            .read(move |store| store.message_texts().texts_after(id, -1, IN_ADVANCE))
            .await?;
        let said = told
            .iter()
            .filter(|text| text.role == Role::User)
            .map(|text| text.text.trim());
        if let Some(understood) = encoder
            .understand(&said.collect::<Vec<_>>().join("\n"))
            .await?
        {
            self.reading().in_advance().put(
                chat,
                Arc::new(QueryEmbedding::new(understood, encoder.model())),
            );
        }
        Ok(())
    }
}
