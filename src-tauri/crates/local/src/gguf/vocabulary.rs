//! Reads a model's vocabulary: its tokens and the settings of its tokenizer.

use std::io::{Read, Seek};

use tokenizer::{TokenKind, Vocabulary};

use super::error::GgufFault;
use super::reader::GgufReader;
use super::value::Metadata;

/// Maximum number of tokens; the largest real vocabularies have 262,144.
const MAX_TOKENS: u64 = 1 << 20;
const MAX_MERGES: u64 = 1 << 21;

pub(super) fn read<R: Read + Seek>(
    reader: &mut GgufReader<R>,
    metadata: &Metadata,
) -> Result<Vocabulary, GgufFault> {
    let of = |key: &str| format!("tokenizer.ggml.{key}");
    let tokens = metadata
        .texts(reader, &of("tokens"), MAX_TOKENS)?
        .ok_or(GgufFault::NoVocabulary)?;
    let kinds = match metadata.list(reader, &of("token_type"), MAX_TOKENS)? {
        Some(kinds) if kinds.len() >= tokens.len() => kinds.into_iter().map(kind).collect(),
        _ => vec![TokenKind::Normal; tokens.len()],
    };
    Ok(Vocabulary {
        model: metadata
            .text(&of("model"))
            .ok_or(GgufFault::NoVocabulary)?
            .to_owned(),
        pre: metadata.text(&of("pre")).map(str::to_owned),
        scores: metadata
            .list(reader, &of("scores"), MAX_TOKENS)?
            .unwrap_or_default(),
        merges: metadata
            .texts(reader, &of("merges"), MAX_MERGES)?
            .unwrap_or_default(),
        unknown: metadata
            .number(&of("unknown_token_id"))
            .and_then(|id| u32::try_from(id).ok()),
        space_prefix: metadata.flag(&of("add_space_prefix")),
        lowercase: metadata.flag(&of("normalizer.lowercase")),
        strip_accents: metadata.flag(&of("normalizer.strip_accents")),
        name: metadata.text("general.name").unwrap_or_default().to_owned(),
        tokens,
        kinds,
    })
}

fn kind(number: f32) -> TokenKind {
    match number as i32 {
        1 => TokenKind::Normal,
        2 => TokenKind::Unknown,
        3 => TokenKind::Control,
        4 => TokenKind::UserDefined,
        5 => TokenKind::Unused,
        6 => TokenKind::Byte,
        _ => TokenKind::Undefined,
    }
}
