//! The model that answers a turn: provider, template, budget, sampling and token counting.

use std::sync::Arc;

use context::macros::ModelFacts;
use context::{Budget, ChatTemplate};
use domain::model::LocalModel;
use domain::sampling::Sampling;
use domain::settings::Values;
use local::LoadOptions;
use provider::Provider;

use crate::api::{Counted, CountedWith};
use crate::settings::counting::token_counter::TokenCounting;

/// A local model with the file that reads pictures for it.
#[derive(Debug, Clone)]
pub(crate) struct LocalSight {
    pub(crate) model: LocalModel,
    /// Context size in tokens with which the model is loaded.
    pub(crate) context: u32,
    /// With a projector.
    pub(crate) options: LoadOptions,
}

/// Everything needed to call one model.
pub(crate) struct ModelHandle {
    /// Model name that is stored with the reply.
    pub(crate) name: String,
    /// Name for macros: the model's name without the endpoint's.
    pub(crate) model_name: String,
    /// Identifies the model uniquely, regardless of its name.
    pub(crate) key: String,
    pub(crate) provider: Arc<dyn Provider>,
    /// Chat template of a local model, or of an endpoint with text completions. `None` for other
    /// endpoints, which apply their own.
    pub(crate) template: Option<Arc<ChatTemplate>>,
    pub(crate) budget: Budget,
    pub(crate) sampling: Sampling,
    /// Whether the model accepts pictures.
    pub(crate) sees: bool,
    /// How a local model reads pictures; `None` for a model that does not, and for other models.
    pub(crate) sight: Option<LocalSight>,
    /// Whether the model is too small for its summaries to be trusted.
    pub(crate) tiny: bool,
    /// Notice for the user, for example that the chat format is a guess.
    pub(crate) note: Option<String>,
    /// Resolved settings of the turn.
    pub(crate) values: Values,
    /// Retraction counter of the store when the settings were read. A change of the memory setting
    /// increments it as well.
    pub(crate) withdrawals: i64,
    pub(crate) counting: TokenCounting,
}

impl ModelHandle {
    /// Model facts that macros can name.
    pub(crate) fn facts(&self) -> ModelFacts<'_> {
        ModelFacts {
            name: &self.model_name,
            context: Some(self.budget.limit),
            response: Some(self.sampling.max_tokens),
        }
    }

    /// Whether the model runs on this computer, in the app's own worker.
    pub(crate) fn is_local(&self) -> bool {
        matches!(self.counting, TokenCounting::Local(_))
    }

    pub(crate) fn counting(&self) -> &TokenCounting {
        &self.counting
    }

    /// How tokens are counted, and how accurately.
    pub(crate) fn counted(&self) -> Counted {
        let margin = self.budget.margin;
        match &self.counting {
            TokenCounting::Local(_) => Counted {
                with: CountedWith::Model,
                margin,
                mean_error: None,
            },
            TokenCounting::Remote(remote) => Counted {
                with: remote.tokens.shown(),
                margin,
                mean_error: remote.calibration.mean_error(),
            },
        }
    }
}
