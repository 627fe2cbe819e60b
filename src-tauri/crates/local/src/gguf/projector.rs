//! Checks the files that read pictures for a model (mmproj).

use std::io::{Read, Seek};
use std::path::Path;

use super::error::{GgufError, GgufFault};
use super::head::{MAX_PAIRS, MAX_TENSORS, begin, open};
use super::other_purpose::OtherPurpose;
use super::reader::GgufReader;
use super::value::Metadata;
use super::{purpose, tensor};

/// Header data of a projector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectorHeader {
    /// Such as `gemma3` or `qwen2.5vl_merger`.
    pub kind: String,
    /// Embedding length of the models that it reads pictures for; `None` if its kind does not state
    /// it.
    pub width: Option<u32>,
}

/// Kinds whose header has the length of an inner layer instead of the model's.
const OTHER_WIDTH: [&str; 5] = ["mlp", "ldp", "ldpv2", "resampler", "adapter"];
/// Kinds that read a picture differently at each place of the prompt, which a reused cache cannot
/// keep.
const BY_PLACE: [&str; 2] = ["deepseek4v", "hunyuanvl"];

/// Reads and checks the header of the projector at `path`.
///
/// # Errors
/// [`GgufError`], naming the file and the first fault.
pub fn read_projector(path: &Path) -> Result<ProjectorHeader, GgufError> {
    let read = || open(path).and_then(|(file, length)| parse_projector(file, length));
    read().map_err(|fault| GgufError {
        path: path.to_owned(),
        fault,
    })
}

/// Reads and checks a projector from `source`, a file of `length` bytes. Keys follow `clip-impl.h`
/// of llama.cpp.
///
/// # Errors
/// The first [`GgufFault`].
pub fn parse_projector(
    source: impl Read + Seek,
    length: u64,
) -> Result<ProjectorHeader, GgufFault> {
    let mut reader = GgufReader::new(source, length);
    begin(&mut reader)?;
    let tensors = reader.count("tensors", MAX_TENSORS)?;
    let pairs = reader.count("settings", MAX_PAIRS)?;
    let metadata = Metadata::read(&mut reader, pairs)?;
    match purpose::of_settings(&metadata) {
        Some(OtherPurpose::Projector) => {}
        Some(OtherPurpose::Part { .. }) | None => return Err(GgufFault::NotProjector),
        Some(other) => return Err(GgufFault::Other(other)),
    }
    tensor::check_all(&mut reader, tensors, metadata.alignment()?)?;
    if metadata.flag("clip.has_vision_encoder") != Some(true) {
        return Err(GgufFault::ReadsNoPictures);
    }
    let kind = metadata
        .text("clip.projector_type")
        .or_else(|| metadata.text("clip.vision.projector_type"));
    let kind = kind.unwrap_or_default().to_owned();
    if BY_PLACE.contains(&kind.as_str()) {
        return Err(GgufFault::ProjectorKind(kind));
    }
    let width = metadata
        .number("clip.vision.projection_dim")
        .and_then(|width| u32::try_from(width).ok());
    let width = width.filter(|width| *width > 0 && !OTHER_WIDTH.contains(&kind.as_str()));
    Ok(ProjectorHeader { kind, width })
}
