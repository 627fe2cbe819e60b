//! Endpoint configuration: address, key, headers and timeouts.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use domain::model::EndpointDialect;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use url::{Host, Url};

use super::dialect::LearnedDialect;
use super::{headers, key};
use crate::{ProviderError, ProviderErrorKind};

/// Header with the version of Anthropic's API, which every request needs.
const ANTHROPIC_VERSION: &str = "anthropic-version";

/// One endpoint and one of its models. `Debug` shows neither the key nor the query of the address.
#[derive(Clone)]
pub struct EndpointConfig {
    url: Url,
    /// The model's name at the endpoint; empty for servers with a single model.
    pub model: String,
    key: Option<SecretString>,
    authorization: Option<(HeaderName, HeaderValue)>,
    kind: EndpointDialect,
    /// Context size in tokens that the server is asked for, if it must be asked.
    pub(crate) context: Option<u32>,
    /// Sent with each request in addition to the key.
    headers: HeaderMap,
    pub timeouts: Timeouts,
    /// Known refusals of the endpoint.
    pub(crate) dialect: LearnedDialect,
}

/// Timeouts and retry pauses for one endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Timeout of the TCP and TLS handshakes.
    pub connect: Duration,
    /// Silence before each `Stalled` event.
    pub notice: Duration,
    /// Maximum silence before the first text. A slow machine processes a large prompt for minutes.
    pub first_text: Duration,
    /// Maximum silence between two pieces of text.
    pub between_texts: Duration,
    /// Maximum wait for the usage after the end of the reply.
    pub usage: Duration,
    /// Pause before the first retry; it doubles with each further retry.
    pub backoff: Duration,
    /// Maximum pause between retries.
    pub backoff_cap: Duration,
    /// Maximum pause that the endpoint may request; a longer one is an error.
    pub retry_after_cap: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            notice: Duration::from_secs(10),
            first_text: Duration::from_secs(300),
            between_texts: Duration::from_secs(60),
            usage: Duration::from_secs(2),
            backoff: Duration::from_millis(500),
            backoff_cap: Duration::from_secs(8),
            retry_after_cap: Duration::from_secs(60),
        }
    }
}

impl EndpointConfig {
    /// Parses an address as people type or paste it. Adds a missing `http://`. Removes a trailing
    /// slash, the name of a call such as `/chat/completions` or `/models`, and a doubled `/v1`. A
    /// blank key means no key.
    ///
    /// # Errors
    /// `BadRequest` when `url` is no http(s) address or carries a user name or password, or when
    /// `key` cannot be sent.
    pub fn new(
        url: &str,
        model: impl Into<String>,
        key: Option<SecretString>,
    ) -> Result<Self, ProviderError> {
        let url = parse_address(url)?;
        let key = key.as_ref().map(key::read).transpose()?.flatten();
        let authorization = key
            .as_ref()
            .map(|key| authorization(EndpointDialect::OpenAi, key))
            .transpose()?;
        let dialect = LearnedDialect::of_host(url.host_str().unwrap_or_default());
        let model = model.into();
        let headers = HeaderMap::new();
        let timeouts = Timeouts::default();
        let kind = EndpointDialect::OpenAi;
        let context = None;
        Ok(Self {
            url,
            model,
            key,
            authorization,
            kind,
            context,
            headers,
            timeouts,
            dialect,
        })
    }

    /// The same endpoint with another API than OpenAI's. Completes or shortens the address to what
    /// this API needs.
    ///
    /// # Errors
    /// `BadRequest` when the key cannot be sent.
    pub fn speaking(mut self, kind: EndpointDialect) -> Result<Self, ProviderError> {
        self.authorization = self
            .key
            .as_ref()
            .map(|key| authorization(kind, key))
            .transpose()?;
        self.dialect = self.dialect.or(LearnedDialect::of_api(kind));
        self.kind = kind;
        match kind {
            EndpointDialect::OpenAi | EndpointDialect::Text => {}
            EndpointDialect::Anthropic | EndpointDialect::Gemini => {
                let version = self.api().names().version.unwrap_or_default();
                if self.url.path().trim_matches('/').is_empty() {
                    self.url = self.with_version(version).url;
                }
            }
            EndpointDialect::Ollama => {
                if let Ok(mut segments) = self.url.path_segments_mut() {
                    segments.pop_if_empty();
                }
                let path = self.url.path().trim_end_matches('/');
                let path = path
                    .strip_suffix("/v1")
                    .or_else(|| path.strip_suffix("/api"))
                    .unwrap_or(path)
                    .to_owned();
                self.url.set_path(&path);
            }
        }
        Ok(self)
    }

