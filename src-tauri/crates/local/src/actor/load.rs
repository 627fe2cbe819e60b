//! Loads a model as wished, or as well as this machine can.

use std::path::Path;
use std::time::Duration;

use ::worker::protocol::{
    Adapter, Device, ErrorCode, Load, LoadedModelInfo, WorkerReply, WorkerRequest,
};
use provider::{GenerationEvent, ProviderError, ProviderErrorKind};

use super::loaded::{Loaded, ModelNeed};
use super::{Actor, WorkerReplyJob};
use crate::adapters::{self, AdapterError, ReadyAdapter};
use crate::devices::Devices;
use crate::gguf::{self, GgufHeader};
use crate::gpu_fit::{LayerSplit, ModelSize, layers_that_fit, split_that_fits};
use crate::load::{Attempt, Ladder, LoadNote, LoadOptions, LoadReason};
use crate::saved::SavedCaches;
use crate::status::WorkerState;
use crate::{failure, library, projectors};

/// Folder of combined adapters beside the saved caches.
const ADAPTERS: &str = "adapters";

impl Actor {
    /// Ensures that a worker runs and has the model at `path` loaded for `need`.
    pub(super) async fn load(
        &mut self,
        path: &Path,
        need: ModelNeed,
        job: Option<&WorkerReplyJob>,
    ) -> Result<(), ProviderError> {
        self.forget_deaths_of_others(path, need.context());
        if self
            .worker
            .as_mut()
            .is_some_and(|worker| !worker.is_alive())
        {
            self.end_worker(None).await;
        }
        if self.is_loaded(path, &need) {
            return Ok(());
        }
        let header = gguf::read(path).map_err(unusable)?;
        if let ModelNeed::Replies { options, .. } = &need {
            check_projector(options, &header)?;
        }
        let ready = self.ready_adapter(path, &need).await?;
        let adapter = ready.as_ref().map(|ready| ready.adapter.clone());
        let mut ladder = self.ladder(path, &need, &header).await;
        self.make_room(path, &need, &header, ladder.current).await;
        loop {
            match self
                .attempt(path, (&need, adapter.clone()), ladder.current, job)
                .await
            {
                Ok((load, info)) => {
                    self.keep(Loaded {
                        need,
                        load,
                        info,
                        notes: ladder.into_notes(),
                    });
                    return Ok(());
                }
                Err(error) => {
                    let on_gpu = ladder.current.split.gpu_layers > 0;
                    let died = error.kind == ProviderErrorKind::WorkerDied;
                    if self.closing.is_some() || !ladder.step(&error) {
                        return Err(error);
                    }
                    if on_gpu && died {
                        // The next process runs no code of the driver, and its death was not the
                        // model's.
                        self.shared.devices.fail(LoadReason::from(&error));
                        self.health.forgive();
                    }
                }
            }
        }
    }

    pub(super) fn is_loaded(&self, path: &Path, need: &ModelNeed) -> bool {
        let loaded = self
            .worker
            .as_ref()
            .and_then(|worker| worker.loaded.as_ref());
        loaded.is_some_and(|loaded| {
            Path::new(&loaded.load.path) == path && need.is_satisfied_by(loaded)
        })
    }

    fn keep(&mut self, loaded: Loaded) {
        if let Some(worker) = &mut self.worker {
            worker.loaded = Some(loaded);
        }
        // The worker has saved the caches of the previous model.
        self.saved.iter().for_each(SavedCaches::enforce_budget);
    }

