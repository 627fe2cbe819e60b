//! The instruction for one version of a reply: "shorter", or the user's own words. It ends the
//! prompt of that version, and no other prompt contains it.

use crate::api::RegenerateHint;
use crate::base::error::{ApiResult, bad_input};

/// Maximum length of the user's own words, in characters.
const MAX_HINT: usize = 4_000;
/// Maximum length of the earlier version that an instruction quotes, in characters.
const MAX_QUOTED: usize = 8_000;
/// The shortest lengths that the model is asked for, in words.
const SHORTEST: usize = 15;
const LONGEST: usize = 60;

/// The instruction for another version of the reply `earlier`; `None` if the words are empty.
/// Lengths are in words, because models count neither characters nor tokens.
///
/// # Errors
/// `BadInput` if the words are too long.
pub(crate) fn instruction(hint: &RegenerateHint, earlier: &str) -> ApiResult<Option<String>> {
    let words = words(earlier);
    let wish = match hint {
        RegenerateHint::Shorter => format!(
            "be brief. Write at most {} words.",
            (words / 2).max(SHORTEST)
        ),
        RegenerateHint::Longer => {
            format!(
                "write more, with more detail. Write at least {} words.",
                (words * 3 / 2).max(LONGEST)
            )
        }
        RegenerateHint::OtherWords if earlier.trim().is_empty() => return Ok(None),
        RegenerateHint::OtherWords => {
            let quoted: String = earlier.trim().chars().take(MAX_QUOTED).collect();
            format!("tell the same as in this earlier version, in other words.\n\n{quoted}")
        }
        RegenerateHint::Own { text } if text.trim().is_empty() => return Ok(None),
        RegenerateHint::Own { text } if text.chars().count() > MAX_HINT => {
            let hint = format!(
                "Write at most {MAX_HINT} characters, or change the author's note instead."
            );
            return Err(bad_input("The hint is too long.", hint));
        }
        RegenerateHint::Own { text } => text.trim().to_owned(),
    };
    Ok(Some(format!("[For the next reply only: {wish}]")))
}

/// The hint that `/regenerate` was typed with; `None` without words.
pub(crate) fn typed(words: &str) -> Option<RegenerateHint> {
    match words.trim().to_lowercase().as_str() {
        "" => None,
        "shorter" => Some(RegenerateHint::Shorter),
        "longer" => Some(RegenerateHint::Longer),
        "other words" => Some(RegenerateHint::OtherWords),
        _ => Some(RegenerateHint::Own {
            text: words.trim().to_owned(),
        }),
    }
}

/// Number of words; in scripts without spaces, an estimate.
fn words(text: &str) -> usize {
    text.split_whitespace()
        .count()
        .max(text.chars().count() / 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(hint: RegenerateHint, earlier: &str) -> String {
        instruction(&hint, earlier).unwrap().unwrap_or_default()
    }

    #[test]
    fn length_follows_the_earlier_version() {
        let earlier = "word ".repeat(100);
        assert_eq!(
            said(RegenerateHint::Shorter, &earlier),
            "[For the next reply only: be brief. Write at most 50 words.]"
        );
        assert!(said(RegenerateHint::Longer, &earlier).ends_with("Write at least 150 words.]"));
        assert!(said(RegenerateHint::Shorter, "Yes.").contains("at most 15 words"));
        assert!(said(RegenerateHint::Longer, &"灯".repeat(800)).contains("at least 150 words"));
    }

    #[test]
    fn own_words_are_the_instruction() {
        let own = |text: &str| RegenerateHint::Own {
            text: text.to_owned(),
        };
        assert_eq!(
            said(own(" She is angry. "), "Hello."),
            "[For the next reply only: She is angry.]"
        );
        assert_eq!(said(own("  "), "Hello."), "");
        assert!(instruction(&own(&"x".repeat(MAX_HINT + 1)), "").is_err());
        assert!(said(RegenerateHint::OtherWords, "Hello, you.").ends_with("\n\nHello, you.]"));
    }

    #[test]
    fn reads_typed_hints() {
        assert_eq!(typed(" "), None);
        assert_eq!(typed("Shorter"), Some(RegenerateHint::Shorter));
        assert_eq!(
            typed("She hums."),
            Some(RegenerateHint::Own {
                text: "She hums.".into()
            })
        );
    }
}
