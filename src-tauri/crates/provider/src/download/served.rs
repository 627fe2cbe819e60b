//! Reads what a server says about the range that it sends.

use std::path::Path;

use reqwest::header::CONTENT_RANGE;
use reqwest::{Response, StatusCode};
use tokio::fs;

/// The place of an answer's bytes in the file. It may be another one than the client asked for.
pub(super) struct ServedRange {
    pub(super) start: u64,
    /// Length of the whole file, if the server states it.
    pub(super) total: Option<u64>,
}

impl ServedRange {
    /// `here` is the start that the client asked for.
    pub(super) fn of(answer: &Response, here: u64) -> Self {
        if answer.status() != StatusCode::PARTIAL_CONTENT {
            return Self {
                start: 0,
                total: answer.content_length(),
            };
        }
        let range = answer
            .headers()
            .get(CONTENT_RANGE)
            .and_then(|range| range.to_str().ok())
            .and_then(content_range);
        range.unwrap_or_else(|| Self {
            start: here,
            total: answer.content_length().map(|rest| here + rest),
        })
    }
}

/// Reads `bytes 100-199/200`; the total may be `*`.
pub(super) fn content_range(header: &str) -> Option<ServedRange> {
    let (range, total) = header
        .trim()
        .strip_prefix("bytes")?
        .trim_start()
        .split_once('/')?;
    let start = range.split_once('-')?.0.trim().parse().ok()?;
    Some(ServedRange {
        start,
        total: total.trim().parse().ok(),
    })
}

pub(super) async fn length(path: &Path) -> u64 {
    fs::metadata(path).await.map_or(0, |about| about.len())
}