    /// The first attempt: the layers that the user chose, or as many as fit.
    async fn ladder(&self, path: &Path, need: &ModelNeed, header: &GgufHeader) -> Ladder {
        let ModelNeed::Replies { context, options } = need else {
            return Ladder::new(Attempt::on_processor(0), Vec::new());
        };
        let on_processor = Attempt::on_processor(*context);
        if options.gpu_layers == Some(0) {
            return Ladder::new(on_processor, Vec::new());
        }
        let without =
            |reason| Ladder::new(on_processor, vec![LoadNote::WithoutGraphics { reason }]);
        if let Some(reason) = self.failure_on_graphics(path, options) {
            return without(reason);
        }
        let devices = self.shared.devices.current(&self.settings).await;
        let wished = options.gpu_layers.is_some() || options.device.is_some();
        let usable = match (&devices, options.device.as_deref()) {
            (Devices::Failed(reason), _) => return without(reason.clone()),
            (_, Some(name)) => devices.named(name).into_iter().collect(),
            (_, None) => devices.graphics(),
        };
        if usable.is_empty() {
            let none = || {
                without(LoadReason::NoDevice {
                    device: options.device.clone(),
                })
            };
            return if wished {
                none()
            } else {
                Ladder::new(on_processor, Vec::new())
            };
        }
        let size = ModelSize::of(header, bytes(path));
        let expert_layers = if size.experts > 0 { size.layers } else { 0 };
        let split = split(size, *context, options, &usable);
        Ladder::new(
            Attempt {
                split,
                context: *context,
            },
            Vec::new(),
        )
        .with_experts(expert_layers)
    }

    /// Unloads other models until this one fits the memory for models.
    async fn make_room(
        &self,
        path: &Path,
        need: &ModelNeed,
        header: &GgufHeader,
        attempt: Attempt,
    ) {
        let ModelNeed::Replies { context, .. } = need else {
            return;
        };
        let Some(pool) = self.pool.upgrade() else {
            return;
        };
        let size = ModelSize::of(header, bytes(path));
        let of_experts = size.experts_of(attempt.split.processor_experts);
        let fit = library::fit(
            header,
            (size.weights - of_experts) + projector_bytes(need),
            *context,
            None,
        );
        let layers = u64::from(size.layers) + 1;
        let on_processor = layers.saturating_sub(attempt.split.gpu_layers.into());
        let needed = (fit.needed() / layers * on_processor).saturating_add(of_experts);
        pool.make_room(path, needed, self.settings.policy.shutdown_timeout)
            .await;
    }

    /// Checks the adapters before llama.cpp opens them, and makes one of several.
    async fn ready_adapter(
        &self,
        path: &Path,
        need: &ModelNeed,
    ) -> Result<Option<ReadyAdapter>, ProviderError> {
        let options = need.options();
        if options.adapters.is_empty() {
            return Ok(None);
        }
        let state = self
            .settings
            .state_dir
            .as_ref()
            .map(|folder| folder.join(ADAPTERS));
        let (model, folder) = (path.to_owned(), state.unwrap_or_else(std::env::temp_dir));
        let prepared = tokio::task::spawn_blocking(move || {
            adapters::prepare(&options.adapters, &model, &folder)
        })
        .await;
        let prepared = prepared.map_err(|_| failure::shut_down())?;
        prepared.map_err(|error| {
            let hint = match &error {
                AdapterError::Unsuitable { .. } => {
                    "choose another adapter in the settings of this model, or remove it"
                }
                AdapterError::Combine(_) => "use only one adapter, or free some space on the disk",
            };
            ProviderError::new(ProviderErrorKind::Model, error.to_string(), hint)
        })
    }

    async fn attempt(
        &mut self,
        path: &Path,
        (need, adapter): (&ModelNeed, Option<Adapter>),
        attempt: Attempt,
        job: Option<&WorkerReplyJob>,
    ) -> Result<(Load, LoadedModelInfo), ProviderError> {
        self.start().await?;
        let load = self.load_request(path, (need, adapter), attempt);
        self.publish(WorkerState::Starting);
        if let Some(worker) = &mut self.worker {
            worker.loaded = None;
        }
        self.send(&WorkerRequest::Load(load.clone())).await?;
        let limit =
            self.settings.policy.reply_timeout + time_to_read(bytes(path) + projector_bytes(need));
        let info = self
            .until(job.map(|job| (job, None)), limit, |reply| match reply {
                WorkerReply::Loading { fraction } => {
                    job.inspect(|job| job.send_event(GenerationEvent::Loading { fraction }));
                    None
                }
                WorkerReply::Loaded(loaded) => Some(Ok(loaded)),
                _ => None,
            })
            .await?;
        Ok((load, info))
    }

