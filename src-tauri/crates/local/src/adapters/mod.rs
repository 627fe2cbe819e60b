//! Adapters (LoRA) of a model: checks that they belong to it, and makes one file of several.
//!
//! llama.cpp can add several adapters to a context, but `llama-cpp-2` passes it one. A sum of
//! adapters is an adapter again: its factors are the factors of all of them side by side, so its
//! rank is the sum of their ranks.

mod check;
mod combine;
mod file;

use std::path::Path;

pub use check::{AdapterFault, check_adapter};
pub(crate) use file::CombinedFile;
use worker::protocol::Adapter;

use crate::gguf::AdapterHeader;

/// Reason why the adapters of a model cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AdapterError {
    #[error("the adapter {path} cannot be used: {fault}")]
    Unsuitable { path: String, fault: AdapterFault },
    #[error("the adapters cannot be combined: {0}")]
    Combine(#[from] combine::CombineError),
}

/// One adapter with the effect of all that the user chose.
#[derive(Debug)]
pub(crate) struct ReadyAdapter {
    pub(crate) adapter: Adapter,
    /// Needed until the model is loaded.
    _file: Option<CombinedFile>,
}

/// Checks `adapters` against the model at `model`, and combines them in a file in `folder` if there
/// are several. `None` without one that has an effect. Blocks.
///
/// # Errors
/// [`AdapterError`], naming the adapter and the reason.
pub(crate) fn prepare(
    adapters: &[Adapter],
    model: &Path,
    folder: &Path,
) -> Result<Option<ReadyAdapter>, AdapterError> {
    let mut read = Vec::with_capacity(adapters.len());
    for adapter in adapters {
        let fault = |fault| AdapterError::Unsuitable {
            path: adapter.path.clone(),
            fault,
        };
        let header = check_adapter(Path::new(&adapter.path), model).map_err(fault)?;
        read.push((adapter, header));
    }
    read.retain(|(adapter, _)| adapter.weight != 0.0);
    match &read[..] {
        [] => Ok(None),
        [(adapter, _)] => Ok(Some(ReadyAdapter {
            adapter: Adapter::clone(adapter),
            _file: None,
        })),
        several => {
            let file = combine::combine(several, folder)?;
            let adapter = Adapter {
                path: file.path().to_string_lossy().into_owned(),
                weight: 1.0,
            };
            Ok(Some(ReadyAdapter {
                adapter,
                _file: Some(file),
            }))
        }
    }
}

/// Name of the tensor of a model that an adapter's tensor changes, and which of the two factors it
/// is.
fn target(name: &str) -> Option<(&str, Factor)> {
    let first = name.strip_suffix(".lora_a").map(|name| (name, Factor::A));
    first.or_else(|| name.strip_suffix(".lora_b").map(|name| (name, Factor::B)))
}

/// A factor of the matrix that an adapter adds, B times A.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Factor {
    A,
    B,
}

impl Factor {
    /// The dimension that is the rank. llama.cpp reads the factors of token embeddings the other
    /// way round (`build_inp_embd` in `llama-graph.cpp`).
    fn rank_dimension(self, target: &str) -> usize {
        match self {
            Self::A if !target.ends_with("token_embd.weight") => 1,
            _ => 0,
        }
    }
}

/// Both factors for one tensor of the model, as positions in the header's list.
fn pair(header: &AdapterHeader, target: &str) -> [Option<usize>; 2] {
    ["lora_a", "lora_b"].map(|factor| {
        header
            .tensors
            .iter()
            .position(|tensor| tensor.name == format!("{target}.{factor}"))
    })
}
