//! A model's vocabulary: its tokens and the settings of its tokenizer.

/// Vocabulary as a GGUF file states it (`tokenizer.ggml.*`).
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
