//! `POST /api/op/<operation>`: calls an operation of the engine by its name.

use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use engine::api::ApiError;

use crate::respond::{ErrorResponse, json_bytes};
use crate::shares::Holder;
use crate::state::SharedState;

/// Maximum body size: a document of 32 MiB in base64, with its surrounding JSON.
const CAP: usize = 44 * 1024 * 1024;

pub(crate) async fn operation(
    State(shared): State<SharedState>,
    Path(operation): Path<String>,
    body: Body,
) -> Result<Response, ErrorResponse> {
    let args = shared.bodies.read(&Holder::Owner, body, CAP).await?;
    let engine = shared.engine.clone();
    // A separate task: the operation completes if the client disconnects, and a panic does not end
    // the server.
    let work = tokio::spawn(async move { engine.call(&operation, &args).await });
    let answer = work.await.unwrap_or_else(|error| {
        tracing::error!(
            panicked = error.is_panic(),
            "an operation failed to complete"
        );
        Err(ApiError::Internal {
            message: "the operation failed; the log has the reason".into(),
        })
    });
    Ok(json_bytes(answer?.into_bytes()))
}
