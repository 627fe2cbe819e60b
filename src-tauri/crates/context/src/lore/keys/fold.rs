//! Case folding and word boundaries, in JavaScript's way and in a Unicode-aware way.

use std::borrow::Cow;

/// White space as defined by JavaScript.
pub(crate) fn is_space(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Text for case-insensitive matching: lower case as in JavaScript if `compatible`, otherwise
/// case-folded.
pub(crate) fn folded(text: &str, compatible: bool) -> Cow<'_, str> {
    if text.is_ascii() && !text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Borrowed(text)
    } else if compatible {
        Cow::Owned(text.to_lowercase())
    } else {
        Cow::Owned(fold(text))
    }
}

/// Case folding by character: lower, upper, then lower case, so that `ß` becomes `ss` and `ς`
/// becomes `σ`. `İ` becomes `i`.
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
        // Lower case first, because `ẞ` has no other upper case than itself.
        out.extend(
            c.to_lowercase()
                .flat_map(char::to_uppercase)
                .flat_map(char::to_lowercase),
        );
    }
    out
}

/// Letters, digits and marks of any script.
pub(crate) fn is_word(c: char) -> bool {
    regex_syntax::is_word_character(c)
}

/// True for scripts without spaces between words or with agglutinated endings; there a key matches
/// as a substring.
pub(crate) fn is_unspaced(c: char) -> bool {
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

/// True if a word boundary is possible between these characters.
pub(crate) fn is_boundary(a: char, b: char) -> bool {
    !is_word(a) || !is_word(b) || is_unspaced(a) || is_unspaced(b)
}

/// True if a byte next to a key allows a whole-word match; only ASCII letters, digits and `_` are
/// word characters.
pub(crate) fn is_ascii_boundary(neighbour: Option<&u8>) -> bool {
    neighbour.is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_equates_spellings() {
        for (a, b) in [
            ("STRASSE", "straße"),
            ("ΟΔΟΣ", "οδος"),
            ("İstanbul", "istanbul"),
            ("Ёлка", "ёлка"),
            ("ﬁn", "FIN"),
        ] {
            assert_eq!(folded(a, false), folded(b, false), "{a} {b}");
        }
        assert_eq!(folded("İ", true), "i\u{307}");
        assert_ne!(folded("Straße", true), folded("STRASSE", true));
    }

    #[test]
    fn trims_white_space_like_javascript() {
        assert_eq!(trim("\u{feff}\u{a0} a\u{85} "), "a\u{85}");
    }
}
