//! `GET /ws/chat`: a chat over a WebSocket, with typed JSON events. Text of a model is only ever
//! the content of a field.
//!
//! A client shows the server's token or a key of the local API in `Authorization`, a ticket in the
//! address, or a key in its first frame, because a browser cannot send a header.

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
use crate::shares::{Holder, Place, Places, Shares};

/// Open sockets whose client has shown the token or a key.
const SOCKETS: Places = Places {
    owner: 64,
    keys: 64,
    one_key: 24,
};
/// Maximum number of sockets that wait for a key.
const WAITING: usize = 16;
/// A client without a key is disconnected after this time.
const KEY_LIMIT: Duration = Duration::from_secs(10);
/// Maximum bytes of a client's frame. A longer one ends the connection.
const FRAME_CAP: usize = 256 * 1024;

/// Places for sockets.
pub(crate) struct ChatSockets {
    open: Shares,
    waiting: Arc<Semaphore>,
}

/// The place of a socket. Dropping it frees the place.
pub(crate) enum SocketPlace {
    Waiting(#[expect(dead_code, reason = "only held")] OwnedSemaphorePermit),
    User(#[expect(dead_code, reason = "only held")] Place),
}

impl Default for ChatSockets {
    fn default() -> Self {
        Self {
            open: Shares::new(SOCKETS),
            waiting: Arc::new(Semaphore::new(WAITING)),
        }
    }
}

impl ChatSockets {
    fn place(&self, caller: &Caller) -> Option<SocketPlace> {
        match caller.holder() {
            None => Arc::clone(&self.waiting)
                .try_acquire_owned()
                .ok()
                .map(SocketPlace::Waiting),
            Some(holder) => self.place_for_user(&holder),
        }
    }

    /// A place for a client that has shown a key.
    fn place_for_user(&self, holder: &Holder) -> Option<SocketPlace> {
        self.open.try_take(holder).ok().map(SocketPlace::User)
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
    if let Some(holder) = caller.holder() {
        guest.mark_authenticated(&holder).await;
    }
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(rejection) => return Ok(rejection.into_response()),
    };
    let place = shared.chat_sockets.place(&caller).ok_or_else(|| {
        ErrorResponse::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many chat sockets are open",
            "Close one of them.",
        )
    })?;
    Ok(upgrade
        .max_message_size(FRAME_CAP)
        .max_frame_size(FRAME_CAP)
        .on_upgrade(move |socket| session::run(shared, socket, caller, place)))
}
