//! Token counts of texts that the user is writing.

use context::{CountTokens as _, Estimate};
use domain::model::ModelChoice;
use domain::prompt::Segment;

use crate::api::{ApiError, ModelRef, TextCounts};
use crate::base::error::{ApiResult, bad_input};
use crate::base::records::convert;
use crate::settings::counting::Counting;
use crate::settings::counting::remote_count::RemoteCounting;

/// Maximum number of texts per call.
const MOST: usize = 256;

/// An exact or estimated count.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct TokenCount {
    pub tokens: u32,
    pub model: String,
    pub exact: bool,
    /// Token ids, if they were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ids: Option<Vec<i32>>,
}

impl Counting {
    /// Counts the tokens of each text with the default model: exactly for a local model,
    /// approximately for a remote one or if there is no model.
    ///
    /// # Errors
    /// `BadInput` for too many texts; `Provider` if the model's vocabulary cannot be read.
    pub(crate) async fn count_fields(&self, texts: Vec<String>) -> ApiResult<TextCounts> {
        if texts.len() > MOST {
            return Err(bad_input(
                format!("One call can count {MOST} texts."),
                "Send fewer.",
            ));
        }
        let texts: Vec<_> = texts
            .into_iter()
            .map(|text| Segment {
                text,
                control: false,
            })
            .collect();
        match self.app_settings.settings().default_model {
            None => {
                let tokens = texts
                    .iter()
                    .map(|text| Estimate.count(text).unwrap_or_default())
                    .collect();
                Ok(TextCounts {
                    tokens,
                    model: String::new(),
                    exact: false,
                })
            }
            Some(model) => match convert::model_choice(&model)? {
                ModelChoice::Local(id) => {
                    let model = self.model_lookup.local_model(id).await?;
                    let tokens = self.local().count(&model, &texts).await?;
                    Ok(TextCounts {
                        tokens,
                        model: model.name,
                        exact: true,
                    })
                }
                ModelChoice::Remote(id) => {
                    let endpoint = self.endpoints.chosen_endpoint(id).await?;
                    let counting = RemoteCounting::of(
                        self.base().store(),
                        self.token_counts.tokenizer_files(),
                        &endpoint,
                    )
                    .await?;
                    let mut tokens = Vec::with_capacity(texts.len());
                    for text in texts {
                        tokens.push(counting.about(text).await?);
                    }
                    Ok(TextCounts {
                        tokens,
                        model: self.endpoints.shown_name(&endpoint).await?,
                        exact: false,
                    })
                }
            },
        }
    }
}

impl Counting {
    /// Counts the tokens of `text` with `model`, or else with the default model: exactly for local
    /// models, approximately for remote ones.
    ///
    /// # Errors
    /// `NoModel`; `Provider` if the model cannot be loaded.
    pub(crate) async fn count_tokens(
        &self,
        model: Option<ModelRef>,
        text: String,
        ids: bool,
    ) -> ApiResult<TokenCount> {
        let chosen = match model.or(self.app_settings.settings().default_model) {
            Some(model) => convert::model_choice(&model)?,
            None => return Err(no_model()),
        };
        let plain = domain::prompt::Segment {
            text,
            control: false,
        };
        let ModelChoice::Local(id) = chosen else {
            let ModelChoice::Remote(id) = chosen else {
                return Err(no_model());
            };
            let endpoint = self.endpoints.chosen_endpoint(id).await?;
            let counting = RemoteCounting::of(
                self.base().store(),
                self.token_counts.tokenizer_files(),
                &endpoint,
            )
            .await?;
            let tokens = counting.about(plain).await?;
            return Ok(TokenCount {
                tokens,
                model: self.endpoints.shown_name(&endpoint).await?,
                exact: false,
                ids: None,
            });
        };
        let model = self.model_lookup.local_model(id).await?;
        let texts = [plain];
        let ids = if ids {
            self.local().tokenize(&model, &texts).await?.pop()
        } else {
            None
        };
        let tokens = match &ids {
            Some(ids) => ids.len() as u32,
            None => self.local().count(&model, &texts).await?.into_iter().sum(),
        };
        Ok(TokenCount {
            tokens,
            model: model.name,
            exact: true,
            ids,
        })
    }
}

fn no_model() -> ApiError {
    ApiError::NoModel {
        message: "No model is set up.".into(),
        hint: "Add a model file, or choose one.".into(),
    }
}
