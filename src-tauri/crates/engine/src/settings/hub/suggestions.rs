//! Which models of the catalogue suit this machine: they fit its memory, and answer quickly.

use std::path::Path;

use domain::model::LocalModel;

use crate::api::{self, Fits};
use crate::base::error::ApiResult;
use crate::settings::hub::catalogue::{CATALOGUE, CatalogueEntry};
use crate::settings::hub::{Hub, fit_report};
use crate::settings::model_speeds::expected::{ExpectedSpeeds, WritingSpeed};

/// Tokens per second at which a model writes about as fast as people read.
const QUICK: f64 = 7.0;
/// Files of one quantisation differ in size by less than this part.
const SAME_SIZE: u64 = 8;

/// Properties of this machine that decide how well a model runs.
struct Machine {
    /// Memory for models in bytes, if known.
    available: Option<u64>,
    speeds: ExpectedSpeeds,
    /// The models of the library.
    models: Vec<LocalModel>,
}

/// A model of the catalogue on this machine.
struct Rated {
    entry: &'static CatalogueEntry,
    fits: Fits,
    /// The speed to choose by.
    speed: Option<WritingSpeed>,
    /// The speed to show.
    shown_speed: Option<WritingSpeed>,
    installed: bool,
}

impl Rated {
    fn of(entry: &'static CatalogueEntry, machine: &Machine) -> Self {
        let installed = || {
            machine
                .models
                .iter()
                .filter(|model| comes_from(&model.path, &entry.repo))
        };
        let same_size =
            |model: &&LocalModel| model.bytes.abs_diff(entry.bytes()) < entry.bytes() / SAME_SIZE;
        let speeds = &machine.speeds;
        let measured = installed()
            .filter(same_size)
            .find_map(|model| speeds.measured(&model.sha256));
        Self {
            entry,
            fits: entry.fits(machine.available),
            speed: measured.or_else(|| speeds.assumed(entry.sizes())),
            shown_speed: measured.or_else(|| speeds.estimated(entry.sizes())),
            installed: installed().next().is_some(),
        }
    }

    fn tokens_per_second(&self) -> f64 {
        self.speed.map_or(0.0, |speed| speed.tokens_per_second)
    }

    fn quality(&self) -> f64 {
        self.entry.comparable_billions()
    }

    fn is_quick(&self) -> bool {
        self.tokens_per_second() >= QUICK
    }

