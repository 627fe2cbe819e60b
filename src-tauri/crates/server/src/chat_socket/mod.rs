//! `GET /ws/chat`: a chat over a WebSocket, with typed JSON events. Text of a model is only ever
//! the content of a field.
//!
//! A client shows the server's token or a key of the local API in `Authorization`, a ticket in the
//! address, or a key in its first frame, because a browser cannot send a header.

pub(crate) mod places;

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

use crate::caller::Caller;
use crate::events::Admission;
use crate::respond::ErrorResponse;
use crate::serving::connections::Connection;
use crate::state::SharedState;

/// A client without a key is disconnected after this time.
const KEY_LIMIT: Duration = Duration::from_secs(10);
/// Maximum bytes of a client's frame. A longer one ends the connection.
const FRAME_CAP: usize = 256 * 1024;

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
