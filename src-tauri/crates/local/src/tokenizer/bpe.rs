//! Byte-pair encoding by a list of merges (`gpt2`): GPT-2, Llama 3, Qwen, SmolLM and most others.

use tokenizers::Model as _;
use tokenizers::models::bpe::{BPE, Vocab};

use super::Unsupported;
use super::split::{self, Pre};
use crate::gguf::Vocabulary;

pub(super) struct BytePairs {
    pre: Pre,
    model: BPE,
    /// The letter that stands for each byte.
    letters: [char; 256],
}

impl BytePairs {
    pub(super) fn of(vocabulary: &Vocabulary) -> Result<Self, Unsupported> {
        let name = if vocabulary.model == "gemma4" { "gemma4" } else { vocabulary.pre.as_deref().unwrap_or_default() };
        let pre = split::pre(name).ok_or_else(|| Unsupported::Rule(name.chars().take(60).collect()))?;
        let vocab: Vocab = vocabulary.tokens.iter().cloned().zip(0..).collect();
        let merges = vocabulary.merges.iter().filter_map(|merge| pair(merge)).collect();
        let model = BPE::builder()
            .vocab_and_merges(vocab, merges)
            .cache_capacity(0)
            .ignore_merges(pre.whole_words)
            .byte_fallback(!pre.byte_letters)
            .build()
            .map_err(|error| Unsupported::Vocabulary(error.to_string()))?;
        Ok(Self { pre, model, letters: byte_letters() })
    }

    pub(super) fn split(&self, text: &str, each: &mut dyn FnMut(&str)) {
        if self.pre.byte_letters {
            split::split(self.pre.stages, text, each);
        } else {
            split::split(self.pre.stages, &text.replace(' ', "▁"), each);
        }
    }

    pub(super) fn word(&self, word: &str, tokens: &mut Vec<u32>) {
        if !self.pre.byte_letters
            && word.bytes().all(|byte| byte == b'\n')
            && let Some(token) = self.model.token_to_id(word)
        {
            return tokens.push(token);
        }
        let found = match self.pre.byte_letters {
            true => self.model.tokenize(&word.bytes().map(|byte| self.letters[usize::from(byte)]).collect::<String>()),
            false => self.model.tokenize(word),
        };
        // It fails for a vocabulary without the token for unknown text only, and we name none.
        tokens.extend(found.into_iter().flatten().map(|token| token.id));
    }
}

/// The two sides of a merge; the first may begin with a space.
fn pair(merge: &str) -> Option<(String, String)> {
    let first = merge.chars().next()?.len_utf8();
    let at = first + merge[first..].find(' ')?;
    Some((merge[..at].to_owned(), merge[at + 1..].to_owned()))
}

/// GPT-2's alphabet: printable Latin-1 stands for itself, the other bytes for the letters from U+0100 on.
fn byte_letters() -> [char; 256] {
    let mut others = ('\u{100}'..).take(256);
    std::array::from_fn(|byte| match byte as u8 {
        byte @ (b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff) => byte.into(),
        _ => others.next().unwrap_or_default(),
    })
}
