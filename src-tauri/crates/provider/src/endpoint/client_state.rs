//! The HTTP client, configuration and learned dialect that all requests of one endpoint share.

use std::sync::Mutex;

use reqwest::redirect::Policy;

use super::config::EndpointConfig;
use super::dialect::LearnedDialect;
use crate::{ProviderError, ProviderErrorKind, tls};

#[derive(Debug)]
pub(super) struct ClientState {
    pub(super) http: reqwest::Client,
    pub(super) config: EndpointConfig,
    /// Known refusals of the endpoint.
    pub(super) dialect: Mutex<LearnedDialect>,
}

impl ClientState {
    pub(super) fn new(config: EndpointConfig) -> Result<Self, ProviderError> {
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
        Ok(Self {
            http,
            config,
            dialect,
        })
    }
}
