//! Reader for GGUF headers, which are untrusted input. Every count has a limit, every size is
//! checked against the file's length, and no allocation follows a claimed size.
//!
//! Layout and types follow `ggml/include/gguf.h` and `ggml-common.h` of the llama.cpp version that
//! the worker links.

mod adapter;
mod error;
mod head;
mod other_purpose;
mod projector;
mod purpose;
mod reader;
mod split;
mod tensor;
mod value;
mod vocabulary;

use std::io::{Read, Seek};
use std::path::Path;

pub use adapter::{AdapterHeader, parse_adapter, read_adapter};
pub use error::{GgufError, GgufFault};
use head::{MAX_PAIRS, MAX_TENSORS, begin, open};
pub use other_purpose::OtherPurpose;
pub use projector::{ProjectorHeader, parse_projector, read_projector};
use reader::GgufReader;
pub use split::parts_of;
pub(crate) use tensor::Tensor;
pub use tokenizer::{TokenKind, Vocabulary};
use tokenizer::{Tokenizer, Unsupported};
use value::Metadata;

/// Header data of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct GgufHeader {
    pub version: u32,
    pub architecture: String,
    pub name: Option<String>,
    /// Context length in tokens that the model was trained for.
    pub context_length: Option<u32>,
    /// Jinja template of the model's authors.
    pub chat_template: Option<String>,
    /// Text of the beginning-of-sequence token.
    pub bos: Option<String>,
    /// Text of the end-of-sequence token.
    pub eos: Option<String>,
    /// Whether to add a beginning-of-sequence token; `None` means the tokenizer's default.
    pub add_bos: Option<bool>,
    /// Quantization of the weights, such as `Q4_K_M`; `None` if its number is unknown.
    pub file_type: Option<&'static str>,
    pub tensors: u64,
    /// Number of repeating layers; `None` if the header does not say so.
    pub layers: Option<u32>,
    /// Number of values in all tensors.
    pub parameters: u64,
    /// Bytes of the weights of experts, of which each token uses only some; 0 unless the model is a
    /// mixture of experts.
    pub expert_bytes: u64,
    /// Share of the experts that each token uses, from 0 to 1; 1 if the header does not say so.
    pub used_experts: f64,
    /// Number of the first layers, which have no experts in a mixture of experts.
    pub dense_layers: u32,
    /// Bytes of f16 KV cache per token of context; `None` if the header lacks the figures.
    pub cache_bytes_per_token: Option<u64>,
    /// Length of the vectors of an embedding model.
    pub embedding_length: Option<u32>,
    /// The model makes embeddings and cannot generate text.
    pub embeds: bool,
}

impl GgufHeader {
    /// Bytes of weights that each token reads, of a model file of `bytes`.
    pub fn bytes_per_token(&self, bytes: u64) -> u64 {
        let experts = self.expert_bytes.min(bytes);
        let unused = experts as f64 * (1.0 - self.used_experts.clamp(0.0, 1.0));
        bytes.saturating_sub(unused as u64)
    }
}

/// Reads and checks the header of the file at `path`. Blocks; a large vocabulary makes the header
/// about 10 MB long. The first file of a split model is read with all its parts.
///
/// # Errors
/// [`GgufError`], naming the file and the first fault.
pub fn read(path: &Path) -> Result<GgufHeader, GgufError> {
    let fault = |path: &Path, fault| GgufError {
        path: path.to_owned(),
        fault,
    };
    let read = || open(path).and_then(|(file, length)| parse_first(file, length));
    let (mut header, _, parts) = read().map_err(|found| fault(path, found))?;
    if parts > 1 {
        let others = split::other_parts(path, parts)?;
        header.tensors = header.tensors.saturating_add(others.len() as u64);
        header.parameters = header.parameters.saturating_add(tensor::values(&others));
        header.expert_bytes = header
            .expert_bytes
            .saturating_add(tensor::expert_bytes(&others));
    }
    Ok(header)
}

