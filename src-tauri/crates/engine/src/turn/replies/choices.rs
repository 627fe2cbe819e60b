//! Stored alternatives of the tokens of a reply.

use domain::chat::Message;
use domain::token_choice::TokenChoice;
use domain::{SwipeId, token_choice};

use crate::base::error::ApiResult;
use crate::turn::replies::ReplyStore;

impl ReplyStore {
    /// Stores the tokens of a finished reply if they form the end of its stored text.
    pub(crate) async fn keep_choices(
        &self,
        swipe: SwipeId,
        text: &str,
        tokens: Vec<TokenChoice>,
    ) -> ApiResult<()> {
        let Some(choices) = token_choice::TokenChoices::at_end(text, tokens) else {
            return Ok(());
        };
        Ok(self
            .base()
            .store()
            .write(move |store| store.token_choices_mut().put(swipe, &choices))
            .await?)
    }

    pub(crate) async fn choices_of(
        &self,
        message: &Message,
    ) -> ApiResult<Option<token_choice::TokenChoices>> {
        let swipe = message.swipe().id;
        let found = self
            .base()
            .store()
            .read(move |store| store.token_choices().of(swipe))
            .await?;
        Ok(found.filter(|choices| choices.fits(message.text())))
    }
}
