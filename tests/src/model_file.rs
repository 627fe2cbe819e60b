//! Modifies the header of a GGUF file. Values are replaced in place, so that all offsets stay
//! valid.

use std::path::Path;

/// The bytes of a GGUF file.
pub struct ModelFile(Vec<u8>);

impl ModelFile {
    pub fn read(path: &Path) -> Self {
        Self(std::fs::read(path).expect("the model is read"))
    }

    pub fn write(&self, path: &Path) {
        std::fs::write(path, &self.0).expect("the copy of the model is written");
    }

    /// Sets the context length to `tokens`.
    pub fn context(&mut self, tokens: u32) {
        self.put("llama.context_length", &tokens.to_le_bytes());
    }

    /// Makes the model require a beginning-of-sequence token.
    pub fn add_bos(&mut self) {
        self.put("tokenizer.ggml.add_bos_token", &[1]);
    }

    /// Replaces the chat template; the new one must not be longer than the old one.
    pub fn chat_template(&mut self, source: &str) {
        let at = self.value("tokenizer.chat_template");
        let length: [u8; 8] = self.0[at..at + 8]
            .try_into()
            .expect("eight bytes of length");
        let length = u64::from_le_bytes(length) as usize;
        let padded = format!(
            "{{#{}#}}{source}",
            " ".repeat(length.checked_sub(source.len() + 4).expect("it fits"))
        );
        self.0[at + 8..at + 8 + length].copy_from_slice(padded.as_bytes());
    }

    fn put(&mut self, key: &str, value: &[u8]) {
        let at = self.value(key);
        self.0[at..at + value.len()].copy_from_slice(value);
    }

    /// Returns the position of a value, which follows the key and the 4 bytes of its type.
    fn value(&self, key: &str) -> usize {
        let found = self
            .0
            .windows(key.len())
            .position(|window| window == key.as_bytes());
        found.unwrap_or_else(|| panic!("the model tells its {key}")) + key.len() + 4
    }
}
