//! Prompts without a reply: previews, trials, stored reports.

pub(crate) mod lore_trial;
pub(crate) mod preview;
pub(crate) mod prompt_sections;
pub(crate) mod recall_trial;
pub(crate) mod stages;
pub(crate) mod template_preview;
pub(crate) mod xray;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::handle::Base;
use crate::library::handle::Library;
use crate::recall_service::handle::RecallService;
use crate::settings::handle::Configuration;
use crate::turn::assembly::Assembly;
use crate::turn::client::reports::ClientReports;
use crate::turn::inputs::Inputs;
use crate::turn::lore::LoreActivation;

/// Shows the prompts of past, current and possible turns. Clones share one state.
#[derive(Clone)]
pub(crate) struct Previews {
    recall: RecallService,
    assembly: Assembly,
    inputs: Inputs,
    lore_activation: LoreActivation,
    client_reports: Arc<Mutex<ClientReports>>,
}

impl Previews {
    pub(super) fn new(
        recall: &RecallService,
        assembly: &Assembly,
        inputs: &Inputs,
        lore_activation: &LoreActivation,
    ) -> Self {
        Self {
            recall: recall.clone(),
            assembly: assembly.clone(),
            inputs: inputs.clone(),
            lore_activation: lore_activation.clone(),
            client_reports: Arc::default(),
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

    /// Prompts of requests that were not stored.
    pub(super) fn client_reports(&self) -> MutexGuard<'_, ClientReports> {
        self.client_reports
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
