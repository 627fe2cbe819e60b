//! Adapters (LoRA).

use super::file::TinyModel;
use super::{HEAD, HEADS, WIDTH};

/// Returns an adapter (LoRA) of this rank for all attention queries and outputs of a model. Each
/// seed gives another one.
pub fn adapter(architecture: &str, rank: u64, seed: u64) -> Vec<u8> {
    adapter_file(
        architecture,
        rank,
        seed,
        &["blk.0.attn_q", "blk.0.attn_output", "blk.1.attn_q"]
            .map(|name| (format!("{name}.weight"), [WIDTH, HEADS * HEAD])),
    )
}

/// Works like [`adapter`], for one tensor with these lengths.
pub fn adapter_with(
    architecture: &str,
    rank: u64,
    seed: u64,
    (name, lengths): (&str, [u64; 2]),
) -> Vec<u8> {
    adapter_file(architecture, rank, seed, &[(name.to_owned(), lengths)])
}

fn adapter_file(
    architecture: &str,
    rank: u64,
    seed: u64,
    targets: &[(String, [u64; 2])],
) -> Vec<u8> {
    let (architecture, keys) = (architecture.to_owned(), Vec::new());
    let random = 0x9e37_79b9_7f4a_7c15 ^ (seed + 1);
    let mut file = TinyModel {
        architecture,
        keys,
        key_count: 0,
        tensors: Vec::new(),
        random,
    };
    file.text("general.architecture", &file.architecture.clone());
    file.text("general.type", "adapter");
    file.text("adapter.type", "lora");
    file.key("adapter.lora.alpha", 6);
    file.keys.extend((2.0 * rank as f32).to_le_bytes());
    for (name, [columns, rows]) in targets {
        file.tensor(&format!("{name}.lora_a"), &[*columns, rank], 1.0);
        file.tensor(&format!("{name}.lora_b"), &[rank, *rows], 1.0);
    }
    file.file()
}
