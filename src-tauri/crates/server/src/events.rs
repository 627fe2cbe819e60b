//! `GET /api/events`: sends the engine's events over a WebSocket to every listener.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Extension;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::respond::{ErrorResponse, json};
use crate::serving::connections::Connection;
use crate::shares::Holder;
use crate::state::SharedState;

/// Maximum number of listeners. Each browser tab is one.
pub(crate) const LISTENERS: usize = 64;

/// Maximum bytes of a client's frame. Clients send nothing on this socket.
const FRAME_CAP: usize = 16 * 1024;

/// A listener that accepts no data for this long is disconnected.
const TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Serialize)]
pub(crate) struct Ticket {
    ticket: String,
    /// Lifetime in seconds.
    expires_in: u64,
}

/// `POST /api/ticket`: issues a ticket for the socket's address, because a browser cannot send a
/// header there.
pub(crate) async fn ticket(State(shared): State<SharedState>) -> Response {
    let ticket = shared.tickets.issue(Instant::now());
    json(&Ticket {
        ticket,
        expires_in: crate::secret::Tickets::LIFE.as_secs(),
    })
}

#[derive(Deserialize)]
pub(crate) struct Admission {
    #[serde(default)]
    pub(crate) ticket: String,
}

pub(crate) async fn events(
    State(shared): State<SharedState>,
    Extension(guest): Extension<Arc<Connection>>,
    Query(admission): Query<Admission>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, ErrorResponse> {
    if !shared.tickets.redeem(&admission.ticket, Instant::now()) {
        return Err(ErrorResponse::bad_ticket());
    }
    guest.mark_authenticated(&Holder::Owner).await;
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(rejection) => return Ok(rejection.into_response()),
    };
    let seat = Arc::clone(&shared.listeners)
        .try_acquire_owned()
        .map_err(|_| {
            ErrorResponse::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "too many listeners",
                "Close another window of this app.",
            )
        })?;
    // Subscribes before the response, so that no event after the handshake is missed.
    let events = shared.engine.subscribe();
    let stopping = shared.stopping.clone();
    Ok(upgrade
        .max_message_size(FRAME_CAP)
        .max_frame_size(FRAME_CAP)
        .on_upgrade(move |socket| async move {
            forward(socket, events, stopping).await;
            drop(seat);
        }))
}

/// Forwards events until the client disconnects or stops reading, or the server stops.
async fn forward(mut socket: WebSocket, mut events: engine::Events, stopping: CancellationToken) {
    loop {
        let next = tokio::select! {
            () = stopping.cancelled() => Some(close_message()),
            event = events.next() => Some(event.map_or_else(close_message, |event| text(&event))),
            frame = socket.recv() => match frame {
                None | Some(Err(_) | Ok(Message::Close(_))) => return,
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => None,
                Some(Ok(Message::Text(_) | Message::Binary(_))) => Some(text(&SendOnlyError::default())),
            },
        };
        let Some(message) = next else { continue };
        let last = matches!(message, Message::Close(_));
        let sent = timeout(TIMEOUT, socket.send(message)).await;
        if last || !matches!(sent, Ok(Ok(()))) {
            return;
        }
    }
}

/// Reply to a client that sends data on this send-only socket.
#[derive(Serialize)]
struct SendOnlyError {
    event: &'static str,
    kind: &'static str,
    message: &'static str,
}

impl Default for SendOnlyError {
    fn default() -> Self {
        Self {
            event: "error",
            kind: "badInput",
            message: "this socket only sends events; use `POST /api/op/<operation>` for requests",
        }
    }
}

fn text(event: &impl Serialize) -> Message {
    match serde_json::to_string(event) {
        Ok(json) => Message::Text(json.into()),
        Err(error) => {
            tracing::error!(%error, "cannot serialise an event");
            Message::Text(r#"{"event":"missed"}"#.into())
        }
    }
}

fn close_message() -> Message {
    Message::Close(Some(CloseFrame {
        code: close_code::AWAY,
        reason: "the server is stopping".into(),
    }))
}
