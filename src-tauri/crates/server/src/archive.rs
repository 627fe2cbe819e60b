//! Exports and imports all data as one archive, and sets the second place for backups. The archive
//! goes through a file, because it may be larger than memory.

use std::path::PathBuf;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use serde::Deserialize;
use tempfile::NamedTempFile;
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::respond::{ErrorResponse, json};
use crate::shares::Holder;
use crate::state::SharedState;
use crate::transfer::{attachment, header};

/// Maximum size of an imported archive.
const CAP: u64 = 64 << 30;
const CHUNK: usize = 256 * 1024;
/// Timeout for each chunk of the body.
const TIMEOUT: Duration = Duration::from_secs(60);
const PLACE_CAP: usize = 64 * 1024;

/// `GET /api/backup/archive`.
pub(crate) async fn export(State(shared): State<SharedState>) -> Result<Response, ErrorResponse> {
    let temporary = temporary(&shared)?;
    shared
        .engine
        .export_archive(temporary.path().to_owned())
        .await?;
    let file = File::open(temporary.path())
        .await
        .map_err(|error| disk(&error))?;
    let length = file.metadata().await.map_err(|error| disk(&error))?.len();
    // The stream owns the file, which is deleted when the stream is dropped.
    let bytes = stream::try_unfold((file, temporary), |(mut file, temporary)| async move {
        let mut chunk = vec![0; CHUNK];
        let read = file.read(&mut chunk).await?;
        chunk.truncate(read);
        Ok::<_, std::io::Error>((read > 0).then(|| (Bytes::from(chunk), (file, temporary))))
    });
    let headers = [
        (CONTENT_TYPE, header("application/zip")),
        (CONTENT_LENGTH, header(&length.to_string())),
        attachment("Inglenook backup.zip"),
    ];
    Ok((headers, Body::from_stream(bytes)).into_response())
}

/// `POST /api/backup/archive`: stores the archive in the body as a backup.
pub(crate) async fn import(
    State(shared): State<SharedState>,
    body: Body,
) -> Result<Response, ErrorResponse> {
    let temporary = temporary(&shared)?;
    receive(body, temporary.path().to_owned()).await?;
    Ok(json(
        &shared
            .engine
            .import_archive(temporary.path().to_owned())
            .await?,
    ))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BackupFolder {
    folder: PathBuf,
}

/// `POST /api/backup/second-place`, `{"folder": "/a/folder/of/this/machine"}`.
pub(crate) async fn second_place(
    State(shared): State<SharedState>,
    body: Body,
) -> Result<Response, ErrorResponse> {
    let bytes = shared.bodies.read(&Holder::Owner, body, PLACE_CAP).await?;
    let place: BackupFolder = serde_json::from_slice(&bytes).map_err(|_| {
        ErrorResponse::new(
            StatusCode::BAD_REQUEST,
            "the request names no folder",
            "Send its path as `folder`.",
        )
    })?;
    Ok(json(&shared.engine.set_second_place(place.folder).await?))
}

/// A temporary file in the data folder, because the system's temporary folder may be too small. The
/// next start removes files that a killed server left behind.
fn temporary(shared: &SharedState) -> Result<NamedTempFile, ErrorResponse> {
    let folder = shared.engine.backup_folder();
    let data = folder.parent().unwrap_or(&folder);
    tempfile::Builder::new()
        .prefix(".partial-")
        .tempfile_in(data)
        .map_err(|error| disk(&error))
}

async fn receive(body: Body, path: PathBuf) -> Result<(), ErrorResponse> {
    let mut file = File::create(path).await.map_err(|error| disk(&error))?;
    let mut parts = body.into_data_stream();
    let mut received = 0_u64;
    loop {
        let part = timeout(TIMEOUT, parts.next())
            .await
            .map_err(|_| broken("the archive did not arrive in time"))?;
        let Some(part) = part else { break };
        let part = part.map_err(|_| broken("the upload of the archive was interrupted"))?;
        received += part.len() as u64;
        if received > CAP {
            return Err(broken("the archive is too large"));
        }
        file.write_all(&part).await.map_err(|error| disk(&error))?;
    }
    file.flush().await.map_err(|error| disk(&error))
}

fn broken(what: &str) -> ErrorResponse {
    ErrorResponse::new(StatusCode::BAD_REQUEST, what, "Send it again.")
}

fn disk(error: &std::io::Error) -> ErrorResponse {
    let message = format!("the archive could not be written or read: {error}");
    ErrorResponse::new(
        StatusCode::INSUFFICIENT_STORAGE,
        message,
        "Free some space in the data folder and try again.",
    )
}
