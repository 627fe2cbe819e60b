//! Loaded models: their state, devices, limits, loading and unloading by hand.

use std::path::Path;
use std::time::Duration;

use domain::ModelId;
use domain::model::LocalModel;
use domain::settings::{Setting, SettingSection, Values};
use local::library::total_memory;
use local::{Devices, LocalHost, ModelLimits, WorkerState, WorkerStatus};

use crate::api::{
    self, Changed, ComputeDevice, ComputeDeviceKind, ComputeDevices, Event, ModelActivity,
};
use crate::base::error::ApiResult;
use crate::base::events::Announcer;
use crate::settings::models::Models;

impl Models {
    /// Lists the devices of this machine anew. A driver that crashes costs only the process that
    /// asks it.
    pub(crate) async fn list_devices(&self) -> ApiResult<ComputeDevices> {
        Ok(shown_devices(self.local().list_devices().await))
    }

    /// Whether and where each local model is loaded, in the order of the library.
    pub(crate) async fn model_states(&self) -> ApiResult<Vec<api::ModelState>> {
        let models = self
            .base()
            .store()
            .read(|store| store.models().list())
            .await?;
        let mut states = Vec::with_capacity(models.len());
        for model in models {
            states.push(self.state_of(&model).await?);
        }
        Ok(states)
    }

    pub(crate) async fn model_state(&self, id: ModelId) -> ApiResult<api::ModelState> {
        let model = self.model_lookup.local_model(id).await?;
        self.state_of(&model).await
    }

    async fn state_of(&self, model: &LocalModel) -> ApiResult<api::ModelState> {
        let id = model.id;
        let (projector, reads_no_pictures) = self.shown_projector(model).await?;
        let adapters = self
            .base()
            .store()
            .read(move |store| store.model_adapters().of(id))
            .await?;
        let statuses = self.local().statuses();
        let status = statuses
            .iter()
            .find(|status| status.model.as_deref() == Some(model.path.as_str()));
        let adapters = adapters.into_iter().map(shown_adapter).collect();
        Ok(api::ModelState {
            adapters,
            projector,
            reads_no_pictures,
            ..state(id, status)
        })
    }

    /// Loads a model with its own settings, and waits until it is loaded.
    ///
    /// # Errors
    /// `NotFound`; `Provider` if it cannot be loaded in any way.
    pub(crate) async fn load_model(&self, id: ModelId) -> ApiResult<api::ModelState> {
        let model = self.model_lookup.local_model(id).await?;
        let (context, options) = self.load_settings(&model).await?;
        self.local().load(&model, context, options).await?;
        self.model_state(id).await
    }

    /// Unloads a model once its current reply has ended. The next reply loads it again.
    pub(crate) async fn unload_model(&self, id: ModelId) -> ApiResult<api::ModelState> {
        let model = self.model_lookup.local_model(id).await?;
        self.local().unload(&model).await;
        self.model_state(id).await
    }

    /// Loads the model again in the background if it is loaded, because its settings have changed.
    pub(crate) async fn reload_if_loaded(&self, model: &LocalModel) -> ApiResult<()> {
        let statuses = self.local().statuses();
        let is_loaded = |status: &WorkerStatus| {
            status
                .loaded
                .as_ref()
                .is_some_and(|loaded| loaded.context > 0)
        };
        let own = statuses
            .iter()
            .find(|status| status.model.as_deref() == Some(model.path.as_str()));
        if !own.is_some_and(is_loaded) {
            return Ok(());
        }
        let (context, options) = self.load_settings(model).await?;
        // Only the host is kept alive, so that the data folder can be closed meanwhile.
        let local = self.local().clone();
        let model = model.clone();
        tokio::spawn(async move {
            if let Err(error) = local.load(&model, context, options).await {
                tracing::warn!(kind = ?error.kind, "a model could not be loaded with its new settings");
            }
        });
        Ok(())
    }

    /// Applies a changed setting to the models that are loaded.
    pub(crate) async fn apply_loading(&self, setting: &Setting) -> ApiResult<()> {
        if setting.group != SettingSection::Loading {
            return Ok(());
        }
        self.apply_model_limits().await?;
        for model in self
            .base()
            .store()
            .read(|store| store.models().list())
            .await?
        {
            self.reload_if_loaded(&model).await?;
        }
        Ok(())
    }

    pub(crate) async fn apply_model_limits(&self) -> ApiResult<()> {
        let values = self.setting_layers.resolved_before_chat(None).await?.values;
        self.local().set_limits(limits(&values, total_memory()));
        Ok(())
    }

    /// Announces what the workers do, until the host is dropped.
    pub(crate) fn announce_loading(&self) {
        announce(self.local(), self.base().events().clone());
    }
}

