//! Checks that an adapter was made for a model, as `llama_adapter_lora_init_impl` in
//! `llama-adapter.cpp` does, but with a reason that users understand.

use std::collections::HashMap;
use std::path::Path;

use super::{Factor, target};
use crate::gguf::{self, AdapterHeader, GgufError, Tensor};

/// Maximum rank of an adapter; real ones have 4 to 512.
const MAX_RANK: u64 = 65_536;

/// Reason why an adapter does not suit a model. Its text follows the file's name and a colon.
#[derive(Debug, thiserror::Error)]
pub enum AdapterFault {
    #[error("{0}")]
    Unreadable(#[from] GgufError),
    #[error("it is for {made_for} models, and this is a {model} model")]
    Architecture { made_for: String, model: String },
    #[error("it was made for another {architecture} model, which has \"{tensor}\"")]
    NoTensor {
        architecture: String,
        tensor: String,
    },
    #[error(
        "it was made for another {architecture} model: there, \"{tensor}\" has {theirs:?} numbers, and {ours:?} in this \
         model"
    )]
    Shape {
        architecture: String,
        tensor: String,
        theirs: [u64; 2],
        ours: [u64; 2],
    },
    #[error("it is damaged: the factors of \"{0}\" do not fit together")]
    Factors(String),
}

/// Reads the adapter at `adapter` and checks that it was made for the model at `model`. Blocks.
///
/// # Errors
/// [`AdapterFault`]
pub fn check_adapter(adapter: &Path, model: &Path) -> Result<AdapterHeader, AdapterFault> {
    let header = gguf::read_adapter(adapter)?;
    let architecture = gguf::read(model)?.architecture;
    if !header.architecture.is_empty() && header.architecture != architecture {
        return Err(AdapterFault::Architecture {
            made_for: header.architecture,
            model: architecture,
        });
    }
    let tensors = gguf::tensors(model)?;
    let shapes = tensors
        .iter()
        .map(|tensor| (tensor.name.as_str(), tensor.shape))
        .collect();
    check_shapes(&header, &architecture, &shapes)?;
    Ok(header)
}

fn check_shapes(
    header: &AdapterHeader,
    architecture: &str,
    model: &HashMap<&str, [u64; 4]>,
) -> Result<(), AdapterFault> {
    let mut pairs: HashMap<&str, [Option<&Tensor>; 2]> = HashMap::new();
    for tensor in &header.tensors {
        // Norms are stored with some adapters, and llama.cpp ignores them.
        let Some((name, factor)) = target(&tensor.name) else {
            continue;
        };
        pairs.entry(name).or_default()[usize::from(factor == Factor::B)] = Some(tensor);
    }
    let mut pairs: Vec<_> = pairs.into_iter().collect();
    pairs.sort_by_key(|(name, _)| *name);
    for (name, factors) in pairs {
        let [Some(a), Some(b)] = factors else {
            return Err(AdapterFault::Factors(name.to_owned()));
        };
        let architecture = architecture.to_owned();
        let Some(shape) = model.get(name) else {
            return Err(AdapterFault::NoTensor {
                architecture,
                tensor: name.to_owned(),
            });
        };
        let [ranks, theirs] = sizes(name, a, b);
        if ranks[0] != ranks[1]
            || ranks[0] == 0
            || ranks[0] > MAX_RANK
            || a.shape[2..] != b.shape[2..]
        {
            return Err(AdapterFault::Factors(name.to_owned()));
        }
        let ours = [shape[0], shape[1]];
        if theirs != ours || a.shape[2..] != shape[2..] {
            return Err(AdapterFault::Shape {
                architecture,
                tensor: name.to_owned(),
                theirs,
                ours,
            });
        }
    }
    Ok(())
}

/// The rank in both factors, and the lengths of the matrix that they make.
fn sizes(name: &str, a: &Tensor, b: &Tensor) -> [[u64; 2]; 2] {
    let (of_a, of_b) = (
        Factor::A.rank_dimension(name),
        Factor::B.rank_dimension(name),
    );
    let ranks = [a.shape[of_a], b.shape[of_b]];
    // The factors of token embeddings stand the other way round.
    let lengths = if of_a == 0 {
        [b.shape[1], a.shape[1]]
    } else {
        [a.shape[0], b.shape[1]]
    };
    [ranks, lengths]
}
