//! Models of an endpoint, and presets of common services.

use std::time::Instant;

use domain::EndpointId;
use domain::model::{Endpoint, EndpointModel, ModelChoice};
use provider::endpoint::{EndpointProbe, probe};

use crate::api::{
    self, Changed, EndpointService, EndpointTest, ModelPrice, ModelRef, OfferedModel,
};
use crate::base::clock::millis;
use crate::base::error::{ApiResult, internal, not_found};
use crate::base::records::convert;
use crate::settings::endpoints::Endpoints;

const SERVICES: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../../presets/endpoints/services.json"
));
/// Maximum number of models in [`Self::recent_models`].
const RECENT: usize = 6;

impl Endpoints {
    /// Common services and servers, with their addresses.
    pub(crate) async fn endpoint_services(&self) -> ApiResult<Vec<EndpointService>> {
        serde_json::from_str(SERVICES).map_err(|error| internal(&error.to_string()))
    }

    /// Refreshes the model list of a stored endpoint. Models that the user entered by hand remain.
    ///
    /// # Errors
    /// `NotFound`; `Provider` if the endpoint does not answer, and the list does not change.
    pub(crate) async fn refresh_endpoint(&self, id: EndpointId) -> ApiResult<EndpointTest> {
        let endpoint = self.endpoint(id).await?;
        let started = Instant::now();
        let found = tested(
            probe(&self.endpoint_config(&endpoint).await?).await?,
            &endpoint,
            started,
        );
        if !found.models.is_empty() {
            let known = self
                .base()
                .store()
                .read(move |store| store.endpoint_models().of(id))
                .await?;
            let typed = known.into_iter().filter(|model| model.typed).map(offered);
            let models = without_repeats(found.models.iter().cloned().chain(typed));
            self.base()
                .store()
                .write(move |store| store.endpoint_models_mut().replace(id, &models))
                .await?;
            self.base()
                .events()
                .changed(Changed::Endpoints, Some(id.to_string()));
        }
        Ok(found)
    }

    /// Models that chats use, most recent first. Deleted models are left out.
    pub(crate) async fn recent_models(&self) -> ApiResult<Vec<ModelRef>> {
        let recent = self.base().store().read(|store| {
            let mut there = Vec::new();
            for choice in store.chats().chosen_models()? {
                let known = match choice {
                    ModelChoice::Local(id) => store.models().get(id)?.is_some(),
                    ModelChoice::Remote(id) => store.endpoint_models().resolve(id)?.is_some(),
                };
                if known && there.len() < RECENT {
                    there.push(choice);
                }
            }
            Ok(there)
        });
        Ok(recent.await?.into_iter().map(convert::model_ref).collect())
    }

    /// Resolves a choice to the endpoint and its model.
    pub(crate) async fn chosen_endpoint(&self, id: EndpointId) -> ApiResult<Endpoint> {
        self.base()
            .store()
            .read(move |store| store.endpoint_models().resolve(id))
            .await?
            .ok_or_else(|| not_found("endpoint"))
    }

    /// Display name of a chosen endpoint. Includes the model if the endpoint offers several.
    pub(crate) async fn shown_name(&self, endpoint: &Endpoint) -> ApiResult<String> {
        let id = endpoint.id;
        let several = self
            .base()
            .store()
            .read(move |store| Ok(store.endpoint_models().of(id)?.len() > 1))
            .await?;
        Ok(
            if several && !endpoint.model.is_empty() && endpoint.model != endpoint.name {
                format!("{} · {}", endpoint.name, endpoint.model)
            } else {
                endpoint.name.clone()
            },
        )
    }
}

/// Keeps the first row of each name.
pub(crate) fn without_repeats(
    models: impl Iterator<Item = OfferedModel>,
) -> Vec<(String, Option<u32>, bool)> {
    let mut rows: Vec<(String, Option<u32>, bool)> = Vec::new();
    let mut known = std::collections::HashSet::new();
    for OfferedModel {
        name,
        context,
        typed,
    } in models
    {
        let name = name.trim().to_owned();
        if !name.is_empty() && known.insert(name.clone()) {
            rows.push((name, context, typed));
        }
    }
    rows
}

pub(crate) fn tested(found: EndpointProbe, endpoint: &Endpoint, started: Instant) -> EndpointTest {
    let EndpointProbe {
        models,
        context,
        contexts,
        prices,
    } = found;
    let chosen = if endpoint.model.is_empty() {
        models.first()
    } else {
        Some(&endpoint.model)
    };
    let price = chosen
        .and_then(|name| prices.get(name))
        .map(|price| ModelPrice {
            input: price.input,
            output: price.output,
        });
    let model = |name: String| OfferedModel {
        context: contexts.get(&name).copied(),
        name,
        typed: false,
    };
    EndpointTest {
        models: models.into_iter().map(model).collect(),
        context,
        price,
        dialect: endpoint.dialect,
        took_ms: millis(started),
    }
}

pub(crate) fn shown_model(model: EndpointModel) -> api::EndpointModel {
    let EndpointModel {
        id,
        name,
        context,
        typed,
    } = model;
    api::EndpointModel {
        id: id.to_string(),
        name,
        context,
        typed,
    }
}

fn offered(model: EndpointModel) -> OfferedModel {
    let EndpointModel {
        name,
        context,
        typed,
        ..
    } = model;
    OfferedModel {
        name,
        context,
        typed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_service_has_a_usable_address() {
        let services: Vec<EndpointService> = serde_json::from_str(SERVICES).unwrap();
        assert!(services.len() >= 10);
        for service in services {
            let config = provider::endpoint::EndpointConfig::new(&service.url, "", None).unwrap();
            config.speaking(service.dialect).unwrap();
            assert_eq!(
                service.dialect,
                provider::guess_dialect(&service.url),
                "{}",
                service.id
            );
            assert_eq!(
                service.key == api::KeyNeed::Required,
                !service.key_url.is_empty(),
                "{}",
                service.id
            );
        }
    }

    #[test]
    fn repeated_and_blank_names_make_one_row() {
        let model = |name: &str, typed| OfferedModel {
            name: name.into(),
            context: None,
            typed,
        };
        let rows =
            without_repeats([model("a", false), model(" a ", true), model(" ", true)].into_iter());
        assert_eq!(rows, [("a".to_owned(), None, false)]);
    }
}
