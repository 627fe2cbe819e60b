//! How people write.

/// A letter of a script that puts no spaces between words: Thai, Japanese, Chinese, Korean (which puts some).
pub fn spaceless(letter: char) -> bool {
    matches!(letter, '\u{e00}'..='\u{e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

/// Something in it is of a script that puts no spaces between words.
pub fn is_spaceless(text: &str) -> bool {
    text.chars().any(spaceless)
}