    /// The same endpoint. A server that chooses its context size at the first request is asked for
    /// `tokens`.
    pub fn with_context(self, tokens: u32) -> Self {
        Self {
            context: Some(tokens),
            ..self
        }
    }

    pub(crate) fn kind(&self) -> EndpointDialect {
        self.kind
    }

    /// Whether the servers of this API are those that also serve OpenAI's chat completions.
    pub(crate) fn is_openai(&self) -> bool {
        matches!(self.kind, EndpointDialect::OpenAi | EndpointDialect::Text)
    }

    /// Adds a dialect that was learned earlier.
    pub fn with_dialect(self, learned: LearnedDialect) -> Self {
        Self {
            dialect: self.dialect.or(learned),
            ..self
        }
    }

    /// Facts about the endpoint that are known before the next request.
    pub fn dialect(&self) -> &LearnedDialect {
        &self.dialect
    }

    /// Returns the same endpoint with a version such as `/v1` appended, where most servers have
    /// their API.
    pub(crate) fn with_version(&self, version: &str) -> Self {
        Self {
            url: self.call(&[version.trim_start_matches('/')]),
            ..self.clone()
        }
    }

    /// Returns the same endpoint with other timeouts.
    pub fn with_timeouts(self, timeouts: Timeouts) -> Self {
        Self { timeouts, ..self }
    }

    /// Adds `headers` to each request. Their values are secrets.
    ///
    /// # Errors
    /// `BadRequest` for a header that cannot be sent, that the connection sets itself, or that
    /// duplicates the key.
    pub fn with_headers(
        mut self,
        headers: impl IntoIterator<Item = (String, SecretString)>,
    ) -> Result<Self, ProviderError> {
        self.headers = headers::read(headers, self.has_key())?;
        Ok(self)
    }

    pub fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// Returns the address for display, without its query, which may contain a secret.
    pub fn address(&self) -> String {
        let mut shown = self.url.clone();
        shown.set_query(None);
        shown.as_str().trim_end_matches('/').to_owned()
    }

    /// Returns host and port.
    pub fn authority(&self) -> String {
        let port = self.url.port_or_known_default().unwrap_or(80);
        format!("{}:{port}", self.url.host_str().unwrap_or_default())
    }

    pub(crate) fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    pub(crate) fn is_loopback(&self) -> bool {
        match self.url.host() {
            Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => IpAddr::V6(address).to_canonical().is_loopback(),
            None => false,
        }
    }

    /// Returns the URL of an API call.
    pub(crate) fn call(&self, path: &[&str]) -> Url {
        let mut url = self.url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }

    /// Returns the URL of a call outside the API: `path` replaces the trailing `/v1`.
    pub(crate) fn outside_api(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty();
            if self.ends_with_version() {
                segments.pop();
            }
            segments.push(path);
        }
        url
    }

    /// Whether the path ends in `/v1` or the like.
    pub(crate) fn ends_with_version(&self) -> bool {
        is_version(
            self.url
                .path()
                .trim_end_matches('/')
                .rsplit('/')
                .next()
                .unwrap_or_default(),
        )
    }

    pub(crate) fn authorize(&self, request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        let mut request = request;
        if self.kind == EndpointDialect::Anthropic && !self.headers.contains_key(ANTHROPIC_VERSION)
        {
            request = request.header(ANTHROPIC_VERSION, "2023-06-01");
        }
        let request = request.headers(self.headers.clone());
        match &self.authorization {
            Some((name, value)) => request.header(name.clone(), value.clone()),
            None => request,
        }
    }

    /// Removes the key and the header values from `text`, because endpoints often echo a wrong key.
    pub(crate) fn redact(&self, text: &str) -> String {
        let text = match &self.key {
            Some(key) if is_secret(key.expose_secret()) => {
                text.replace(key.expose_secret(), "[key]")
            }
            _ => text.to_owned(),
        };
        headers::redact(&self.headers, text)
    }
}

