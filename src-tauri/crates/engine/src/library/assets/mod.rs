//! Pictures and other files that rows of the database name.

pub(crate) mod asset;
pub(crate) mod pictures;

use crate::base::handle::Base;
use crate::library::data_warnings::Warnings;
use crate::settings::handle::Configuration;

/// Stored pictures and files. Clones share one state.
#[derive(Clone)]
pub(crate) struct Assets {
    config: Configuration,
    warnings: Warnings,
}

impl Assets {
    pub(super) fn new(config: &Configuration, warnings: &Warnings) -> Self {
        Self {
            config: config.clone(),
            warnings: warnings.clone(),
        }
    }

    fn base(&self) -> &Base {
        self.config.base()
    }

    fn config(&self) -> &Configuration {
        &self.config
    }
}
