//! Reads request bodies with limits on size, time and concurrency.

use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::http::StatusCode;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::respond::ErrorResponse;

/// Maximum number of bodies read at once. With the largest size limit they take at most half a gigabyte of memory.
const AT_ONCE: usize = 8;
const TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) struct BodySlots(Semaphore);

impl Default for BodySlots {
    fn default() -> Self {
        Self(Semaphore::new(AT_ONCE))
    }
}

impl BodySlots {
    /// Reads the whole body if it has at most `cap` bytes and arrives within a minute.
    pub(crate) async fn read(&self, body: Body, cap: usize) -> Result<Vec<u8>, ErrorResponse> {
        // A body that declares too large a size is not read at all.
        if body.size_hint().lower() > cap as u64 {
            return Err(too_large(cap));
        }
        let read = async {
            // The semaphore is never closed.
            let _seat = self.0.acquire().await.ok();
            Limited::new(body, cap).collect().await
        };
        match timeout(TIMEOUT, read).await {
            Ok(Ok(collected)) => Ok(collected.to_bytes().into()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large(cap)),
            Ok(Err(_)) => Err(ErrorResponse::new(
                StatusCode::BAD_REQUEST,
                "the connection closed before the whole body arrived",
                "Send the request again.",
            )),
            Err(_) => Err(ErrorResponse::new(
                StatusCode::REQUEST_TIMEOUT,
                "the body did not arrive in time",
                "Send the request again, in smaller parts.",
            )),
        }
    }
}

fn too_large(cap: usize) -> ErrorResponse {
    ErrorResponse::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!("the body is larger than {} MiB", cap / (1024 * 1024)),
        "Send the data in smaller parts.",
    )
}
