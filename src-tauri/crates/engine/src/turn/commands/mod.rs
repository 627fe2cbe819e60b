//! "Remember that" and "forget that" in a message.

pub(crate) mod forget_messages;
pub(crate) mod tell;

use crate::base::handle::Base;
use crate::library::handle::Library;
use crate::recall_service::handle::RecallService;
use crate::settings::handle::Configuration;

/// Finds and runs memory commands in messages. Clones share one state.
#[derive(Clone)]
pub(crate) struct Commands {
    recall: RecallService,
}

impl Commands {
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