    fn shown(self, best: Option<&str>, page: impl Fn(&str) -> String) -> api::SuggestedModel {
        let is_quick = self.is_quick();
        let entry = self.entry;
        api::SuggestedModel {
            bytes: entry.bytes(),
            fits: self.fits,
            tokens_per_second: self.shown_speed.map(|speed| speed.tokens_per_second),
            words_per_minute: self.shown_speed.map(WritingSpeed::words_per_minute),
            speed_is_measured: self.shown_speed.is_some_and(|speed| speed.is_measured),
            is_quick,
            best: best == Some(entry.id.as_str()),
            installed: self.installed,
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
}

impl Hub {
    /// The catalogue with what fits this machine: first the best, then by size. The first call on a
    /// machine measures its memory for about a second.
    pub(crate) async fn suggested_models(&self) -> ApiResult<Vec<api::SuggestedModel>> {
        let hub = self.hub().await?;
        let page = |repo: &str| {
            provider::hub::names::RepoId::parse(repo)
                .map(|repo| hub.page(&repo))
                .unwrap_or_default()
        };
        let speeds = self.model_speeds().measured().await?;
        let models = self
            .base()
            .store()
            .read(|store| store.models().list())
            .await?;
        let machine = Machine {
            available: fit_report::memory_with(speeds.devices()),
            speeds,
            models,
        };
        Ok(suggestions(&machine, page))
    }
}

/// Whether the file at `path` is in a folder of this repository, as downloads of this app and of
/// others are.
fn comes_from(path: &str, repo: &str) -> bool {
    Path::new(path)
        .parent()
        .is_some_and(|folder| folder.ends_with(repo))
}

/// The whole catalogue, the best first.
fn suggestions(machine: &Machine, page: impl Fn(&str) -> String) -> Vec<api::SuggestedModel> {
    let rated: Vec<_> = CATALOGUE
        .iter()
        .map(|entry| Rated::of(entry, machine))
        .collect();
    let best = best(&rated);
    let mut all: Vec<_> = rated
        .into_iter()
        .map(|model| model.shown(best, &page))
        .collect();
    all.sort_by(|a, b| b.best.cmp(&a.best).then(a.billions.total_cmp(&b.billions)));
    all
}

/// Id of the model that writes best among those that fit and answer quickly. If none is quick, it is
/// the fastest that fits.
fn best(rated: &[Rated]) -> Option<&'static str> {
    let fitting = || {
        rated
            .iter()
            .filter(|model| model.fits == Fits::Yes && !model.entry.thinks())
    };
    let writes_best = fitting()
        .filter(|model| model.is_quick())
        .max_by(|a, b| a.quality().total_cmp(&b.quality()));
    let fastest =
        || fitting().max_by(|a, b| a.tokens_per_second().total_cmp(&b.tokens_per_second()));
    writes_best
        .or_else(fastest)
        .map(|model| model.entry.id.as_str())
}

#[cfg(test)]
mod tests {
    use domain::ModelId;
    use local::speed::TokenReads;
    use local::{Device, DeviceKind, Devices};
    use uuid::Uuid;

    use super::*;
    use crate::settings::model_speeds::stored::{MachineSpeeds, MeasuredReply, WeightsPlace};

    const GB: u64 = 1_000_000_000;

    /// A machine without a graphics card, by its gigabytes of memory and of their speed.
    fn machine(memory: u64, speed: u64) -> Machine {
        machine_with(memory, speed, 8)
    }

    fn machine_with(memory: u64, speed: u64, threads: u32) -> Machine {
        let known = MachineSpeeds::with_memory(speed * GB);
        Machine {
            available: Some(memory * GB),
            speeds: ExpectedSpeeds::new(known, threads, Devices::Known(Vec::new())),
            models: Vec::new(),
        }
    }

    fn card(gibibytes: u64) -> Devices {
        let bytes = gibibytes << 30;
        Devices::Known(vec![Device {
            name: "Vulkan0".to_owned(),
            description: "A card".to_owned(),
            backend: "Vulkan".to_owned(),
            kind: DeviceKind::Discrete,
            total: bytes,
            free: bytes,
        }])
    }

    fn all(machine: &Machine) -> Vec<api::SuggestedModel> {
        suggestions(machine, |_| String::new())
    }

    fn best_of(machine: &Machine) -> api::SuggestedModel {
        all(machine).into_iter().find(|model| model.best).unwrap()
    }

    /// A machine that has the suggestion, and wrote a reply with it.
    fn after_reply(memory: u64, speed: u64, model: &api::SuggestedModel, tokens: f64) -> Machine {
        let mut known = MachineSpeeds::with_memory(speed * GB);
        known.add(MeasuredReply {
            model: "hash".to_owned(),
            place: WeightsPlace::Processor,
            reads: TokenReads::split(model.bytes, 0.0),
            tokens_per_second: tokens,
        });
        let file = LocalModel {
            id: ModelId(Uuid::nil()),
            name: model.name.clone(),
            path: format!("/models/{}/model.gguf", model.repo),
            bytes: model.bytes,
            sha256: "hash".to_owned(),
            architecture: "llama".to_owned(),
            context: 8_192,
        };
        Machine {
            speeds: ExpectedSpeeds::new(known, 8, Devices::Known(Vec::new())),
            models: vec![file],
            ..machine(memory, speed)
        }
    }

