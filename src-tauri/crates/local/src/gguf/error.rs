//! Reasons why a file cannot be used.

use std::path::PathBuf;

use super::other_purpose::OtherPurpose;

/// The file is not a usable GGUF model.
#[derive(Debug, thiserror::Error)]
#[error("{} {fault}", path.display())]
pub struct GgufError {
    pub path: PathBuf,
    #[source]
    pub fault: GgufFault,
}

/// Fault of a file. Its text follows the file's name.
#[derive(Debug, thiserror::Error)]
pub enum GgufFault {
    #[error("cannot be read: {0}")]
    Io(#[from] std::io::Error),
    #[error("is not a regular file")]
    NotRegularFile,
    #[error("is not a GGUF file: {0}")]
    NotGguf(String),
    #[error("is empty. Download it again")]
    Empty,
    #[error(
        "is a GGUF file for big-endian machines, which is not supported. Download the usual little-endian file"
    )]
    BigEndian,
    #[error(
        "is a GGUF file of version {0}; versions 2 and 3 are supported. Download a newer conversion of the model"
    )]
    Version(u32),
    #[error("is incomplete: it ends in its {part}, after {length} bytes. Download it again")]
    CutHeader { part: &'static str, length: u64 },
    #[error("is incomplete: it ends in the tensor data, after {} of {} MiB. Download it again", mebibytes(*have), mebibytes(*need))]
    CutData { have: u64, need: u64 },
    #[error("is damaged: it claims {count} {what}, but real models have at most {limit}")]
    TooMany {
        what: &'static str,
        count: u64,
        limit: u64,
    },
    #[error("is damaged: \"{key}\" has a value of an unknown kind ({kind})")]
    UnknownType { key: String, kind: u32 },
    #[error("is damaged: \"{0}\" occurs twice")]
    Twice(String),
    #[error("is damaged: the alignment {0} is not a power of two")]
    Alignment(u64),
    #[error("is damaged: the tensor \"{name}\" {why}")]
    Tensor { name: String, why: &'static str },
    #[error("does not name its architecture")]
    NoArchitecture,
    #[error("contains only a vocabulary and no weights. Add the complete model file")]
    NoTensors,
    #[error("has no vocabulary")]
    NoVocabulary,
    #[error("is part of a split model, but {0} is not beside it. Keep all parts in one folder")]
    MissingPart(String),
    #[error(
        "is not an adapter (LoRA). Choose the GGUF file of an adapter that was made for this model"
    )]
    NotAdapter,
    #[error(
        "is not the part of a model that reads pictures (mmproj). Choose the mmproj file that was made for this model"
    )]
    NotProjector,
    #[error("reads only sound. Choose the mmproj file that reads pictures for this model")]
    ReadsNoPictures,
    #[error(
        "is a projector of the kind \"{0}\", which this version does not support. Choose another model for pictures"
    )]
    ProjectorKind(String),
    #[error("{0}")]
    Other(OtherPurpose),
}

/// Converts bytes for display. Rounds down, so that a truncated file never looks complete.
fn mebibytes(bytes: u64) -> u64 {
    bytes / (1 << 20)
}
