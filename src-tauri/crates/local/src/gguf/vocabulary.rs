//! Reads a model's vocabulary: its tokens and the settings of its tokenizer.

use std::io::{Read, Seek};

use super::GgufFault;
use super::reader::GgufReader;
use super::value::Metadata;

/// Maximum number of tokens; the largest real vocabularies have 262,144.
const MAX_TOKENS: u64 = 1 << 20;
const MAX_MERGES: u64 = 1 << 21;

/// Vocabulary as the file states it (`tokenizer.ggml.*`).
#[derive(Debug, Clone, PartialEq)]
pub struct Vocabulary {
    /// Tokenizer type: `gpt2`, `llama`, `bert` and others.
    pub model: String,
    /// Name of the pre-tokenizer, for `gpt2`.
    pub pre: Option<String>,
    /// Token texts by id.
    pub tokens: Vec<String>,
    /// Scores by id; empty if the file has none.
    pub scores: Vec<f32>,
    /// Token types by id; all [`TokenKind::Normal`] if the file has none.
    pub kinds: Vec<TokenKind>,
    /// Token pairs separated by a space, in merge order.
    pub merges: Vec<String>,
    pub unknown: Option<u32>,
    /// Whether the tokenizer adds a space before a text; `None` means the tokenizer's default.
    pub space_prefix: Option<bool>,
    /// `bert` only: text is converted to lower case.
    pub lowercase: Option<bool>,
    /// `bert` only: accents are removed.
    pub strip_accents: Option<bool>,
    /// The model's own name, which some rules of llama.cpp depend on.
    pub name: String,
}

/// Token type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    Normal,
    Unknown,
    Control,
    /// Matched in plain text too, before all other tokens.
    UserDefined,
    Unused,
    Byte,
    Undefined,
}

impl TokenKind {
    fn of(number: f32) -> Self {
        match number as i32 {
            1 => Self::Normal,
            2 => Self::Unknown,
            3 => Self::Control,
            4 => Self::UserDefined,
            5 => Self::Unused,
            6 => Self::Byte,
            _ => Self::Undefined,
        }
    }
}

impl Vocabulary {
    pub(super) fn read<R: Read + Seek>(reader: &mut GgufReader<R>, metadata: &Metadata) -> Result<Self, GgufFault> {
        let of = |key: &str| format!("tokenizer.ggml.{key}");
        let tokens = metadata.texts(reader, &of("tokens"), MAX_TOKENS)?.ok_or(GgufFault::NoVocabulary)?;
        let kinds = match metadata.list(reader, &of("token_type"), MAX_TOKENS)? {
            Some(kinds) if kinds.len() >= tokens.len() => kinds.into_iter().map(TokenKind::of).collect(),
            _ => vec![TokenKind::Normal; tokens.len()],
        };
        Ok(Self {
            model: metadata.text(&of("model")).ok_or(GgufFault::NoVocabulary)?.to_owned(),
            pre: metadata.text(&of("pre")).map(str::to_owned),
            scores: metadata.list(reader, &of("scores"), MAX_TOKENS)?.unwrap_or_default(),
            merges: metadata.texts(reader, &of("merges"), MAX_MERGES)?.unwrap_or_default(),
            unknown: metadata.number(&of("unknown_token_id")).and_then(|id| u32::try_from(id).ok()),
            space_prefix: metadata.flag(&of("add_space_prefix")),
            lowercase: metadata.flag(&of("normalizer.lowercase")),
            strip_accents: metadata.flag(&of("normalizer.strip_accents")),
            name: metadata.text("general.name").unwrap_or_default().to_owned(),
            tokens,
            kinds,
        })
    }
}
