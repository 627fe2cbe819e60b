//! Remote endpoints. Each has an address, a key, headers and any number of models.

use std::time::Instant;

use domain::EndpointId;
use domain::model::Endpoint;
use provider::ProviderError;
use provider::endpoint::{EndpointConfig, guess_dialect, probe};
use secrecy::SecretString;
use uuid::Uuid;

use crate::api::{self, Changed, DraftKind, EndpointDraft, EndpointTest, ModelRef};
use crate::base::error::{ApiResult, bad_input, not_found};
use crate::base::secrets::Secret;
use crate::settings::counting::remote_count::described;
use crate::settings::endpoints::Endpoints;
use crate::settings::endpoints::dialect::{self, quirks};
use crate::settings::endpoints::models::{shown_model, tested, without_repeats};
use crate::settings::endpoints::secrets::{Headers, configured};

/// A parsed draft: the row to store, and the secrets for requests.
struct ParsedDraft {
    endpoint: Endpoint,
    /// The endpoint as currently stored.
    stored: Option<Endpoint>,
    key: Option<SecretString>,
    headers: Headers,
}

impl Endpoints {
    pub(crate) async fn list_endpoints(&self) -> ApiResult<Vec<api::Endpoint>> {
        let endpoints = self
            .base()
            .store()
            .read(|store| store.endpoints().list())
            .await?;
        let mut shown = Vec::with_capacity(endpoints.len());
        for endpoint in endpoints {
            shown.push(self.shown_endpoint(endpoint).await?);
        }
        Ok(shown)
    }

    pub(crate) async fn save_endpoint(&self, draft: EndpointDraft) -> ApiResult<api::Endpoint> {
        let new_key = draft.key.clone();
        let models = draft.models.clone();
        let new_headers = draft.headers.is_some();
        let ParsedDraft {
            endpoint,
            stored,
            key,
            headers,
        } = self.parse(draft).await?;
        // Rejects an invalid address, key or header before anything is saved.
        configured(&endpoint, key, headers.clone())?;
        // Save the secrets first, so that a keychain error leaves no half-saved endpoint.
        if let Some(key) = new_key {
            self.keep_key(endpoint.id, key).await?;
        }
        if new_headers
            && !(headers.0.is_empty()
                && stored
                    .as_ref()
                    .is_none_or(|stored| stored.headers.is_empty()))
        {
            self.keep_headers(endpoint.id, &headers).await?;
        }
        let row = endpoint.clone();
        let is_new = stored.is_none();
        let models = models.map(|models| without_repeats(models.into_iter()));
        self.base()
            .store()
            .write(move |store| {
                match is_new {
                    true => store.endpoints_mut().insert(&row)?,
                    // The server may have been replaced or repaired, so learn its refusals again.
                    false => {
                        store.endpoint_dialects_mut().forget(row.id)?;
                        store.endpoints_mut().update(&row)?;
                    }
                }
                models.map_or(Ok(()), |models| {
                    store.endpoint_models_mut().replace(row.id, &models)
                })
            })
            .await?;
        self.base()
            .events()
            .changed(Changed::Endpoints, Some(endpoint.id.to_string()));
        self.shown_endpoint(endpoint).await
    }

    pub(crate) async fn delete_endpoint(&self, id: EndpointId) -> ApiResult<()> {
        let models = self
            .base()
            .store()
            .read(move |store| store.endpoint_models().of(id))
            .await?;
        let delete = self.base().store().write(move |store| {
            store
                .drafts_mut()
                .forget(&DraftKind::Endpoint.name(), "", &id.to_string())?;
            store.endpoints_mut().delete(id)
        });
        delete.await?;
        for id in std::iter::once(id).chain(models.into_iter().map(|model| model.id)) {
            self.app_settings
                .forget_default(&ModelRef::Remote { id: id.to_string() })
                .await?;
        }
        self.base()
            .events()
            .changed(Changed::Endpoints, Some(id.to_string()));
        self.keep_key(id, String::new()).await?;
        self.keep_headers(id, &Headers::default()).await
    }

    /// Asks the endpoint of a draft for its models. Saves nothing.
    pub(crate) async fn test_endpoint(&self, draft: EndpointDraft) -> ApiResult<EndpointTest> {
        let ParsedDraft {
            endpoint,
            key,
            headers,
            ..
        } = self.parse(draft).await?;
        let started = Instant::now();
        let found = probe(&configured(&endpoint, key, headers)?).await?;
        Ok(tested(found, &endpoint, started))
    }

