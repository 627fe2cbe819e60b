//! Reads request bodies with limits on size, time and concurrency.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::http::StatusCode;
use http_body_util::BodyExt;
use tokio::time::timeout;

use crate::respond::ErrorResponse;
use crate::shares::{Holder, Places, Shares};

/// Bodies that are read at once. With the largest size limits they take less than a gigabyte of
/// memory.
const AT_ONCE: Places = Places {
    owner: 8,
    keys: 8,
    one_key: 3,
};
/// Time for a whole body, with the wait for a place.
const TIMEOUT: Duration = Duration::from_secs(60);
/// A client that sends nothing for this long loses its place.
const IDLE: Duration = Duration::from_secs(10);
/// Bytes of a refused body that are still read. A client that sends on would otherwise see a lost
/// connection instead of the reason.
const DISCARDED: u64 = 256 * 1024 * 1024;

pub(crate) struct BodySlots(Shares);

impl Default for BodySlots {
    fn default() -> Self {
        Self(Shares::new(AT_ONCE))
    }
}

/// Why a body was not read.
enum Unread {
    TooLarge,
    Cut,
    Slow,
}

impl BodySlots {
    /// Reads the whole body if it has at most `cap` bytes and arrives in time. Only bodies of
    /// `holder` can make it wait, or those of other keys if it is a key.
    pub(crate) async fn read(
        &self,
        holder: &Holder,
        mut body: Body,
        cap: usize,
    ) -> Result<Vec<u8>, ErrorResponse> {
        let read = async {
            // A body that declares too large a size is not read at all.
            if body.size_hint().lower() > cap as u64 {
                return Err(Unread::TooLarge);
            }
            let _place = self.0.wait(holder).await;
            collect(&mut body, cap).await
        };
        let unread = match timeout(TIMEOUT, read).await {
            Ok(Ok(bytes)) => return Ok(bytes),
            Ok(Err(unread)) => unread,
            Err(_) => Unread::Slow,
        };
        Err(match unread {
            Unread::TooLarge => {
                tokio::spawn(timeout(TIMEOUT, discard(body)));
                too_large(cap)
            }
            Unread::Cut => ErrorResponse::new(
                StatusCode::BAD_REQUEST,
                "The connection closed before the whole body arrived.",
                "Send the request again.",
            ),
            Unread::Slow => ErrorResponse::new(
                StatusCode::REQUEST_TIMEOUT,
                "The body did not arrive in time.",
                "Send the request again, in smaller parts.",
            ),
        })
    }
}

async fn collect(body: &mut Body, cap: usize) -> Result<Vec<u8>, Unread> {
    let mut bytes = Vec::new();
    while let Some(data) = next(body).await? {
        if bytes.len() + data.len() > cap {
            return Err(Unread::TooLarge);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

/// The next piece of the body; `None` at its end.
async fn next(body: &mut Body) -> Result<Option<Bytes>, Unread> {
    match timeout(IDLE, body.frame()).await {
        Ok(Some(Ok(frame))) => Ok(Some(frame.into_data().unwrap_or_default())),
        Ok(Some(Err(_))) => Err(Unread::Cut),
        Ok(None) => Ok(None),
        Err(_) => Err(Unread::Slow),
    }
}

async fn discard(mut body: Body) {
    let mut read = 0;
    while let Ok(Some(data)) = next(&mut body).await {
        read += data.len() as u64;
        if read > DISCARDED {
            return;
        }
    }
}

fn too_large(cap: usize) -> ErrorResponse {
    ErrorResponse::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!("The body is larger than {} MiB.", cap / (1024 * 1024)),
        "Send the data in smaller parts.",
    )
}
