//! Searches the memories that apply in a chat, for a turn and for a tool.

use domain::PersonaId;
use domain::chat::Chat;
use domain::settings::Values;
use recall::query_embedding::Understood;
use recall::tokens;
use store::{EmbeddingGroup, Query, ReadTransaction};

use crate::base::error::ApiResult;
use crate::library::groups::presence::Knowledge;
use crate::recall_service::facts::{LOOKED_AT, LexicalMatches, MatchedMemory};
use crate::recall_service::handle::RecallService;
use crate::recall_service::query::TurnQuery;
use crate::recall_service::recall::counting;

impl RecallService {
    /// The memories that match this turn.
    pub(crate) async fn called(
        &self,
        turn: &TurnQuery<'_>,
        words: Query,
    ) -> ApiResult<Vec<MatchedMemory>> {
        let counting = counting((turn.chat, turn.known), turn.persona.id, turn.values);
        let cache = self.reading().near();
        let store = self.base().store();
        let scopes = counting.clone();
        let add_near = move |store: &ReadTransaction<'_>,
                             found: LexicalMatches,
                             understood: Option<Understood>| {
            let near = understood
                .map(|asked| cache.near(store, EmbeddingGroup::Memories, &asked, LOOKED_AT))
                .transpose()?;
            found.with_near(store, &scopes, &near.unwrap_or_default())
        };
        if let Some(understood) = self.understood_at_once(turn) {
            let all_in_one = move |store: &ReadTransaction<'_>| {
                let found = LexicalMatches::read(store, &counting, &words)?;
                add_near(store, found, understood)
            };
            return Ok(store.read(all_in_one).await?);
        }
        // The lexical search runs while the encoder embeds the question, and so does the read of
        // vectors that are not in memory.
        let vectors = self.reading().near();
        let encoder = self.reading().encoder();
        let by_words = store.read(move |store| {
            let found = LexicalMatches::read(store, &counting, &words)?;
            if let Some(encoder) = encoder {
                vectors.of(store, EmbeddingGroup::Memories, encoder.model())?;
            }
            Ok(found)
        });
        let understood = self.understood_for(turn, vec![EmbeddingGroup::Memories]);
        let (found, understood) = tokio::join!(by_words, understood);
        let found = found?;
        Ok(store
            .read(move |store| add_near(store, found, understood))
            .await?)
    }

    /// Texts of the memories with words of `about`, best first. Only those that a turn of the chat
    /// may recall.
    pub(crate) async fn memories_about(
        &self,
        place: (&Chat, &Knowledge),
        persona: PersonaId,
        values: &Values,
        about: String,
    ) -> ApiResult<Vec<String>> {
        let counting = counting(place, persona, values);
        let words = tokens::terms(&about, &[]);
        let query = Query::any_word(words.iter().map(String::as_str));
        let found = self
            .base()
            .store()
            .read(move |store| {
                LexicalMatches::read(store, &counting, &query)?.with_near(store, &counting, &[])
            })
            .await?;
        Ok(found
            .iter()
            .map(|memory| memory.text().to_owned())
            .collect())
    }
}
