//! Instruct formats for models without a chat template. They are data: `presets/formats/`.

use std::sync::LazyLock;

use serde::Deserialize;

use super::{ChatTemplate, TemplateError};

/// A way to mark turns that models are trained on.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Format {
    /// What settings call it.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// Texts that end a reply.
    pub stop: Vec<String>,
    /// Architectures, as a GGUF names them, that mean this format.
    #[serde(default)]
    architectures: Vec<String>,
    /// Words in a model's name that mean this format, in small letters.
    #[serde(default)]
    names: Vec<String>,
    /// Tokens that a model has which was trained on this format: any of these sets.
    #[serde(default)]
    tokens: Vec<Vec<String>>,
    #[serde(skip)]
    source: &'static str,
}

impl Format {
    /// Its Jinja source.
    pub fn source(&self) -> &'static str {
        self.source
    }

    /// Its template, for a model with these begin and end tokens.
    ///
    /// # Errors
    /// None for the built-in formats: a test parses them all.
    pub fn template(&self, bos: &str, eos: &str, date: jiff::civil::DateTime) -> Result<ChatTemplate, TemplateError> {
        let template = ChatTemplate::parse(self.source, bos, eos, date)?;
        Ok(template.with_stops(self.stop.iter().map(String::as_str)))
    }
}

macro_rules! sources {
    ($($name:literal),+ $(,)?) => {
        [$(($name, include_str!(concat!("../../../../../presets/formats/", $name, ".jinja")))),+]
    };
}

/// The built-in formats; the first is for models of which nothing is known.
pub fn formats() -> &'static [Format] {
    static FORMATS: LazyLock<Vec<Format>> = LazyLock::new(read);
    &FORMATS
}

#[expect(clippy::expect_used, reason = "a file of ours that a test reads")]
fn read() -> Vec<Format> {
    let index = include_str!("../../../../../presets/formats/formats.json");
    let mut formats: Vec<Format> = serde_json::from_str(index).expect("formats.json is in order");
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
        format.source = sources.iter().find(|(name, _)| *name == format.name).expect("every format has a source").1;
    }
    formats
}

/// The format of that name.
pub fn format(name: &str) -> Option<&'static Format> {
    formats().iter().find(|format| format.name == name)
}

/// The format a model was most likely trained on. What its vocabulary holds says most (of several matches the one that
/// asks for most tokens), then its name, then its architecture, which says nothing for the many that are `llama`.
pub fn guess(architecture: &str, name: &str, has_token: &dyn Fn(&str) -> bool) -> Option<&'static Format> {
    let called = name.to_lowercase();
    let evidence = |format: &Format| {
        let sets = format.tokens.iter().filter(|set| set.iter().all(|token| has_token(token)));
        sets.map(Vec::len).max().unwrap_or(0)
    };
    let by_tokens = formats().iter().rev().max_by_key(|format| evidence(format)).filter(|format| evidence(format) > 0);
    let by_name = || formats().iter().find(|format| format.names.iter().any(|word| called.contains(word)));
    let by_kind = || formats().iter().find(|format| format.architectures.iter().any(|kind| kind == architecture));
    by_tokens.or_else(by_name).or_else(by_kind)
}
