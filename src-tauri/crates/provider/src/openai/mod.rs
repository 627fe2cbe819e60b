//! The client for OpenAI-compatible endpoints: `POST {url}/chat/completions`, streamed.
//!
//! Promises
//! - The key travels in one header, to one origin: redirects are not followed, and no error, log or `Debug` shows it.
//! - An endpoint is hostile input: lines, bodies and replies are capped, and nothing it sends can panic.
//! - A failure before the first text is sent again at most twice, visibly (`Retrying`) and cancellably; never after it.
//!   Not sent again: what would fail the same way (a wrong key, a wrong address), and what the user has waited for in
//!   full already (our own timeouts).
//! - Loopback endpoints are never asked through the system's proxy.
//! - What a model asks of tools is handed on whole, though none are offered: a reply that is nothing else is no silence.
//!
//! - A reply ends at a known finish reason, a stop text, or a control token. Its text is complete and free of
//!   repetitions, however the endpoint splits, repeats or escapes it.
//!
//! Not supported: `reasoning_content`, which is skipped. A reply that contains nothing else is reported as an error.

mod api_error;
mod body;
mod calls;
mod config;
mod cut;
mod diagnose;
mod dialect;
mod exchange;
mod headers;
mod joined;
mod key;
mod lenient;
mod probe;
mod reply;
mod retry;
mod samplers;
mod silence;
mod sse;
mod tally;
mod text;
mod turns;
mod unpack;
mod wire;

use std::sync::{Arc, Mutex};

use reqwest::redirect::Policy;
use tokio_util::sync::CancellationToken;

use crate::{EventStream, Provider, ProviderError, ProviderErrorKind, Request, tls};

pub use config::{EndpointConfig, Patience};
pub use dialect::{Dialect, Roles};
pub use probe::{Probe, probe};

/// A client for one endpoint and one model. Clones share connections and what was learned about the endpoint.
#[derive(Debug, Clone)]
pub struct OpenAiClient {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    http: reqwest::Client,
    config: EndpointConfig,
    /// What the endpoint is known to refuse.
    dialect: Mutex<Dialect>,
}

impl OpenAiClient {
    /// Connects to nothing yet.
    ///
    /// # Errors
    /// `Tls` when the system has no usable root certificates.
    pub fn new(config: EndpointConfig) -> Result<Self, ProviderError> {
        Ok(Self { shared: Arc::new(Shared::new(config)?) })
    }

    /// Returns the learned dialect, which the next client of the endpoint can reuse.
    pub fn dialect(&self) -> Dialect {
        self.shared.dialect()
    }
}

impl Provider for OpenAiClient {
    fn stream(&self, request: Request, cancel: CancellationToken) -> EventStream {
        Box::pin(reply::reply(Arc::clone(&self.shared), request, cancel))
    }
}

impl Shared {
    fn new(config: EndpointConfig) -> Result<Self, ProviderError> {
        tls::install();
        let mut builder = reqwest::Client::builder()
            .connect_timeout(config.patience.connect)
            .redirect(Policy::none())
            .user_agent(concat!("inglenook/", env!("CARGO_PKG_VERSION")));
        if config.is_loopback() {
            builder = builder.no_proxy();
            if !config.is_https() {
                // Nothing here can ever speak TLS, so the system's certificates need not be read.
                builder = builder.tls_certs_only([]);
            }
        }
        let http = builder.build().map_err(|source| {
            ProviderError::new(
                ProviderErrorKind::Tls,
                "no secure connection can be set up on this computer",
                "Check that the system's root certificates are installed.",
            )
            .caused_by(source.without_url())
        })?;
        let dialect = Mutex::new(config.dialect.clone());
        Ok(Self { http, config, dialect })
    }
}
