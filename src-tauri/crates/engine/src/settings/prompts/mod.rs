//! Stored parts of prompts: templates, modes, sampler presets and chat formats.

pub(crate) mod built_in_samplers;
pub(crate) mod chat_formats;
pub(crate) mod choices;
pub(crate) mod modes;
pub(crate) mod of_turn;
pub(crate) mod sampler_presets;
pub(crate) mod templates;

use local::LocalHost;

use crate::base::handle::Base;

/// Templates, modes, sampler presets and chat formats. Clones share one state.
#[derive(Clone)]
pub(crate) struct Prompts {
    base: Base,
    local: LocalHost,
}

impl Prompts {
    pub(super) fn new(base: &Base, local: &LocalHost) -> Self {
        Self {
            base: base.clone(),
            local: local.clone(),
        }
    }

    fn base(&self) -> &Base {
        &self.base
    }

    fn local(&self) -> &LocalHost {
        &self.local
    }
}
