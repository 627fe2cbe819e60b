//! The catalogue of models that comes with the app, and which of them suit this machine.

use std::path::Path;
use std::sync::LazyLock;

use local::library::default_context;
use local::{graphics_memory, library};
use provider::hub::names::bits_per_weight;
use serde::Deserialize;

use crate::api::{self, Fits};
use crate::base::error::{ApiResult, not_found};
use crate::settings::hub::{Hub, fit_report, memory_speed, search};

/// Tokens per second at which a model writes about as fast as people read.
const QUICK: f64 = 7.0;
/// The share of the memory's speed that a model uses.
const USED_SPEED: f64 = 0.8;

/// Properties of this machine that decide how well a model runs.
#[derive(Debug, Clone, Copy)]
struct Machine {
    /// Memory for models in bytes, if known.
    available: Option<u64>,
    /// The part of it on graphics cards.
    graphics: u64,
    /// Bytes that the processor gets from memory each second.
    memory_speed: u64,
}

#[derive(Deserialize)]
struct Catalogue {
    suggestions: Vec<CatalogueEntry>,
}

/// A model of the catalogue. The hub states the true sizes and checksums at the download.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CatalogueEntry {
    id: String,
    name: String,
    /// Repository on the hub.
    repo: String,
    /// Number of weights, in billions.
    billions: f64,
    /// Those of them that compute each token, in billions; absent unless the model is a mixture of
    /// experts.
    #[serde(default)]
    active_billions: Option<f64>,
    licence: String,
    licence_url: String,
    has_terms: bool,
    languages: Vec<String>,
    good_at: Vec<String>,
    notes: Vec<String>,
    /// Context in tokens that the model was trained for.
    context: u32,
    /// Bytes of f16 KV cache per token of context.
    cache_bytes_per_token: u64,
    /// Quantisations that the repository has, the recommended one first.
    quantisations: Vec<String>,
}

static CATALOGUE: LazyLock<Vec<CatalogueEntry>> = LazyLock::new(|| {
    let json = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../models/catalogue.json"
    ));
    serde_json::from_str::<Catalogue>(json)
        .map(|catalogue| catalogue.suggestions)
        .unwrap_or_default()
});

impl CatalogueEntry {
    fn quantisation(&self) -> &str {
        self.quantisations.first().map_or("Q4_K_M", String::as_str)
    }

    /// Estimated size of a file: weights by bits per weight.
    fn bytes(&self) -> u64 {
        (self.billions * 1e9 * bits_per_weight(self.quantisation()).unwrap_or(4.9) / 8.0) as u64
    }

    fn fits(&self, available: Option<u64>) -> Fits {
        let context = default_context(self.context);
        fit_report::fits(library::estimate(
            self.bytes(),
            self.cache_bytes_per_token,
            context,
            available,
        ))
    }

    /// Bytes of weights that each token reads.
    fn bytes_per_token(&self) -> u64 {
        let share = self
            .active_billions
            .map_or(1.0, |active| active / self.billions);
        (self.bytes() as f64 * share) as u64
    }

    /// Estimated tokens per second, because each token reads its weights once; `None` if graphics
    /// cards hold them all.
    fn tokens_per_second(&self, machine: Machine) -> Option<f64> {
        let on_cards = machine.graphics > 0 && self.fits(Some(machine.graphics)) != Fits::No;
        let used = machine.memory_speed as f64 * USED_SPEED;
        (!on_cards).then(|| used / self.bytes_per_token().max(1) as f64)
    }

    fn is_quick(&self, machine: Machine) -> bool {
        self.tokens_per_second(machine)
            .is_none_or(|speed| speed >= QUICK)
    }

    /// Writes hundreds of tokens of thoughts before the first visible word.
    fn thinks(&self) -> bool {
        self.notes.iter().any(|note| note == "thinks")
    }

    /// Weights in billions of a model without experts that writes about as well. The geometric mean
    /// of all and the active weights is a rule of thumb for mixtures of experts.
    fn comparable_billions(&self) -> f64 {
        (self.billions * self.active_billions.unwrap_or(self.billions)).sqrt()
    }
}

