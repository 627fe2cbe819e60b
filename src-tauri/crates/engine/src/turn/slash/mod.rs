//! Slash commands. A front end passes the composer's text to `Slash::run_command`, which sends it
//! or runs it, so that window, command line and HTTP agree. No other text is read as a command.

pub(crate) mod chat_settings;
pub(crate) mod choose;
pub(crate) mod complete;
pub(crate) mod halt;
pub(crate) mod memory;
pub(crate) mod messages;
pub(crate) mod quick_reply;
pub(crate) mod run;
pub(crate) mod speakers;

use std::sync::{Arc, Weak};

use crate::base::handle::Base;
use crate::library::handle::Library;
use crate::recall_service::handle::RecallService;
use crate::settings::handle::Configuration;
use crate::turn::commands::Commands;
use crate::turn::edits::Edits;
use crate::turn::inputs::Inputs;
use crate::turn::previews::Previews;
use crate::turn::sending::Sending;

/// Runs slash commands and quick replies. Clones share one state.
#[derive(Clone)]
pub(crate) struct Slash(Arc<SlashState>);

/// The rooms that this one uses.
struct SlashState {
    recall: RecallService,
    commands: Commands,
    edits: Edits,
    inputs: Inputs,
    previews: Previews,
    sending: Sending,
}

/// A handle for the hook that runs automatic quick replies, which does not keep the engine open.
#[derive(Clone)]
pub(super) struct WeakSlash(Weak<SlashState>);

impl WeakSlash {
    pub(super) fn upgrade(&self) -> Option<Slash> {
        self.0.upgrade().map(Slash)
    }
}

impl Slash {
    pub(super) fn new(
        recall: &RecallService,
        commands: &Commands,
        edits: &Edits,
        inputs: &Inputs,
        previews: &Previews,
        sending: &Sending,
    ) -> Self {
        Self(Arc::new(SlashState {
            recall: recall.clone(),
            commands: commands.clone(),
            edits: edits.clone(),
            inputs: inputs.clone(),
            previews: previews.clone(),
            sending: sending.clone(),
        }))
    }

    pub(super) fn downgrade(&self) -> WeakSlash {
        WeakSlash(Arc::downgrade(&self.0))
    }

    fn base(&self) -> &Base {
        self.0.recall.base()
    }

    fn config(&self) -> &Configuration {
        self.0.recall.config()
    }

    fn library(&self) -> &Library {
        self.0.recall.library()
    }

    fn commands(&self) -> &Commands {
        &self.0.commands
    }

    fn edits(&self) -> &Edits {
        &self.0.edits
    }

    fn inputs(&self) -> &Inputs {
        &self.0.inputs
    }

    fn previews(&self) -> &Previews {
        &self.0.previews
    }

    fn sending(&self) -> &Sending {
        &self.0.sending
    }
}