    pub(crate) async fn shown_endpoint(&self, endpoint: Endpoint) -> ApiResult<api::Endpoint> {
        let id = endpoint.id;
        // A locked keychain must not keep the list from being shown.
        let (has_key, key_is_for_session) = self
            .keychain
            .with_secrets(move |secrets| {
                let has_key = secrets.get(Secret::Key(id)).is_ok_and(|key| key.is_some());
                Ok((has_key, has_key && secrets.is_for_session()))
            })
            .await?;
        let models = self
            .base()
            .store()
            .read(move |store| store.endpoint_models().of(id))
            .await?;
        let default_model = match self.app_settings.settings().default_model {
            Some(ModelRef::Remote { id: chosen }) if chosen == id.to_string() => {
                Some(endpoint.model.clone())
            }
            Some(ModelRef::Remote { id: chosen }) => models
                .iter()
                .find(|model| model.id.to_string() == chosen)
                .map(|model| model.name.clone()),
            _ => None,
        };
        let (counted_with, mean_error) = described(self.base().store(), &endpoint).await?;
        let learned = dialect::known(self.base().store(), &endpoint)
            .await?
            .beyond(endpoint.dialect);
        Ok(api::Endpoint {
            id,
            name: endpoint.name,
            dialect: endpoint.dialect,
            url: endpoint.url,
            model: endpoint.model,
            context: endpoint.context,
            models: models.into_iter().map(shown_model).collect(),
            headers: endpoint.headers,
            has_key,
            key_is_for_session,
            default: default_model.is_some(),
            default_model,
            counted_with,
            mean_error,
            learned: quirks(&learned),
        })
    }

    /// Parses a draft and loads the stored secrets that it keeps.
    ///
    /// # Errors
    /// `BadInput` if a value is missing or invalid, or if the address of a stored secret has
    /// changed.
    async fn parse(&self, draft: EndpointDraft) -> ApiResult<ParsedDraft> {
        let mut endpoint = row(&draft)?;
        let id = endpoint.id;
        let stored = match draft.id {
            Some(_) => {
                self.base()
                    .store()
                    .read(move |store| store.endpoints().get(id))
                    .await?
            }
            None => None,
        };
        if let (None, Some(stored)) = (draft.dialect, &stored) {
            endpoint.dialect = stored.dialect;
        }
        let key = match draft.key {
            Some(key) => Some(SecretString::from(key)),
            None => {
                let key = self.key(id).await?;
                check_secret_stays(stored.as_ref(), &endpoint, key.is_some(), "key")?;
                key
            }
        };
        let keeps_header = draft
            .headers
            .as_ref()
            .is_none_or(|all| all.iter().any(|header| header.value.is_none()));
        let has_headers = stored
            .as_ref()
            .is_some_and(|stored| !stored.headers.is_empty());
        check_secret_stays(
            stored.as_ref(),
            &endpoint,
            keeps_header && has_headers,
            "headers",
        )?;
        let headers = match (draft.headers, &stored) {
            (Some(drafts), stored) => self.drafted_headers(stored.as_ref(), drafts).await?,
            (None, Some(stored)) => self.headers(stored).await?,
            (None, None) => Headers::default(),
        };
        endpoint.headers = headers.names();
        Ok(ParsedDraft {
            endpoint,
            stored,
            key,
            headers,
        })
    }
}

/// Rejects sending a stored secret to an address other than the one for which the user entered it.
fn check_secret_stays(
    stored: Option<&Endpoint>,
    endpoint: &Endpoint,
    kept: bool,
    what: &str,
) -> ApiResult<()> {
    let (Some(stored), true) = (stored, kept) else {
        return Ok(());
    };
    let authority =
        |url: &str| Ok::<_, ProviderError>(EndpointConfig::new(url, "", None)?.authority());
    let same = authority(&stored.url)? == authority(&endpoint.url)?
        && stored.url.starts_with("https:") == endpoint.url.starts_with("https:");
    if same {
        return Ok(());
    }
    let verb = if what == "key" { "was" } else { "were" };
    let message =
        format!("The address has changed, and the {what} {verb} entered for the old one.");
    Err(bad_input(message, format!("Enter the {what} again.")))
}

fn row(draft: &EndpointDraft) -> ApiResult<Endpoint> {
    let id = draft.id.unwrap_or_else(|| EndpointId(Uuid::now_v7()));
    let name = draft.name.trim();
    let url = draft.url.trim().trim_end_matches('/');
    if name.is_empty() || url.is_empty() {
        return Err(bad_input(
            "An endpoint needs a name and an address.",
            "Example: http://127.0.0.1:8080/v1.",
        ));
    }
    if draft.context < 512 {
        return Err(bad_input(
            "The context size is too small.",
            "Enter the model's context size in tokens, for example 8192.",
        ));
    }
    Ok(Endpoint {
        id,
        name: name.to_owned(),
        dialect: draft.dialect.unwrap_or_else(|| guess_dialect(url)),
        url: url.to_owned(),
        model: draft.model.trim().to_owned(),
        context: draft.context,
        headers: Vec::new(),
    })
}

impl Endpoints {
    pub(crate) async fn endpoint(&self, id: EndpointId) -> ApiResult<Endpoint> {
        self.base()
            .store()
            .read(move |store| store.endpoints().get(id))
            .await?
            .ok_or_else(|| not_found("endpoint"))
    }
}
