//! Which model answers in a chat.

use std::path::Path;

use domain::chat::Chat;
use domain::model::ModelChoice;
use store::{ReadTransaction, StoreError};

use crate::api::{ApiError, ModelRef, TurnOptions};
use crate::base::error::ApiResult;
use crate::base::records::convert;
use crate::settings::layers::SettingLayers;

impl SettingLayers {
    /// Chooses the model of a turn: the turn's own, else the chat's, else the default, else any
    /// local model whose file is there. A chosen model stays chosen if only its file is gone, so
    /// that no other model answers silently; the turn then fails and names the file.
    pub(crate) async fn choice(
        &self,
        chat: &Chat,
        options: &TurnOptions,
    ) -> ApiResult<ModelChoice> {
        self.choice_and_retractions(chat, options).await?.0
    }

    /// The choice, and the number of retractions of memories so far, read in one transaction.
    ///
    /// # Errors
    /// The database cannot be read. A missing model is an error of the choice alone.
    pub(crate) async fn choice_and_retractions(
        &self,
        chat: &Chat,
        options: &TurnOptions,
    ) -> ApiResult<(ApiResult<ModelChoice>, i64)> {
        let parsed =
            |model: &Option<ModelRef>| model.as_ref().map(convert::model_choice).transpose();
        let turn = parsed(&options.model)?;
        let default = parsed(&self.app_settings.settings().default_model)?;
        let stored = [chat.model, default];
        let read = self.base().store().read(move |store| {
            let retractions = store.memories().retraction_count()?;
            // A choice of the turn itself is not checked here, so that a missing model is reported.
            let chosen = match turn {
                Some(turn) => Some(turn),
                None => first_there(store, stored)?,
            };
            let others = match chosen {
                Some(_) => Vec::new(),
                None => store.models().list()?,
            };
            Ok((chosen, others, retractions))
        });
        let (chosen, others, retractions) = read.await?;
        let any = others
            .iter()
            .find(|model| Path::new(&model.path).exists())
            .map(|model| ModelChoice::Local(model.id));
        let choice = chosen.or(any).ok_or_else(|| ApiError::NoModel {
            message: "No model is set up, so there is no reply.".into(),
            hint: "Add a model file, or connect an endpoint.".into(),
        });
        Ok((choice, retractions))
    }
}

/// The first choice whose model is still in the library, or whose endpoint is.
fn first_there(
    store: &ReadTransaction<'_>,
    choices: [Option<ModelChoice>; 2],
) -> Result<Option<ModelChoice>, StoreError> {
    for choice in choices.into_iter().flatten() {
        let there = match choice {
            ModelChoice::Local(id) => store.models().get(id)?.is_some(),
            ModelChoice::Remote(id) => store.endpoint_models().resolve(id)?.is_some(),
        };
        if there {
            return Ok(Some(choice));
        }
    }
    Ok(None)
}
