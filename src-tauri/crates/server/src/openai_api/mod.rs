//! The OpenAI-compatible API: models, chat completions, completions and embeddings, for programs
//! with a key.
//!
//! A character is a model here. This folder only converts: the engine decides what a request means,
//! builds the prompt and stores the reply. `src-tauri/docs/api.md` describes the API for its users.

mod authorize;
mod chat;
mod chunk;
mod completions;
mod data_uri;
mod embeddings;
mod error;
mod fields;
mod logprobs;
mod message;
mod models;
mod options;
mod reply;
mod sse;
mod tools;

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};

use crate::respond::ErrorResponse;
use crate::state::SharedState;
use error::Fault;

/// Beginnings of the addresses, which mean the same.
const BASES: [&str; 2] = ["/v1", "/api/v1"];
/// Header that names the chat to continue.
const CHAT_HEADER: &str = "x-inglenook-chat";

/// Maximum size of a request, in bytes. Pictures are inside.
const CAP: usize = 32 * 1024 * 1024;

/// The routes below `/v1`, and the same below `/api/v1`.
pub(crate) fn routes(shared: &SharedState) -> Router<SharedState> {
    let mut routes = Router::new();
    for base in BASES {
        routes = routes
            .route(
                &format!("{base}/models"),
                get(models::list).fallback(wrong_method),
            )
            .route(
                &format!("{base}/models/{{*id}}"),
                get(models::one).fallback(wrong_method),
            )
            .route(
                &format!("{base}/chat/completions"),
                post(chat::complete).fallback(wrong_method),
            )
            .route(
                &format!("{base}/completions"),
                post(completions::complete).fallback(wrong_method),
            )
            .route(
                &format!("{base}/embeddings"),
                post(embeddings::embed).fallback(wrong_method),
            )
            .route(base, any(no_such_route))
            .route(&format!("{base}/{{*rest}}"), any(no_such_route));
    }
    routes.layer(from_fn_with_state(
        Arc::clone(shared),
        authorize::require_key,
    ))
}

/// An error of a middleware, in the form that clients of `path` read.
pub(crate) fn in_form_of(path: &str, error: ErrorResponse) -> Response {
    if is_own(path) {
        Fault::from(error).into_response()
    } else {
        error.into_response()
    }
}

/// Whether the address belongs to this API.
pub(crate) fn is_own(path: &str) -> bool {
    BASES.iter().any(|base| {
        path.strip_prefix(base)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

async fn no_such_route(request: Request) -> Fault {
    Fault::unknown_url(request.method().as_str(), request.uri().path())
}

async fn wrong_method(request: Request) -> Fault {
    Fault::wrong_method(request.method().as_str(), request.uri().path())
}
