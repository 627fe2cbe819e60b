//! Measures the replies of local models.

use std::path::PathBuf;

use domain::model::LocalModel;
use local::speed::TokenReads;
use local::{LoadedModel, UsedDevice, gguf};
use provider::{Timings, Usage};

use crate::api::Changed;
use crate::base::error::{ApiResult, internal};
use crate::settings::model_speeds::ModelSpeeds;
use crate::settings::model_speeds::stored::{MachineSpeeds, MeasuredReply, WeightsPlace};

/// Shorter replies say little about the speed.
const FEWEST_TOKENS: u32 = 16;
/// A smaller change of the speed is not announced, because the shown figures would hardly differ.
const NOTICEABLE: f64 = 0.1;

impl ModelSpeeds {
    /// Stores in the background how fast a local model has written a reply.
    pub(crate) fn note_reply(&self, model: &LocalModel, usage: Usage, timings: Timings) {
        let Some(tokens_per_second) = measured_speed(usage, timings) else {
            return;
        };
        let Some(loaded) = self.loaded(model) else {
            return;
        };
        let speeds = self.clone();
        let model = model.clone();
        let at_work = self.base().idle().at_work();
        tokio::spawn(async move {
            let kept = speeds.keep(&model, &loaded, tokens_per_second).await;
            if let Err(error) = kept {
                tracing::warn!(%error, "the speed of a reply could not be stored");
            }
            drop(speeds);
            drop(at_work);
        });
    }

    fn loaded(&self, model: &LocalModel) -> Option<LoadedModel> {
        let statuses = self.local().statuses();
        let mut loaded = statuses.into_iter().filter_map(|status| status.loaded);
        loaded.find(|loaded| loaded.path == model.path)
    }

    async fn keep(
        &self,
        model: &LocalModel,
        loaded: &LoadedModel,
        tokens_per_second: f64,
    ) -> ApiResult<()> {
        let reply = MeasuredReply {
            model: model.sha256.clone(),
            place: place(loaded),
            reads: TokenReads::split(self.bytes_per_token(model).await?, graphics_share(loaded)),
            tokens_per_second,
        };
        let is_noticeable = self
            .change(|machine| add_noticeably(machine, reply))
            .await?;
        if is_noticeable {
            self.base().events().changed(Changed::Models, None);
        }
        Ok(())
    }

    /// Reads the header of the file only before the first measured reply of a model.
    async fn bytes_per_token(&self, model: &LocalModel) -> ApiResult<u64> {
        if let Some(known) = self.stored().await?.bytes_per_token(&model.sha256) {
            return Ok(known);
        }
        let path = PathBuf::from(&model.path);
        let header = tokio::task::spawn_blocking(move || gguf::read(&path))
            .await
            .map_err(|_| internal("a model file could not be read"))?;
        Ok(header.map_or(model.bytes, |header| header.bytes_per_token(model.bytes)))
    }
}

/// Tokens per second of a reply that is long enough.
fn measured_speed(usage: Usage, timings: Timings) -> Option<f64> {
    let tokens = usage.generated.filter(|tokens| *tokens >= FEWEST_TOKENS)?;
    let speed = f64::from(tokens) * 1_000.0 / timings.decode_ms;
    Some(speed).filter(|speed| speed.is_finite() && *speed > 0.0)
}

fn place(loaded: &LoadedModel) -> WeightsPlace {
    if loaded.gpu_layers == 0 {
        return WeightsPlace::Processor;
    }
    if loaded.gpu_layers < loaded.layers || loaded.processor_experts > 0 {
        return WeightsPlace::Both;
    }
    let cards = loaded.devices.iter().filter(|device| is_graphics(device));
    let names: Vec<_> = cards.map(|device| device.description.as_str()).collect();
    WeightsPlace::Graphics(names.join(" + "))
}

/// Share of the weights on graphics devices, from 0 to 1.
fn graphics_share(loaded: &LoadedModel) -> f64 {
    match place(loaded) {
        WeightsPlace::Processor => 0.0,
        WeightsPlace::Graphics(_) => 1.0,
        WeightsPlace::Both => {
            let cards = loaded.devices.iter().filter(|device| is_graphics(device));
            weights(cards) as f64 / weights(loaded.devices.iter()).max(1) as f64
        }
    }
}

fn weights<'d>(devices: impl Iterator<Item = &'d UsedDevice>) -> u64 {
    devices
        .map(|device| device.weights)
        .fold(0, u64::saturating_add)
}

fn is_graphics(device: &UsedDevice) -> bool {
    !device.name.is_empty()
}

/// Adds a reply. Returns whether the speed of its model is new, or differs noticeably now.
fn add_noticeably(machine: &mut MachineSpeeds, reply: MeasuredReply) -> bool {
    let model = reply.model.clone();
    let before = machine.tokens_per_second(&model);
    machine.add(reply);
    let now = machine.tokens_per_second(&model);
    before
        .zip(now)
        .is_none_or(|(before, now)| (now / before - 1.0).abs() > NOTICEABLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(name: &str, description: &str, weights: u64) -> UsedDevice {
        UsedDevice {
            name: name.to_owned(),
            description: description.to_owned(),
            weights,
            ..UsedDevice::default()
        }
    }

    fn loaded(gpu_layers: u32) -> LoadedModel {
        LoadedModel {
            layers: 31,
            gpu_layers,
            devices: vec![device("", "", 300), device("Vulkan0", "A card", 700)],
            ..LoadedModel::default()
        }
    }

    fn speed(tokens: Option<u32>, decode_ms: f64) -> Option<f64> {
        let usage = Usage {
            generated: tokens,
            ..Usage::default()
        };
        let timings = Timings {
            decode_ms,
            ..Timings::default()
        };
        measured_speed(usage, timings)
    }

    #[test]
    fn short_or_untimed_replies_are_not_measured() {
        assert_eq!(speed(Some(60), 6_000.0), Some(10.0));
        for (tokens, decode_ms) in [(Some(3), 1.0), (None, 1.0), (Some(60), 0.0)] {
            assert_eq!(speed(tokens, decode_ms), None);
        }
        assert_eq!(speed(Some(60), f64::NAN), None);
    }

    #[test]
    fn place_of_the_weights_is_that_of_the_layers() {
        assert_eq!(place(&loaded(0)), WeightsPlace::Processor);
        assert_eq!(graphics_share(&loaded(0)), 0.0);
        let card = WeightsPlace::Graphics("A card".to_owned());
        assert_eq!(place(&loaded(31)), card);
        assert_eq!(graphics_share(&loaded(31)), 1.0);
        assert_eq!(place(&loaded(12)), WeightsPlace::Both);
        assert_eq!(graphics_share(&loaded(12)), 0.7);
        let experts = LoadedModel {
            processor_experts: 4,
            ..loaded(31)
        };
        assert_eq!(place(&experts), WeightsPlace::Both);
    }

    #[test]
    fn only_noticeable_changes_are_announced() {
        let mut machine = MachineSpeeds::default();
        let mut add = |tokens_per_second| {
            let reply = MeasuredReply {
                model: "a".to_owned(),
                place: WeightsPlace::Processor,
                reads: TokenReads::split(1_000, 0.0),
                tokens_per_second,
            };
            add_noticeably(&mut machine, reply)
        };
        assert!(add(10.0), "the first one");
        assert!(!add(10.5));
        assert!(!add(20.0), "the median hardly moves");
        assert!(add(20.0), "now it does");
    }
}
