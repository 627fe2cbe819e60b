//! Which model answers in a chat.

use std::path::Path;

use domain::chat::Chat;
use domain::model::ModelChoice;

use crate::api::{ApiError, TurnOptions};
use crate::base::error::ApiResult;
use crate::base::records::convert;
use crate::settings::layers::SettingLayers;

impl SettingLayers {
    /// Chooses the model of a turn: the turn's own, else the chat's, else the default, else any
    /// local model.
    pub(crate) async fn choice(
        &self,
        chat: &Chat,
        options: &TurnOptions,
    ) -> ApiResult<ModelChoice> {
        let turn = options
            .model
            .as_ref()
            .map(convert::model_choice)
            .transpose()?;
        let default = self
            .app_settings
            .settings()
            .default_model
            .as_ref()
            .map(convert::model_choice)
            .transpose()?;
        self.first_there([turn, chat.model, default]).await
    }

    /// Returns the first choice whose model still exists. A choice of the turn itself is not
    /// checked here, so that a missing model is reported as an error.
    async fn first_there(&self, choices: [Option<ModelChoice>; 3]) -> ApiResult<ModelChoice> {
        if let Some(turn) = choices[0] {
            return Ok(turn);
        }
        let known = self.base().store().read(move |store| {
            for choice in choices.into_iter().flatten() {
                let there = match choice {
                    ModelChoice::Local(id) => store.models().get(id)?.is_some(),
                    ModelChoice::Remote(id) => store.endpoint_models().resolve(id)?.is_some(),
                };
                if there {
                    return Ok((Some(choice), Vec::new()));
                }
            }
            Ok((None, store.models().list()?))
        });
        let (chosen, models) = known.await?;
        let any = models
            .iter()
            .find(|model| Path::new(&model.path).exists())
            .map(|model| ModelChoice::Local(model.id));
        chosen.or(any).ok_or_else(|| ApiError::NoModel {
            message: "No model is set up, so there is no reply.".into(),
            hint: "Add a model file, or connect an endpoint.".into(),
        })
    }
}
