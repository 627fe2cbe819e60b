//! Client for a model hub with the API of Hugging Face: search, file lists, and the beginnings of
//! files.
//!
//! Guarantees
//! - Only the configured address is called. A link to the next page is read for its cursor and
//!   never followed.
//! - Every answer is bounded in size and time. Names of a hub never become paths; see [`names`].
//! - The access token goes to the hub only. The HTTP client drops it on a redirect to another host.
//!
//! Source of the API: the Hub's own documentation, and the client `huggingface_hub`.

mod error;
mod listing;
pub mod names;
mod wire;

use std::time::Duration;

pub(crate) use error::{ERROR_CODE, fault as fault_of_status};
pub use error::{HubError, HubFault};
use futures_util::StreamExt as _;
pub use listing::{HubFile, HubModel, RemoteFile, Repository, SearchPage};
use names::RepoId;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_RANGE, HeaderMap, HeaderValue, LINK, RANGE,
};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use secrecy::{ExposeSecret as _, SecretString};
use serde::de::DeserializeOwned;
use url::Url;
use wire::{WireFile, WireModel};

use crate::download::{self, DownloadError, DownloadSource, Redirects};

/// Address of the hub unless the user chooses another.
pub const DEFAULT_HUB: &str = "https://huggingface.co";

/// Models per page of a search.
const PAGE: usize = 20;
/// Pages of a file list; a page has up to 1,000 files.
const MAX_LIST_PAGES: usize = 5;
/// Maximum bytes of a JSON answer.
const MAX_ANSWER: usize = 8 << 20;
/// Maximum time of an answer.
const ANSWER: Duration = Duration::from_secs(30);
/// Maximum length of a search and of a cursor.
const MAX_QUERY: usize = 1_000;

/// A hub and the user's access to it. `Debug` does not show the token.
#[derive(Debug, Clone)]
pub struct HubClient {
    base: Url,
    client: Client,
    token: Option<SecretString>,
    answer: Duration,
}

/// The beginning of a remote file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStart {
    pub bytes: Vec<u8>,
    /// Length of the whole file, if the hub states it.
    pub total: Option<u64>,
}

impl HubClient {
    /// # Errors
    /// [`DownloadError::Address`] unless the address begins with https:// or is on this machine.
    pub fn new(address: &str, token: Option<SecretString>) -> Result<Self, DownloadError> {
        let source = DownloadSource::parse(address.trim().trim_end_matches('/'))?;
        let refused = |why| DownloadError::Address {
            url: address.chars().take(200).collect(),
            why,
        };
        let mut base = source.into_url();
        if !base.username().is_empty() || base.password().is_some() {
            return Err(refused("it must not contain a user name or a password"));
        }
        base.set_query(None);
        base.set_fragment(None);
        let client = download::client(&base, Redirects::Anywhere)?;
        Ok(Self {
            base,
            client,
            token,
            answer: ANSWER,
        })
    }

    /// The same hub with another limit for the time of an answer.
    pub fn with_timeout(self, answer: Duration) -> Self {
        Self { answer, ..self }
    }

    pub fn host(&self) -> &str {
        self.base.host_str().unwrap_or_default()
    }

    /// The address for display and storage.
    pub fn address(&self) -> String {
        self.base.as_str().trim_end_matches('/').to_owned()
    }

    pub fn token(&self) -> Option<&SecretString> {
        self.token.as_ref()
    }

    /// The page of a model, for a browser.
    pub fn page(&self, repo: &RepoId) -> String {
        self.url(&[repo.owner(), repo.name()]).into()
    }

    /// Searches models that have GGUF files, the most downloaded first.
    ///
    /// # Errors
    /// [`HubError`].
    pub async fn search(&self, query: &str, cursor: Option<&str>) -> Result<SearchPage, HubError> {
        let mut url = self.url(&["api", "models"]);
        let limited: String = query.trim().chars().take(MAX_QUERY).collect();
        url.query_pairs_mut()
            .append_pair("search", &limited)
            .append_pair("filter", "gguf")
            .append_pair("sort", "downloads")
            .append_pair("direction", "-1")
            .append_pair("limit", &PAGE.to_string())
            .append_pair("full", "true");
        if let Some(cursor) = cursor {
            url.query_pairs_mut().append_pair("cursor", cursor);
        }
        let (found, headers): (Vec<WireModel>, _) = self.json(url).await?;
        let models: Vec<_> = found
            .into_iter()
            .take(PAGE * 5)
            .filter_map(listing::model)
            .collect();
        Ok(SearchPage {
            models,
            next: next_cursor(&headers),
        })
    }

    /// Loads the licence and the model files of a repository.
    ///
    /// # Errors
    /// [`HubError`].
    pub async fn repository(&self, repo: &RepoId) -> Result<Repository, HubError> {
        let (wire, _): (WireModel, _) = self
            .json(self.url(&["api", "models", repo.owner(), repo.name()]))
            .await?;
        let is_commit =
            |sha: &String| sha.len() == 40 && sha.bytes().all(|byte| byte.is_ascii_hexdigit());
        let revision = wire
            .sha
            .clone()
            .filter(is_commit)
            .unwrap_or_else(|| "main".to_owned());
        let wire = WireModel {
            id: Some(repo.as_str().to_owned()),
            ..wire
        };
        let model = listing::model(wire).ok_or_else(|| self.failed(HubFault::NotAHub))?;
        let files = self.files(repo, &revision).await?;
        Ok(Repository {
            model,
            revision,
            files: listing::group(files),
        })
    }

