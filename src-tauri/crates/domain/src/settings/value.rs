//! Values of settings and their validation.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::sampling::{self, GrammarRefusal};

/// A setting's value. Storage, API and UI use it as plain JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ConfigValue {
    Switch(bool),
    Whole(u32),
    Number(f64),
    Text(Cow<'static, str>),
}

impl fmt::Display for ConfigValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch(on) => f.write_str(if *on { "on" } else { "off" }),
            Self::Whole(number) => number.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Valid values of a setting. Ranges include both ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ValueType {
    Switch,
    Whole {
        min: u32,
        max: u32,
    },
    /// A whole number, or one word such as `auto` or `off`.
    WholeOr {
        word: &'static str,
        min: u32,
        max: u32,
    },
    Number {
        min: f64,
        max: f64,
    },
    Choice(&'static [&'static str]),
    /// The name of another object, such as a template, or `word` for the automatic choice.
    NameOr {
        word: &'static str,
    },
    /// Text of at most `max` bytes.
    Text {
        max: usize,
    },
    /// Text that must follow a syntax.
    Code(Syntax),
    /// Names in any order, separated by commas. Missing names follow in the order of the list.
    Order(&'static [&'static str]),
}

/// Syntax of a text value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// One logit bias per line.
    LogitBiases,
    /// One text or list of token ids per line.
    Tokens,
    /// GBNF. Only its size and nesting are checked.
    Grammar,
    /// A JSON object.
    JsonSchema,
}

/// Maximum length of a text with logit biases or tokens, in bytes.
const MAX_LINES: usize = 20_000;

impl Syntax {
    /// Maximum length in bytes.
    pub fn max(self) -> usize {
        match self {
            Self::LogitBiases | Self::Tokens => MAX_LINES,
            Self::Grammar | Self::JsonSchema => sampling::MAX_BYTES,
        }
    }

    /// Returns the invalid part and the reason. An empty text is valid.
    fn mistake(self, text: &str) -> Option<(String, String)> {
        let whole = |why: GrammarRefusal| (text.to_owned(), why.to_string());
        match self {
            _ if text.trim().is_empty() => None,
            _ if text.len() > self.max() => Some((
                text.to_owned(),
                format!("it is longer than {} bytes", self.max()),
            )),
            Self::LogitBiases => sampling::logit_biases(text).err(),
            Self::Tokens => sampling::banned_tokens(text).err(),
            Self::Grammar => sampling::check_grammar(text).err().map(whole),
            Self::JsonSchema => sampling::check_schema(text).err().map(whole),
        }
    }
}

/// Maximum length of a name, in bytes.
const MAX_NAME: usize = 200;

/// Number of characters of an invalid value to quote.
const QUOTE: usize = 40;

/// A value that is invalid for its setting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{given}\" is not {expected}")]
pub struct InvalidValue {
    /// The start of the invalid value.
    pub given: String,
    /// Description of valid values.
    pub expected: String,
}

impl ValueType {
    /// Validates and normalizes a value. For example, a slider may send a whole number as a
    /// decimal.
    ///
    /// # Errors
    /// [`InvalidValue`] describes valid values.
    pub fn check(&self, value: ConfigValue) -> Result<ConfigValue, InvalidValue> {
        let taken = match (self, &value) {
            (Self::Switch, ConfigValue::Switch(_)) => Some(value.clone()),
            (
                Self::Whole { min, max } | Self::WholeOr { min, max, .. },
                ConfigValue::Whole(_) | ConfigValue::Number(_),
            ) => whole(&value)
                .filter(|number| (min..=max).contains(&number))
                .map(ConfigValue::Whole),
            (Self::WholeOr { word, .. }, ConfigValue::Text(text)) => {
                (text == word).then(|| value.clone())
            }
            (Self::Number { min, max }, _) => number(&value)
                .filter(|it| (min..=max).contains(&it))
                .map(ConfigValue::Number),
            (Self::Choice(words), ConfigValue::Text(text)) => {
                words.contains(&text.as_ref()).then(|| value.clone())
            }
            (Self::NameOr { .. }, ConfigValue::Text(text)) => is_name(text).then(|| value.clone()),
            (Self::Text { max }, ConfigValue::Text(text)) => {
                (text.len() <= *max).then(|| value.clone())
            }
            (Self::Code(syntax), ConfigValue::Text(text)) => match syntax.mistake(text) {
                Some((given, why)) => return Err(self.refuse_because(&given, &why)),
                None => Some(value.clone()),
            },
            (Self::Order(names), ConfigValue::Text(text)) => {
                ordered(names, text).map(|text| ConfigValue::Text(text.into()))
            }
            _ => None,
        };
        taken.ok_or_else(|| self.refuse(&value.to_string()))
    }