/// Reads the tensors of the model at `path`, with those of all its parts.
///
/// # Errors
/// Same as [`read`].
pub(crate) fn tensors(path: &Path) -> Result<Vec<Tensor>, GgufError> {
    let read = || open(path).and_then(|(file, length)| parse_first(file, length));
    let (_, mut tensors, parts) = read().map_err(|fault| GgufError {
        path: path.to_owned(),
        fault,
    })?;
    if parts > 1 {
        tensors.extend(split::other_parts(path, parts)?);
    }
    Ok(tensors)
}

/// Reads a header from the first bytes of a file of `length` bytes; `None` if it needs more of
/// them. Accepts the first part of a split model, of which it sees only the own tensors.
///
/// # Errors
/// The first [`GgufFault`].
pub fn parse_start(start: &[u8], length: u64) -> Result<Option<GgufHeader>, GgufFault> {
    match parse_first(std::io::Cursor::new(start), length) {
        Ok((header, ..)) => Ok(Some(header)),
        Err(GgufFault::Io(error)) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// Reads the vocabulary of the file at `path`. Blocks, for about 0.1 s if it is large.
///
/// # Errors
/// Same as [`read`], for the part before the tensors.
pub fn vocabulary(path: &Path) -> Result<Vocabulary, GgufError> {
    let read = || open(path).and_then(|(file, length)| parse_vocabulary(file, length));
    read().map_err(|fault| GgufError {
        path: path.to_owned(),
        fault,
    })
}

/// Creates the tokenizer of the file at `path`. Blocks, for about 0.3 s if the vocabulary is large.
///
/// # Errors
/// [`Unsupported`]; the worker must count then.
pub fn open_tokenizer(path: &Path) -> Result<Tokenizer, Unsupported> {
    let vocabulary = vocabulary(path).map_err(|error| Unsupported::File(error.to_string()))?;
    Tokenizer::of(&vocabulary)
}

/// Reads and checks a header from `source`, a file of `length` bytes.
///
/// # Errors
/// The first [`GgufFault`].
pub fn parse(source: impl Read + Seek, length: u64) -> Result<GgufHeader, GgufFault> {
    match parse_first(source, length)? {
        (header, _, 1) => Ok(header),
        (.., count) => Err(GgufFault::Other(OtherPurpose::Part { number: 1, count })),
    }
}

/// Like [`parse`], but also accepts the first part of a split model. Returns its own tensors and
/// the number of parts as well.
fn parse_first(
    source: impl Read + Seek,
    length: u64,
) -> Result<(GgufHeader, Vec<Tensor>, u64), GgufFault> {
    let mut reader = GgufReader::new(source, length);
    let version = begin(&mut reader)?;
    let tensors = reader.count("tensors", MAX_TENSORS)?;
    let pairs = reader.count("settings", MAX_PAIRS)?;
    let metadata = Metadata::read(&mut reader, pairs)?;
    let parts = match purpose::of_settings(&metadata) {
        None => 1,
        Some(OtherPurpose::Part { number: 1, count }) => count,
        Some(purpose) => return Err(GgufFault::Other(purpose)),
    };
    let list = tensor::check_all(&mut reader, tensors, metadata.alignment()?)?;
    if let Some(purpose) = purpose::of_tensors(&metadata, &list) {
        return Err(GgufFault::Other(purpose));
    }
    let header = describe(&mut reader, &metadata, version, &list)?;
    Ok((header, list, parts))
}

/// Reads a vocabulary from `source`, a file of `length` bytes.
///
/// # Errors
/// The first [`GgufFault`] before the tensors.
pub fn parse_vocabulary(source: impl Read + Seek, length: u64) -> Result<Vocabulary, GgufFault> {
    let mut reader = GgufReader::new(source, length);
    begin(&mut reader)?;
    reader.count("tensors", MAX_TENSORS)?;
    let pairs = reader.count("settings", MAX_PAIRS)?;
    let metadata = Metadata::read(&mut reader, pairs)?;
    vocabulary::read(&mut reader, &metadata)
}

fn describe<R: Read + Seek>(
    reader: &mut GgufReader<R>,
    metadata: &Metadata,
    version: u32,
    tensors: &[Tensor],
) -> Result<GgufHeader, GgufFault> {
    let architecture = metadata
        .text("general.architecture")
        .ok_or(GgufFault::NoArchitecture)?
        .to_owned();
    let of_model = |key: &str| metadata.number(&format!("{architecture}.{key}"));
    let text = |key| {
        metadata
            .text(key)
            .filter(|text| !text.trim().is_empty())
            .map(str::to_owned)
    };
    Ok(GgufHeader {
        version,
        name: text("general.name"),
        context_length: of_model("context_length").and_then(|length| u32::try_from(length).ok()),
        chat_template: text("tokenizer.chat_template"),
        bos: metadata.token(reader, "tokenizer.ggml.bos_token_id")?,
        eos: metadata.token(reader, "tokenizer.ggml.eos_token_id")?,
        add_bos: metadata.flag("tokenizer.ggml.add_bos_token"),
        file_type: metadata.number("general.file_type").and_then(file_type),
        tensors: tensors.len() as u64,
        layers: of_model("block_count").and_then(|layers| u32::try_from(layers).ok()),
        parameters: tensor::values(tensors),
        expert_bytes: tensor::expert_bytes(tensors),
        used_experts: used_experts(of_model("expert_used_count"), of_model("expert_count")),
        dense_layers: of_model("leading_dense_block_count")
            .and_then(|count| u32::try_from(count).ok())
            .unwrap_or(0),
        cache_bytes_per_token: cache_bytes_per_token(metadata, &architecture),
        embedding_length: of_model("embedding_length")
            .and_then(|length| u32::try_from(length).ok()),
        // Models that generate text do not use pooling.
        embeds: architecture.contains("bert")
            || architecture == "gemma-embedding"
            || of_model("pooling_type").is_some_and(|pooling| pooling > 0),
        architecture,
    })
}

fn used_experts(used: Option<u64>, all: Option<u64>) -> f64 {
    match (used, all) {
        (Some(used), Some(all)) if used > 0 && used < all => used as f64 / all as f64,
        _ => 1.0,
    }
}

/// Keys and values of every layer, two bytes each (f16).
fn cache_bytes_per_token(metadata: &Metadata, architecture: &str) -> Option<u64> {
    let number = |key: &str| metadata.number(&format!("{architecture}.{key}"));
    let layers = number("block_count")?;
    let heads = number("attention.head_count");
    let per_head = || number("embedding_length")?.checked_div(heads?);
    let key = number("attention.key_length").or_else(per_head)?;
    let value = number("attention.value_length").or_else(per_head)?;
    let all_heads = match metadata.numbers(&format!("{architecture}.attention.head_count_kv")) {
        Some(per_layer) => per_layer
            .iter()
            .try_fold(0u64, |sum, heads| sum.checked_add(*heads))?,
        None => number("attention.head_count_kv")
            .or(heads)?
            .checked_mul(layers)?,
    };
    all_heads
        .checked_mul(key.checked_add(value)?)?
        .checked_mul(2)
}

/// `llama_ftype` in `llama.h`.
fn file_type(number: u64) -> Option<&'static str> {
    Some(match number {
        0 => "F32",
        1 => "F16",
        2 => "Q4_0",
        3 => "Q4_1",
        7 => "Q8_0",
        8 => "Q5_0",
        9 => "Q5_1",
        10 => "Q2_K",
        11 => "Q3_K_S",
        12 => "Q3_K_M",
        13 => "Q3_K_L",
        14 => "Q4_K_S",
        15 => "Q4_K_M",
        16 => "Q5_K_S",
        17 => "Q5_K_M",
        18 => "Q6_K",
        19 => "IQ2_XXS",
        20 => "IQ2_XS",
        21 => "Q2_K_S",
        22 => "IQ3_XS",
        23 => "IQ3_XXS",
        24 => "IQ1_S",
        25 => "IQ4_NL",
        26 => "IQ3_S",
        27 => "IQ3_M",
        28 => "IQ2_S",
        29 => "IQ2_M",
        30 => "IQ4_XS",
        31 => "IQ1_M",
        32 => "BF16",
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