    async fn files(&self, repo: &RepoId, revision: &str) -> Result<Vec<WireFile>, HubError> {
        let mut files = Vec::new();
        let mut cursor = None::<String>;
        for _ in 0..MAX_LIST_PAGES {
            let mut url = self.url(&["api", "models", repo.owner(), repo.name(), "tree", revision]);
            url.query_pairs_mut().append_pair("recursive", "true");
            if let Some(cursor) = &cursor {
                url.query_pairs_mut().append_pair("cursor", cursor);
            }
            let (page, headers): (Vec<WireFile>, _) = self.json(url).await?;
            files.extend(page);
            cursor = next_cursor(&headers);
            if cursor.is_none() {
                break;
            }
        }
        Ok(files)
    }

    /// The address of the content of a file.
    pub fn source(&self, repo: &RepoId, revision: &str, path: &str) -> DownloadSource {
        DownloadSource::of(self.file_url(repo, revision, path), self.token.clone())
    }

    /// Reads the first `length` bytes of a file, or less if it is shorter.
    ///
    /// # Errors
    /// [`HubError`]; `NotAHub` if the hub sends a web page.
    pub async fn start_of(
        &self,
        repo: &RepoId,
        revision: &str,
        path: &str,
        length: usize,
    ) -> Result<FileStart, HubError> {
        let url = self.file_url(repo, revision, path);
        let request = self
            .client
            .get(url)
            .header(RANGE, format!("bytes=0-{}", length.saturating_sub(1)));
        let response = self
            .send(request.header(ACCEPT_ENCODING, "identity"))
            .await?;
        let partial = response.status() == StatusCode::PARTIAL_CONTENT;
        let total = if partial {
            range_total(response.headers())
        } else {
            response.content_length()
        };
        // A hub that ignores the range sends the whole file; reading stops after `length` bytes.
        let bytes = self.body(response, length, true).await?;
        Ok(FileStart { bytes, total })
    }

    async fn json<T: DeserializeOwned>(&self, url: Url) -> Result<(T, HeaderMap), HubError> {
        let response = self
            .send(self.client.get(url).header(ACCEPT, "application/json"))
            .await?;
        let headers = response.headers().clone();
        let body = self.body(response, MAX_ANSWER, false).await?;
        let value = serde_json::from_slice(&body).map_err(|error| {
            tracing::warn!(host = self.host(), %error, "a hub sent something else than expected");
            self.failed(HubFault::NotAHub)
        })?;
        Ok((value, headers))
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, HubError> {
        let request = match self.token.as_ref().and_then(bearer) {
            Some(value) => request.header(AUTHORIZATION, value),
            None => request,
        };
        let sent = request.timeout(self.answer).send().await;
        error::accepted(
            self.host(),
            sent.map_err(|error| HubError::of_request(self.host(), &error))?,
        )
    }

    /// Reads at most `most` bytes. A longer body is cut if `cuts`, else refused.
    async fn body(&self, response: Response, most: usize, cuts: bool) -> Result<Vec<u8>, HubError> {
        let mut body = Vec::new();
        let mut pieces = response.bytes_stream();
        while let Some(piece) = pieces.next().await {
            let piece = piece.map_err(|error| HubError::of_request(self.host(), &error))?;
            let room = most - body.len();
            if piece.len() > room && !cuts {
                return Err(self.failed(HubFault::TooLarge));
            }
            body.extend_from_slice(&piece[..piece.len().min(room)]);
            if body.len() == most && cuts {
                break;
            }
        }
        Ok(body)
    }

    fn file_url(&self, repo: &RepoId, revision: &str, path: &str) -> Url {
        let segments = [repo.owner(), repo.name(), "resolve", revision]
            .into_iter()
            .chain(path.split('/'));
        self.url(&segments.collect::<Vec<_>>())
    }

    fn url(&self, segments: &[&str]) -> Url {
        let mut url = self.base.clone();
        // Only addresses without a host have no segments, and those are refused.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }

    fn failed(&self, fault: HubFault) -> HubError {
        HubError::new(self.host(), fault)
    }
}

/// `None` for a token that cannot be a header.
pub(crate) fn bearer(token: &SecretString) -> Option<HeaderValue> {
    let mut value =
        HeaderValue::from_str(&format!("Bearer {}", token.expose_secret().trim())).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Reads the cursor of the next page from `Link: <...?cursor=abc>; rel="next"` (RFC 8288).
fn next_cursor(headers: &HeaderMap) -> Option<String> {
    let link = headers
        .get_all(LINK)
        .iter()
        .filter_map(|link| link.to_str().ok());
    let mut links = link.flat_map(|link| link.split(','));
    let next = links.find(|link| link.contains("rel=\"next\"") || link.contains("rel=next"))?;
    let address = next.split_once('<')?.1.split_once('>')?.0;
    let query = address.split_once('?')?.1;
    let pairs = url::form_urlencoded::parse(query.as_bytes());
    let cursor = pairs
        .into_iter()
        .find(|(key, _)| key == "cursor")?
        .1
        .into_owned();
    (!cursor.is_empty() && cursor.len() <= MAX_QUERY).then_some(cursor)
}

/// `bytes 0-99/200` has 200 bytes in total.
fn range_total(headers: &HeaderMap) -> Option<u64> {
    headers
        .get(CONTENT_RANGE)?
        .to_str()
        .ok()?
        .rsplit_once('/')?
        .1
        .parse()
        .ok()
}
