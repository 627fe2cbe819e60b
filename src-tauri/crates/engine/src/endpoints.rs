//! Remote, OpenAI-compatible endpoints, and their keys.

use std::time::Instant;

use domain::EndpointId;
use domain::model::Endpoint;
use provider::ProviderError;
use provider::openai::{EndpointConfig, probe};
use secrecy::SecretString;
use uuid::Uuid;

use crate::Engine;
use crate::api::{self, Changed, EndpointDraft, EndpointTest, ModelRef};
use crate::collect::millis;
use crate::endpoint_dialect::{self, quirks};
use crate::error::{Answer, bad_input, internal};
use crate::remote_count::described;
use crate::secrets::Secrets;

impl Engine {
    pub async fn list_endpoints(&self) -> Answer<Vec<api::Endpoint>> {
        let endpoints = self.store().read(|store| store.endpoints().list()).await?;
        let mut shown = Vec::with_capacity(endpoints.len());
        for endpoint in endpoints {
            shown.push(self.shown_endpoint(endpoint).await?);
        }
        Ok(shown)
    }

    pub async fn save_endpoint(&self, draft: EndpointDraft) -> Answer<api::Endpoint> {
        let endpoint = parse(&draft)?;
        // Refuses an address or a key that could never work.
        let key = draft.key.as_deref().map(SecretString::from);
        EndpointConfig::new(&endpoint.url, endpoint.model.clone(), key)?;
        if draft.key.is_none() {
            self.check_key_stays(&endpoint).await?;
        }
        // The key first: if the keychain refuses, nothing is half saved.
        if let Some(key) = draft.key {
            self.keep_key(endpoint.id, key).await?;
        }
        let (row, is_new) = (endpoint.clone(), draft.id.is_none());
        self.store()
            .write(move |store| match is_new {
                true => store.endpoints_mut().insert(&row),
                // A server may have been replaced or mended: what it refuses is found out anew.
                false => {
                    store.endpoint_dialects_mut().forget(row.id)?;
                    store.endpoints_mut().update(&row)
                }
            })
            .await?;
        self.events().changed(Changed::Endpoints, Some(endpoint.id.to_string()));
        self.shown_endpoint(endpoint).await
    }

    /// A stored key goes to the address it was entered for, and to no other (S4.75).
    async fn check_key_stays(&self, endpoint: &Endpoint) -> Answer<()> {
        let id = endpoint.id;
        let Some(stored) = self.store().read(move |store| store.endpoints().get(id)).await? else { return Ok(()) };
        let authority = |url: &str| Ok::<_, ProviderError>(EndpointConfig::new(url, "", None)?.authority());
        let same = authority(&stored.url)? == authority(&endpoint.url)?
            && stored.url.starts_with("https:") == endpoint.url.starts_with("https:");
        if same || self.key(id).await?.is_none() {
            return Ok(());
        }
        Err(bad_input("The address has changed, and the key was entered for the old one.", "Enter the key again."))
    }

    pub async fn delete_endpoint(&self, id: String) -> Answer<()> {
        let id = id.parse::<EndpointId>()?;
        self.store().write(move |store| store.endpoints_mut().delete(id)).await?;
        self.forget_default(&ModelRef::Remote { id: id.to_string() }).await?;
        self.events().changed(Changed::Endpoints, Some(id.to_string()));
        self.keep_key(id, String::new()).await
    }

    pub async fn test_endpoint(&self, draft: EndpointDraft) -> Answer<EndpointTest> {
        let endpoint = parse(&draft)?;
        let key = match draft.key {
            Some(key) => Some(SecretString::from(key)),
            None => {
                self.check_key_stays(&endpoint).await?;
                self.key(endpoint.id).await?
            }
        };
        let started = Instant::now();
        let found = probe(&EndpointConfig::new(&endpoint.url, endpoint.model, key)?).await?;
        Ok(EndpointTest { models: found.models, context: found.context, took_ms: millis(started) })
    }

    /// The endpoint's key, if it has one.
    pub(crate) async fn key(&self, id: EndpointId) -> Answer<Option<SecretString>> {
        Ok(self.with_secrets(move |secrets| secrets.get(id)).await?.map(SecretString::from))
    }

    /// An empty key takes the stored one away.
    async fn keep_key(&self, id: EndpointId, key: String) -> Answer<()> {
        self.with_secrets(move |secrets| if key.is_empty() { secrets.remove(id) } else { secrets.set(id, &key) }).await
    }

    pub(crate) async fn shown_endpoint(&self, endpoint: Endpoint) -> Answer<api::Endpoint> {
        let id = endpoint.id;
        // A locked keychain must not keep the list from being shown.
        let (has_key, key_is_for_session) = self
            .with_secrets(move |secrets| {
                let has_key = secrets.get(id).is_ok_and(|key| key.is_some());
                Ok((has_key, has_key && secrets.is_for_session()))
            })
            .await?;
        let me = ModelRef::Remote { id: id.to_string() };
        let (counted_with, mean_error) = described(self.store(), &endpoint).await?;
        let learned = quirks(&endpoint_dialect::known(self.store(), &endpoint).await?);
        Ok(api::Endpoint {
            id: id.to_string(),
            name: endpoint.name,
            url: endpoint.url,
            model: endpoint.model,
            context: endpoint.context,
            has_key,
            key_is_for_session,
            default: self.settings().default_model.as_ref() == Some(&me),
            counted_with,
            mean_error,
            learned,
        })
    }

    /// Keychains block, for as long as a person takes to unlock them.
    async fn with_secrets<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Secrets) -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        let engine = self.clone();
        tokio::task::spawn_blocking(move || work(engine.secrets()))
            .await
            .map_err(|_| internal("the keychain did not answer"))?
    }
}

fn parse(draft: &EndpointDraft) -> Answer<Endpoint> {
    let id = match &draft.id {
        Some(id) => id.parse()?,
        None => EndpointId(Uuid::now_v7()),
    };
    let (name, url) = (draft.name.trim(), draft.url.trim().trim_end_matches('/'));
    if name.is_empty() || url.is_empty() {
        return Err(bad_input("An endpoint needs a name and an address.", "Such as http://127.0.0.1:8080/v1."));
    }
    if draft.context < 512 {
        return Err(bad_input(
            "The context size is too small.",
            "Write how many tokens the model takes, such as 8192.",
        ));
    }
    Ok(Endpoint {
        id,
        name: name.to_owned(),
        url: url.to_owned(),
        model: draft.model.trim().to_owned(),
        context: draft.context,
    })
}
