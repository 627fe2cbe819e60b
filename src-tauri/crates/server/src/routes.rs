//! Routes and the middleware in front of them.

use crate::state::SharedState;

use std::path::Path;
use std::sync::Arc;

use axum::extract::{Query, Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state, map_request};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use axum::{Extension, Router};
use serde::Deserialize;

use crate::caller::Caller;
use crate::respond::{ErrorResponse, json};
use crate::secret::PresentedToken;
use crate::serving::connections::Connection;
use crate::shares::Holder;
use crate::{
    api_access, archive, chat_socket, events, files, openai_api, operation, root, transfer,
};

/// Builds the router. Layers run from the bottom up: the checks of host and origin come first, for
/// every address.
pub(crate) fn router(shared: SharedState, ui: Option<&Path>) -> Router {
    let with_token = with_token().layer(from_fn_with_state(Arc::clone(&shared), require_token));
    // These two check the token, or the ticket, themselves.
    let others = Router::new()
        .route("/health", get(health))
        .route("/api/events", get(events::events));
    // The local API checks keys itself.
    let local_api = openai_api::routes(&shared)
        .route("/ws/chat", get(chat_socket::chat_socket))
        .layer(from_fn_with_state(
            Arc::clone(&shared),
            api_access::require_api_on,
        ));
    let rest = match ui {
        Some(folder) => files::router(folder),
        None => Router::new()
            .route("/", get(root::page))
            .fallback(no_such_route),
    };
    let rest = rest.layer(from_fn_with_state(
        Arc::clone(&shared),
        root::status_for_programs,
    ));
    let all = rest
        .merge(with_token)
        .merge(others)
        .merge(local_api)
        .layer(from_fn_with_state(Arc::clone(&shared), check_origin))
        .with_state(shared);
    // A layer of the router itself would run after the route was chosen.
    Router::new()
        .fallback_service(all)
        .layer(map_request(with_plain_path))
}

/// The routes for the holder of the token.
fn with_token() -> Router<SharedState> {
    Router::new()
        .route("/api/op/{operation}", post(operation::operation))
        .route("/api/ticket", post(events::ticket))
        .route("/api/import", post(transfer::import))
        .route("/api/tokenizer/{endpoint}", post(transfer::tokenizer))
        .route("/api/export/{id}/{format}", get(transfer::export))
        .route("/api/export-chat/{id}/{format}", get(transfer::export_chat))
        .route("/api/export-characters", post(transfer::export_characters))
        .route("/api/export-chats", post(transfer::export_chats))
        .route(
            "/api/export-lorebook/{id}/{format}",
            get(transfer::export_lorebook),
        )
        .route(
            "/api/export-prompt-file/{kind}/{id}",
            get(transfer::export_prompt_file),
        )
        .route(
            "/api/export-memories/{character}",
            get(transfer::export_memories),
        )
        .route(
            "/api/backup/archive",
            get(archive::export).post(archive::import),
        )
        .route("/api/backup/second-place", post(archive::second_place))
        .route("/asset/{hash}", get(transfer::asset))
        .route("/thumbnail/{hash}", get(transfer::thumbnail))
        .route("/api/{*rest}", any(no_such_route))
}

/// Removes doubled slashes and one at the end from addresses of the local API: programs join a base
/// address and a path, and both may have one.
async fn with_plain_path(mut request: Request) -> Request {
    if let Some(plain) = plain_path(request.uri()) {
        *request.uri_mut() = plain;
    }
    request
}

fn plain_path(uri: &Uri) -> Option<Uri> {
    let path = uri.path();
    if !path.contains("//") && !path.ends_with('/') {
        return None;
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let plain = format!("/{}", parts.join("/"));
    if !openai_api::is_own(&plain) && plain != "/ws/chat" && plain != "/health" {
        return None;
    }
    let query = uri
        .query()
        .map(|query| format!("?{query}"))
        .unwrap_or_default();
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(format!("{plain}{query}").parse().ok()?);
    Uri::from_parts(parts).ok()
}

async fn check_origin(State(shared): State<SharedState>, request: Request, next: Next) -> Response {
    let request_path = request.uri().path().to_owned();
    let mut response = match shared.names.check(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => {
            tracing::warn!(%refusal, "refused a request");
            let error =
                ErrorResponse::new(StatusCode::FORBIDDEN, refusal.to_string(), refusal.hint());
            openai_api::in_form_of(request_path.as_str(), error)
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
            guest.mark_authenticated(&Holder::Owner).await;
            next.run(request).await
        }
        PresentedToken::Nothing | PresentedToken::SomethingElse => {
            ErrorResponse::unauthorized().into_response()
        }
    }
}

#[derive(Deserialize)]
struct HealthQuery {
    /// Whether to contact the endpoints too. Only the server's own token has this effect.
    #[serde(default)]
    endpoints: bool,
}

/// The parts of the report that the holder of a key sees. The others describe this machine.
const KEY_CHECKS: [&str; 3] = ["database", "model", "worker"];

/// Without a key the response only says that the server runs, because the details describe this
/// machine.
async fn health(
    State(shared): State<SharedState>,
    Extension(guest): Extension<Arc<Connection>>,
    Query(query): Query<HealthQuery>,
    headers: HeaderMap,
) -> Result<Response, ErrorResponse> {
    let caller = shared.caller(&headers).await?;
    match caller.holder() {
        Some(holder) => guest.mark_authenticated(&holder).await,
        None => return Ok(json(&serde_json::json!({ "ok": true }))),
    }
    Ok(json(&match caller {
        Caller::Owner if query.endpoints => shared.engine.health_with_endpoints().await?,
        Caller::Owner => shared.engine.health().await?,
        // Contacting the endpoints uses the user's own keys, so a key of the local API cannot ask
        // for it.
        Caller::Key { .. } | Caller::Nobody => {
            let mut report = shared.engine.health().await?;
            report
                .checks
                .retain(|check| KEY_CHECKS.contains(&check.name.as_str()));
            report
        }
    }))
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
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
        (
            CONTENT_SECURITY_POLICY,
            "default-src 'none'; frame-ancestors 'none'; sandbox",
        ),
        (CACHE_CONTROL, "no-store"),
    ];
    for (name, value) in DEFAULTS {
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_api_may_have_more_slashes() {
        let plain = |path: &str| plain_path(&path.parse().unwrap()).map(|uri| uri.to_string());
        for (path, wanted) in [
            ("/v1/models/", "/v1/models"),
            ("//v1/chat/completions", "/v1/chat/completions"),
            ("/v1//chat//completions/?a=//", "/v1/chat/completions?a=//"),
            ("/api/v1/models//", "/api/v1/models"),
            ("/v1/", "/v1"),
            ("/ws/chat/", "/ws/chat"),
        ] {
            assert_eq!(plain(path).as_deref(), Some(wanted), "{path}");
        }
        for path in [
            "/v1/models",
            "/",
            "//",
            "//api/op/list_chats",
            "/v10/",
            "/assets//app.js",
        ] {
            assert_eq!(plain(path), None, "{path}");
        }
    }
}
