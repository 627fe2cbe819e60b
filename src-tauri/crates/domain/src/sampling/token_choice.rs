//! Probabilities of the tokens of a reply.

use serde::{Deserialize, Serialize};

/// Number of alternatives that are requested for each token.
pub const ALTERNATIVES: u32 = 10;

/// A token of a reply and the tokens that the model considered in its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TokenChoice {
    pub text: String,
    /// Natural logarithm of the probability, before all samplers.
    pub logprob: f32,
    /// Likeliest first. May contain the token itself.
    pub alternatives: Vec<TokenAlternative>,
}

/// A token that the model considered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TokenAlternative {
    pub text: String,
    pub logprob: f32,
}

/// The tokens at the end of a stored text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TokenChoices {
    /// Place in the text at which the first token begins, in bytes.
    pub start: usize,
    pub tokens: Vec<TokenChoice>,
}

impl TokenChoices {
    /// Maximum number of tokens to store. A longer reply has none of them, because they must form
    /// its whole text.
    pub const MAX_TOKENS: usize = 4_000;

    /// Places the tokens at the end of `text`. White space at both ends of them may have been
    /// removed from it. `None` if they do not form the end of that text.
    pub fn at_end(text: &str, mut tokens: Vec<TokenChoice>) -> Option<Self> {
        if tokens.len() > Self::MAX_TOKENS {
            return None;
        }
        while let Some(last) = tokens.last_mut() {
            last.text.truncate(last.text.trim_end().len());
            if !last.text.is_empty() {
                break;
            }
            tokens.pop();
        }
        // In a continued reply, the white space in front stays.
        Self::placed(text, tokens.clone()).or_else(|| {
            while let Some(first) = tokens.first_mut() {
                first.text = first.text.trim_start().to_owned();
                if !first.text.is_empty() {
                    break;
                }
                tokens.remove(0);
            }
            Self::placed(text, tokens)
        })
    }

    fn placed(text: &str, tokens: Vec<TokenChoice>) -> Option<Self> {
        let start = text
            .len()
            .checked_sub(tokens.iter().map(|token| token.text.len()).sum())?;
        let choices = Self { start, tokens };
        (!choices.tokens.is_empty() && choices.fits(text)).then_some(choices)
    }

    /// Whether the text still ends with exactly these tokens.
    pub fn fits(&self, text: &str) -> bool {
        let Some(mut rest) = text.get(self.start..) else {
            return false;
        };
        for token in &self.tokens {
            let Some(next) = rest.strip_prefix(token.text.as_str()) else {
                return false;
            };
            rest = next;
        }
        rest.is_empty()
    }

    /// The text up to `token`, with an alternative in its place. `None` if there is no such
    /// alternative.
    pub fn with_alternative(&self, text: &str, token: usize, alternative: usize) -> Option<String> {
        let alternative = self.tokens.get(token)?.alternatives.get(alternative)?;
        let before = text.get(..self.start)?;
        let kept: String = self.tokens[..token]
            .iter()
            .map(|token| token.text.as_str())
            .collect();
        Some([before, &kept, &alternative.text].concat())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tokens(texts: &[&str]) -> Vec<TokenChoice> {
        let alternative = |text: &str| TokenAlternative {
            text: text.to_uppercase(),
            logprob: -2.0,
        };
        let token = |text: &&str| TokenChoice {
            text: (*text).into(),
            logprob: -1.0,
            alternatives: vec![alternative(text)],
        };
        texts.iter().map(token).collect()
    }

    #[test]
    fn tokens_are_placed_at_the_end_of_the_text() {
        let choices = TokenChoices::at_end(
            "Well, the sea.",
            tokens(&["\n", " the", " sea", ".", "\n\n"]),
        )
        .unwrap();
        assert_eq!((choices.start, choices.tokens.len()), (6, 3));
        let whole =
            TokenChoices::at_end("Well, the sea.", tokens(&[" the", " sea", ".", "\n\n"])).unwrap();
        assert_eq!((whole.start, whole.tokens.len()), (5, 3));
        assert_eq!(
            choices.with_alternative("Well, the sea.", 1, 0).as_deref(),
            Some("Well, the SEA")
        );
        assert_eq!(choices.with_alternative("Well, the sea.", 1, 1), None);
        assert_eq!(choices.with_alternative("Well, the sea.", 9, 0), None);
        assert!(!choices.fits("Well, the sea?") && !choices.fits(""));
        assert_eq!(TokenChoices::at_end("Another text", tokens(&["the"])), None);
        assert_eq!(TokenChoices::at_end("", tokens(&[" "])), None);
    }

    proptest! {
        #[test]
        fn every_alternative_begins_as_the_reply(
            before in "[a-zé ]{0,8}",
            texts in proptest::collection::vec("[a-zé🦀 \n]{1,4}", 1..12),
            place in 0usize..12,
        ) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let joined = texts.concat();
            let text = format!("{before}{}", joined.trim());
            if let Some(choices) = TokenChoices::at_end(&text, tokens(&texts)) {
                prop_assert!(choices.fits(&text));
                if let Some(other) = choices.with_alternative(&text, place, 0) {
                    let kept = other.len() - choices.tokens[place].alternatives[0].text.len();
                    prop_assert!(text.starts_with(&other[..kept]));
                }
            }
        }
    }
}
