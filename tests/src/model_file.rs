//! A model file that says other things about itself. Values are replaced in place, so that everything stays where it is.

use std::path::Path;

/// The bytes of a GGUF.
pub struct ModelFile(Vec<u8>);

impl ModelFile {
    pub fn read(path: &Path) -> Self {
        Self(std::fs::read(path).expect("the model is read"))
    }

    pub fn write(&self, path: &Path) {
        std::fs::write(path, &self.0).expect("the copy of the model is written");
    }

    /// Takes `tokens` of context.
    pub fn context(&mut self, tokens: u32) {
        self.put("llama.context_length", &tokens.to_le_bytes());
    }

    /// Wants a begin token in front of prompts.
    pub fn add_bos(&mut self) {
        self.put("tokenizer.ggml.add_bos_token", &[1]);
    }

    /// Has `source` for a chat template, which must not be longer than its own.
    pub fn chat_template(&mut self, source: &str) {
        let at = self.value("tokenizer.chat_template");
        let length: [u8; 8] = self.0[at..at + 8].try_into().expect("eight bytes of length");
        let length = u64::from_le_bytes(length) as usize;
        let padded = format!("{{#{}#}}{source}", " ".repeat(length.checked_sub(source.len() + 4).expect("it fits")));
        self.0[at + 8..at + 8 + length].copy_from_slice(padded.as_bytes());
    }

    fn put(&mut self, key: &str, value: &[u8]) {
        let at = self.value(key);
        self.0[at..at + value.len()].copy_from_slice(value);
    }

    /// Behind the key stands the type of the value, 4 bytes, then the value.
    fn value(&self, key: &str) -> usize {
        let found = self.0.windows(key.len()).position(|window| window == key.as_bytes());
        found.unwrap_or_else(|| panic!("the model tells its {key}")) + key.len() + 4
    }
}