    fn load_request(
        &self,
        path: &Path,
        (need, adapter): (&ModelNeed, Option<Adapter>),
        attempt: Attempt,
    ) -> Load {
        let LayerSplit {
            gpu_layers,
            processor_experts,
        } = attempt.split;
        let (options, replies) = (need.options(), need.context().is_some());
        let variant = options.cache_variant();
        let folder = |saved: &SavedCaches| {
            saved.folder_for(path, attempt.context, &variant, &self.settings.worker)
        };
        Load {
            path: path.to_string_lossy().into_owned(),
            context: attempt.context,
            threads: options.threads.unwrap_or(self.settings.threads),
            gpu_layers,
            purpose: need.purpose(),
            aside: self.settings.cache_budget,
            saved: self.saved.as_ref().filter(|_| replies).and_then(folder),
            tuning: options.tuning(adapter, processor_experts),
            projector: options.projector.filter(|_| replies),
        }
    }
}

/// The parts that the user chose, or as much as fits the free memory of `devices`.
fn split(size: ModelSize, context: u32, options: &LoadOptions, devices: &[&Device]) -> LayerSplit {
    let projector = options
        .projector
        .as_deref()
        .map_or(0, |path| bytes(Path::new(path)));
    let cache = size
        .cache(context, options.cache_type)
        .saturating_add(projector);
    // The header may not say how many layers there are.
    let all = if size.layers == 0 {
        u32::MAX
    } else {
        size.layers.saturating_add(1)
    };
    let experts = options.processor_experts.map(|experts| {
        if size.experts > 0 {
            experts.min(size.layers)
        } else {
            0
        }
    });
    match (options.gpu_layers, experts) {
        (None, None) => split_that_fits(size, cache, devices),
        (Some(layers), experts) => LayerSplit {
            gpu_layers: layers.min(all),
            processor_experts: experts.unwrap_or_default(),
        },
        (None, Some(processor_experts)) => {
            let gpu_layers =
                layers_that_fit(size.without_experts(processor_experts), cache, devices);
            LayerSplit {
                gpu_layers,
                processor_experts,
            }
        }
    }
}

fn bytes(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// Bytes of the file that reads pictures, if the job needs it.
fn projector_bytes(need: &ModelNeed) -> u64 {
    let ModelNeed::Replies { options, .. } = need else {
        return 0;
    };
    options
        .projector
        .as_deref()
        .map_or(0, |path| bytes(Path::new(path)))
}

/// Refuses a projector for another model before llama.cpp opens it.
fn check_projector(options: &LoadOptions, header: &GgufHeader) -> Result<(), ProviderError> {
    let Some(path) = &options.projector else {
        return Ok(());
    };
    let made_for = gguf::read_projector(Path::new(path))
        .map_err(|error| failure::from_worker(ErrorCode::Projector, error.to_string()))?;
    if projectors::suits(&made_for, header) {
        return Ok(());
    }
    let message = format!(
        "the file {path} reads pictures for models with an embedding length of {}, and this one has {}",
        made_for.width.unwrap_or_default(),
        header.embedding_length.unwrap_or_default()
    );
    Err(failure::from_worker(ErrorCode::Projector, message))
}

/// Estimates how long the system reads `bytes` into memory, during which the worker is silent.
/// Assumes 20 MB/s, a slow disk.
fn time_to_read(bytes: u64) -> Duration {
    Duration::from_secs(bytes / 20_000_000)
}

fn unusable(error: gguf::GgufError) -> ProviderError {
    let hint = "download the file again, or choose another model";
    ProviderError::new(ProviderErrorKind::Model, error.to_string(), hint).caused_by(error)
}
