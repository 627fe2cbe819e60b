//! The speeds of the models in the library.

use std::path::Path;

use domain::model::LocalModel;
use local::{gguf, library};

use crate::api;
use crate::base::error::{ApiResult, internal};
use crate::base::panics;
use crate::settings::model_speeds::ModelSpeeds;
use crate::settings::model_speeds::expected::{ExpectedSpeeds, ModelBytes, WritingSpeed};

impl ModelSpeeds {
    /// How fast the models of the library write here. Models whose speed is not known are left out:
    /// all of them before the first measurement.
    pub(crate) async fn model_speeds(&self) -> ApiResult<Vec<api::ModelSpeed>> {
        let stored = self.stored().await?;
        if stored.is_empty() {
            return Ok(Vec::new());
        }
        let expected = self.expected(stored).await?;
        let models = self
            .base()
            .store()
            .read(|store| store.models().list())
            .await?;
        let shown = move || {
            models
                .iter()
                .filter_map(|model| Some(shown(model, speed(model, &expected)?)))
                .collect()
        };
        tokio::task::spawn_blocking(shown)
            .await
            .map_err(|_| internal("the model files could not be read"))
    }
}

/// Blocks while it reads the header of a model that was not measured.
fn speed(model: &LocalModel, expected: &ExpectedSpeeds) -> Option<WritingSpeed> {
    if let Some(measured) = expected.measured(&model.sha256) {
        return Some(measured);
    }
    let header = panics::or_plain(
        "the speed of a model",
        || gguf::read(Path::new(&model.path)).ok(),
        || None,
    )?;
    let context = library::default_context(model.context);
    expected.estimated(ModelBytes::of(&header, model.bytes, context))
}

fn shown(model: &LocalModel, speed: WritingSpeed) -> api::ModelSpeed {
    api::ModelSpeed {
        model: model.id,
        tokens_per_second: speed.tokens_per_second,
        words_per_minute: speed.words_per_minute(),
        is_measured: speed.is_measured,
    }
}
