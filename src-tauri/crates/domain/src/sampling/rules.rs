//! Rules about single tokens and texts of a reply. They apply before the samplers.

use serde::{Deserialize, Serialize};

/// A bias of this value or less excludes the token, as in OpenAI's API.
pub const NEVER: f32 = -100.0;

/// Rules of one reply. The default has none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TokenRules {
    /// Several biases of one token add up.
    pub logit_bias: Vec<LogitBias>,
    /// Texts that must not occur in the reply, in any letter case.
    pub banned_strings: Vec<String>,
    /// GBNF with a rule `root`.
    pub grammar: Option<String>,
    /// JSON Schema. Ignored if there is a grammar.
    pub json_schema: Option<String>,
    /// Minimum length of a reply, in tokens.
    pub min_tokens: u32,
    /// The reply ends only by its maximum length or a stop text.
    pub ban_end_token: bool,
}

/// A number that is added to the logits of tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogitBias {
    pub tokens: TokenSelector,
    /// -100 to 100; see [`NEVER`].
    pub bias: f32,
}

/// The tokens to which a bias applies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenSelector {
    Ids(Vec<u32>),
    /// Every token of exactly this text.
    Text(String),
    /// Every token of this word, at the start of a text and after a space.
    Word(String),
}

impl TokenSelector {
    /// Parses `[12, 345]` as token ids, `" text"` in quotes as an exact text, and anything else as
    /// a word.
    ///
    /// # Errors
    /// A clause that names the mistake.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if let Some(ids) = text
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            let ids: Result<Vec<u32>, _> = ids.split(',').map(|id| id.trim().parse()).collect();
            return ids
                .map(Self::Ids)
                .map_err(|_| "token ids are whole numbers, such as [12, 345]".to_owned());
        }
        if let Some(exact) = text
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'))
        {
            return match unescaped(exact) {
                exact if exact.is_empty() => Err("the text is empty".to_owned()),
                exact => Ok(Self::Text(exact)),
            };
        }
        if text.is_empty() {
            Err("the text is empty".to_owned())
        } else {
            Ok(Self::Word(unescaped(text)))
        }
    }
}

impl std::fmt::Display for TokenSelector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ids(ids) => write!(
                f,
                "[{}]",
                ids.iter()
                    .map(u32::to_string)
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
            Self::Text(text) => write!(f, "\"{}\"", escaped(text)),
            Self::Word(word) => f.write_str(&escaped(word)),
        }
    }
}

/// Parses one bias per line: tokens, `=`, number.
///
/// # Errors
/// The first invalid line, and a clause that names the mistake.
pub fn logit_biases(lines: &str) -> Result<Vec<LogitBias>, (String, String)> {
    let parse = |line: &str| {
        let (tokens, bias) = line
            .rsplit_once('=')
            .ok_or("a line is a text, =, and a number, such as  blue = -5")?;
        let bias: f32 = bias
            .trim()
            .parse()
            .map_err(|_| "a number must follow the last =".to_owned())?;
        if !(-100.0..=100.0).contains(&bias) {
            return Err("a bias is a number from -100 to 100".to_owned());
        }
        Ok(LogitBias {
            tokens: TokenSelector::parse(tokens)?,
            bias,
        })
    };
    filled(lines)
        .map(|line| parse(line).map_err(|why| (line.trim().to_owned(), why)))
        .collect()
}

/// Parses banned tokens, one selector per line.
///
/// # Errors
/// The first invalid line, and a clause that names the mistake.
pub fn banned_tokens(lines: &str) -> Result<Vec<LogitBias>, (String, String)> {
    let parse = |line: &str| {
        Ok(LogitBias {
            tokens: TokenSelector::parse(line)?,
            bias: NEVER,
        })
    };
    filled(lines)
        .map(|line| parse(line).map_err(|why: String| (line.trim().to_owned(), why)))
        .collect()
}

fn filled(lines: &str) -> impl Iterator<Item = &str> {
    lines.lines().filter(|line| !line.trim().is_empty())
}

/// Parses one text per line, and skips empty lines. `\n` is a line break, `\\` a backslash.
pub fn texts(lines: &str) -> impl Iterator<Item = String> + '_ {
    lines.lines().filter(|line| !line.is_empty()).map(unescaped)
}

/// Replaces `\n` by a line break and `\\` by a backslash.
fn unescaped(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (letter, letter == '\\') {
            (_, true) => match letters.next() {
                Some('n') => text.push('\n'),
                Some('\\') | None => text.push('\\'),
                Some(other) => text.extend(['\\', other]),
            },
            (plain, false) => text.push(plain),
        }
    }
    text
}

/// The inverse of reading one line of [`texts`].
pub fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn biases(lines: &str) -> String {
        let shown = |bias: &LogitBias| format!("{:?} {}", bias.tokens, bias.bias);
        match logit_biases(lines) {
            Ok(all) => all.iter().map(shown).collect::<Vec<_>>().join("; "),
            Err((line, why)) => format!("{line}: {why}"),
        }
    }

    #[test]
    fn reads_words_texts_and_ids() {
        assert_eq!(
            biases("blue = -5\n\n\" = \" = 2.5\r\n[7, 8]=-100"),
            "Word(\"blue\") -5; Text(\" = \") 2.5; Ids([7, 8]) -100"
        );
        let banned = banned_tokens("[1]\n\"\\n\\n\"").unwrap();
        assert_eq!(
            banned[1],
            LogitBias {
                tokens: TokenSelector::Text("\n\n".into()),
                bias: NEVER
            }
        );
    }

    #[test]
    fn names_the_wrong_line() {
        assert_eq!(
            biases("blue = -5\nred"),
            "red: a line is a text, =, and a number, such as  blue = -5"
        );
        assert_eq!(
            biases("red = warm"),
            "red = warm: a number must follow the last ="
        );
        assert_eq!(
            biases("red = 1e9"),
            "red = 1e9: a bias is a number from -100 to 100"
        );
        assert_eq!(
            biases("red = NaN"),
            "red = NaN: a bias is a number from -100 to 100"
        );
        assert_eq!(
            biases("[-1] = 1"),
            "[-1] = 1: token ids are whole numbers, such as [12, 345]"
        );
        assert_eq!(biases("\"\" = 1"), "\"\" = 1: the text is empty");
        assert!(banned_tokens(" \n[x]").is_err());
    }

    proptest! {
        #[test]
        fn any_text_survives_a_round_trip(text in "[a-z \\\\\n\"]{1,12}", lines in "\\PC{0,60}") {
            prop_assert_eq!(texts(&escaped(&text)).collect::<Vec<_>>(), std::slice::from_ref(&text));
            let shown = TokenSelector::Text(text.clone()).to_string();
            prop_assert_eq!(TokenSelector::parse(&shown), Ok(TokenSelector::Text(text)));
            let _ = (logit_biases(&lines), banned_tokens(&lines));
        }
    }
}
