//! Downloads a large file from a URL that the user entered or from a model hub, and resumes a
//! partial download.

mod address;
mod served;
mod small;
mod source;

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::StreamExt as _;
use reqwest::header::{ACCEPT_ENCODING, AUTHORIZATION, ETAG, HeaderMap, IF_RANGE, RANGE};
use reqwest::{Client, Response, StatusCode};
use tokio::fs::{self, File, OpenOptions};
use tokio::io::{AsyncSeekExt as _, AsyncWriteExt as _};
use tokio_util::sync::CancellationToken;
use url::Url;

pub(crate) use self::address::Redirects;
use self::address::is_loopback;
use self::served::{ServedRange, length};
pub use self::small::fetch_small;
pub use self::source::DownloadSource;
use crate::hub::{self, HubFault};
use crate::tls;

/// Timeout for connecting.
const CONNECT: Duration = Duration::from_secs(30);
/// Maximum time without receiving a byte.
const SILENCE: Duration = Duration::from_secs(60);
/// Maximum length in bytes of a file name, of an ETag, and of the URL in an error.
const MAX_TEXT: usize = 200;
/// Bytes between two looks at the free space of the disk.
const BETWEEN_LOOKS: u64 = 64 << 20;

/// Reason why a download failed.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    #[error("cannot download from {url}: {why}")]
    Address { url: String, why: &'static str },
    #[error("{host} answered {status}")]
    Refused {
        host: String,
        status: StatusCode,
        fault: HubFault,
    },
    /// The received bytes stay in the part file, and the next try resumes there.
    #[error("the connection was lost after {bytes} bytes; try again to resume")]
    Broken {
        bytes: u64,
        source: Option<reqwest::Error>,
    },
    #[error("cannot write {}: {source}", path.display())]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
    /// The link to the file is no longer valid. The next try gets a new one from the hub, and
    /// resumes.
    #[error("the link to the file has expired after {bytes} bytes; try again to resume")]
    Expired { bytes: u64 },
    /// The caller stopped it. The received bytes stay in the part file.
    #[error("the download was stopped after {bytes} bytes")]
    Stopped { bytes: u64 },
    /// The received bytes are deleted.
    #[error("the disk is full")]
    Full { path: PathBuf },
    /// The server sends a file of another size than the hub states. The received bytes are deleted.
    #[error("the hub states {expected} bytes, but the file has {found}")]
    Size { expected: u64, found: u64 },
    /// Only [`fetch_small`] has this limit.
    #[error("the file has more than {limit} bytes")]
    TooLong { limit: usize },
}

/// The expectations of the caller besides the address.
#[derive(Default)]
pub struct Conditions<'a> {
    /// Size that the hub states, in bytes. Another size is an error.
    pub bytes: Option<u64>,
    /// The caller compares a checksum afterwards, so a download may resume without an ETag.
    pub verified: bool,
    pub cancel: CancellationToken,
    /// Whether the disk has room for this many further bytes; asked before the download and every
    /// 64 MiB.
    pub has_room: Option<&'a (dyn Fn(u64) -> bool + Sync)>,
}

/// Downloads the file into `part`. Resumes an existing part if its ETag still matches.
/// `progress` receives the bytes received so far, and the total if the server reports it.
///
/// # Errors
/// [`DownloadError`]; the received bytes stay in `part`.
pub async fn download(
    source: &DownloadSource,
    part: &Path,
    progress: impl Fn(u64, Option<u64>),
) -> Result<(), DownloadError> {
    download_with(source, part, &Conditions::default(), progress).await
}

/// Works like [`download`], with `conditions`.
///
/// # Errors
/// [`DownloadError`]; the received bytes stay in `part` unless the variant says otherwise.
pub async fn download_with(
    source: &DownloadSource,
    part: &Path,
    conditions: &Conditions<'_>,
    progress: impl Fn(u64, Option<u64>),
) -> Result<(), DownloadError> {
    let done = fetch(source, part, conditions, progress).await;
    if matches!(
        done,
        Err(DownloadError::Full { .. } | DownloadError::Size { .. })
    ) {
        discard(part).await?;
    }
    done
}

/// Deletes a partial download.
///
/// # Errors
/// [`DownloadError::File`].
pub async fn discard(part: &Path) -> Result<(), DownloadError> {
    remove(&part.with_extension("tag")).await?;
    remove(part).await
}

