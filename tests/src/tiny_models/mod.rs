//! Tiny GGUF models with random weights, one per kind of memory that llama.cpp has. Their replies
//! are noise, but a reply depends on every earlier token, so a wrong cache changes it. The same
//! architecture always gives the same bytes. Keys and tensors follow `load_arch_hparams` and
//! `load_arch_tensors` of llama.cpp.

use std::path::{Path, PathBuf};

use file::TinyModel;
use vocabulary::{CONTROL, vocabulary};

mod adapters;
mod architectures;
mod file;
mod layers;
mod seeing;
mod sight;
mod vocabulary;

pub use adapters::{adapter, adapter_with};
pub use seeing::write_seeing_pair;
pub use sight::{PROJECTORS, projector_bytes, write_projector};

/// Architectures with a generator, by their GGUF name.
pub const ARCHITECTURES: [&str; 10] = [
    "llama",
    "gemma3",
    "mamba2",
    "granitehybrid",
    "lfm2",
    "qwen3next",
    "qwen35",
    "deepseek2",
    "gpt-oss",
    "qwen2vl",
];

/// Sliding window of the models that have one, in tokens.
pub const SLIDING_WINDOW: u32 = 32;

/// Embedding length.
pub const WIDTH: u64 = 64;
/// Length of the hidden layer of a feed-forward network.
const HIDDEN: u64 = 96;
/// Attention heads, and the length of one.
const HEADS: u64 = 2;
const HEAD: u64 = 32;
/// Experts of a mixture, and how many of them a token uses.
const EXPERTS: u64 = 4;
const USED_EXPERTS: u32 = 2;
/// Length of a recurrent state, and its heads.
const STATE: u64 = 32;
const STATE_HEADS: u64 = 4;
const CONVOLUTION: u64 = 4;

const CHAT_TEMPLATE: &str = "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}\
                             <|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

/// Writes `<architecture>.gguf` into `folder`.
///
/// # Panics
/// The architecture is not in [`ARCHITECTURES`], or the file cannot be written.
pub fn write(architecture: &str, folder: &Path) -> PathBuf {
    let path = folder.join(format!("{architecture}.gguf"));
    std::fs::write(&path, bytes(architecture)).expect("the model is written");
    path
}

/// Returns the whole file.
///
/// # Panics
/// The architecture is not in [`ARCHITECTURES`].
pub fn bytes(architecture: &str) -> Vec<u8> {
    bytes_with_template(architecture, CHAT_TEMPLATE)
}

/// Works like [`bytes`], with another chat template.
///
/// # Panics
/// The architecture is not in [`ARCHITECTURES`].
pub fn bytes_with_template(architecture: &str, template: &str) -> Vec<u8> {
    model(architecture, template).file()
}

fn model(architecture: &str, template: &str) -> TinyModel {
    let mut model = TinyModel::new(architecture, template);
    match architecture {
        "llama" => model.llama(),
        "gemma3" => model.gemma3(),
        "mamba2" => model.mamba2(),
        "granitehybrid" => model.granite_hybrid(),
        "lfm2" => model.lfm2(),
        "qwen3next" => model.qwen3_next(),
        "qwen35" => model.qwen35(),
        "deepseek2" => model.deepseek2(),
        "gpt-oss" => model.gpt_oss(),
        "qwen2vl" => model.qwen2vl(),
        other => panic!("no generator for {other}"),
    }
    model
}

impl TinyModel {
    fn new(architecture: &str, template: &str) -> Self {
        let mut model = Self::empty(architecture);
        model.vocabulary(template);
        model.number("context_length", 4096);
        model.number("embedding_length", WIDTH as u32);
        model.real("attention.layer_norm_rms_epsilon", 1e-5);
        model.tensor(
            "token_embd.weight",
            &[WIDTH, vocabulary().len() as u64],
            1.0,
        );
        model.output();
        model
    }

    fn output(&mut self) {
        self.ones("output_norm.weight", WIDTH);
        self.tensor("output.weight", &[WIDTH, vocabulary().len() as u64], 4.0);
        // Zero logits for control tokens: they never are the most likely ones, so no reply ends
        // early.
        if let Some((_, _, values)) = self.tensors.last_mut() {
            values[..CONTROL.len() * WIDTH as usize].fill(0.0);
        }
    }
}
