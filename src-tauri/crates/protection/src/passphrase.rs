//! The normal form of a passphrase.
//!
//! Systems write the same passphrase with different code points: macOS decomposes some letters, and
//! a blank can be typed as a no-break or an ideographic one. The normal form follows the profile
//! `OpaqueString` of RFC 8265: NFC, each blank as U+0020, no control characters.
//!
//! Blanks at both ends are removed, which the profile does not do. They come from copying, from
//! the suggestions of phones and from the last line of a file. People do not see them, so a
//! passphrase that needs one could not be typed again. Blanks inside stay.

use secrecy::{ExposeSecret as _, SecretString};
use unicode_normalization::UnicodeNormalization as _;
use zeroize::Zeroizing;

/// Maximum length of a passphrase in its normal form, in characters (code points).
pub const MAX_PASSPHRASE_CHARACTERS: usize = 1_024;

/// Maximum length before normalization, in bytes. Longer texts cannot become short enough, except
/// with thousands of blanks.
const MAX_TYPED_BYTES: usize = 64 << 10;

/// A passphrase in its normal form.
#[derive(Debug)]
pub struct Passphrase(SecretString);

/// Why a text is not a passphrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PassphraseError {
    #[error("the passphrase is empty; type at least one character that is not a blank")]
    Empty,
    #[error(
        "the passphrase is longer than {MAX_PASSPHRASE_CHARACTERS} characters; choose a shorter one"
    )]
    TooLong,
    #[error("the passphrase contains a line break, a tab or another control character; remove it")]
    ControlCharacter,
}

impl Passphrase {
    /// Converts typed text to its normal form.
    ///
    /// # Errors
    /// Nothing is left, the text is too long, or it contains control characters.
    pub fn new(typed: &str) -> Result<Self, PassphraseError> {
        if typed.len() > MAX_TYPED_BYTES {
            return Err(PassphraseError::TooLong);
        }
        // NFC makes UTF-8 at most three times as long. A reallocation would leave a copy behind.
        let mut normalized = Zeroizing::new(String::with_capacity(3 * typed.len()));
        normalized.extend(typed.nfc().map(plain_blank));
        let trimmed = normalized.trim();
        if trimmed.is_empty() {
            return Err(PassphraseError::Empty);
        }
        if trimmed.chars().any(char::is_control) {
            return Err(PassphraseError::ControlCharacter);
        }
        if trimmed.chars().count() > MAX_PASSPHRASE_CHARACTERS {
            return Err(PassphraseError::TooLong);
        }
        Ok(Self(SecretString::from(trimmed)))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.0.expose_secret().as_bytes()
    }
}

fn plain_blank(letter: char) -> char {
    if letter.is_whitespace() && !letter.is_control() {
        ' '
    } else {
        letter
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(typed: &str, normal: &str) {
        let passphrase = Passphrase::new(typed).unwrap();
        assert_eq!(passphrase.bytes(), normal.as_bytes(), "{typed:?}");
    }

    #[track_caller]
    fn refused(typed: &str) -> PassphraseError {
        Passphrase::new(typed).unwrap_err()
    }

    #[test]
    fn composed_and_decomposed_letters_are_equal() {
        check("Lampenanzu\u{308}nder", "Lampenanz\u{fc}nder");
        check("\u{212b}", "\u{c5}");
        check("\u{1100}\u{1161}\u{11a8}", "\u{ac01}");
    }

    #[test]
    fn emoji_and_other_scripts_stay() {
        for text in ["👩‍👩‍👧‍👦🏳️‍🌈", "ランプ", "ﬁ", "מנורה", "𝒜"]
        {
            check(text, text);
        }
    }

    #[test]
    fn blanks_at_the_ends_are_removed() {
        check(" whale  oil \r\n", "whale  oil");
        check("\u{2003}x\u{2029}", "x");
    }

    #[test]
    fn every_blank_becomes_a_plain_one() {
        check("whale\u{a0}oil\u{3000}lamp", "whale oil lamp");
    }

    #[test]
    fn one_to_1024_characters_are_accepted() {
        check("x", "x");
        check(&"é".repeat(1_024), &"é".repeat(1_024));
        check(&"e\u{301}".repeat(1_024), &"é".repeat(1_024));
        assert_eq!(refused(&"é".repeat(1_025)), PassphraseError::TooLong);
        assert_eq!(refused(&"x".repeat(1 << 20)), PassphraseError::TooLong);
    }

    #[test]
    fn reason_says_what_to_do() {
        assert_eq!(
            refused(&"x".repeat(1_025)).to_string(),
            "the passphrase is longer than 1024 characters; choose a shorter one"
        );
    }

    #[test]
    fn nothing_and_control_characters_are_refused() {
        for nothing in ["", " ", "\u{a0}\t\n"] {
            assert_eq!(refused(nothing), PassphraseError::Empty);
        }
        for control in ["a\tb", "a\nb", "a\u{0}", "\u{7f}"] {
            assert_eq!(refused(control), PassphraseError::ControlCharacter);
        }
    }

    #[test]
    fn passphrase_is_not_printed() {
        let printed = format!("{:?}", Passphrase::new("whale oil").unwrap());
        assert!(!printed.contains("whale"), "{printed}");
    }

    proptest! {
        #[test]
        fn normal_form_is_stable(typed in "\\PC{1,40}") {
            if let Ok(once) = Passphrase::new(&typed) {
                let normal = String::from_utf8(once.bytes().to_vec()).unwrap();
                let twice = Passphrase::new(&normal).unwrap();
                prop_assert_eq!(twice.bytes(), normal.as_bytes());
            }
        }

        #[test]
        fn decomposed_text_has_the_same_form(typed in "[ a-zà-üếốΆ-ώ가-각\u{3000}]{1,40}") {
            let decomposed: String = typed.nfd().collect();
            let forms = [&typed, &decomposed].map(|text| Passphrase::new(text).ok());
            prop_assert_eq!(
                forms[0].as_ref().map(Passphrase::bytes),
                forms[1].as_ref().map(Passphrase::bytes)
            );
        }
    }
}