async fn fetch(
    source: &DownloadSource,
    part: &Path,
    conditions: &Conditions<'_>,
    progress: impl Fn(u64, Option<u64>),
) -> Result<(), DownloadError> {
    let tag_file = part.with_extension("tag");
    remove_link(part).await?;
    remove_link(&tag_file).await?;
    loop {
        let before = length(part).await;
        match fetch_piece(source, part, &tag_file, conditions, &progress).await? {
            DownloadedPiece::Last => return remove(&tag_file).await,
            DownloadedPiece::Ends { here } if here > before => {}
            DownloadedPiece::Ends { here } => {
                return Err(DownloadError::Broken {
                    bytes: here,
                    source: None,
                });
            }
        }
    }
}

/// The bytes of one answer.
enum DownloadedPiece {
    /// The file is complete.
    Last,
    /// The server sent less than the rest of the file; it must be asked again.
    Ends { here: u64 },
}

async fn fetch_piece(
    source: &DownloadSource,
    part: &Path,
    tag_file: &Path,
    conditions: &Conditions<'_>,
    progress: &impl Fn(u64, Option<u64>),
) -> Result<DownloadedPiece, DownloadError> {
    let mut here = length(part).await;
    let tag = fs::read_to_string(tag_file).await.unwrap_or_default();
    let answer = tokio::select! {
        answer = request(source, here, &tag, conditions.verified) => answer?,
        () = conditions.cancel.cancelled() => return Err(DownloadError::Stopped { bytes: here }),
    };
    if !answer.status().is_success() {
        return Err(refused(source, part, here, &answer).await);
    }
    let served = ServedRange::of(&answer, here);
    if let (Some(expected), Some(found)) = (
        conditions.bytes,
        served.total.filter(|all| Some(*all) != conditions.bytes),
    ) {
        return Err(DownloadError::Size { expected, found });
    }
    if served.start > here {
        // There would be a gap, so the next try asks for the whole file.
        discard(part).await?;
        return Err(DownloadError::Broken {
            bytes: 0,
            source: None,
        });
    }
    here = served.start;
    if here == 0 {
        keep_tag(tag_file, answer.headers()).await?;
    }
    let all = served.total.or(conditions.bytes);
    write(answer, part, &mut here, all, conditions, |here| {
        progress(here, all)
    })
    .await?;
    let is_complete = all.is_none_or(|all| all == here);
    Ok(if is_complete {
        DownloadedPiece::Last
    } else {
        DownloadedPiece::Ends { here }
    })
}

/// Explains an answer without success. Links of file servers expire, and each server says so with
/// its own status; the hub's own refusals name a code.
async fn refused(
    source: &DownloadSource,
    part: &Path,
    here: u64,
    answer: &Response,
) -> DownloadError {
    let status = answer.status();
    let headers = answer.headers();
    let of_hub = headers.contains_key(hub::ERROR_CODE);
    let elsewhere = answer.url().host_str() != source.url.host_str()
        || answer.url().port() != source.url.port();
    let may_be_expired = matches!(status.as_u16(), 400 | 401 | 403 | 404 | 410) && elsewhere;
    // The hub has given the beginning of the file, so it does not ask for anything first.
    if !of_hub && (may_be_expired || (status == StatusCode::FORBIDDEN && here > 0)) {
        return DownloadError::Expired { bytes: here };
    }
    // The part is already complete, or longer than the file; the next try starts over.
    if status == StatusCode::RANGE_NOT_SATISFIABLE
        && let Err(error) = discard(part).await
    {
        return error;
    }
    DownloadError::Refused {
        host: source.host(),
        status,
        fault: hub::fault_of_status(status, headers),
    }
}

async fn request(
    source: &DownloadSource,
    here: u64,
    tag: &str,
    verified: bool,
) -> Result<Response, DownloadError> {
    let mut request = client(&source.url, source.redirects)?
        .get(source.url.clone())
        .header(ACCEPT_ENCODING, "identity");
    if let Some(token) = source.token.as_ref().and_then(hub::bearer) {
        request = request.header(AUTHORIZATION, token);
    }
    if here > 0 && (verified || !tag.is_empty()) {
        request = request.header(RANGE, format!("bytes={here}-"));
    }
    // Mirrors give the same file different tags. A checksum proves more.
    if here > 0 && !tag.is_empty() && !verified {
        request = request.header(IF_RANGE, tag);
    }
    request.send().await.map_err(|error| broken(here, error))
}

