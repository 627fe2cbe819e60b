//! "Remember that" and "forget that" in a message.

pub(crate) mod forget_messages;
pub(crate) mod tell;

use crate::base::handle::Base;

/// Finds and runs memory commands in messages. Clones share one state.
#[derive(Clone)]
pub(crate) struct Commands {
    base: Base,
}

impl Commands {
    pub(super) fn new(base: &Base) -> Self {
        Self { base: base.clone() }
    }

    fn base(&self) -> &Base {
        &self.base
    }
}
