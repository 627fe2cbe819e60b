//! Reads adapters (LoRA), which change the weights of a model of the same architecture.

use std::io::{Read, Seek};
use std::path::Path;

use super::error::{GgufError, GgufFault};
use super::head::{MAX_PAIRS, MAX_TENSORS, begin, open};
use super::other_purpose::OtherPurpose;
use super::purpose;
use super::reader::GgufReader;
use super::tensor::{self, Tensor};
use super::value::Metadata;

/// Header data of an adapter.
#[derive(Debug, Clone, PartialEq)]
pub struct AdapterHeader {
    /// Architecture of the models that it was made for; empty if the file does not say so.
    pub architecture: String,
    /// Its effect is multiplied by this number divided by its rank; 0 multiplies by nothing.
    pub(crate) alpha: f32,
    pub(crate) tensors: Vec<Tensor>,
}

/// Reads and checks the header of the adapter at `path`.
///
/// # Errors
/// [`GgufError`], naming the file and the first fault.
pub fn read_adapter(path: &Path) -> Result<AdapterHeader, GgufError> {
    let read = || open(path).and_then(|(file, length)| parse_adapter(file, length));
    read().map_err(|fault| GgufError {
        path: path.to_owned(),
        fault,
    })
}

/// Reads and checks an adapter from `source`, a file of `length` bytes.
///
/// # Errors
/// The first [`GgufFault`].
pub fn parse_adapter(source: impl Read + Seek, length: u64) -> Result<AdapterHeader, GgufFault> {
    let mut reader = GgufReader::new(source, length);
    begin(&mut reader)?;
    let tensors = reader.count("tensors", MAX_TENSORS)?;
    let pairs = reader.count("settings", MAX_PAIRS)?;
    let metadata = Metadata::read(&mut reader, pairs)?;
    let tensors = tensor::check_all(&mut reader, tensors, metadata.alignment()?)?;
    let purpose =
        purpose::of_settings(&metadata).or_else(|| purpose::of_tensors(&metadata, &tensors));
    match purpose {
        Some(OtherPurpose::Adapter(_)) => {
            let architecture = metadata
                .text("general.architecture")
                .unwrap_or_default()
                .to_owned();
            let alpha = metadata.real("adapter.lora.alpha").unwrap_or(0.0);
            Ok(AdapterHeader {
                architecture,
                alpha,
                tensors,
            })
        }
        Some(OtherPurpose::Part { .. }) | None => Err(GgufFault::NotAdapter),
        Some(other) => Err(GgufFault::Other(other)),
    }
}
