//! Tokens of texts that are being written.

use context::{CountTokens as _, Estimate};
use domain::model::ModelChoice;
use domain::prompt::Segment;

use crate::Engine;
use crate::api::TextCounts;
use crate::convert;
use crate::error::{Answer, bad_input};
use crate::remote_count::RemoteCounting;

/// Texts of one call.
const MOST: usize = 256;

impl Engine {
    /// Tokens of each text by the model that answers by default: exact for local ones, estimated for remote ones and where
    /// there is no model.
    ///
    /// # Errors
    /// `BadInput` for too many texts; `Provider` if the model's vocabulary cannot be read.
    pub async fn count_fields(&self, texts: Vec<String>) -> Answer<TextCounts> {
        if texts.len() > MOST {
            return Err(bad_input(format!("A call counts {MOST} texts."), "Send fewer."));
        }
        let texts: Vec<_> = texts.into_iter().map(|text| Segment { text, control: false }).collect();
        match self.settings().default_model {
            None => {
                let tokens = texts.iter().map(|text| Estimate.count(text).unwrap_or_default()).collect();
                Ok(TextCounts { tokens, model: String::new(), exact: false })
            }
            Some(model) => match convert::model_choice(&model)? {
                ModelChoice::Local(id) => {
                    let model = self.local_model(id).await?;
                    let tokens = self.local().count(&model, &texts).await?;
                    Ok(TextCounts { tokens, model: model.name, exact: true })
                }
                ModelChoice::Remote(id) => {
                    let endpoint = self.chosen_endpoint(id).await?;
                    let counting = RemoteCounting::of(self.store(), self.tokenizer_files(), &endpoint).await?;
                    let mut tokens = Vec::with_capacity(texts.len());
                    for text in texts {
                        tokens.push(counting.about(text).await?);
                    }
                    Ok(TextCounts { tokens, model: self.shown_name(&endpoint).await?, exact: false })
                }
            },
        }
    }
}
