//! Instruct formats for models without a chat template, loaded from `presets/formats/`.

use std::sync::LazyLock;

use serde::Deserialize;

use super::{ChatTemplate, TemplateError};

/// A set of turn markers that models are trained on.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Format {
    /// Name in settings.
    pub name: String,
    /// Name for display.
    pub title: String,
    /// Texts that end a reply.
    pub stop: Vec<String>,
    /// GGUF architectures that use this format.
    #[serde(default)]
    architectures: Vec<String>,
    /// Lower-case words in a model name that indicate this format.
    #[serde(default)]
    names: Vec<String>,
    /// Sets of tokens; a vocabulary that contains all tokens of a set indicates this format.
    #[serde(default)]
    tokens: Vec<Vec<String>>,
    #[serde(skip)]
    source: &'static str,
}

impl Format {
    /// The Jinja source.
    pub fn source(&self) -> &'static str {
        self.source
    }

    /// The parsed template for a model with these begin and end tokens.
    ///
    /// Errors
    /// Never for the built-in formats: a test parses them all.
    pub fn template(
        &self,
        bos: &str,
        eos: &str,
        date: jiff::civil::DateTime,
    ) -> Result<ChatTemplate, TemplateError> {
        let template = ChatTemplate::parse(self.source, bos, eos, date)?;
        Ok(template.with_stops(self.stop.iter().map(String::as_str)))
    }
}

macro_rules! sources {
    ($($name:literal),+ $(,)?) => {
        [$(($name, include_str!(concat!("../../../../../presets/formats/", $name, ".jinja")))),+]
    };
}

/// The built-in formats; the first is the default for unknown models.
pub fn formats() -> &'static [Format] {
    static FORMATS: LazyLock<Vec<Format>> = LazyLock::new(read);
    &FORMATS
}

#[expect(clippy::expect_used, reason = "a built-in file that a test parses")]
fn read() -> Vec<Format> {
    let index = include_str!("../../../../../presets/formats/formats.json");
    let mut formats: Vec<Format> =
        serde_json::from_str(index).expect("the built-in formats.json must parse");
    let sources = sources![
        "chatml",
        "llama-3",
        "llama-2",
        "mistral-v7",
        "mistral-v3-tekken",
        "mistral-v3",
        "mistral-v1",
        "gemma",
        "phi-4",
        "phi-3",
        "command-r",
        "deepseek",
        "metharme",
        "zephyr",
        "granite",
        "openchat",
        "vicuna",
        "alpaca",
        "chatglm-4",
        "exaone",
    ];
    for format in &mut formats {
        format.source = sources
            .iter()
            .find(|(name, _)| *name == format.name)
            .expect("every built-in format must have a Jinja source")
            .1;
    }
    formats
}

/// The format with that name.
pub fn format(name: &str) -> Option<&'static Format> {
    formats().iter().find(|format| format.name == name)
}

/// The size of the largest set of the format's tokens that the vocabulary has.
fn evidence(format: &Format, has_token: &dyn Fn(&str) -> bool) -> usize {
    let sets = format
        .tokens
        .iter()
        .filter(|set| set.iter().all(|token| has_token(token)));
    sets.map(Vec::len).max().unwrap_or(0)
}

/// Guesses the format that a model was most likely trained on. The vocabulary is the best evidence
/// (the match with the most tokens wins), then the model name, then the architecture, which is
/// ambiguous for the many `llama` models.
pub fn guess(
    architecture: &str,
    name: &str,
    has_token: &dyn Fn(&str) -> bool,
) -> Option<&'static Format> {
    let called = name.to_lowercase();
    let by_tokens = formats()
        .iter()
        .rev()
        .max_by_key(|format| evidence(format, has_token))
        .filter(|format| evidence(format, has_token) > 0);
    let by_name = || {
        formats()
            .iter()
            .find(|format| format.names.iter().any(|word| called.contains(word)))
    };
    let by_kind = || {
        formats()
            .iter()
            .find(|format| format.architectures.iter().any(|kind| kind == architecture))
    };
    by_tokens.or_else(by_name).or_else(by_kind)
}
