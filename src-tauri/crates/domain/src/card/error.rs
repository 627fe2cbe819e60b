//! Errors and warnings of card import and export.

use crate::archive::ArchiveError;
use crate::lenient_json::{JsonError, Repair};

/// Why a file could not be read as a card, or a card not be written. Nothing was stored or
/// overwritten.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CardError {
    #[error(
        "this is {looks_like}, not a character card; choose a PNG picture or a JSON file that contains one"
    )]
    UnknownFormat { looks_like: &'static str },
    #[error(
        "this is {packed}, which is not supported: unpack it and import its files, or pack them as ZIP"
    )]
    PackedOtherwise { packed: &'static str },
    #[error(
        "{what} takes {bytes} bytes, and the limit is {limit}. Use a smaller picture or a shorter card"
    )]
    TooLarge {
        what: &'static str,
        bytes: usize,
        limit: usize,
    },
    #[error("this picture is incomplete. Download or copy it again")]
    Truncated { chunk: String },
    #[error("the picture is damaged ({problem}, at byte {offset}). Download or copy it again")]
    BrokenPng {
        offset: usize,
        problem: &'static str,
    },
    #[error(
        "this picture contains no character card. Many sites remove it when they shrink or convert a picture: \
         download the original PNG file"
    )]
    NoCard,
    #[error(
        "the card text \"{keyword}\" in the picture is not base64; download the original PNG file"
    )]
    NotBase64 { keyword: String },
    #[error(
        "this card is locked: RisuAI has encrypted it (its text begins with \"rcc\"). Open it in RisuAI, with its password \
         if it has one, and export it there as PNG, JSON or CHARX"
    )]
    Locked,
    #[error(
        "the card text \"{keyword}\" in the picture is damaged and cannot be decompressed; download the original PNG file"
    )]
    NotUnpacked { keyword: String },
    #[error("the card is not valid JSON, line {line}, column {column}: {problem}")]
    Json {
        line: usize,
        column: usize,
        problem: String,
    },
    #[error("the JSON has {what} (the limit is {limit}); real files have fewer")]
    TooComplex { what: &'static str, limit: usize },
    #[error("`{path}` must be an object with the card's fields, but is {found}")]
    NotAnObject {
        path: &'static str,
        found: &'static str,
    },
    #[error(
        "the character has no name: `{path}` is missing, empty or not text. Give it a name and import it again"
    )]
    NoName { path: &'static str },
    #[error("the character's name in `{path}` is longer than {limit} characters; shorten it")]
    NameTooLong { path: &'static str, limit: usize },
    #[error("the archive refers to \"{path}\", which is missing; download or copy the file again")]
    MissingMember { path: String },
    #[error(transparent)]
    Archive(#[from] ArchiveError),
}

impl From<JsonError> for CardError {
    fn from(error: JsonError) -> Self {
        match error {
            JsonError::TooLarge { bytes, limit } => Self::TooLarge {
                what: "the card's JSON",
                bytes,
                limit,
            },
            JsonError::TooComplex { what, limit } => Self::TooComplex { what, limit },
            JsonError::Syntax {
                line,
                column,
                problem,
            } => Self::Json {
                line,
                column,
                problem,
            },
        }
    }
}

/// A problem in a card that was still read. The original value is kept and exported again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Warning {
    #[error("`{path}` should be {expected}, but is {found}; it is kept and treated as empty")]
    WrongType {
        path: String,
        expected: &'static str,
        found: &'static str,
    },
    #[error("`{path}` should be a list, but is text; it is read as a list with one item")]
    TextForList { path: String },
    #[error("unknown card format \"{spec}\"; read as Character Card V2")]
    UnknownSpec { spec: String },
    #[error("no card format given; read as Character Card V2")]
    MissingSpec,
    #[error("the card states the format \"{spec}\" but has no `data`; read as Character Card V1")]
    MissingData { spec: String },
    #[error(
        "unknown card version {found}; read as version {read_as}. Newer features are kept but not used"
    )]
    UnknownVersion {
        found: String,
        read_as: &'static str,
    },
    #[error("the card was inside another card; the inner one is used")]
    NestedTwice,
    #[error(
        "the card text \"{keyword}\" cannot be read ({reason}); another copy in the picture is used"
    )]
    BrokenCopy {
        keyword: String,
        reason: Box<CardError>,
    },
    #[error("the scenario \"{path}\" was skipped: {reason}")]
    ScenarioLeftOut {
        path: String,
        reason: Box<CardError>,
    },
    #[error(
        "the archive contains a RisuAI module (`module.risum`); it is kept and exported again, but not used"
    )]
    ModuleUnused,
    #[error("{0}")]
    Repaired(Repair),
    #[error("the card's own name is empty; the name \"{name}\" from outside its `data` is used")]
    NameFromRoot { name: String },
    #[error("the card has no name; it is named \"{name}\" after its file")]
    NameFromFile { name: String },
    #[error(
        "the picture is damaged ({reason}), but its card was read. Choose another one if it is not shown"
    )]
    DamagedPicture { reason: Box<CardError> },
    #[error(
        "{count} files that the card lists are missing from the archive; the first is \"{first}\""
    )]
    FilesMissing { count: usize, first: String },
    #[error("this is a character from {program}; it was converted to a card")]
    Converted { program: &'static str },
    #[error(
        "the checksum of the card text \"{keyword}\" is wrong; the card may be damaged, so please check its texts"
    )]
    BadChecksum { keyword: String },
}