fn limits(values: &Values, total: Option<u64>) -> ModelLimits {
    let minutes = |minutes: u32| Duration::from_secs(u64::from(minutes) * 60);
    ModelLimits {
        memory: total.map(|bytes| bytes / 100 * u64::from(values.model_memory_percent)),
        idle: values.model_idle_minutes.map(minutes),
    }
}

fn announce(local: &LocalHost, events: Announcer) {
    let mut watch = local.watch();
    let mut last: Option<local::LoadedModel> = None;
    tokio::spawn(async move {
        while watch.changed().await.is_ok() {
            let WorkerStatus { loaded, .. } = watch.borrow_and_update().clone();
            let loaded = loaded.filter(|loaded| loaded.context > 0);
            if loaded == last {
                continue;
            }
            if let Some(loaded) = &loaded
                && !loaded.notes.is_empty()
            {
                let name = Path::new(&loaded.path)
                    .file_stem()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                let notes = loaded.notes.clone();
                events.announce(Event::LoadedDifferently { model: name, notes });
            }
            events.changed(Changed::Models, None);
            last = loaded;
        }
    });
}

fn state(id: ModelId, status: Option<&WorkerStatus>) -> api::ModelState {
    let loaded = status
        .and_then(|status| status.loaded.clone())
        .filter(|loaded| loaded.context > 0);
    let activity = match (status.map(|status| status.state), &loaded) {
        (Some(WorkerState::Starting), _) => ModelActivity::Loading,
        (Some(WorkerState::Busy), Some(_)) => ModelActivity::Busy,
        (Some(WorkerState::Idle), Some(_)) => ModelActivity::Idle,
        _ => ModelActivity::Unloaded,
    };
    let loaded = loaded
        .filter(|_| activity != ModelActivity::Unloaded)
        .unwrap_or_default();
    api::ModelState {
        id,
        activity,
        context: loaded.context,
        layers: loaded.layers,
        gpu_layers: loaded.gpu_layers,
        processor_experts: loaded.processor_experts,
        devices: loaded.devices.into_iter().map(shown_memory).collect(),
        notes: loaded.notes,
        projector: None,
        reads_no_pictures: false,
        adapters: Vec::new(),
    }
}

fn shown_memory(device: local::UsedDevice) -> api::ModelMemory {
    let local::UsedDevice {
        name,
        description,
        weights,
        cache,
        compute,
        total,
        ..
    } = device;
    let device = if description.is_empty() {
        name
    } else {
        description
    };
    api::ModelMemory {
        device,
        weights,
        cache,
        compute,
        total,
    }
}

fn shown_adapter(adapter: store::ModelAdapter) -> api::ModelAdapter {
    let store::ModelAdapter { path, weight } = adapter;
    let file = Path::new(&path);
    let name = file
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let missing = !file.exists();
    api::ModelAdapter {
        name,
        path,
        weight,
        missing,
    }
}

pub(crate) fn shown_devices(devices: Devices) -> ComputeDevices {
    match devices {
        Devices::Unknown => ComputeDevices::default(),
        Devices::Failed(reason) => ComputeDevices {
            devices: Vec::new(),
            failure: Some(reason),
        },
        Devices::Known(all) => ComputeDevices {
            devices: all.into_iter().map(shown_device).collect(),
            failure: None,
        },
    }
}

fn shown_device(device: local::Device) -> ComputeDevice {
    let local::Device {
        name,
        description,
        backend,
        kind,
        total,
        free,
    } = device;
    let kind = match kind {
        local::DeviceKind::Processor => ComputeDeviceKind::Processor,
        local::DeviceKind::Discrete => ComputeDeviceKind::Discrete,
        local::DeviceKind::Integrated => ComputeDeviceKind::Integrated,
        local::DeviceKind::Accelerator => ComputeDeviceKind::Accelerator,
    };
    ComputeDevice {
        name,
        description,
        backend,
        kind,
        total,
        free,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_a_share_of_the_memory() {
        let values = Values {
            model_memory_percent: 50,
            model_idle_minutes: Some(5),
            ..Values::default()
        };
        let expected = ModelLimits {
            memory: Some(8_000),
            idle: Some(Duration::from_secs(300)),
        };
        assert_eq!(limits(&values, Some(16_000)), expected);
        assert_eq!(
            limits(&Values::default(), None),
            ModelLimits::default(),
            "one model at a time"
        );
    }

    #[test]
    fn a_counting_worker_is_shown_as_unloaded() {
        let loaded = local::LoadedModel {
            path: "/m.gguf".into(),
            ..local::LoadedModel::default()
        };
        let status = WorkerStatus {
            state: WorkerState::Idle,
            loaded: Some(loaded),
            ..WorkerStatus::default()
        };
        let shown = state(ModelId(uuid::Uuid::nil()), Some(&status));
        assert_eq!((shown.activity, shown.layers), (ModelActivity::Unloaded, 0));
    }
}