impl fmt::Debug for EndpointConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EndpointConfig")
            .field("address", &self.address())
            .field("model", &self.model)
            .field("api", &self.kind)
            .field("key", &self.key)
            .field("patience", &self.timeouts)
            .finish_non_exhaustive()
    }
}

/// Whether a key is long enough to be secret. Local servers take any key, so people enter words
/// such as `ollama`, which also stand in error messages.
fn is_secret(key: &str) -> bool {
    key.len() >= 8
}

fn parse_address(text: &str) -> Result<Url, ProviderError> {
    let visible: String = text
        .chars()
        .filter(|letter| !key::is_invisible(*letter))
        .collect();
    let text = visible
        .trim()
        .trim_matches(['"', '\'', '“', '”', '<', '>'])
        .trim();
    let full = if text.contains("://") {
        text.to_owned()
    } else {
        format!("http://{text}")
    };
    let mut url = Url::parse(&full)
        .map_err(|source| refused("this is not a web address").caused_by(source))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(refused(
            "the address of an endpoint must begin with http:// or https://",
        ));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ProviderError::new(
            ProviderErrorKind::BadRequest,
            "the endpoint's address contains a user name or a password",
            "Remove it from the address and enter the secret as the key.",
        ));
    }
    url.set_fragment(None);
    let path = base_path(url.path());
    url.set_path(&path);
    Ok(url)
}

/// Returns the API path without a pasted call name and without a doubled version.
fn base_path(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let mut parts = parts.as_slice();
    if let Some(at) = parts
        .iter()
        .position(|part| part.contains(":generateContent") || part.contains(":streamG"))
    {
        parts = &parts[..at];
    }
    for call in [
        &["chat", "completions"][..],
        &["models"],
        &["completions"],
        &["messages"],
        &["api", "chat"],
        &["api", "generate"],
        &["api", "tags"],
    ] {
        parts = parts.strip_suffix(call).unwrap_or(parts);
    }
    let mut kept: Vec<&str> = Vec::with_capacity(parts.len());
    for part in parts {
        if !(is_version(part) && kept.last() == Some(part)) {
            kept.push(part);
        }
    }
    format!("/{}", kept.join("/"))
}

fn is_version(part: &str) -> bool {
    part.strip_prefix('v')
        .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
}

fn refused(why: &str) -> ProviderError {
    ProviderError::new(
        ProviderErrorKind::BadRequest,
        why,
        "Enter an address such as http://127.0.0.1:8080/v1.",
    )
}

/// The header with the key, as each API expects it.
fn authorization(
    kind: EndpointDialect,
    key: &SecretString,
) -> Result<(HeaderName, HeaderValue), ProviderError> {
    let (name, text) = match kind {
        EndpointDialect::OpenAi | EndpointDialect::Text | EndpointDialect::Ollama => {
            (AUTHORIZATION, format!("Bearer {}", key.expose_secret()))
        }
        EndpointDialect::Anthropic => (
            HeaderName::from_static("x-api-key"),
            key.expose_secret().to_owned(),
        ),
        EndpointDialect::Gemini => (
            HeaderName::from_static("x-goog-api-key"),
            key.expose_secret().to_owned(),
        ),
    };
    // The cause is dropped because its message may contain the key.
    let mut value = HeaderValue::from_str(&text).map_err(|_| {
        ProviderError::new(
            ProviderErrorKind::BadRequest,
            "the key contains a character that cannot be sent, such as a line break",
            "Copy the key again.",
        )
    })?;
    value.set_sensitive(true);
    Ok((name, value))
}

#[cfg(test)]
mod tests;
