//! Tokenizers in this process: from the [`Vocabulary`] of a GGUF file, and from the rank lists of
//! the two published [`Encoding`]s.
//!
//! Guarantees
//! - A tokenizer from a vocabulary follows llama.cpp, which is the reference. The crate `local`
//!   compares both on a sample once per model. If they differ, or this crate does not support the
//!   vocabulary, the worker counts.
//! - An encoding returns the same tokens as the crate `bpe-openai`, which is the reference in the
//!   tests.
//! - The time is at most n log n in the length of a text, even for a text without spaces.
//!
//! The rank lists `data/*.ranks` come from `tiktoken` (MIT, by OpenAI; see
//! `data/LICENSE-tiktoken`), by way of `bpe-openai`. The ignored test `encoding::tests::write_data`
//! writes them.
//!
//! Not in this crate: files, the GGUF reader, the comparison with the worker (both in `local`), and
//! the `tokenizer.json` of remote models (in `provider`).

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod bpe;
mod cache;
mod class;
mod encoding;
mod merging;
mod ranks;
mod scan;
mod sentence_piece;
mod special;
mod split;
mod vocabulary;
mod word_rules;
mod wordpiece;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use domain::prompt::Segment;

use bpe::BytePairs;
use cache::WordCache;
pub use encoding::Encoding;
use ranks::RankList;
use sentence_piece::SentencePiece;
use special::{SpecialSplit, SpecialTokens};
pub use vocabulary::{TokenKind, Vocabulary};
use wordpiece::WordPieces;

/// Bytes of text per thread; for less text, a thread costs more than it saves.
const BYTES_A_THREAD: usize = 128 * 1024;

/// Reason why a vocabulary is not supported here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unsupported {
    #[error("this process does not support vocabularies of type \"{0}\"")]
    Kind(String),
    #[error("this process does not support the pre-tokenizer \"{0}\"")]
    Rule(String),
    #[error("the vocabulary is unusual: {0}")]
    Vocabulary(String),
    /// Never returned by this crate, which reads no files.
    #[error("the file cannot be read: {0}")]
    File(String),
}

enum TokenizerAlgorithm {
    BytePairs(Box<BytePairs>),
    SentencePiece(SentencePiece),
    WordPieces(WordPieces),
    Ranks(Box<RankList>),
}

/// A model's tokenizer. Threads may share it.
pub struct Tokenizer {
    model: TokenizerAlgorithm,
    specials: SpecialTokens,
    /// One cache per thread that counts at the same time.
    caches: Mutex<Vec<WordCache>>,
}

impl Tokenizer {
    /// Creates the tokenizer for `vocabulary`.
    ///
    /// # Errors
    /// [`Unsupported`]; the worker must count then.
    pub fn of(vocabulary: &Vocabulary) -> Result<Self, Unsupported> {
        let model = match vocabulary.model.as_str() {
            "gpt2" | "gemma4" => {
                TokenizerAlgorithm::BytePairs(Box::new(BytePairs::of(vocabulary)?))
            }
            // llama.cpp strips the spaces after Phi 3's markers.
            "llama" if is_phi3(&vocabulary.name) => {
                return Err(Unsupported::Rule("phi-3".to_owned()));
            }
            "llama" => TokenizerAlgorithm::SentencePiece(SentencePiece::of(vocabulary)?),
            "bert" => TokenizerAlgorithm::WordPieces(WordPieces::of(vocabulary)),
            other => return Err(Unsupported::Kind(other.chars().take(60).collect())),
        };
        Ok(Self {
            model,
            specials: SpecialTokens::of(vocabulary),
            caches: Mutex::default(),
        })
    }

    /// Creates the tokenizer for a rank list, without special tokens.
    fn of_ranks(ranks: RankList) -> Self {
        Self {
            model: TokenizerAlgorithm::Ranks(Box::new(ranks)),
            specials: SpecialTokens::default(),
            caches: Mutex::default(),
        }
    }

