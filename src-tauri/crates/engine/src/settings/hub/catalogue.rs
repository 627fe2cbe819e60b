//! The catalogue of models that comes with the app.

use std::sync::LazyLock;

use local::library;
use local::library::default_context;
use provider::hub::names::bits_per_weight;
use serde::Deserialize;

use crate::api::{self, Fits};
use crate::base::error::{ApiResult, not_found};
use crate::settings::hub::{Hub, fit_report, search};
use crate::settings::model_speeds::expected::ModelBytes;

#[derive(Deserialize)]
struct Catalogue {
    suggestions: Vec<CatalogueEntry>,
}

/// A model of the catalogue. The hub states the true sizes and checksums at the download.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CatalogueEntry {
    pub(super) id: String,
    pub(super) name: String,
    /// Repository on the hub.
    pub(super) repo: String,
    /// Number of weights, in billions.
    pub(super) billions: f64,
    /// Those of them that compute each token, in billions; absent unless the model is a mixture of
    /// experts.
    #[serde(default)]
    pub(super) active_billions: Option<f64>,
    pub(super) licence: String,
    pub(super) licence_url: String,
    pub(super) has_terms: bool,
    pub(super) languages: Vec<String>,
    pub(super) good_at: Vec<String>,
    pub(super) notes: Vec<String>,
    /// Context in tokens that the model was trained for.
    context: u32,
    /// Bytes of f16 KV cache per token of context.
    cache_bytes_per_token: u64,
    /// Quantisations that the repository has, the recommended one first.
    quantisations: Vec<String>,
}

pub(super) static CATALOGUE: LazyLock<Vec<CatalogueEntry>> = LazyLock::new(|| {
    let json = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../models/catalogue.json"
    ));
    serde_json::from_str::<Catalogue>(json)
        .map(|catalogue| catalogue.suggestions)
        .unwrap_or_default()
});

impl CatalogueEntry {
    pub(super) fn quantisation(&self) -> &str {
        self.quantisations.first().map_or("Q4_K_M", String::as_str)
    }

    /// Estimated size of a file: weights by bits per weight.
    pub(super) fn bytes(&self) -> u64 {
        (self.billions * 1e9 * bits_per_weight(self.quantisation()).unwrap_or(4.9) / 8.0) as u64
    }

    pub(super) fn fits(&self, available: Option<u64>) -> Fits {
        fit_report::fits(self.fit(available))
    }

    fn fit(&self, available: Option<u64>) -> library::Fit {
        library::estimate(
            self.bytes(),
            self.cache_bytes_per_token,
            default_context(self.context),
            available,
        )
    }

    /// The sizes that decide the speed.
    pub(super) fn sizes(&self) -> ModelBytes {
        let share = self
            .active_billions
            .map_or(1.0, |active| active / self.billions);
        ModelBytes {
            file: self.bytes(),
            per_token: (self.bytes() as f64 * share) as u64,
            cache: self.fit(None).cache,
        }
    }

    /// Writes hundreds of tokens of thoughts before the first visible word.
    pub(super) fn thinks(&self) -> bool {
        self.notes.iter().any(|note| note == "thinks")
    }

    /// Weights in billions of a model without experts that writes about as well. The geometric mean
    /// of all and the active weights is a rule of thumb for mixtures of experts.
    pub(super) fn comparable_billions(&self) -> f64 {
        (self.billions * self.active_billions.unwrap_or(self.billions)).sqrt()
    }
}

impl Hub {
    /// Downloads a model of the catalogue, and makes it the default afterwards.
    ///
    /// # Errors
    /// `NotFound`; `BadInput` if the hub no longer has the file; `Provider` if the hub does not
    /// answer.
    pub(crate) async fn download_suggestion(&self, id: String) -> ApiResult<api::Download> {
        let entry = CATALOGUE
            .iter()
            .find(|entry| entry.id == id)
            .ok_or_else(|| not_found("model"))?;
        let (_, repository) = self.repository(&entry.repo).await?;
        let mut models = repository
            .files
            .iter()
            .filter(|file| file.purpose == provider::hub::names::FilePurpose::Model);
        // Another file may have twice the size, so the user chooses it.
        let named = models.find(|file| file.quantisation == Some(entry.quantisation()));
        let file = named
            .ok_or_else(|| search::no_such_file(&entry.name, entry.quantisation(), &repository))?;
        self.start_download(entry.repo.clone(), file.path().to_owned(), None, true)
            .await
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_catalogue_entry_states_its_licence() {
        assert!(CATALOGUE.len() >= 12, "{} entries", CATALOGUE.len());
        for entry in CATALOGUE.iter() {
            assert!(
                !entry.licence.trim().is_empty(),
                "{} has no licence",
                entry.id
            );
            assert!(
                entry.licence_url.starts_with("https://"),
                "{} links to no licence",
                entry.id
            );
        }
    }

    #[test]
    fn catalogue_entries_are_complete_and_unique() {
        let ids: HashSet<_> = CATALOGUE.iter().map(|entry| &entry.id).collect();
        assert_eq!(ids.len(), CATALOGUE.len());
        for entry in CATALOGUE.iter() {
            assert!(
                provider::hub::names::RepoId::parse(&entry.repo).is_some(),
                "{}",
                entry.repo
            );
            assert!(
                (0.4..=31.0).contains(&entry.billions) && entry.context >= 4_096,
                "{}",
                entry.id
            );
            assert!(
                !entry.languages.is_empty() && !entry.good_at.is_empty(),
                "{}",
                entry.id
            );
            assert!(entry.cache_bytes_per_token > 0, "{}", entry.id);
            assert!(
                entry
                    .active_billions
                    .is_none_or(|active| active < entry.billions),
                "{}",
                entry.id
            );
            let known = |name: &String| bits_per_weight(name).is_some();
            assert!(
                !entry.quantisations.is_empty() && entry.quantisations.iter().all(known),
                "{}",
                entry.id
            );
        }
        let sizes = || CATALOGUE.iter().map(|entry| entry.billions);
        assert!(sizes().any(|size| size < 0.7) && sizes().any(|size| size > 20.0));
    }

    #[test]
    fn mixture_compares_with_a_smaller_dense_model() {
        let comparable = |id: &str| {
            CATALOGUE
                .iter()
                .find(|entry| entry.id == id)
                .unwrap()
                .comparable_billions()
        };
        assert!((9.0..11.0).contains(&comparable("qwen3-30b-a3b")));
        assert!((2.0..3.0).contains(&comparable("granite-4-tiny")));
        assert_eq!(comparable("qwen3-8b"), 8.19);
    }
}
