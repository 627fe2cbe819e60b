//! Client for OpenAI-compatible endpoints: `POST {url}/chat/completions`, streamed.
//!
//! Guarantees
//! - The key is sent in one header to one origin: redirects are not followed, and no error, log or `Debug` shows it.
//! - An endpoint is untrusted input: lines, bodies and replies have a size limit, and no input causes a panic.
//! - A failure before the first text is retried at most twice, with a `Retrying` event, and can be cancelled. It is
//!   never retried after the first text. Permanent errors (a wrong key, a wrong address) and our own timeouts are not
//!   retried.
//! - Requests to loopback endpoints never use the system's proxy.
//! - Tool calls of a model are returned complete, although no tools are offered, because a reply may contain nothing
//!   else.
//! - A reply ends at a known finish reason, a stop text, or a control token. Its text is complete and free of
//!   repetitions, however the endpoint splits, repeats or escapes it.
//!
//! Not supported: `reasoning_content`, which is skipped. A reply that contains nothing else is reported as an error.

mod api_error;
mod body;
mod config;
mod decompress;
mod delta_assembler;
mod diagnose;
mod dialect;
mod exchange;
mod headers;
mod idle_timer;
mod key;
mod lenient;
mod probe;
mod reply;
mod reply_state;
mod retry;
mod samplers;
mod setting_support;
mod sse;
mod stop_filter;
mod text;
mod tool_calls;
mod turns;
mod wire;

use std::sync::{Arc, Mutex};

use reqwest::redirect::Policy;
use tokio_util::sync::CancellationToken;

use crate::{EventStream, Provider, ProviderError, ProviderErrorKind, Request, tls};

pub use config::{EndpointConfig, Timeouts};
pub use dialect::{OpenAiDialect, RoleRules};
pub use probe::{EndpointProbe, probe};
pub use setting_support::Unsupported;

/// Client for one endpoint and one model. Clones share connections and the learned dialect.
#[derive(Debug, Clone)]
pub struct OpenAiClient {
    shared: Arc<ClientState>,
}

#[derive(Debug)]
struct ClientState {
    http: reqwest::Client,
    config: EndpointConfig,
    /// Known refusals of the endpoint.
    dialect: Mutex<OpenAiDialect>,
}

impl OpenAiClient {
    /// Creates the client without connecting.
    ///
    /// # Errors
    /// `Tls` when the system has no usable root certificates.
    pub fn new(config: EndpointConfig) -> Result<Self, ProviderError> {
        Ok(Self { shared: Arc::new(ClientState::new(config)?) })
    }

    /// Returns the learned dialect, which the next client of the endpoint can reuse.
    pub fn dialect(&self) -> OpenAiDialect {
        self.shared.dialect()
    }
}

impl Provider for OpenAiClient {
    fn stream(&self, request: Request, cancel: CancellationToken) -> EventStream {
        Box::pin(reply::reply(Arc::clone(&self.shared), request, cancel))
    }
}

impl ClientState {
    fn new(config: EndpointConfig) -> Result<Self, ProviderError> {
        tls::install();
        let mut builder = reqwest::Client::builder()
            .connect_timeout(config.timeouts.connect)
            .redirect(Policy::none())
            .user_agent(concat!("inglenook/", env!("CARGO_PKG_VERSION")));
        if config.is_loopback() {
            builder = builder.no_proxy();
            if !config.is_https() {
                // A plain HTTP address needs no certificates, so they are not loaded.
                builder = builder.tls_certs_only([]);
            }
        }
        let http = builder.build().map_err(|source| {
            ProviderError::new(
                ProviderErrorKind::Tls,
                "this computer cannot set up secure connections",
                "Check that the system's root certificates are installed.",
            )
            .caused_by(source.without_url())
        })?;
        let dialect = Mutex::new(config.dialect.clone());
        Ok(Self { http, config, dialect })
    }
}