async fn write(
    answer: Response,
    part: &Path,
    here: &mut u64,
    all: Option<u64>,
    conditions: &Conditions<'_>,
    report: impl Fn(u64),
) -> Result<(), DownloadError> {
    let failed = |source| file(part, source);
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(false);
    let mut written: File = options.open(part).await.map_err(failed)?;
    written.set_len(*here).await.map_err(failed)?;
    written
        .seek(std::io::SeekFrom::End(0))
        .await
        .map_err(failed)?;
    let received = receive(answer, &mut written, part, here, all, conditions, report).await;
    // Bytes in the buffer must reach the file before the next try looks at its length.
    written.flush().await.map_err(failed)?;
    received?;
    written.sync_all().await.map_err(failed)
}

async fn receive(
    answer: Response,
    written: &mut File,
    part: &Path,
    here: &mut u64,
    all: Option<u64>,
    conditions: &Conditions<'_>,
    report: impl Fn(u64),
) -> Result<(), DownloadError> {
    let mut pieces = answer.bytes_stream();
    let mut looked_at = None::<u64>;
    loop {
        let piece = tokio::select! {
            piece = pieces.next() => piece,
            () = conditions.cancel.cancelled() => return Err(DownloadError::Stopped { bytes: *here }),
        };
        let Some(piece) = piece else { return Ok(()) };
        let piece = piece.map_err(|error| broken(*here, error))?;
        if let Some(expected) = all.filter(|expected| *here + piece.len() as u64 > *expected) {
            return Err(DownloadError::Size {
                expected,
                found: *here + piece.len() as u64,
            });
        }
        if looked_at.is_none_or(|at| *here - at >= BETWEEN_LOOKS) {
            looked_at = Some(*here);
            // A file without a stated size may take half of the free space.
            let rest = all.map_or(*here + BETWEEN_LOOKS, |all| all.saturating_sub(*here));
            if conditions.has_room.is_some_and(|has_room| !has_room(rest)) {
                return Err(DownloadError::Full {
                    path: part.to_owned(),
                });
            }
        }
        written
            .write_all(&piece)
            .await
            .map_err(|source| file(part, source))?;
        *here += piece.len() as u64;
        report(*here);
    }
}

/// A client for this address and the redirects that it may follow.
pub(crate) fn client(url: &Url, redirects: Redirects) -> Result<Client, DownloadError> {
    tls::install();
    let mut builder = Client::builder()
        .connect_timeout(CONNECT)
        .read_timeout(SILENCE)
        .redirect(redirects.policy())
        .user_agent(concat!("inglenook/", env!("CARGO_PKG_VERSION")));
    if is_loopback(url) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| broken(0, error))
}

/// Only a strong ETag proves that the bytes are the same; without one, a failed download starts
/// over.
async fn keep_tag(tag_file: &Path, headers: &HeaderMap) -> Result<(), DownloadError> {
    let tag = headers.get(ETAG).and_then(|tag| tag.to_str().ok());
    match tag.filter(|tag| tag.starts_with('"') && tag.len() <= MAX_TEXT) {
        Some(tag) => fs::write(tag_file, tag)
            .await
            .map_err(|source| file(tag_file, source)),
        None => remove(tag_file).await,
    }
}

/// Removes a symbolic link in place of a file, so that nothing is written through it.
async fn remove_link(path: &Path) -> Result<(), DownloadError> {
    match fs::symlink_metadata(path).await {
        Ok(about) if about.is_symlink() => remove(path).await,
        _ => Ok(()),
    }
}

async fn remove(path: &Path) -> Result<(), DownloadError> {
    match fs::remove_file(path).await {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(file(path, source)),
        _ => Ok(()),
    }
}

fn file(path: &Path, source: std::io::Error) -> DownloadError {
    match source.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            DownloadError::Full {
                path: path.to_owned(),
            }
        }
        _ => DownloadError::File {
            path: path.to_owned(),
            source,
        },
    }
}

fn broken(bytes: u64, error: reqwest::Error) -> DownloadError {
    DownloadError::Broken {
        bytes,
        source: Some(error.without_url()),
    }
}

#[cfg(test)]
mod tests;
