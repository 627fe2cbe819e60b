//! The vocabulary of all tiny models: a token for each visible character of ASCII.

use super::file::{TinyModel, put_text};

/// Control tokens. The vocabulary continues with the blank, the line feed and the visible
/// characters of ASCII.
pub(super) const CONTROL: [&str; 5] = ["<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>"];

impl TinyModel {
    pub(super) fn vocabulary(&mut self, template: &str) {
        let tokens = vocabulary();
        self.text("tokenizer.ggml.model", "llama");
        self.key("tokenizer.ggml.tokens", 9);
        self.array_head(8, tokens.len());
        tokens
            .iter()
            .for_each(|token| put_text(&mut self.keys, token));
        self.key("tokenizer.ggml.scores", 9);
        self.array_head(6, tokens.len());
        self.keys
            .extend(tokens.iter().flat_map(|_| 0f32.to_le_bytes()));
        self.key("tokenizer.ggml.token_type", 9);
        self.array_head(5, tokens.len());
        let kind = |place| match place {
            0 => 2,
            place if place < CONTROL.len() => 3,
            _ => 1,
        };
        self.keys
            .extend((0..tokens.len()).flat_map(|place| i32::to_le_bytes(kind(place))));
        for (key, token) in [("unknown", 0u32), ("bos", 1), ("eos", 2)] {
            self.key(&format!("tokenizer.ggml.{key}_token_id"), 4);
            self.keys.extend(token.to_le_bytes());
        }
        for key in ["add_bos_token", "add_space_prefix"] {
            self.key(&format!("tokenizer.ggml.{key}"), 7);
            self.keys.push(0);
        }
        self.text("tokenizer.chat_template", template);
    }
}

/// Ends a reply.
pub(super) const END: u64 = 2;

/// The token of a visible character of ASCII.
///
/// # Panics
/// The vocabulary has no such character.
pub(super) fn token(character: char) -> u64 {
    let text = character.to_string();
    vocabulary()
        .iter()
        .position(|token| *token == text)
        .expect("a visible character of ASCII") as u64
}

pub(super) fn vocabulary() -> Vec<String> {
    let visible = (b'!'..=b'~').map(|byte| char::from(byte).to_string());
    CONTROL
        .iter()
        .map(|&token| token.to_owned())
        .chain(["\u{2581}".to_owned(), "\n".to_owned()])
        .chain(visible)
        .collect()
}
