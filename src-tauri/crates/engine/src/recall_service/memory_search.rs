//! Searches the memories that apply in a chat, for a tool.

use domain::PersonaId;
use domain::chat::Chat;
use domain::settings::Values;
use recall::tokens;
use store::Query;

use crate::base::error::ApiResult;
use crate::library::groups::presence::Knowledge;
use crate::recall_service::facts::called;
use crate::recall_service::handle::RecallService;
use crate::recall_service::recall::counting;

impl RecallService {
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
            .read(move |store| called(store, &counting, &query, &[]))
            .await?;
        Ok(found
            .iter()
            .map(|memory| memory.text().to_owned())
            .collect())
    }
}