impl Hub {
    /// The catalogue with what fits this machine: first the best, then by size.
    pub(crate) async fn suggested_models(&self) -> ApiResult<Vec<api::SuggestedModel>> {
        let hub = self.hub().await?;
        let page = |repo: &str| {
            provider::hub::names::RepoId::parse(repo)
                .map(|repo| hub.page(&repo))
                .unwrap_or_default()
        };
        let graphics = graphics_memory(&self.local().current_devices().await);
        let memory_speed = tokio::task::spawn_blocking(memory_speed::bytes_per_second)
            .await
            .unwrap_or_default();
        let machine = Machine {
            available: self.model_memory().await,
            graphics,
            memory_speed,
        };
        let mut all = suggestions(machine, page);
        let models = self
            .base()
            .store()
            .read(|store| store.models().list())
            .await?;
        for model in &mut all {
            model.installed = models
                .iter()
                .any(|known| comes_from(&known.path, &model.repo));
        }
        Ok(all)
    }

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

/// Whether the file at `path` is in a folder of this repository, as downloads of this app and of
/// others are.
fn comes_from(path: &str, repo: &str) -> bool {
    Path::new(path)
        .parent()
        .is_some_and(|folder| folder.ends_with(repo))
}

/// The whole catalogue. The best is the one that writes best among those that fit and answer
/// quickly. If none is quick, it is the quickest that fits.
fn suggestions(machine: Machine, page: impl Fn(&str) -> String) -> Vec<api::SuggestedModel> {
    let fitting = || {
        CATALOGUE
            .iter()
            .filter(|entry| entry.fits(machine.available) == Fits::Yes && !entry.thinks())
    };
    let by_quality = |a: &&CatalogueEntry, b: &&CatalogueEntry| {
        a.comparable_billions().total_cmp(&b.comparable_billions())
    };
    let quick = fitting()
        .filter(|entry| entry.is_quick(machine))
        .max_by(by_quality);
    let best = quick.or_else(|| fitting().min_by_key(|entry| entry.bytes_per_token()));
    let best = best.map(|entry| entry.id.as_str());
    let mut all: Vec<_> = CATALOGUE
        .iter()
        .map(|entry| shown(entry, machine, best, &page))
        .collect();
    all.sort_by(|a, b| b.best.cmp(&a.best).then(a.billions.total_cmp(&b.billions)));
    all
}

fn shown(
    entry: &CatalogueEntry,
    machine: Machine,
    best: Option<&str>,
    page: &impl Fn(&str) -> String,
) -> api::SuggestedModel {
    api::SuggestedModel {
        bytes: entry.bytes(),
        fits: entry.fits(machine.available),
        tokens_per_second: entry.tokens_per_second(machine),
        best: best == Some(entry.id.as_str()),
        installed: false,
        page: page(&entry.repo),
        quantisation: entry.quantisation().to_owned(),
        id: entry.id.clone(),
        name: entry.name.clone(),
        repo: entry.repo.clone(),
        billions: entry.billions,
        active_billions: entry.active_billions,
        licence: entry.licence.clone(),
        licence_url: entry.licence_url.clone(),
        has_terms: entry.has_terms,
        languages: entry.languages.clone(),
        good_at: entry.good_at.clone(),
        notes: entry.notes.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const GB: u64 = 1_000_000_000;

    /// A machine by its gigabytes of memory, of graphics memory, and of speed.
    fn machine(memory: u64, graphics: u64, speed: u64) -> Machine {
        Machine {
            available: Some(memory * GB),
            graphics: graphics * GB,
            memory_speed: speed * GB,
        }
    }

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
    fn best_suggestion_is_the_largest_comfortable_one() {
        let at = |gigabytes: u64| suggestions(machine(gigabytes, 0, 45), |_| String::new());
        let best = |gigabytes| at(gigabytes).into_iter().find(|model| model.best);
        assert!(best(1).is_none_or(|model| model.billions < 1.0));
        let small = best(4).unwrap().billions;
        let large = best(16).unwrap().billions;
        assert!(
            (1.0..4.0).contains(&small) && (7.0..9.0).contains(&large),
            "{small} {large}"
        );
        // Much memory does not make a large model quick, unless each token uses few of its weights.
        let most = best(256).unwrap();
        assert!(
            most.billions > 25.0 && most.active_billions.unwrap() < 4.0,
            "{}",
            most.id
        );
        assert!(at(16)[0].best && at(16).iter().filter(|model| model.best).count() == 1);
        assert!(at(2).iter().any(|model| model.fits == Fits::No));
        let unknown = Machine {
            available: None,
            ..machine(0, 0, 45)
        };
        assert!(
            suggestions(unknown, |_| String::new())
                .iter()
                .all(|model| model.fits == Fits::Yes)
        );
    }

    #[test]
    fn slow_memory_suggests_what_still_answers_quickly() {
        for (speed, memory) in [(6, 8), (11, 8), (11, 64), (25, 16), (45, 64), (90, 64)] {
            let all = suggestions(machine(memory, 0, speed), |_| String::new());
            let best = all.iter().find(|model| model.best).unwrap();
            let tokens = best.tokens_per_second.unwrap();
            assert!(
                tokens >= QUICK,
                "{} writes {tokens} tokens/s at {speed} GB/s",
                best.id
            );
            assert!(
                !best.notes.iter().any(|note| note == "thinks"),
                "{} thinks first",
                best.id
            );
        }
        let slowest = suggestions(machine(8, 0, 1), |_| String::new());
        assert!(
            slowest[0].best && slowest[0].billions < 1.0,
            "{}: the quickest",
            slowest[0].id
        );
    }

    #[test]
    fn graphics_card_makes_larger_models_quick() {
        let best = |graphics: u64| {
            let all = suggestions(machine(16 + graphics, graphics, 45), |_| String::new());
            all.into_iter().find(|model| model.best).unwrap()
        };
        let without = best(0);
        let with = best(24);
        assert!(
            without.billions < 9.0 && with.active_billions.is_none(),
            "{} {}",
            without.id,
            with.id
        );
        assert!(with.billions > 20.0, "{}: it fits the card", with.id);
    }

    #[test]
    fn file_in_the_folder_of_a_repository_is_installed() {
        let repo = "Qwen/Qwen3-8B-GGUF";
        assert!(comes_from(
            "/data/models/Qwen/Qwen3-8B-GGUF/Qwen3-8B-Q8_0.gguf",
            repo
        ));
        for other in [
            "/data/Qwen3-8B-GGUF/a.gguf",
            "/data/Qwen/Qwen3-8B-GGUF-2/a.gguf",
            "Qwen/Qwen3-8B-GGUF",
            "",
            "/",
        ] {
            assert!(!comes_from(other, repo), "{other}");
        }
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
