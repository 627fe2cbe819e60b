//! Replies: requested, read as a stream, checked, stored.

pub(crate) mod choices;
pub(crate) mod draft;
pub(crate) mod emotions;
pub(crate) mod generate;
pub(crate) mod hooks;
pub(crate) mod joint;
pub(crate) mod opening;
pub(crate) mod passages;
pub(crate) mod persist;
pub(crate) mod prepared;
pub(crate) mod speaker_queue;
pub(crate) mod stream;
pub(crate) mod target;
pub(crate) mod thought_tags;

use std::sync::Arc;

use crate::base::handle::Base;
use crate::library::handle::Library;
use crate::recall_service::handle::RecallService;
use crate::settings::handle::Configuration;
use crate::turn::assembly::Assembly;
use crate::turn::inputs::Inputs;
use crate::turn::replies::hooks::Hooks;
use crate::turn::tools::Tools;

/// Stores replies and the records of their turns. Clones share one state.
#[derive(Clone)]
pub(crate) struct ReplyStore {
    recall: RecallService,
    inputs: Inputs,
}

impl ReplyStore {
    pub(super) fn new(recall: &RecallService, inputs: &Inputs) -> Self {
        Self {
            recall: recall.clone(),
            inputs: inputs.clone(),
        }
    }

    fn base(&self) -> &Base {
        self.recall.base()
    }

    fn library(&self) -> &Library {
        self.recall.library()
    }

    fn recall_service(&self) -> &RecallService {
        &self.recall
    }
}

/// Writes replies: one after another, with their tools. Clones share one state.
#[derive(Clone)]
pub(crate) struct Generation {
    recall: RecallService,
    assembly: Assembly,
    reply_store: ReplyStore,
    tools: Tools,
    hooks: Arc<Hooks>,
}

impl Generation {
    pub(super) fn new(
        recall: &RecallService,
        assembly: &Assembly,
        reply_store: &ReplyStore,
        tools: &Tools,
    ) -> Self {
        Self {
            recall: recall.clone(),
            assembly: assembly.clone(),
            reply_store: reply_store.clone(),
            tools: tools.clone(),
            hooks: Arc::default(),
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
}
