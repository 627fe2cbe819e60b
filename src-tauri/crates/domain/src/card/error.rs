//! What can be wrong with a card: errors when nothing usable was found, warnings beside a card that was read.

use crate::archive::ArchiveError;
use crate::lenient_json::{JsonError, Repair};

/// Why a file did not become a card, or a card not a file. Nothing was stored or overwritten.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CardError {
    #[error("this is {looks_like}, not a character card; choose a PNG picture or a JSON file that holds one")]
    UnknownFormat { looks_like: &'static str },
    #[error(
        "this is {packed}, which is not supported: unpack it and import the files that were in it, or pack them as ZIP"
    )]
    PackedOtherwise { packed: &'static str },
    #[error("{what} takes {bytes} bytes; the most that is read is {limit}. Use a smaller picture or a shorter card")]
    TooLarge { what: &'static str, bytes: usize, limit: usize },
    #[error("the PNG is cut off inside its {chunk} part; download or copy the file again")]
    Truncated { chunk: String },
    #[error("the PNG is damaged at byte {offset}: {problem}; download or copy the file again")]
    BrokenPng { offset: usize, problem: &'static str },
    #[error(
        "this picture holds no character card. Many sites remove it when they shrink or convert a picture: \
         download the original PNG file"
    )]
    NoCard,
    #[error("the card text \"{keyword}\" in the picture is not base64; download the original PNG file")]
    NotBase64 { keyword: String },
    #[error(
        "this card is locked: RisuAI has encrypted it (its text begins with \"rcc\"). Open it in RisuAI, with its password \
         if it has one, and export it there as PNG, JSON or CHARX"
    )]
    Locked,
    #[error(
        "the card text \"{keyword}\" in the picture is damaged and cannot be unpacked; download the original PNG file"
    )]
    NotUnpacked { keyword: String },
    #[error("the card is not valid JSON, line {line}, column {column}: {problem}")]
    Json { line: usize, column: usize, problem: String },
    #[error("the JSON has {what}, the limit is {limit}; a real file stays far below it")]
    TooComplex { what: &'static str, limit: usize },
    #[error("`{path}` must be an object with the card's fields, but is {found}")]
    NotAnObject { path: &'static str, found: &'static str },
    #[error("the character has no name: `{path}` is missing, empty or not text. Give it a name and import it again")]
    NoName { path: &'static str },
    #[error("the character's name in `{path}` is longer than {limit} characters; shorten it")]
    NameTooLong { path: &'static str, limit: usize },
    #[error("the archive speaks of \"{path}\", but it is not there; download or copy the file again")]
    MissingMember { path: String },
    #[error(transparent)]
    Archive(#[from] ArchiveError),
}

impl From<JsonError> for CardError {
    fn from(error: JsonError) -> Self {
        match error {
            JsonError::TooLarge { bytes, limit } => Self::TooLarge { what: "the card's JSON", bytes, limit },
            JsonError::TooComplex { what, limit } => Self::TooComplex { what, limit },
            JsonError::Syntax { line, column, problem } => Self::Json { line, column, problem },
        }
    }
}

/// What was odd about a card that was read all the same. The odd value is kept as it is and exported again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Warning {
    #[error("`{path}` should be {expected}, but is {found}; it is kept and treated as empty")]
    WrongType { path: String, expected: &'static str, found: &'static str },
    #[error("`{path}` should be a list, but is a text; it is read as a list of one")]
    TextForList { path: String },
    #[error("unknown card format \"{spec}\"; it is read as Character Card V2")]
    UnknownSpec { spec: String },
    #[error("the card does not say its format; it is read as Character Card V2")]
    MissingSpec,
    #[error("the card calls itself \"{spec}\" but has no `data`; its fields are read as Character Card V1")]
    MissingData { spec: String },
    #[error("version {found} is not known; the card is read as version {read_as}, newer features are kept but unused")]
    UnknownVersion { found: String, read_as: &'static str },
    #[error("the card was wrapped in a second card; the inner one is read")]
    NestedTwice,
    #[error("the card text \"{keyword}\" could not be read ({reason}); another copy in the picture is used")]
    BrokenCopy { keyword: String, reason: Box<CardError> },
    #[error("the scenario \"{path}\" is left out: {reason}")]
    ScenarioLeftOut { path: String, reason: Box<CardError> },
    #[error("the archive holds a module (`module.risum`); it is kept and exported again, but not used here")]
    ModuleUnused,
    #[error("{0}")]
    Repaired(Repair),
    #[error("the card's own name is empty; the name \"{name}\" beside it is used")]
    NameFromRoot { name: String },
    #[error("the card has no name; it is called \"{name}\" after its file")]
    NameFromFile { name: String },
    #[error("the picture is damaged ({reason}); the card in it was read. Choose another picture if it is not shown")]
    DamagedPicture { reason: Box<CardError> },
    #[error("{count} files that the card lists are not in the archive, the first is \"{first}\"")]
    FilesMissing { count: usize, first: String },
    #[error("this is a character of {program}; its fields were carried over to those of a card")]
    Converted { program: &'static str },
    #[error("the checksum of the card text \"{keyword}\" is wrong; the card may be damaged, please look it over")]
    BadChecksum { keyword: String },
}
