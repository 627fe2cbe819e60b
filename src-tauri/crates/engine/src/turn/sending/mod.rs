//! From the user's message to the start of a reply.

pub(crate) mod director;
pub(crate) mod drafts;
pub(crate) mod regenerate;
pub(crate) mod send;
pub(crate) mod token_choices;

use crate::base::handle::Base;
use crate::library::handle::Library;
use crate::recall_service::handle::RecallService;
use crate::settings::handle::Configuration;
use crate::turn::commands::Commands;
use crate::turn::inputs::Inputs;
use crate::turn::replies::{Generation, ReplyStore};

/// Stores messages of the user and starts replies. Clones share one state.
#[derive(Clone)]
pub(crate) struct Sending {
    recall: RecallService,
    commands: Commands,
    generation: Generation,
    inputs: Inputs,
    reply_store: ReplyStore,
}

impl Sending {
    pub(super) fn new(
        recall: &RecallService,
        commands: &Commands,
        generation: &Generation,
        inputs: &Inputs,
        reply_store: &ReplyStore,
    ) -> Self {
        Self {
            recall: recall.clone(),
            commands: commands.clone(),
            generation: generation.clone(),
            inputs: inputs.clone(),
            reply_store: reply_store.clone(),
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
