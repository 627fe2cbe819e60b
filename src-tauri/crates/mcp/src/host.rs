//! Our side of the protocol. A server can ask for a model, folders or answers of the user; it gets
//! none of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::ClientHandler;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation};
use rmcp::service::{NotificationContext, RoleClient};

#[derive(Debug)]
pub(crate) struct Host {
    /// The tools may differ from those that were listed last.
    pub(crate) tools_changed: Arc<AtomicBool>,
}

impl Host {
    /// A new connection may lead to another version of the server.
    pub(crate) fn new() -> Self {
        Self {
            tools_changed: Arc::new(AtomicBool::new(true)),
        }
    }
}

impl ClientHandler for Host {
    fn get_info(&self) -> ClientConfig {
        let name = Implementation::new("inglenook", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), name)
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.tools_changed.store(true, Ordering::Relaxed);
    }
}
