//! Secrets of an endpoint: its key and header values. They are sent only to the address for which
//! the user entered them.

use std::collections::BTreeMap;

use domain::EndpointId;
use domain::model::Endpoint;
use provider::ProviderError;
use provider::endpoint::EndpointConfig;
use secrecy::SecretString;

use crate::api::HeaderDraft;
use crate::base::error::{ApiResult, bad_input, internal, not_found};
use crate::base::secrets::Secret;
use crate::settings::endpoints::Endpoints;

/// Maximum number of headers per endpoint.
const MOST_HEADERS: usize = 32;

/// Header values by header name. `Debug` shows no value.
#[derive(Default, Clone)]
pub(crate) struct Headers(pub(crate) BTreeMap<String, String>);

impl Headers {
    pub(crate) fn names(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    fn put_on(self, config: EndpointConfig) -> Result<EndpointConfig, ProviderError> {
        config.with_headers(
            self.0
                .into_iter()
                .map(|(name, value)| (name, SecretString::from(value))),
        )
    }
}

impl Endpoints {
    /// Connection settings of a stored endpoint, including its secrets.
    pub(crate) async fn endpoint_config(&self, endpoint: &Endpoint) -> ApiResult<EndpointConfig> {
        let key = self.key(endpoint.id).await?;
        let headers = self.headers(endpoint).await?;
        configured(endpoint, key, headers)
    }

    pub(crate) async fn key(&self, id: EndpointId) -> ApiResult<Option<SecretString>> {
        Ok(self
            .keychain
            .with_secrets(move |secrets| secrets.get(Secret::Key(id)))
            .await?
            .map(SecretString::from))
    }

    /// Uses a key until the app ends, without storing it.
    ///
    /// # Errors
    /// `BadInput` if the key cannot be sent.
    pub(crate) async fn give_key(&self, id: EndpointId, key: String) -> ApiResult<()> {
        let endpoint = self
            .base()
            .store()
            .read(move |store| store.endpoints().get(id))
            .await?;
        let endpoint = endpoint.ok_or_else(|| not_found("endpoint"))?;
        configured(
            &endpoint,
            Some(SecretString::from(key.clone())),
            Headers::default(),
        )?;
        self.keychain.secrets().give(Secret::Key(id), key);
        Ok(())
    }

    pub(crate) async fn headers(&self, endpoint: &Endpoint) -> ApiResult<Headers> {
        if endpoint.headers.is_empty() {
            return Ok(Headers::default());
        }
        let id = endpoint.id;
        let json = self
            .keychain
            .with_secrets(move |secrets| secrets.get(Secret::Headers(id)))
            .await?;
        let known: BTreeMap<String, String> = json
            .and_then(|json| serde_json::from_str(&json).ok())
            .unwrap_or_default();
        match endpoint
            .headers
            .iter()
            .find(|name| !known.contains_key(*name))
        {
            Some(missing) => Err(bad_input(
                format!("The value of the header {missing} is no longer stored."),
                "Enter it again in the endpoint's settings.",
            )),
            None => Ok(Headers(known)),
        }
    }

    /// Headers of a draft. Fills in stored values that the draft keeps.
    pub(crate) async fn drafted_headers(
        &self,
        stored: Option<&Endpoint>,
        drafts: Vec<HeaderDraft>,
    ) -> ApiResult<Headers> {
        if drafts.len() > MOST_HEADERS {
            return Err(bad_input(
                format!("An endpoint can have {MOST_HEADERS} headers."),
                "Remove some of them.",
            ));
        }
        let kept = match stored {
            Some(endpoint) if drafts.iter().any(|draft| draft.value.is_none()) => {
                self.headers(endpoint).await?.0
            }
            _ => BTreeMap::new(),
        };
        let mut headers = BTreeMap::new();
        for HeaderDraft { name, value } in drafts {
            let name = name.trim().to_ascii_lowercase();
            let value = value.or_else(|| kept.get(&name).cloned()).ok_or_else(|| {
                bad_input(
                    format!("The header {name} has no value."),
                    "Enter its value, or remove the header.",
                )
            })?;
            if headers.insert(name.clone(), value).is_some() {
                return Err(bad_input(
                    format!("The header {name} appears twice."),
                    "Remove one of the two.",
                ));
            }
        }
        Ok(Headers(headers))
    }

    /// Stores the key. An empty key removes the stored one.
    pub(crate) async fn keep_key(&self, id: EndpointId, key: String) -> ApiResult<()> {
        self.keychain.keep_secret(Secret::Key(id), key).await
    }

    pub(crate) async fn keep_headers(&self, id: EndpointId, headers: &Headers) -> ApiResult<()> {
        let json = if headers.0.is_empty() {
            String::new()
        } else {
            serde_json::to_string(&headers.0)
                .map_err(|_| internal("headers could not be stored"))?
        };
        self.keychain.keep_secret(Secret::Headers(id), json).await
    }
}

/// # Errors
/// Fails if the address, the key or a header is invalid.
pub(crate) fn configured(
    endpoint: &Endpoint,
    key: Option<SecretString>,
    headers: Headers,
) -> ApiResult<EndpointConfig> {
    let config = EndpointConfig::new(&endpoint.url, endpoint.model.clone(), key)?
        .speaking(endpoint.dialect)?;
    Ok(headers.put_on(config.with_context(endpoint.context))?)
}
