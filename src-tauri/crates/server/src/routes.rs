//! Routes and the middleware in front of them.

use std::path::Path;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use axum::{Extension, Router};
use engine::Engine;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::body::BodySlots;
use crate::connections::Connection;
use crate::guard::AllowedHosts;
use crate::respond::{ErrorResponse, json};
use crate::secret::{AccessToken, PresentedToken, Tickets};
use crate::{archive, events, files, openai_api, operation, transfer};

/// State shared by the handlers.
pub(crate) struct ServerState {
    pub(crate) engine: Engine,
    pub(crate) token: AccessToken,
    pub(crate) names: AllowedHosts,
    pub(crate) tickets: Tickets,
    pub(crate) bodies: BodySlots,
    pub(crate) listeners: Arc<Semaphore>,
    pub(crate) stopping: CancellationToken,
}

pub(crate) type SharedState = Arc<ServerState>;

/// Builds the router. Layers run from the bottom up: the checks of host and origin come first, for every address.
pub(crate) fn router(shared: SharedState, ui: Option<&Path>) -> Router {
    let with_token = Router::new()
        .route("/api/op/{operation}", post(operation::operation))
        .route("/api/ticket", post(events::ticket))
        .route("/api/import", post(transfer::import))
        .route("/api/tokenizer/{endpoint}", post(transfer::tokenizer))
        .route("/api/export/{id}/{format}", get(transfer::export))
        .route("/api/export-chat/{id}/{format}", get(transfer::export_chat))
        .route("/api/export-characters", post(transfer::export_characters))
        .route("/api/export-chats", post(transfer::export_chats))
        .route("/api/export-lorebook/{id}/{format}", get(transfer::export_lorebook))
        .route("/api/export-prompt-file/{kind}/{id}", get(transfer::export_prompt_file))
        .route("/api/export-memories/{character}", get(transfer::export_memories))
        .route("/api/backup/archive", get(archive::export).post(archive::import))
        .route("/api/backup/second-place", post(archive::second_place))
        .route("/asset/{hash}", get(transfer::asset))
        .route("/thumbnail/{hash}", get(transfer::thumbnail))
        .route("/api/{*rest}", any(no_such_route))
        .layer(from_fn_with_state(Arc::clone(&shared), require_token));
    // These two check the token, or the ticket, themselves.
    let others = Router::new().route("/health", get(health)).route("/api/events", get(events::events));
    let rest = match ui {
        Some(folder) => files::router(folder),
        None => Router::new().fallback(no_such_route),
    };
    let openai = openai_api::routes(&shared);
    rest.merge(with_token)
        .merge(openai)
        .merge(others)
        .layer(from_fn_with_state(Arc::clone(&shared), check_origin))
        .with_state(shared)
}

async fn check_origin(State(shared): State<SharedState>, request: Request, next: Next) -> Response {
    let mut response = match shared.names.check(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => {
            tracing::warn!(%refusal, "refused a request");
            let hint = "Open the address that the server printed when it started.";
            ErrorResponse::new(StatusCode::FORBIDDEN, refusal.to_string(), hint).into_response()
        }
    };
    harden(response.headers_mut());
    response
}

async fn require_token(
    State(shared): State<SharedState>,
    Extension(guest): Extension<Arc<Connection>>,
    request: Request,
    next: Next,
) -> Response {
    match shared.token.presented(request.headers()) {
        PresentedToken::Token => {
            guest.mark_authenticated().await;
            next.run(request).await
        }
        PresentedToken::Nothing | PresentedToken::SomethingElse => ErrorResponse::unauthorized().into_response(),
    }
}

/// Without the token the response only says that the server runs, because the details describe this machine.
async fn health(
    State(shared): State<SharedState>,
    Extension(guest): Extension<Arc<Connection>>,
    headers: HeaderMap,
) -> Result<Response, ErrorResponse> {
    match shared.token.presented(&headers) {
        PresentedToken::Token => {
            guest.mark_authenticated().await;
            Ok(json(&shared.engine.health().await?))
        }
        PresentedToken::Nothing => Ok(json(&serde_json::json!({ "ok": true }))),
        PresentedToken::SomethingElse => Err(ErrorResponse::unauthorized()),
    }
}

async fn no_such_route() -> ErrorResponse {
    ErrorResponse::no_such_route()
}

/// Adds strict default headers: no framing, no caching, no content sniffing.
fn harden(headers: &mut HeaderMap) {
    const DEFAULTS: [(HeaderName, &str); 6] = [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'; sandbox"),
        (CACHE_CONTROL, "no-store"),
    ];
    for (name, value) in DEFAULTS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}
