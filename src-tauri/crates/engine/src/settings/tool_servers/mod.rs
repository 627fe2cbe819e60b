//! Servers that offer tools (Model Context Protocol): list, changes, permissions, calls.
//!
//! A server starts only after the user has switched it on, or for a test that the user asks for.
//! Nothing that a card, a message or a tool contains reaches these functions.

mod added;
mod calls;
mod grants;
mod list;
mod running;
mod source;
mod values;
mod view;

use std::sync::Arc;

pub use calls::OfferedServerTool;
pub(crate) use running::RunningServers;

use crate::base::handle::Base;
use crate::settings::keychain::Keychain;

/// Servers that offer tools. Clones share one state.
#[derive(Clone)]
pub(crate) struct ToolServers {
    base: Base,
    keychain: Keychain,
    running: Arc<RunningServers>,
}

impl ToolServers {
    pub(super) fn new(base: &Base, keychain: &Keychain) -> Self {
        Self {
            base: base.clone(),
            keychain: keychain.clone(),
            running: Arc::default(),
        }
    }

    fn base(&self) -> &Base {
        &self.base
    }

    pub(crate) fn running(&self) -> &RunningServers {
        &self.running
    }
}
