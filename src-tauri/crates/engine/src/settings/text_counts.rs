//! Token counts of texts that the user is writing.

use context::{CountTokens as _, Estimate};
use domain::model::ModelChoice;
use domain::prompt::Segment;

use crate::api::TextCounts;
use crate::base::convert;
use crate::base::error::{ApiResult, bad_input};
use crate::settings::handle::Configuration;
use crate::settings::remote_count::RemoteCounting;

/// Maximum number of texts per call.
const MOST: usize = 256;

impl Configuration {
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
        match self.settings().default_model {
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
                    let model = self.local_model(id).await?;
                    let tokens = self.local().count(&model, &texts).await?;
                    Ok(TextCounts {
                        tokens,
                        model: model.name,
                        exact: true,
                    })
                }
                ModelChoice::Remote(id) => {
                    let endpoint = self.chosen_endpoint(id).await?;
                    let counting =
                        RemoteCounting::of(self.base().store(), self.tokenizer_files(), &endpoint)
                            .await?;
                    let mut tokens = Vec::with_capacity(texts.len());
                    for text in texts {
                        tokens.push(counting.about(text).await?);
                    }
                    Ok(TextCounts {
                        tokens,
                        model: self.shown_name(&endpoint).await?,
                        exact: false,
                    })
                }
            },
        }
    }
}
