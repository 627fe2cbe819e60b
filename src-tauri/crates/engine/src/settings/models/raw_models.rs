//! Models that programs can use without a character, under the names that the local API gives them.

use std::collections::HashSet;
use std::path::Path;

use domain::model::ModelChoice;

use crate::api::ModelRef;
use crate::api::client::ModelKind;
use crate::base::error::ApiResult;
use crate::base::records::convert;
use crate::settings::models::Models;

/// A model without a character.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RawModel {
    /// Unique among all models.
    pub(crate) name: String,
    pub(crate) model: ModelRef,
    pub(crate) kind: ModelKind,
    /// Name of the endpoint; empty for a local model.
    pub(crate) endpoint: String,
}

impl Models {
    /// Local models whose file exists, then the models of the endpoints. A name that is `taken`
    /// gets that of the endpoint, or `local`, in front.
    pub(crate) async fn raw_models(&self, taken: HashSet<String>) -> ApiResult<Vec<RawModel>> {
        let stored = self.base().store().read(|store| {
            let mut endpoints = Vec::new();
            for endpoint in store.endpoints().list()? {
                let models = store.endpoint_models().of(endpoint.id)?;
                endpoints.push((endpoint, models));
            }
            Ok((store.models().list()?, endpoints))
        });
        let (local, endpoints) = stored.await?;
        let mut names = UniqueNames(taken);
        let mut raw = Vec::new();
        for model in local
            .into_iter()
            .filter(|model| Path::new(&model.path).exists())
        {
            let name = names.take(&model.name, "local");
            let model = convert::model_ref(ModelChoice::Local(model.id));
            raw.push(RawModel {
                name,
                model,
                kind: ModelKind::Local,
                endpoint: String::new(),
            });
        }
        for (endpoint, models) in endpoints {
            let preset = (!models.iter().any(|model| model.name == endpoint.model))
                .then_some((endpoint.id, endpoint.model));
            let all = preset
                .into_iter()
                .chain(models.into_iter().map(|model| (model.id, model.name)));
            for (id, model) in all {
                let plain = if model.is_empty() {
                    &endpoint.name
                } else {
                    &model
                };
                let name = names.take(plain, &endpoint.name);
                let model = convert::model_ref(ModelChoice::Remote(id));
                raw.push(RawModel {
                    name,
                    model,
                    kind: ModelKind::Endpoint,
                    endpoint: endpoint.name.clone(),
                });
            }
        }
        Ok(raw)
    }
}

struct UniqueNames(HashSet<String>);

impl UniqueNames {
    /// `name` if it is free, else with `owner` in front, and with a number if that is taken as
    /// well.
    fn take(&mut self, name: &str, owner: &str) -> String {
        let owned = format!("{owner}/{name}");
        let numbered = (2..).map(|number| format!("{owned}-{number}"));
        let mut names = [name.to_owned(), owned.clone()].into_iter().chain(numbered);
        names
            .find(|name| self.0.insert(name.clone()))
            .unwrap_or(owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_model_names_stay_apart() {
        let mut names = UniqueNames(HashSet::from(["mira".to_owned()]));
        let taken = [
            ("gpt", "one"),
            ("gpt", "two"),
            ("gpt", "two"),
            ("mira", "local"),
        ]
        .map(|(name, owner)| names.take(name, owner));
        assert_eq!(taken, ["gpt", "two/gpt", "two/gpt-2", "local/mira"]);
    }
}