    /// Returns the texts of the control tokens and of markup-like tokens.
    pub fn special_texts(&self) -> impl Iterator<Item = &str> {
        self.specials.texts()
    }

    /// Returns the token ids of `segment`. Contents never produce a control token.
    pub fn tokenize(&self, segment: &Segment) -> Vec<u32> {
        let mut tokens = Vec::new();
        self.each(segment, &mut |found| tokens.extend_from_slice(found));
        tokens
    }

    /// Counts the tokens of `segment`.
    pub fn count(&self, segment: &Segment) -> u32 {
        let mut count = 0;
        self.each(segment, &mut |found| count += found.len());
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Counts the tokens of each of `segments`. Uses several threads for much text.
    pub fn count_all(&self, segments: &[Segment]) -> Vec<u32> {
        let bytes: usize = segments.iter().map(|segment| segment.text.len()).sum();
        let threads = (bytes / BYTES_A_THREAD).clamp(1, num_cpus::get());
        if threads == 1 {
            return segments.iter().map(|segment| self.count(segment)).collect();
        }
        let next = AtomicUsize::new(0);
        let work = || {
            let mut counts = Vec::new();
            while let Some((at, segment)) =
                (|at| Some((at, segments.get(at)?)))(next.fetch_add(1, Ordering::Relaxed))
            {
                counts.push((at, self.count(segment)));
            }
            counts
        };
        let mut counts = vec![0; segments.len()];
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let own = work();
            let shares = others
                .into_iter()
                .filter_map(|other| other.join().ok())
                .chain([own]);
            shares.flatten().for_each(|(at, count)| counts[at] = count);
        });
        counts
    }

    fn each(&self, segment: &Segment, give: &mut dyn FnMut(&[u32])) {
        self.with_cache(|cache| {
            if segment.control {
                return self.text(self.specials.control(&segment.text), cache, give);
            }
            for parts in self.specials.contents(&segment.text) {
                self.text(parts, cache, give);
            }
        });
    }

    /// Counts the tokens of `text`, in which no special token is matched.
    fn count_plain(&self, text: &str) -> u32 {
        let mut count = 0;
        self.with_cache(|cache| self.plain(text, true, cache, &mut |found| count += found.len()));
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    fn with_cache(&self, work: impl FnOnce(&mut WordCache)) {
        let mut cache = self.caches().pop().unwrap_or_default();
        work(&mut cache);
        self.caches().push(cache);
    }

    fn text(
        &self,
        parts: Vec<SpecialSplit<'_>>,
        cache: &mut WordCache,
        give: &mut dyn FnMut(&[u32]),
    ) {
        let mut after_token = true;
        for part in parts {
            match part {
                SpecialSplit::Token(token) => give(&[token]),
                SpecialSplit::Text(text) => self.plain(text, after_token, cache, give),
            }
            after_token = matches!(part, SpecialSplit::Token(_));
        }
    }

    fn plain(
        &self,
        text: &str,
        after_token: bool,
        cache: &mut WordCache,
        give: &mut dyn FnMut(&[u32]),
    ) {
        match &self.model {
            TokenizerAlgorithm::BytePairs(model) => {
                model.split(text, &mut |word| {
                    give(cache.get(word, |tokens| model.word(word, tokens)))
                });
            }
            TokenizerAlgorithm::SentencePiece(model) => {
                model.split(text, after_token, &mut |word| {
                    give(cache.get(word, |tokens| model.word(word, tokens)));
                });
            }
            TokenizerAlgorithm::WordPieces(model) => {
                model.split(text, &mut |word| {
                    give(cache.get(word, |tokens| model.word(word, tokens)))
                });
            }
            TokenizerAlgorithm::Ranks(model) => {
                model.split(text, &mut |word| {
                    give(cache.get(word, |tokens| model.word(word, tokens)))
                });
            }
        }
    }

    fn caches(&self) -> std::sync::MutexGuard<'_, Vec<WordCache>> {
        self.caches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Tokenizer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Tokenizer").finish_non_exhaustive()
    }
}

fn is_phi3(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.contains("phi-3") || name.contains("phi3")
}
