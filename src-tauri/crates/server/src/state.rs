//! State shared by the handlers.

use std::sync::Arc;

use engine::Engine;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::body::BodySlots;
use crate::chat_socket::places::ChatSockets;
use crate::guard::AllowedHosts;
use crate::secret::{AccessToken, Tickets};

/// State shared by the handlers.
pub(crate) struct ServerState {
    pub(crate) engine: Engine,
    pub(crate) token: AccessToken,
    pub(crate) names: AllowedHosts,
    pub(crate) tickets: Tickets,
    pub(crate) bodies: BodySlots,
    pub(crate) listeners: Arc<Semaphore>,
    pub(crate) chat_sockets: ChatSockets,
    pub(crate) api: ApiSwitch,
    pub(crate) stopping: CancellationToken,
}

pub(crate) type SharedState = Arc<ServerState>;

/// When the routes of the local API answer. Otherwise they give 404 with a reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApiSwitch {
    /// As long as the server runs.
    Always,
    /// While the settings switch the API on.
    BySettings,
}
