//! Downloads a large file from a URL that the user entered, and resumes a partial download.

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::StreamExt as _;
use reqwest::header::{ACCEPT_ENCODING, CONTENT_RANGE, ETAG, HeaderMap, IF_RANGE, RANGE};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, Response, StatusCode};
use tokio::fs::{self, File, OpenOptions};
use tokio::io::AsyncWriteExt as _;
use url::Url;

use crate::tls;

/// Timeout for connecting.
const CONNECT: Duration = Duration::from_secs(30);
/// Maximum time without receiving a byte.
const SILENCE: Duration = Duration::from_secs(60);
const MAX_REDIRECTS: usize = 5;
/// Maximum length in bytes of a file name, of an ETag, and of the URL in an error.
const MAX_TEXT: usize = 200;

/// Reason why a download failed.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    #[error("cannot download from {url}: {why}")]
    Address { url: String, why: &'static str },
    #[error("{host} answered {status}")]
    Refused { host: String, status: StatusCode },
    /// The received bytes stay in the part file, and the next try resumes there.
    #[error("the connection was lost after {bytes} bytes; try again to resume")]
    Broken { bytes: u64, source: Option<reqwest::Error> },
    #[error("cannot write {}: {source}", path.display())]
    File { path: PathBuf, source: std::io::Error },
}

/// A validated download URL.
#[derive(Debug, Clone)]
pub struct DownloadSource(Url);

impl DownloadSource {
    /// Accepts only URLs whose response nobody on the network can alter: HTTPS, or this machine.
    ///
    /// # Errors
    /// [`DownloadError::Address`].
    pub fn parse(text: &str) -> Result<Self, DownloadError> {
        let refused = |why| DownloadError::Address { url: text.chars().take(MAX_TEXT).collect(), why };
        let url = Url::parse(text).map_err(|_| refused("it is not a valid URL"))?;
        if !is_safe(&url) {
            return Err(refused("it must begin with https://"));
        }
        Ok(Self(url))
    }

    /// Returns the last path segment, with each character that some file system rejects replaced.
    pub fn file_name(&self) -> Option<String> {
        let last = self.0.path_segments()?.next_back()?;
        let name: String = last
            .chars()
            .map(|letter| if letter.is_ascii_alphanumeric() || "._-".contains(letter) { letter } else { '-' })
            .collect();
        Some(name).filter(|name| name.len() <= MAX_TEXT && !name.starts_with('.') && !name.is_empty())
    }

    fn host(&self) -> String {
        self.0.host_str().unwrap_or_default().to_owned()
    }
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
    let client = client(source)?;
    let tag_file = part.with_extension("tag");
    let (mut here, tag) = (length(part).await, fs::read_to_string(&tag_file).await.unwrap_or_default());
    let mut request = client.get(source.0.clone()).header(ACCEPT_ENCODING, "identity");
    if here > 0 && !tag.is_empty() {
        request = request.header(RANGE, format!("bytes={here}-")).header(IF_RANGE, tag);
    }
    let answer = request.send().await.map_err(|error| broken(0, error))?;
    let goes_on = answer.status() == StatusCode::PARTIAL_CONTENT && starts_at(answer.headers(), here);
    if !goes_on && answer.status() != StatusCode::OK {
        // The part is already complete, or longer than the file; the next try starts over.
        if answer.status() == StatusCode::RANGE_NOT_SATISFIABLE {
            remove(part).await?;
        }
        return Err(DownloadError::Refused { host: source.host(), status: answer.status() });
    }
    if !goes_on {
        here = 0;
        keep_tag(&tag_file, answer.headers()).await?;
    }
    let all = answer.content_length().map(|rest| here + rest);
    write(answer, part, &mut here, |here| progress(here, all)).await?;
    if all.is_some_and(|all| all != here) {
        return Err(DownloadError::Broken { bytes: here, source: None });
    }
    remove(&tag_file).await
}

