//! The prompt of a turn: collected, planned, made, reported.

pub(crate) mod activated;
pub(crate) mod collect;
pub(crate) mod emotion_prompt;
pub(crate) mod frame;
pub(crate) mod frame_additions;
pub(crate) mod frame_sources;
pub(crate) mod hint;
pub(crate) mod made;
pub(crate) mod make;
pub(crate) mod notes;
pub(crate) mod persona_place;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod source_label;
pub(crate) mod tasks;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::handle::Base;
use crate::library::handle::Library;
use crate::recall_service::handle::RecallService;
use crate::settings::handle::Configuration;
use crate::turn::inputs::Inputs;
use crate::turn::lore::LoreActivation;
use crate::turn::tools::Tools;

/// Makes the prompts of turns. Clones share one state.
#[derive(Clone)]
pub(crate) struct Assembly {
    recall: RecallService,
    inputs: Inputs,
    lore_activation: LoreActivation,
    tools: Tools,
    refusing: Arc<Mutex<HashSet<String>>>,
}

impl Assembly {
    pub(super) fn new(
        recall: &RecallService,
        inputs: &Inputs,
        lore_activation: &LoreActivation,
        tools: &Tools,
    ) -> Self {
        Self {
            recall: recall.clone(),
            inputs: inputs.clone(),
            lore_activation: lore_activation.clone(),
            tools: tools.clone(),
            refusing: Arc::default(),
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

    /// Keys of endpoints' models that have refused to continue an unfinished reply.
    pub(super) fn without_prefill(&self) -> MutexGuard<'_, HashSet<String>> {
        self.refusing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
