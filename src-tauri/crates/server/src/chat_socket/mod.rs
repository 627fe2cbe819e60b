//! `GET /ws/chat`: a chat over a WebSocket, with typed JSON events. Text of a model is only ever the content of a field.
//!
//! A client shows the server's token or a key of the local API in `Authorization`, a ticket in the address, or a key in
//! its first frame, because a browser cannot send a header.

mod addressee;
mod protocol;
mod rate;
mod session;
mod turn;

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Extension;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::api_access::Caller;
use crate::connections::Connection;
use crate::events::Admission;
use crate::respond::ErrorResponse;
use crate::routes::SharedState;

/// Maximum number of open sockets whose client has shown a key.
const SOCKETS: usize = 64;
/// Maximum number of sockets that wait for a key.
const WAITING: usize = 16;
/// A client without a key is disconnected after this time.
const KEY_LIMIT: Duration = Duration::from_secs(10);
/// Maximum bytes of a client's frame. A longer one ends the connection.
const FRAME_CAP: usize = 256 * 1024;

/// Places for sockets.
pub(crate) struct ChatSockets {
    open: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

impl Default for ChatSockets {
    fn default() -> Self {
        Self { open: Arc::new(Semaphore::new(SOCKETS)), waiting: Arc::new(Semaphore::new(WAITING)) }
    }
}

impl ChatSockets {
    fn place(&self, caller: &Caller) -> Option<OwnedSemaphorePermit> {
        match caller {
            Caller::Nobody => Arc::clone(&self.waiting).try_acquire_owned().ok(),
            Caller::Owner | Caller::Key(_) => self.place_for_user(),
        }
    }

    /// A place for a client that has shown a key.
    fn place_for_user(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.open).try_acquire_owned().ok()
    }
}

pub(crate) async fn chat_socket(
    State(shared): State<SharedState>,
    Extension(guest): Extension<Arc<Connection>>,
    Query(admission): Query<Admission>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, ErrorResponse> {
    let caller = match admission.ticket.as_str() {
        "" => shared.caller(&headers).await?,
        ticket if shared.tickets.redeem(ticket, Instant::now()) => Caller::Owner,
        _ => return Err(ErrorResponse::bad_ticket()),
    };
    if !matches!(caller, Caller::Nobody) {
        guest.mark_authenticated().await;
    }
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(rejection) => return Ok(rejection.into_response()),
    };
    let place = shared.chat_sockets.place(&caller).ok_or_else(|| {
        ErrorResponse::new(StatusCode::SERVICE_UNAVAILABLE, "too many chat sockets are open", "Close one of them.")
    })?;
    Ok(upgrade
        .max_message_size(FRAME_CAP)
        .max_frame_size(FRAME_CAP)
        .on_upgrade(move |socket| session::run(shared, socket, caller, place)))
}
