//! Selects the published encoding that fits a remote model. The encodings are compiled in; nothing is downloaded.

/// A published byte-pair encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    O200k,
    Cl100k,
}

const O200K: &[&str] =
    &["gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "gpt-oss", "chatgpt-4o", "chatgpt", "o1", "o3", "o4", "codex"];
/// The entries from `text-embedding` on use encodings derived from this one. Their counts differ by a few percent,
/// which calibration corrects.
const CL100K: &[&str] = &["gpt-4", "gpt-3.5", "gpt-35", "text-embedding", "llama-3", "llama3", "meta-llama-3", "qwen"];

impl Encoding {
    /// Returns the encoding of `model` or a close relative of it, or `None` for an unknown model. Ignores vendor and
    /// fine-tune prefixes, as in `openai/gpt-4o` and `ft:gpt-4o-mini:me`.
    pub fn of(model: &str) -> Option<Self> {
        let name = model.to_ascii_lowercase();
        let name = name.rsplit('/').next().unwrap_or_default();
        let name = name.strip_prefix("ft:").unwrap_or(name);
        let begins = |known: &&str| {
            let rest = name.strip_prefix(*known);
            rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_alphabetic()))
        };
        if O200K.iter().any(begins) { Some(Self::O200k) } else { CL100K.iter().any(begins).then_some(Self::Cl100k) }
    }

    /// Returns the published name, which is also the key of cached counts.
    pub fn name(self) -> &'static str {
        match self {
            Self::O200k => "o200k_base",
            Self::Cl100k => "cl100k_base",
        }
    }

    /// Counts the tokens of `text` in time linear in its length. The first call takes about 50 ms more.
    pub fn count(self, text: &str) -> u32 {
        let tokenizer = match self {
            Self::O200k => bpe_openai::o200k_base(),
            Self::Cl100k => bpe_openai::cl100k_base(),
        };
        u32::try_from(tokenizer.count(text)).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selects_encoding_by_model_family() {
        for (model, encoding) in [
            ("gpt-4o-mini-2024-07-18", Some(Encoding::O200k)),
            ("openai/gpt-4.1", Some(Encoding::O200k)),
            ("o3-mini", Some(Encoding::O200k)),
            ("ft:gpt-4o:someone", Some(Encoding::O200k)),
            ("gpt-4-turbo", Some(Encoding::Cl100k)),
            ("gpt-3.5-turbo", Some(Encoding::Cl100k)),
            ("Qwen/Qwen2.5-7B-Instruct", Some(Encoding::Cl100k)),
            ("meta-llama/Llama-3.1-8B-Instruct", Some(Encoding::Cl100k)),
            ("claude-sonnet", None),
            ("mistral-small", None),
            ("olmo-7b", None),
            ("", None),
        ] {
            assert_eq!(Encoding::of(model), encoding, "{model}");
        }
    }

    #[test]
    fn counts_match_the_published_encodings() {
        // Examples that OpenAI published with the encodings.
        assert_eq!(Encoding::Cl100k.count("tiktoken is great!"), 6);
        assert_eq!(Encoding::Cl100k.count("お誕生日おめでとう"), 9);
        assert_eq!(Encoding::O200k.count("お誕生日おめでとう"), 8);
        assert_eq!(Encoding::Cl100k.count("antidisestablishmentarianism"), 6);
        assert_eq!(Encoding::O200k.count(""), 0);
    }

    #[test]
    fn counts_a_very_long_word_quickly() {
        assert!(Encoding::O200k.count(&"a".repeat(1_000_000)) > 1_000);
    }
}
