//! How a local model is loaded, as the settings and its adapter say.

use std::path::{Path, PathBuf};

use domain::ModelId;
use domain::model::{LocalModel, ModelChoice};
use domain::settings::{self, Owner, Values};
use local::{CacheType, FlashAttention, LoadOptions, gguf};
use store::ModelAdapter;

use crate::api::{self, Changed};
use crate::base::error::{ApiResult, bad_input, internal, not_found};
use crate::settings::handle::Configuration;

/// Range of an adapter's weight.
const WEIGHTS: std::ops::RangeInclusive<f32> = 0.0..=2.0;

impl Configuration {
    /// The options of `values` for a model.
    pub(crate) async fn load_options(&self, model: &LocalModel, values: &Values) -> ApiResult<LoadOptions> {
        let id = model.id;
        let adapter = self.base().store().read(move |store| store.model_adapters().get(id)).await?;
        let projector = self.projector(model).await?;
        Ok(LoadOptions {
            gpu_layers: values.gpu_layers,
            device: Some(values.gpu_device.clone()).filter(|name| name != "auto"),
            threads: values.compute_threads,
            batch: values.prompt_batch,
            cache_type: match values.kv_cache_type {
                settings::KvCacheType::F16 => CacheType::F16,
                settings::KvCacheType::Q8 => CacheType::Q8_0,
            },
            flash_attention: match values.flash_attention {
                settings::FlashAttention::Auto => FlashAttention::Auto,
                settings::FlashAttention::On => FlashAttention::On,
                settings::FlashAttention::Off => FlashAttention::Off,
            },
            adapter: adapter.map(|ModelAdapter { path, weight }| local::Adapter { path, weight }),
            projector: projector.and_then(|path| path.into_os_string().into_string().ok()),
        })
    }

    /// Context size and options with which a model is loaded for replies, apart from a chat's own settings.
    pub(crate) async fn load_settings(&self, model: &LocalModel) -> ApiResult<(u32, LoadOptions)> {
        let values = self.resolved_for(Owner::Model(ModelChoice::Local(model.id))).await?.values;
        let default = || local::library::default_context(model.context);
        let context = values.context_limit.map_or_else(default, |tokens| tokens.min(model.context));
        Ok((context, self.load_options(model, &values).await?))
    }

    /// Loads the model with an adapter from now on. The file stays in its folder.
    ///
    /// # Errors
    /// `NotFound`; `BadInput` if the file is not an adapter for this kind of model.
    pub(crate) async fn set_model_adapter(&self, id: String, path: PathBuf) -> ApiResult<api::ModelState> {
        let model = self.local_model(id.parse()?).await?;
        let architecture = model.architecture.clone();
        let checked = tokio::task::spawn_blocking(move || check(&path, &architecture)).await;
        let path = checked.map_err(|_| internal("an adapter could not be read"))??;
        self.put_adapter(model.id, Some(ModelAdapter { path, weight: 1.0 })).await
    }

    /// Changes the weight of the model's adapter.
    ///
    /// # Errors
    /// `NotFound` without an adapter; `BadInput` for a weight outside of 0 to 2.
    pub(crate) async fn set_adapter_weight(&self, id: String, weight: f32) -> ApiResult<api::ModelState> {
        let id = id.parse::<ModelId>()?;
        if !WEIGHTS.contains(&weight) {
            let (least, most) = (WEIGHTS.start(), WEIGHTS.end());
            return Err(bad_input(
                format!("The weight {weight} is not valid: it is not a number from {least} to {most}."),
                format!("Set it to a number from {least} to {most}."),
            ));
        }
        let adapter = self.base().store().read(move |store| store.model_adapters().get(id)).await?;
        let adapter = adapter.ok_or_else(|| not_found("adapter"))?;
        self.put_adapter(id, Some(ModelAdapter { weight, ..adapter })).await
    }

    /// Loads the model without an adapter from now on.
    pub(crate) async fn remove_model_adapter(&self, id: String) -> ApiResult<api::ModelState> {
        let id = id.parse::<ModelId>()?;
        self.put_adapter(id, None).await
    }

    async fn put_adapter(&self, id: ModelId, adapter: Option<ModelAdapter>) -> ApiResult<api::ModelState> {
        let model = self.local_model(id).await?;
        self.base()
            .store()
            .write(move |store| match adapter {
                Some(adapter) => store.model_adapters_mut().set(id, &adapter),
                None => store.model_adapters_mut().remove(id),
            })
            .await?;
        self.reload_if_loaded(&model).await?;
        self.base().events().changed(Changed::Models, Some(id.to_string()));
        self.model_state(id.to_string()).await
    }
}

/// Returns the absolute path of an adapter for models of `architecture`.
fn check(path: &Path, architecture: &str) -> ApiResult<String> {
    let refused = |why: String| {
        let hint = "Choose the GGUF file of an adapter (LoRA) that was made for this model.";
        bad_input(format!("The adapter cannot be used: {why}."), hint)
    };
    let made_for = gguf::read_adapter(path).map_err(|error| refused(error.to_string()))?;
    if !made_for.is_empty() && made_for != architecture {
        return Err(refused(format!("it is for {made_for} models, and this is a {architecture} model")));
    }
    let path = std::path::absolute(path).map_err(|error| refused(error.to_string()))?;
    path.to_str().map(str::to_owned).ok_or_else(|| refused("its name is not Unicode".to_owned()))
}
