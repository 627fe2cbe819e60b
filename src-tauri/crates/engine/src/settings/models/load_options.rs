//! How a local model is loaded, as the settings and its adapters say.

use std::path::{Path, PathBuf};

use domain::ModelId;
use domain::model::{LocalModel, ModelChoice};
use domain::settings::{self, Owner, Values};
use local::{CacheType, FlashAttention, LoadOptions};
use store::ModelAdapter;

use crate::api::{self, Changed};
use crate::base::error::{ApiResult, bad_input, internal, not_found};
use crate::settings::models::Models;

/// Maximum number of adapters of a model.
const MAX_ADAPTERS: usize = 8;
/// Range of an adapter's weight.
const WEIGHTS: std::ops::RangeInclusive<f32> = 0.0..=2.0;

impl Models {
    /// The options of `values` for a model.
    pub(crate) async fn load_options(
        &self,
        model: &LocalModel,
        values: &Values,
    ) -> ApiResult<LoadOptions> {
        let id = model.id;
        let adapters = self
            .base()
            .store()
            .read(move |store| store.model_adapters().of(id))
            .await?;
        let projector = self.projector(model).await?;
        Ok(LoadOptions {
            gpu_layers: values.gpu_layers,
            processor_experts: values.processor_experts,
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
            projector: projector.and_then(|path| path.into_os_string().into_string().ok()),
            adapters: adapters
                .into_iter()
                .map(|ModelAdapter { path, weight }| local::Adapter { path, weight })
                .collect(),
        })
    }

    /// Context size and options with which a model is loaded for replies, apart from a chat's own
    /// settings.
    pub(crate) async fn load_settings(&self, model: &LocalModel) -> ApiResult<(u32, LoadOptions)> {
        let values = self
            .setting_layers
            .resolved_for(Owner::Model(ModelChoice::Local(model.id)))
            .await?
            .values;
        let default = || local::library::default_context(model.context);
        let context = values
            .context_limit
            .map_or_else(default, |tokens| tokens.min(model.context));
        Ok((context, self.load_options(model, &values).await?))
    }

    /// Loads the model with one more adapter from now on. The file stays in its folder.
    ///
    /// # Errors
    /// `NotFound`; `BadInput` if the file is not an adapter for this model, or if there are too
    /// many.
    pub(crate) async fn add_model_adapter(
        &self,
        id: ModelId,
        path: PathBuf,
    ) -> ApiResult<api::ModelState> {
        let model = self.model_lookup.local_model(id).await?;
        let file = model.path.clone();
        let checked = tokio::task::spawn_blocking(move || check(&path, Path::new(&file))).await;
        let path = checked.map_err(|_| internal("an adapter could not be read"))??;
        self.change_adapters(model.id, |adapters| {
            if adapters.iter().any(|known| known.path == path) {
                return Err(bad_input(
                    "The model has this adapter already.",
                    "Change its weight, or choose another file.",
                ));
            }
            if adapters.len() >= MAX_ADAPTERS {
                let message = format!("A model can have {MAX_ADAPTERS} adapters.");
                return Err(bad_input(message, "Remove one of them first."));
            }
            adapters.push(ModelAdapter { path, weight: 1.0 });
            Ok(())
        })
        .await
    }

    /// Changes the weight of one of the model's adapters.
    ///
    /// # Errors
    /// `NotFound` without the adapter; `BadInput` for a weight outside of 0 to 2.
    pub(crate) async fn set_adapter_weight(
        &self,
        id: ModelId,
        path: String,
        weight: f32,
    ) -> ApiResult<api::ModelState> {
        if !WEIGHTS.contains(&weight) {
            let least = WEIGHTS.start();
            let most = WEIGHTS.end();
            return Err(bad_input(
                format!(
                    "The weight {weight} is not valid: it is not a number from {least} to {most}."
                ),
                format!("Set it to a number from {least} to {most}."),
            ));
        }
        self.change_adapters(id, |adapters| {
            let known = adapters.iter_mut().find(|known| known.path == path);
            known
                .map(|adapter| adapter.weight = weight)
                .ok_or_else(|| not_found("adapter"))
        })
        .await
    }

    /// Loads the model without this adapter from now on. Its file stays.
    ///
    /// # Errors
    /// `NotFound` without the adapter.
    pub(crate) async fn remove_model_adapter(
        &self,
        id: ModelId,
        path: String,
    ) -> ApiResult<api::ModelState> {
        self.change_adapters(id, |adapters| {
            let before = adapters.len();
            adapters.retain(|known| known.path != path);
            if adapters.len() < before {
                Ok(())
            } else {
                Err(not_found("adapter"))
            }
        })
        .await
    }

    async fn change_adapters(
        &self,
        id: ModelId,
        change: impl FnOnce(&mut Vec<ModelAdapter>) -> ApiResult<()>,
    ) -> ApiResult<api::ModelState> {
        let model = self.model_lookup.local_model(id).await?;
        let mut adapters = self
            .base()
            .store()
            .read(move |store| store.model_adapters().of(id))
            .await?;
        change(&mut adapters)?;
        self.base()
            .store()
            .write(move |store| store.model_adapters_mut().set(id, &adapters))
            .await?;
        self.reload_if_loaded(&model).await?;
        self.base()
            .events()
            .changed(Changed::Models, Some(id.to_string()));
        self.model_state(id).await
    }
}

/// Returns the absolute path of an adapter for the model at `model`.
fn check(path: &Path, model: &Path) -> ApiResult<String> {
    let refused = |why: String| {
        let hint = "Choose the GGUF file of an adapter (LoRA) that was made for this model.";
        bad_input(format!("The adapter cannot be used: {why}."), hint)
    };
    local::check_adapter(path, model).map_err(|fault| refused(fault.to_string()))?;
    let path = std::path::absolute(path).map_err(|error| refused(error.to_string()))?;
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| refused("its name is not Unicode".to_owned()))
}
