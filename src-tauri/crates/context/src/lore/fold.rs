//! Case and words: as JavaScript sees them, and as readers do.

use std::borrow::Cow;

/// What JavaScript calls white space.
pub(super) fn is_space(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Text in which case does not matter: lower case as JavaScript makes it, or folded.
pub(super) fn folded(text: &str, compatible: bool) -> Cow<'_, str> {
    if text.is_ascii() && !text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Borrowed(text)
    } else if compatible {
        Cow::Owned(text.to_lowercase())
    } else {
        Cow::Owned(fold(text))
    }
}

/// Lower, upper, and lower case again, letter by letter: so `ß` is `ss` and `ς` is `σ`. `İ` is a plain `i`.
fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() {
            out.push(c.to_ascii_lowercase());
            continue;
        }
        if c == 'İ' {
            out.push('i');
            continue;
        }
        // Lower first: the capital `ẞ` has no other upper case than itself.
        out.extend(c.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase));
    }
    out
}

/// Letters, digits and marks of any script.
pub(super) fn is_word(c: char) -> bool {
    regex_syntax::is_word_character(c)
}

/// Whether words of this script stand without spaces, or with endings grown on: there a key is a substring.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0fff}'      // Thai, Lao, Tibetan
        | '\u{1000}'..='\u{109f}'    // Burmese
        | '\u{1100}'..='\u{11ff}'    // Korean letters
        | '\u{1780}'..='\u{17ff}'    // Khmer
        | '\u{2e80}'..='\u{2fff}'    // radicals
        | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{30ff}'    // Japanese
        | '\u{3100}'..='\u{318f}'
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'    // Chinese
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7ff}'    // Korean
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}'
        | '\u{20000}'..='\u{3ffff}')
}

/// Whether a word may end between these two.
pub(super) fn is_boundary(a: char, b: char) -> bool {
    !is_word(a) || !is_word(b) || is_unspaced(a) || is_unspaced(b)
}

/// Whether a byte beside a key lets it be a whole word, where only ASCII makes words.
pub(super) fn is_ascii_boundary(neighbour: Option<&u8>) -> bool {
    neighbour.is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_makes_spellings_meet() {
        for (a, b) in
            [("STRASSE", "straße"), ("ΟΔΟΣ", "οδος"), ("İstanbul", "istanbul"), ("Ёлка", "ёлка"), ("ﬁn", "FIN")]
        {
            assert_eq!(folded(a, false), folded(b, false), "{a} {b}");
        }
        assert_eq!(folded("İ", true), "i\u{307}");
        assert_ne!(folded("Straße", true), folded("STRASSE", true));
    }

    #[test]
    fn spaces_are_those_of_javascript() {
        assert_eq!(trim("\u{feff}\u{a0} a\u{85} "), "a\u{85}");
    }
}