    /// Parses a value from the environment or the command line.
    ///
    /// # Errors
    /// [`InvalidValue`] describes valid values.
    pub fn read(&self, text: &str) -> Result<ConfigValue, InvalidValue> {
        let trimmed = text.trim();
        let plain = || ConfigValue::Text(Cow::Owned(trimmed.to_owned()));
        let value = match self {
            Self::Switch => match trimmed.to_ascii_lowercase().as_str() {
                "true" | "on" | "yes" | "1" => ConfigValue::Switch(true),
                "false" | "off" | "no" | "0" => ConfigValue::Switch(false),
                _ => return Err(self.refuse(text)),
            },
            Self::Whole { .. } | Self::WholeOr { .. } => {
                trimmed.parse().map_or_else(|_| plain(), ConfigValue::Whole)
            }
            Self::Number { .. } => trimmed
                .parse()
                .map_or_else(|_| plain(), ConfigValue::Number),
            Self::Choice(_) | Self::NameOr { .. } => plain(),
            Self::Order(_) => plain(),
            Self::Text { .. } | Self::Code(_) => ConfigValue::Text(Cow::Owned(text.to_owned())),
        };
        self.check(value)
    }

    /// Describes valid values, as the end of a sentence.
    pub fn expects(&self) -> String {
        match self {
            Self::Switch => "on or off".to_owned(),
            Self::Whole { min, max } => format!("a whole number from {min} to {max}"),
            Self::WholeOr { word, min, max } => {
                format!("a whole number from {min} to {max}, or {word}")
            }
            Self::Number { min, max } => format!("a number from {min} to {max}"),
            Self::Choice(words) => format!("one of {}", words.join(", ")),
            Self::NameOr { word } => format!("a name, or {word}"),
            Self::Text { max } => format!("a text of at most {max} bytes"),
            Self::Code(Syntax::LogitBiases) => "a list of logit biases".to_owned(),
            Self::Code(Syntax::Tokens) => "a list of tokens".to_owned(),
            Self::Code(Syntax::Grammar) => "a GBNF grammar".to_owned(),
            Self::Code(Syntax::JsonSchema) => "a JSON schema".to_owned(),
            Self::Order(names) => format!("a list of these names, each once: {}", names.join(", ")),
        }
    }

    fn refuse_because(&self, given: &str, why: &str) -> InvalidValue {
        let InvalidValue { given, expected } = self.refuse(given);
        InvalidValue {
            given,
            expected: format!("{expected}: {why}"),
        }
    }

    fn refuse(&self, given: &str) -> InvalidValue {
        InvalidValue {
            given: given.chars().take(QUOTE).collect(),
            expected: self.expects(),
        }
    }
}

/// Normalizes a list of names. `None` for an unknown or repeated name.
fn ordered(names: &[&str], text: &str) -> Option<String> {
    let mut order: Vec<&str> = Vec::with_capacity(names.len());
    for name in text
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
    {
        if order.contains(&name) || !names.contains(&name) {
            return None;
        }
        order.push(name);
    }
    let missing: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| !order.contains(name))
        .collect();
    Some([order, missing].concat().join(", "))
}

fn whole(value: &ConfigValue) -> Option<u32> {
    match value {
        ConfigValue::Whole(number) => Some(*number),
        ConfigValue::Number(number)
            if number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(number) =>
        {
            Some(*number as u32)
        }
        _ => None,
    }
}

fn number(value: &ConfigValue) -> Option<f64> {
    match value {
        ConfigValue::Whole(number) => Some(f64::from(*number)),
        ConfigValue::Number(number) => Some(*number),
        _ => None,
    }
}

fn is_name(text: &str) -> bool {
    !text.trim().is_empty() && text.len() <= MAX_NAME && !text.chars().any(char::is_control)
}

/// Converts a validated value to a typed one.
pub(crate) trait FromValue: Sized + Default {
    fn from_value(value: &ConfigValue) -> Option<Self>;
}

impl FromValue for bool {
    fn from_value(value: &ConfigValue) -> Option<Self> {
        if let ConfigValue::Switch(on) = value {
            Some(*on)
        } else {
            None
        }
    }
}

