//! Client for remote endpoints. The modules [`openai`](crate::openai),
//! [`text_completion`](crate::text_completion), [`anthropic`](crate::anthropic),
//! [`gemini`](crate::gemini) and [`ollama`](crate::ollama) write the requests of their API and read
//! its replies. This module does the rest for all of them.
//!
//! Guarantees
//! - The key is sent in one header to one origin: redirects are not followed, and no error, log or
//!   `Debug` shows a key of 8 letters or more. Shorter ones are words that local servers accept as
//!   keys.
//! - An endpoint is untrusted input: lines, bodies and replies have a size limit, and no input
//!   causes a panic.
//! - A failure before the first text is retried at most twice, with a `Retrying` event, and can be
//!   cancelled. It is never retried after the first text or thought. Permanent errors (a wrong key,
//!   a wrong address) and our own timeouts are not retried.
//! - Requests to loopback endpoints never use the system's proxy.
//! - Tool calls of a model are returned complete, even if no tools were offered, because a reply
//!   may contain nothing else.
//! - A server may end events with one line break, and write several objects into one event or line.
//! - A reply ends at a known finish reason, a stop text, or a control token. Its text is complete
//!   and free of repetitions, however the endpoint splits, repeats or escapes it.
//!
//! Thoughts outside the text are events of their own. A reply that contains nothing else is
//! reported as an error.

pub(crate) mod api;
pub(crate) mod api_error;
mod apis;
mod client_state;
pub(crate) mod config;
mod diagnose;
pub(crate) mod dialect;
mod exchange;
mod guess;
mod headers;
mod key;
mod probe;
mod refusal;
mod reply;
mod reply_state;
mod retry;
mod setting_support;
pub(crate) mod stream;
mod transport_error;
pub(crate) mod turns;

use std::sync::Arc;

pub use api::ModelPrice;
use client_state::ClientState;
pub use config::{EndpointConfig, Timeouts};
pub use dialect::{LearnedDialect, RoleRules, ThoughtsBack};
pub use guess::guess_dialect;
pub use probe::{EndpointProbe, probe};
pub(crate) use retry::asked_pause;
pub use setting_support::Unsupported;
use tokio_util::sync::CancellationToken;

use crate::{EventStream, Provider, ProviderError, Request};

/// Client for one endpoint and one model. Clones share connections and the learned dialect.
#[derive(Debug, Clone)]
pub struct EndpointClient {
    shared: Arc<ClientState>,
}

impl EndpointClient {
    /// Creates the client without connecting.
    ///
    /// # Errors
    /// `Tls` when the system has no usable root certificates.
    pub fn new(config: EndpointConfig) -> Result<Self, ProviderError> {
        Ok(Self {
            shared: Arc::new(ClientState::new(config)?),
        })
    }

    /// Returns the learned dialect, which the next client of the endpoint can reuse.
    pub fn dialect(&self) -> LearnedDialect {
        self.shared.dialect()
    }
}

impl Provider for EndpointClient {
    fn stream(&self, request: Request, cancel: CancellationToken) -> EventStream {
        Box::pin(reply::reply(Arc::clone(&self.shared), request, cancel))
    }
}
