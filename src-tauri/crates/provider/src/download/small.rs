//! Reads a small file into memory.

use std::time::Duration;

use futures_util::StreamExt as _;
use reqwest::Response;
use reqwest::header::ACCEPT_ENCODING;

use super::{DownloadError, DownloadSource, broken, client};
use crate::hub;

/// Maximum time of the whole answer.
const ANSWER: Duration = Duration::from_secs(30);

/// Reads a file of at most `limit` bytes, within 30 seconds. The token of a hub is not sent.
///
/// # Errors
/// [`DownloadError`]; `TooLong` for a larger file.
pub async fn fetch_small(source: &DownloadSource, limit: usize) -> Result<Vec<u8>, DownloadError> {
    let request = client(&source.url, source.redirects)?
        .get(source.url.clone())
        .header(ACCEPT_ENCODING, "identity")
        .timeout(ANSWER);
    let answer = request.send().await.map_err(|error| broken(0, error))?;
    let status = answer.status();
    if !status.is_success() {
        return Err(DownloadError::Refused {
            host: source.host(),
            status,
            fault: hub::fault_of_status(status, answer.headers()),
        });
    }
    read(answer, limit).await
}

async fn read(answer: Response, limit: usize) -> Result<Vec<u8>, DownloadError> {
    let mut body = Vec::new();
    let mut pieces = answer.bytes_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|error| broken(body.len() as u64, error))?;
        if piece.len() > limit - body.len() {
            return Err(DownloadError::TooLong { limit });
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}