impl FromValue for u32 {
    fn from_value(value: &ConfigValue) -> Option<Self> {
        whole(value)
    }
}

/// `None` for a word such as `auto` or `off`.
impl FromValue for Option<u32> {
    fn from_value(value: &ConfigValue) -> Option<Self> {
        Some(whole(value))
    }
}

impl FromValue for f32 {
    fn from_value(value: &ConfigValue) -> Option<Self> {
        number(value).map(|number| number as Self)
    }
}

impl FromValue for String {
    fn from_value(value: &ConfigValue) -> Option<Self> {
        if let ConfigValue::Text(text) = value {
            Some(text.clone().into_owned())
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: ValueType = ValueType::WholeOr {
        word: "auto",
        min: 512,
        max: 1_000,
    };

    fn json(kind: ValueType, json: &str) -> Result<ConfigValue, InvalidValue> {
        kind.check(serde_json::from_str(json).unwrap())
    }

    #[test]
    fn a_number_may_be_a_word_instead() {
        assert_eq!(json(LIMIT, "600"), Ok(ConfigValue::Whole(600)));
        assert_eq!(json(LIMIT, "600.0"), Ok(ConfigValue::Whole(600)));
        assert_eq!(
            json(LIMIT, r#""auto""#),
            Ok(ConfigValue::Text("auto".into()))
        );
        for wrong in ["511", "1001", "600.5", "-1", "true", r#""off""#, r#""600""#] {
            assert!(json(LIMIT, wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_refusal_describes_valid_values() {
        let refusal = json(LIMIT, "2").unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "\"2\" is not a whole number from 512 to 1000, or auto"
        );
        let long = ValueType::Choice(&["a", "b"])
            .read(&"x".repeat(9_999))
            .unwrap_err();
        assert_eq!(
            (long.given.len(), long.expected.as_str()),
            (QUOTE, "one of a, b")
        );
    }

    #[test]
    fn parses_values_typed_by_people() {
        assert_eq!(
            ValueType::Switch.read(" Yes "),
            Ok(ConfigValue::Switch(true))
        );
        assert_eq!(
            ValueType::Number { min: 0.0, max: 2.0 }.read("1"),
            Ok(ConfigValue::Number(1.0))
        );
        assert_eq!(LIMIT.read("auto"), Ok(ConfigValue::Text("auto".into())));
        for wrong in ["NaN", "inf", "2.01", "warm", ""] {
            assert!(
                ValueType::Number { min: 0.0, max: 2.0 }
                    .read(wrong)
                    .is_err(),
                "{wrong}"
            );
        }
    }

    #[test]
    fn an_order_names_each_item_at_most_once() {
        let order = ValueType::Order(&["dry", "top_k", "min_p"]);
        let text = |text: &'static str| Ok(ConfigValue::Text(text.into()));
        assert_eq!(order.read("min_p,dry"), text("min_p, dry, top_k"));
        assert_eq!(order.read(""), text("dry, top_k, min_p"));
        for wrong in ["dry, dry", "top_a", "top_k dry"] {
            assert!(order.read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn code_is_refused_with_its_mistake() {
        let refusal = ValueType::Code(Syntax::LogitBiases)
            .read("blue = -5\nred")
            .unwrap_err()
            .to_string();
        assert!(
            refusal.starts_with("\"red\" is not a list of logit biases: a line is a text"),
            "{refusal}"
        );
        let refusal = ValueType::Code(Syntax::Grammar)
            .read("answer ::= x")
            .unwrap_err()
            .to_string();
        assert_eq!(
            refusal,
            "\"answer ::= x\" is not a GBNF grammar: it has no rule named root"
        );
        for syntax in [
            Syntax::LogitBiases,
            Syntax::Tokens,
            Syntax::Grammar,
            Syntax::JsonSchema,
        ] {
            assert!(
                ValueType::Code(syntax).read(" \n").is_ok(),
                "an empty text is off"
            );
            assert!(
                ValueType::Code(syntax)
                    .read(&"= 1\n".repeat(30_000))
                    .is_err()
            );
        }
    }

    #[test]
    fn a_name_is_one_line_and_not_empty() {
        let name = ValueType::NameOr { word: "auto" };
        assert!(name.read("My template").is_ok());
        for wrong in ["", "  ", "two\nlines", &"x".repeat(MAX_NAME + 1)] {
            assert!(name.read(wrong).is_err(), "{wrong:?}");
        }
    }
}
