//! Routes of the OpenAI-compatible API. `router` in `routes.rs` switches them on and off.

use axum::Router;
use axum::routing::any;

use crate::respond::ErrorResponse;
use crate::routes::SharedState;

pub(crate) fn routes(_: &SharedState) -> Router<SharedState> {
    let nothing = || async { ErrorResponse::no_such_route() };
    Router::new().route("/v1/{*rest}", any(nothing)).route("/api/v1/{*rest}", any(nothing))
}
