//! Measures a model on this machine, and keeps the fastest settings for it.

use std::time::{Duration, Instant};

use domain::ModelId;
use domain::model::{LocalModel, ModelChoice};
use domain::prompt::{Prompt, Segment};
use domain::sampling::SamplerOptions;
use futures_util::StreamExt;
use local::{LoadOptions, LocalHost};
use provider::{GenerationEvent, Provider, ProviderError, Request, Timings, Usage};
use tokio_util::sync::CancellationToken;

use crate::api::{SettingOwner, SettingValue, SpeedRun, SpeedTest};
use crate::base::error::ApiResult;
use crate::base::records::convert;
use crate::settings::layers::SettingEdits;
use crate::settings::model_lookup::ModelLookup;
use crate::settings::models::Models;

/// No measurement starts after this time. Each takes a second or two.
const LIMIT: Duration = Duration::from_secs(8);
/// Tokens of the reply that is measured.
const REPLY: u32 = 24;
/// Words of the prompt; about as many tokens.
const PROMPT: usize = 192;
/// Context in tokens. A small one loads faster, and the speed of a short prompt does not depend on
/// it.
const CONTEXT: u32 = 1_024;
/// Batch sizes to try after the thread counts.
const BATCHES: [u32; 2] = [128, 256];
/// A shorter reading time counts less than a faster reply: of a turn, this share is reading.
const READING: f32 = 0.25;
/// Difference below which the app's own choice is kept, because measurements vary.
const NOTICEABLE: f32 = 1.05;

/// Measures the speed of models. Clones share one state.
#[derive(Clone)]
pub(crate) struct SpeedTests {
    local: LocalHost,
    model_lookup: ModelLookup,
    models: Models,
    setting_edits: SettingEdits,
}

impl SpeedTests {
    pub(super) fn new(
        local: &LocalHost,
        model_lookup: &ModelLookup,
        models: &Models,
        setting_edits: &SettingEdits,
    ) -> Self {
        Self {
            local: local.clone(),
            model_lookup: model_lookup.clone(),
            models: models.clone(),
            setting_edits: setting_edits.clone(),
        }
    }

    fn local(&self) -> &LocalHost {
        &self.local
    }

    /// Measures the model for about ten seconds with and without graphics devices, with several
    /// numbers of threads and batch sizes, and stores the best as settings of the model.
    ///
    /// # Errors
    /// `NotFound`; `Provider` if the model cannot be loaded.
    pub(crate) async fn measure_model(&self, id: ModelId) -> ApiResult<SpeedTest> {
        let model = self.model_lookup.local_model(id).await?;
        let (_, own) = self.models.load_settings(&model).await?;
        let mut own = LoadOptions {
            gpu_layers: None,
            threads: None,
            batch: None,
            ..own
        };
        let start = Instant::now();
        let default = self.local().default_threads();
        let mut runs = vec![self.measure(&model, &own, default).await?];
        if runs[0].gpu_layers > 0 {
            // A graphics device that shares the memory of the processor may be slower than the
            // processor.
            let on_processor = LoadOptions {
                gpu_layers: Some(0),
                ..own.clone()
            };
            runs.push(self.measure(&model, &on_processor, default).await?);
            if best(&runs) > 0 {
                own = on_processor;
            }
        }
        for threads in thread_counts(default)
            .into_iter()
            .filter(|threads| *threads != default)
        {
            if start.elapsed() < LIMIT {
                runs.push(
                    self.measure(
                        &model,
                        &LoadOptions {
                            threads: Some(threads),
                            ..own.clone()
                        },
                        default,
                    )
                    .await?,
                );
            }
        }
        let threads = Some(runs[best(&runs)].threads).filter(|threads| *threads != default);
        for batch in BATCHES {
            if start.elapsed() < LIMIT {
                let options = LoadOptions {
                    threads,
                    batch: Some(batch),
                    ..own.clone()
                };
                runs.push(self.measure(&model, &options, default).await?);
            }
        }
        let best = best(&runs);
        let leaves_graphics = runs[0].gpu_layers > 0 && runs[best].gpu_layers == 0;
        self.keep_speed(&model, &runs[best], default, leaves_graphics)
            .await?;
        Ok(SpeedTest {
            runs,
            best: best as u32,
        })
    }

    async fn keep_speed(
        &self,
        model: &LocalModel,
        run: &SpeedRun,
        default: u32,
        leaves_graphics: bool,
    ) -> ApiResult<()> {
        let owner = || SettingOwner::Model {
            model: convert::model_ref(ModelChoice::Local(model.id)),
        };
        let threads = Some(run.threads)
            .filter(|threads| *threads != default)
            .map(SettingValue::Whole);
        let layers = leaves_graphics.then_some(SettingValue::Whole(0));
        self.setting_edits
            .set_setting(owner(), "gpu_layers".to_owned(), layers)
            .await?;
        self.setting_edits
            .set_setting(owner(), "compute_threads".to_owned(), threads)
            .await?;
        self.setting_edits
            .set_setting(
                owner(),
                "prompt_batch".to_owned(),
                run.batch.map(SettingValue::Whole),
            )
            .await?;
        Ok(())
    }

