//! Characters that a vocabulary cannot represent.
//!
//! A vocabulary of the SentencePiece kind writes a character without a token of its own as the
//! tokens of its bytes. If a file lacks one of these, llama.cpp throws an exception, which ends the
//! process. Such characters are replaced first.

use std::borrow::Cow;
use std::collections::HashSet;

use llama_cpp_2::model::LlamaModel;

/// Replaces characters that the vocabulary cannot represent, if it has a token itself.
const UNKNOWN: char = '?';
/// Kinds of vocabularies that write characters as bytes, as model files name them.
const SENTENCE_PIECE: [&str; 2] = ["llama", "t5"];
/// SentencePiece writes a space as this character.
const SPACE: char = '\u{2581}';

/// Characters and bytes that have tokens, of a vocabulary without tokens for all bytes.
#[derive(Debug)]
pub(crate) struct Alphabet {
    characters: HashSet<char>,
    bytes: HashSet<u8>,
}

impl Alphabet {
    /// `None` if the vocabulary can represent every text.
    pub(crate) fn of(model: &LlamaModel) -> Option<Self> {
        // The wrapper's own function for the kind panics for some kinds.
        let kind = model.meta_val_str("tokenizer.ggml.model").ok()?;
        if !SENTENCE_PIECE.contains(&kind.as_str()) {
            return None;
        }
        let vocab = model.vocab();
        let alphabet = Self::from_tokens(
            vocab
                .tokens()
                .filter_map(|token| vocab.text(token)?.to_str().ok()),
        );
        (alphabet.bytes.len() < 256).then_some(alphabet)
    }

    fn from_tokens<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let (mut characters, mut bytes) = (HashSet::new(), HashSet::new());
        for text in texts {
            let mut all = text.chars();
            match (all.next(), all.next()) {
                (Some(only), None) => _ = characters.insert(only),
                _ => bytes.extend(byte_of(text)),
            }
        }
        if characters.contains(&SPACE) {
            characters.insert(' ');
        }
        Self { characters, bytes }
    }

    /// The text with [`UNKNOWN`] in place of every character that the vocabulary lacks, or without
    /// them.
    pub(crate) fn readable<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if text.chars().all(|character| self.has(character)) {
            return Cow::Borrowed(text);
        }
        let substitute = Some(UNKNOWN).filter(|mark| self.has(*mark));
        let replaced = text
            .chars()
            .filter_map(|one| if self.has(one) { Some(one) } else { substitute });
        Cow::Owned(replaced.collect())
    }

    fn has(&self, character: char) -> bool {
        let mut buffer = [0; 4];
        let mut bytes = character.encode_utf8(&mut buffer).bytes();
        self.characters.contains(&character) || bytes.all(|byte| self.bytes.contains(&byte))
    }
}

/// The byte of a token such as `<0x0A>`.
fn byte_of(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    u8::from_str_radix(digits, 16)
        .ok()
        .filter(|_| digits.len() == 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_characters_are_replaced_or_dropped() {
        let alphabet = Alphabet::from_tokens(
            ["<s>", SPACE.to_string().as_str(), "a", "b", "?", "é"].into_iter(),
        );
        assert_eq!(alphabet.readable("ab é"), Cow::Borrowed("ab é"));
        assert_eq!(alphabet.readable("a🦊b\n"), "a?b?");
        let partly = Alphabet::from_tokens(["a", "<0xC3>", "<0xA9>", "<0xZZ>"].into_iter());
        assert_eq!(partly.readable("aé🦊"), "aé");
        let narrow = Alphabet::from_tokens(["a", "ab"].into_iter());
        assert_eq!(
            (
                narrow.readable("aéa").as_ref(),
                narrow.readable("é ").as_ref()
            ),
            ("aa", "")
        );
    }
}
