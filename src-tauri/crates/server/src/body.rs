//! Reads request bodies with limits on size, time and concurrency.

use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::http::StatusCode;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::respond::Failure;

/// Maximum number of bodies read at once. With the largest size limit they take at most half a gigabyte of memory.
const AT_ONCE: usize = 8;
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Bodies(Semaphore);

impl Default for Bodies {
    fn default() -> Self {
        Self(Semaphore::new(AT_ONCE))
    }
}

impl Bodies {
    /// Reads the whole body if it has at most `cap` bytes and arrives within a minute.
    pub(crate) async fn read(&self, body: Body, cap: usize) -> Result<Vec<u8>, Failure> {
        // A body that declares too large a size is not read at all.
        if body.size_hint().lower() > cap as u64 {
            return Err(too_large(cap));
        }
        let read = async {
            // The semaphore is never closed.
            let _seat = self.0.acquire().await.ok();
            Limited::new(body, cap).collect().await
        };
        match timeout(PATIENCE, read).await {
            Ok(Ok(collected)) => Ok(collected.to_bytes().into()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large(cap)),
            Ok(Err(_)) => Err(Failure::new(
                StatusCode::BAD_REQUEST,
                "the connection closed before the whole body arrived",
                "Send the request again.",
            )),
            Err(_) => Err(Failure::new(
                StatusCode::REQUEST_TIMEOUT,
                "the body did not arrive in time",
                "Send the request again, in smaller parts.",
            )),
        }
    }
}

fn too_large(cap: usize) -> Failure {
    Failure::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!("the body is larger than {} MiB", cap / (1024 * 1024)),
        "Send the data in smaller parts.",
    )
}
