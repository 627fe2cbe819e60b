//! The inputs of a turn: chat, card, persona, window, and what characters know.

pub(crate) mod early_embedding;
pub(crate) mod gather;
pub(crate) mod history;
pub(crate) mod knowledge;
pub(crate) mod late_events;
pub(crate) mod said_macros;
pub(crate) mod speaker_texts;
pub(crate) mod story;
pub(crate) mod template_variables;
pub(crate) mod turn_inputs;
pub(crate) mod turn_kind;
pub(crate) mod typed_text;

use crate::base::handle::Base;
use crate::library::handle::Library;
use crate::recall_service::handle::RecallService;
use crate::settings::handle::Configuration;

/// Reads the inputs of turns. Clones share one state.
#[derive(Clone)]
pub(crate) struct Inputs {
    recall: RecallService,
}

impl Inputs {
    pub(super) fn new(recall: &RecallService) -> Self {
        Self {
            recall: recall.clone(),
        }
    }

    fn base(&self) -> &Base {
        self.recall.base()
    }

    fn config(&self) -> &Configuration {
        self.recall.config()
    }

    fn library(&self) -> &Library {
        self.recall.library()
    }

    fn recall_service(&self) -> &RecallService {
        &self.recall
    }
}