    #[test]
    fn two_slow_cores_do_not_get_eight_billion() {
        let best = best_of(&machine_with(24, 20, 2));
        let active = best.active_billions.unwrap_or(best.billions);
        assert!(best.is_quick && active < 3.0, "{}", best.id);
        let all = all(&machine_with(24, 20, 2));
        let large = all.iter().find(|model| model.id == "qwen3-8b").unwrap();
        let tokens = large.tokens_per_second.unwrap();
        assert!((2.0..3.0).contains(&tokens) && !large.is_quick, "{tokens}");
        assert!((90..135).contains(&large.words_per_minute.unwrap()));
    }

    #[test]
    fn fast_memory_gets_eight_billion() {
        assert_eq!(best_of(&machine(16, 55)).id, "granite-3.3-8b");
    }

    #[test]
    fn measured_speed_corrects_the_suggestion() {
        let before = best_of(&machine(16, 55));
        let after = after_reply(16, 55, &before, 3.0);
        let all = all(&after);
        let measured = all.iter().find(|model| model.id == before.id).unwrap();
        assert_eq!(measured.tokens_per_second, Some(3.0));
        assert!(measured.speed_is_measured && measured.installed);
        assert!(!measured.is_quick && !measured.best);
        let best = &all[0];
        assert!(
            best.best && best.is_quick && best.billions < 5.0,
            "{}",
            best.id
        );
        assert!(!best.speed_is_measured);
    }

    #[test]
    fn measured_speed_belongs_to_files_of_its_size() {
        let before = best_of(&machine(16, 55));
        let mut after = after_reply(16, 55, &before, 3.0);
        after.models[0].bytes = before.bytes * 2;
        let all = all(&after);
        let other = all.iter().find(|model| model.id == before.id).unwrap();
        assert!(other.installed && !other.speed_is_measured);
    }

    #[test]
    fn choice_before_the_measurement_shows_no_speed() {
        let unmeasured = Machine {
            speeds: ExpectedSpeeds::new(MachineSpeeds::default(), 8, Devices::Unknown),
            ..machine(16, 1)
        };
        let all = all(&unmeasured);
        assert!(all[0].best && all[0].is_quick, "{}", all[0].id);
        assert!(all.iter().all(|model| model.tokens_per_second.is_none()
            && model.words_per_minute.is_none()
            && !model.speed_is_measured));
    }

    #[test]
    fn best_suggestion_is_the_largest_comfortable_one() {
        let at = |gigabytes: u64| all(&machine(gigabytes, 55));
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
            ..machine(0, 55)
        };
        assert!(all(&unknown).iter().all(|model| model.fits == Fits::Yes));
    }

    #[test]
    fn slow_memory_suggests_what_still_answers_quickly() {
        for (speed, memory) in [(6, 8), (11, 8), (11, 64), (25, 16), (45, 64), (90, 64)] {
            let best = best_of(&machine(memory, speed));
            let tokens = best.tokens_per_second.unwrap();
            assert!(
                tokens >= QUICK && best.is_quick,
                "{} writes {tokens} tokens/s at {speed} GB/s",
                best.id
            );
            assert!(
                !best.notes.iter().any(|note| note == "thinks"),
                "{} thinks first",
                best.id
            );
        }
    }

    #[test]
    fn fastest_is_suggested_if_none_is_quick() {
        let all = all(&machine(8, 1));
        let best = &all[0];
        assert!(
            best.best && !best.is_quick && best.billions < 1.0,
            "{}",
            best.id
        );
        assert!(all.iter().all(|model| !model.is_quick));
    }

    #[test]
    fn graphics_card_makes_larger_models_quick() {
        let without = best_of(&machine(16, 45));
        let known = MachineSpeeds::with_memory(45 * GB);
        let with = best_of(&Machine {
            speeds: ExpectedSpeeds::new(known, 8, card(24)),
            ..machine(40, 45)
        });
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
}