    async fn measure(
        &self,
        model: &LocalModel,
        options: &LoadOptions,
        default: u32,
    ) -> ApiResult<SpeedRun> {
        let provider = self.local().provider_with(model, CONTEXT, options.clone());
        // The first reply loads the model and warms the caches of the processor.
        generate(&*provider, 1).await?;
        let (usage, timings) = generate(&*provider, REPLY).await?;
        self.local().forget(KEY);
        let states = self.local().statuses();
        let loaded = states
            .iter()
            .filter_map(|status| status.loaded.as_ref())
            .find(|loaded| loaded.path == model.path);
        Ok(SpeedRun {
            threads: options.threads.unwrap_or(default),
            batch: options.batch,
            gpu_layers: loaded.map_or(0, |loaded| loaded.gpu_layers),
            prompt: per_second(usage.evaluated, timings.prefill_ms),
            reply: per_second(usage.generated, timings.decode_ms),
        })
    }
}

/// Cache key of the measurements.
const KEY: &str = "speed test";

async fn generate(provider: &dyn Provider, tokens: u32) -> Result<(Usage, Timings), ProviderError> {
    // Another text each time, so that nothing of it is in the cache.
    let text: String = (0..PROMPT)
        .map(|word| format!("{} ", (word as u32 * 7 + tokens) % 97))
        .collect();
    let prompt = Prompt {
        segments: vec![Segment {
            text,
            control: false,
        }],
        ..Prompt::default()
    };
    let sampling = SamplerOptions {
        temperature: Some(0.0),
        repeat_penalty: Some(1.0),
        max_tokens: Some(tokens),
        ..SamplerOptions::default()
    };
    let request = Request {
        cache_key: KEY.to_owned(),
        background: false,
        prompt,
        sampling: sampling.resolve(1),
        response_schema: None,
    };
    let mut stream = provider.stream(request, CancellationToken::new());
    let mut measured = (Usage::default(), Timings::default());
    while let Some(event) = stream.next().await {
        if let GenerationEvent::Finished { usage, timings, .. } = event? {
            measured = (usage, timings);
        }
    }
    Ok(measured)
}

fn per_second(tokens: Option<u32>, milliseconds: f64) -> f32 {
    if milliseconds > 0.0 {
        (f64::from(tokens.unwrap_or(0)) * 1_000.0 / milliseconds) as f32
    } else {
        0.0
    }
}

/// Thread counts to try: the app's own choice, half of it, one less, and one per logical processor.
fn thread_counts(default: u32) -> Vec<u32> {
    let logical = std::thread::available_parallelism().map_or(default, |count| count.get() as u32);
    let mut counts: Vec<u32> = [default, default / 2, default.saturating_sub(1), logical].into();
    counts.retain(|count| *count > 0);
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// Position of the fastest run. The first one, with the app's own choices, wins unless another is
/// noticeably faster.
fn best(runs: &[SpeedRun]) -> usize {
    // The time of a turn that reads and writes in these shares.
    let time =
        |run: &SpeedRun| READING / run.prompt.max(0.001) + (1.0 - READING) / run.reply.max(0.001);
    let fastest = (0..runs.len())
        .min_by(|a, b| time(&runs[*a]).total_cmp(&time(&runs[*b])))
        .unwrap_or(0);
    if time(&runs[0]) > time(&runs[fastest]) * NOTICEABLE {
        fastest
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(threads: u32, prompt: f32, reply: f32) -> SpeedRun {
        SpeedRun {
            threads,
            batch: None,
            gpu_layers: 0,
            prompt,
            reply,
        }
    }

    #[test]
    fn own_choice_stays_unless_another_is_faster() {
        assert_eq!(best(&[run(4, 100.0, 20.0), run(2, 101.0, 20.4)]), 0);
        assert_eq!(best(&[run(4, 100.0, 20.0), run(2, 90.0, 26.0)]), 1);
        assert_eq!(
            best(&[run(4, 0.0, 0.0), run(2, 90.0, 26.0)]),
            1,
            "a failed measurement never wins"
        );
        assert_eq!(best(&[run(4, 0.0, 0.0)]), 0);
    }

    #[test]
    fn tries_each_thread_count_once() {
        let counts = thread_counts(1);
        assert!(counts.contains(&1) && !counts.contains(&0), "{counts:?}");
        let mut once = thread_counts(8);
        once.dedup();
        assert_eq!(once, thread_counts(8));
    }
}
