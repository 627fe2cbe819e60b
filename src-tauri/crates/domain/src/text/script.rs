//! Properties of writing systems.

/// Whether the letter is Thai, Japanese, Chinese or Korean. These scripts put no or few spaces
/// between words.
pub fn is_unspaced_letter(letter: char) -> bool {
    matches!(letter, '\u{e00}'..='\u{e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

/// Whether the text contains such a letter.
pub fn has_unspaced_script(text: &str) -> bool {
    text.chars().any(is_unspaced_letter)
}
