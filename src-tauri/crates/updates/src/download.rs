//! Downloads the manifest and the archive of a version.

use std::io;
use std::path::{Path, PathBuf};

use provider::download::{
    Conditions, DownloadError, DownloadSource, discard, download_with, fetch_small,
};
use semver::Version;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::archive::{self, InstallError};
use crate::folders::VersionFolders;
use crate::manifest::{
    MAX_MANIFEST, MAX_SIGNATURE, ManifestError, UpdateArchive, UpdateManifest, verify,
};
use crate::source::UpdateSource;

/// Returns the free bytes of the disk with a folder.
pub type FreeSpace = fn(&Path) -> io::Result<u64>;

/// Bytes that stay free on the disk, for the database and other programs.
const RESERVE: u64 = 256 << 20;
/// Space for the unpacked files, as a multiple of the archive.
const UNPACKED: u64 = 4;

/// A manifest with its detached signature, as they were downloaded. Its content counts only after
/// [`Self::verify`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedManifest {
    text: String,
    signature: String,
}

/// An archive to download.
#[derive(Debug)]
pub struct ArchiveRequest<'a> {
    pub archive: &'a UpdateArchive,
    pub version: &'a Version,
    pub cancel: CancellationToken,
    pub free_space: FreeSpace,
}

/// Why a download failed.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error("{host} redirects to another server")]
    Redirected { host: String },
    #[error("the server sent something else than a manifest")]
    NotText,
    #[error("the archive has {found} bytes, but the manifest states {expected}")]
    Size { expected: u64, found: u64 },
    #[error("the archive has another checksum than the manifest states")]
    Checksum,
    #[error("the update needs {needed} bytes, but the disk has {free} free")]
    NoRoom { needed: u64, free: u64 },
    #[error("cannot access {}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Download(DownloadError),
}

impl From<DownloadError> for FetchError {
    fn from(error: DownloadError) -> Self {
        match error {
            DownloadError::Refused { host, status, .. } if status.is_redirection() => {
                Self::Redirected { host }
            }
            DownloadError::Size { expected, found } => Self::Size { expected, found },
            other => Self::Download(other),
        }
    }
}

impl SignedManifest {
    /// Reads the manifest if a key of `source` has signed it.
    ///
    /// # Errors
    /// [`ManifestError`].
    pub fn verify(&self, source: &UpdateSource) -> Result<UpdateManifest, ManifestError> {
        verify(self.text.as_bytes(), &self.signature, &source.public_keys())
    }
}

/// Downloads the manifest at `address`, and its signature from the same address with `.minisig`.
///
/// # Errors
/// [`FetchError`].
pub async fn fetch_manifest(address: &str) -> Result<SignedManifest, FetchError> {
    let manifest = DownloadSource::of_release(address)?;
    let signature = DownloadSource::of_release(&format!("{address}.minisig"))?;
    Ok(SignedManifest {
        text: text(fetch_small(&manifest, MAX_MANIFEST).await?)?,
        signature: text(fetch_small(&signature, MAX_SIGNATURE).await?)?,
    })
}

fn text(bytes: Vec<u8>) -> Result<String, FetchError> {
    String::from_utf8(bytes).map_err(|_| FetchError::NotText)
}

/// Downloads an archive and compares its size and its checksum. A part of an earlier try is
/// resumed. `progress` receives the bytes so far.
///
/// # Errors
/// [`FetchError`]. An archive that fails a check is deleted.
pub async fn fetch_archive(
    folders: &VersionFolders,
    request: &ArchiveRequest<'_>,
    progress: impl Fn(u64),
) -> Result<(), FetchError> {
    let versions = folders.versions();
    let part = folders.part(request.version);
    let missing = |rest: u64| missing_room(request, &versions, rest);
    if let Some(error) = missing(request.archive.size) {
        return Err(error);
    }
    let source = DownloadSource::of_release(&request.archive.url)?;
    let has_room = |rest: u64| missing(rest).is_none();
    let conditions = Conditions {
        bytes: Some(request.archive.size),
        verified: true,
        cancel: request.cancel.clone(),
        has_room: Some(&has_room),
    };
    download_with(&source, &part, &conditions, |here, _| progress(here)).await?;
    if !is_right(part.clone(), request.archive.clone()).await? {
        discard(&part).await?;
        return Err(FetchError::Checksum);
    }
    let archive = folders.archive(request.version);
    tokio::fs::rename(&part, &archive)
        .await
        .map_err(|source| FetchError::File {
            path: archive,
            source,
        })
}

/// The error if the rest of the archive and its unpacked files do not fit on the disk. An unknown
/// size of the disk is no reason to refuse.
fn missing_room(request: &ArchiveRequest<'_>, folder: &Path, rest: u64) -> Option<FetchError> {
    let free = (request.free_space)(folder).ok()?;
    let unpacked = request.archive.size.saturating_mul(UNPACKED);
    let needed = rest.saturating_add(unpacked).saturating_add(RESERVE);
    (free < needed).then_some(FetchError::NoRoom { needed, free })
}

async fn is_right(file: PathBuf, archive: UpdateArchive) -> Result<bool, FetchError> {
    let path = file.clone();
    let checked = tokio::task::spawn_blocking(move || archive::check(&file, &archive)).await;
    match checked {
        Ok(Ok(())) => Ok(true),
        Ok(Err(InstallError::File { path, source })) => Err(FetchError::File { path, source }),
        Ok(Err(_)) => Ok(false),
        Err(_) => Err(FetchError::File {
            path,
            source: io::Error::other("the check was interrupted"),
        }),
    }
}