async fn write(answer: Response, part: &Path, here: &mut u64, report: impl Fn(u64)) -> Result<(), DownloadError> {
    let failed = |source| file(part, source);
    let mut options = OpenOptions::new();
    options.create(true).write(true);
    if *here > 0 {
        options.append(true)
    } else {
        options.truncate(true)
    };
    let mut written: File = options.open(part).await.map_err(failed)?;
    let mut pieces = answer.bytes_stream();
    while let Some(piece) = pieces.next().await {
        let piece = match piece {
            Ok(piece) => piece,
            Err(error) => {
                written.flush().await.map_err(failed)?;
                return Err(broken(*here, error));
            }
        };
        written.write_all(&piece).await.map_err(failed)?;
        *here += piece.len() as u64;
        report(*here);
    }
    written.sync_all().await.map_err(failed)
}

fn client(source: &DownloadSource) -> Result<Client, DownloadError> {
    tls::install();
    let mut builder = Client::builder()
        .connect_timeout(CONNECT)
        .read_timeout(SILENCE)
        .redirect(Policy::custom(follow))
        .user_agent(concat!("inglenook/", env!("CARGO_PKG_VERSION")));
    if is_loopback(&source.0) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| broken(0, error))
}

/// Redirect policy. Model hubs redirect to the URL of the file itself.
fn follow(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let known = attempt.previous();
    match known.len() <= MAX_REDIRECTS && known.first().is_some_and(|first| may_redirect_to(first, attempt.url())) {
        true => attempt.follow(),
        false => attempt.stop(),
    }
}

/// Another machine must not redirect to a service on this machine.
fn may_redirect_to(from: &Url, to: &Url) -> bool {
    is_safe(to) && (is_loopback(from) || !is_loopback(to))
}

fn is_safe(url: &Url) -> bool {
    url.scheme() == "https" || (url.scheme() == "http" && is_loopback(url))
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        Some(url::Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

/// `bytes 100-199/200` starts at 100.
fn starts_at(headers: &HeaderMap, here: u64) -> bool {
    let range = headers.get(CONTENT_RANGE).and_then(|range| range.to_str().ok()).unwrap_or_default();
    range
        .strip_prefix("bytes ")
        .and_then(|range| range.split_once('-'))
        .is_some_and(|(from, _)| from.parse() == Ok(here))
}

/// Only a strong ETag proves that the bytes are the same; without one, a failed download starts over.
async fn keep_tag(tag_file: &Path, headers: &HeaderMap) -> Result<(), DownloadError> {
    let tag = headers.get(ETAG).and_then(|tag| tag.to_str().ok());
    match tag.filter(|tag| tag.starts_with('"') && tag.len() <= MAX_TEXT) {
        Some(tag) => fs::write(tag_file, tag).await.map_err(|source| file(tag_file, source)),
        None => remove(tag_file).await,
    }
}

async fn length(path: &Path) -> u64 {
    fs::metadata(path).await.map_or(0, |about| about.len())
}

async fn remove(path: &Path) -> Result<(), DownloadError> {
    match fs::remove_file(path).await {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(file(path, source)),
        _ => Ok(()),
    }
}

fn file(path: &Path, source: std::io::Error) -> DownloadError {
    DownloadError::File { path: path.to_owned(), source }
}

fn broken(bytes: u64, error: reqwest::Error) -> DownloadError {
    DownloadError::Broken { bytes, source: Some(error.without_url()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remote_hosts_cannot_redirect_to_loopback() {
        let leads = |from: &str, to: &str| may_redirect_to(&from.parse().unwrap(), &to.parse().unwrap());
        let (hub, files, here) = ("https://hub.example/a", "https://files.example/b", "http://127.0.0.1:9/c");
        assert!(leads(hub, files) && leads(here, files) && leads(here, "http://localhost:8/d"));
        for own in [here, "https://localhost/c", "http://[::1]:9/c", "http://files.example/b"] {
            assert!(!leads(hub, own), "{own}");
        }
    }
}
