//! Changes of stored messages, and branches of chats.

pub(crate) mod branches;
pub(crate) mod join;
pub(crate) mod messages;
pub(crate) mod ranges;

use crate::base::handle::Base;
use crate::library::handle::Library;
use crate::recall_service::handle::RecallService;
use crate::settings::handle::Configuration;
use crate::turn::commands::Commands;
use crate::turn::inputs::Inputs;

/// Changes stored messages. Clones share one state.
#[derive(Clone)]
pub(crate) struct Edits {
    recall: RecallService,
    commands: Commands,
    inputs: Inputs,
}

impl Edits {
    pub(super) fn new(recall: &RecallService, commands: &Commands, inputs: &Inputs) -> Self {
        Self {
            recall: recall.clone(),
            commands: commands.clone(),
            inputs: inputs.clone(),
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
