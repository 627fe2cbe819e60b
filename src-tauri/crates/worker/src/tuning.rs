//! Applies the tuning of a load request to the parameters of llama.cpp.

use std::ffi::CString;
use std::path::Path;

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::params::{KvCacheType, LlamaContextParams};
use llama_cpp_2::model::params::LlamaModelParams;
use llama_cpp_2::model::{LlamaLoraAdapter, LlamaModel};
use worker::protocol::{Adapter, CacheType, ErrorCode, FlashAttention, Tuning};

use crate::devices;
use crate::worker_error::WorkerError;

/// `llama_flash_attn_type` in `llama.h`.
pub(crate) const FLASH_AUTO: i32 = -1;
pub(crate) const FLASH_OFF: i32 = 0;
const FLASH_ON: i32 = 1;

/// Limits the model to the device that the tuning names. A model that stays on the processor gets
/// no device at all, because llama.cpp would send large batches to one.
pub(crate) fn on_device(
    params: LlamaModelParams,
    tuning: &Tuning,
    gpu_layers: u32,
) -> Result<LlamaModelParams, WorkerError> {
    let missing = |name: &str| WorkerError {
        code: ErrorCode::Load,
        message: format!("there is no device {name} for llama.cpp on this machine"),
    };
    match tuning.device.as_deref() {
        _ if gpu_layers == 0 => params.with_devices(&[]).map_err(|_| missing("")),
        None => Ok(params),
        Some(name) => {
            let index = devices::index_of(name).ok_or_else(|| missing(name))?;
            params.with_devices(&[index]).map_err(|_| missing(name))
        }
    }
}

/// Most layers that a pattern names, far more than any model has.
const MAX_LAYERS: u32 = 1_024;

/// A regular expression for the tensors of the experts in the first layers, as that of llama.cpp's
/// `--n-cpu-moe`; `None` without a layer.
pub(crate) fn expert_tensors(first_layers: u32) -> Option<CString> {
    let layers: Vec<_> = (0..first_layers.min(MAX_LAYERS))
        .map(|layer| layer.to_string())
        .collect();
    if layers.is_empty() {
        return None;
    }
    CString::new(format!(
        r"^blk\.({})\.ffn_(up|down|gate|gate_up)_(ch|)exps",
        layers.join("|")
    ))
    .ok()
}

/// Sets the types of the KV cache and the attention.
pub(crate) fn tuned(params: LlamaContextParams, tuning: &Tuning) -> LlamaContextParams {
    let cache = match tuning.cache_type {
        CacheType::F16 => KvCacheType::F16,
        CacheType::Q8_0 => KvCacheType::Q8_0,
    };
    let flash = match tuning.flash_attention {
        FlashAttention::Auto => FLASH_AUTO,
        FlashAttention::On => FLASH_ON,
        FlashAttention::Off => FLASH_OFF,
    };
    params
        .with_type_k(cache)
        .with_type_v(cache)
        .with_flash_attention_policy(flash)
}

/// Reads an adapter. llama.cpp frees it with the model.
pub(crate) fn read_adapter(
    model: &mut LlamaModel,
    adapter: &Adapter,
) -> Result<LlamaLoraAdapter, WorkerError> {
    if !Path::new(&adapter.path).is_file() {
        let message = format!("the adapter {} does not exist", adapter.path);
        return Err(WorkerError {
            code: ErrorCode::Adapter,
            message,
        });
    }
    model
        .lora_adapter_init(&adapter.path)
        .map_err(|error| refused(adapter, &error.to_string()))
}

/// Applies an adapter to everything that the context computes from now on.
pub(crate) fn apply_adapter(
    context: &mut LlamaContext<'_>,
    read: &mut LlamaLoraAdapter,
    adapter: &Adapter,
) -> Result<(), WorkerError> {
    context
        .lora_adapter_set(read, adapter.weight)
        .map_err(|error| refused(adapter, &error.to_string()))
}

fn refused(adapter: &Adapter, why: &str) -> WorkerError {
    let message = format!(
        "the adapter {} cannot be used with this model: {why}",
        adapter.path
    );
    WorkerError {
        code: ErrorCode::Adapter,
        message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_names_the_first_layers_only() {
        assert_eq!(expert_tensors(0), None);
        let pattern = |layers| expert_tensors(layers).unwrap().into_string().unwrap();
        assert_eq!(
            pattern(3),
            r"^blk\.(0|1|2)\.ffn_(up|down|gate|gate_up)_(ch|)exps"
        );
        assert!(pattern(u32::MAX).len() < 6_000, "bounded");
    }
}
