//! Text to tokens in this process, by the model's own vocabulary, exactly as the worker does it.
//!
//! The worker (llama.cpp) is the measure: [`check`] compares the two on a sample once per model, and where they differ, or
//! where a vocabulary is of a kind that is not built here, the worker goes on counting.

mod bpe;
mod cache;
pub(crate) mod check;
mod class;
mod joining;
mod pieces;
mod scan;
mod special;
mod split;
mod wordpiece;
mod words;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use domain::prompt::Segment;

use crate::gguf::{self, GgufError, Vocabulary};
use bpe::BytePairs;
use cache::Cache;
use pieces::Pieces;
use special::{Part, Specials};
use wordpiece::WordPieces;

/// A thread costs less than reading so much text.
const BYTES_A_THREAD: usize = 128 * 1024;

/// Why a vocabulary cannot be used here. Reads on after "the worker counts, for".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unsupported {
    #[error("a vocabulary of the kind \"{0}\" is the worker's alone")]
    Kind(String),
    #[error("the rule \"{0}\" for cutting words is the worker's alone")]
    Rule(String),
    #[error("the vocabulary is unusual: {0}")]
    Vocabulary(String),
    #[error("the file cannot be read: {0}")]
    File(String),
}

impl From<GgufError> for Unsupported {
    fn from(error: GgufError) -> Self {
        Self::File(error.to_string())
    }
}

enum Model {
    BytePairs(Box<BytePairs>),
    Pieces(Pieces),
    WordPieces(WordPieces),
}

/// A model's tokenizer. Threads may share it.
pub struct Tokenizer {
    model: Model,
    specials: Specials,
    /// One for each thread that has been counting at the same time.
    caches: Mutex<Vec<Cache>>,
}

impl Tokenizer {
    /// The tokenizer of the GGUF file at `path`. Blocks: for some 0.3 s where the vocabulary is large.
    ///
    /// # Errors
    /// [`Unsupported`]: then the worker counts.
    pub fn open(path: &Path) -> Result<Self, Unsupported> {
        Self::of(&gguf::vocabulary(path)?)
    }

    /// The tokenizer that `vocabulary` describes.
    ///
    /// # Errors
    /// [`Unsupported`]: then the worker counts.
    pub fn of(vocabulary: &Vocabulary) -> Result<Self, Unsupported> {
        let model = match vocabulary.model.as_str() {
            "gpt2" | "gemma4" => Model::BytePairs(Box::new(BytePairs::of(vocabulary)?)),
            // llama.cpp takes the spaces after Phi 3's markers away.
            "llama" if is_phi3(&vocabulary.name) => return Err(Unsupported::Rule("phi-3".to_owned())),
            "llama" => Model::Pieces(Pieces::of(vocabulary)?),
            "bert" => Model::WordPieces(WordPieces::of(vocabulary)),
            other => return Err(Unsupported::Kind(other.chars().take(60).collect())),
        };
        Ok(Self { model, specials: Specials::of(vocabulary), caches: Mutex::default() })
    }

    /// Token ids of `segment`. Contents never give a control token, whatever they say.
    pub fn tokenize(&self, segment: &Segment) -> Vec<u32> {
        let mut tokens = Vec::new();
        self.each(segment, &mut |found| tokens.extend_from_slice(found));
        tokens
    }

    /// Tokens of `segment`.
    pub fn count(&self, segment: &Segment) -> u32 {
        let mut count = 0;
        self.each(segment, &mut |found| count += found.len());
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Tokens of each of `segments`; many of them are shared out among the processors.
    pub fn count_all(&self, segments: &[Segment]) -> Vec<u32> {
        let bytes: usize = segments.iter().map(|segment| segment.text.len()).sum();
        let threads = (bytes / BYTES_A_THREAD).clamp(1, num_cpus::get());
        if threads == 1 {
            return segments.iter().map(|segment| self.count(segment)).collect();
        }
        let next = AtomicUsize::new(0);
        let work = || {
            let mut counts = Vec::new();
            while let Some((at, segment)) = (|at| Some((at, segments.get(at)?)))(next.fetch_add(1, Ordering::Relaxed)) {
                counts.push((at, self.count(segment)));
            }
            counts
        };
        let mut counts = vec![0; segments.len()];
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let own = work();
            let shares = others.into_iter().filter_map(|other| other.join().ok()).chain([own]);
            shares.flatten().for_each(|(at, count)| counts[at] = count);
        });
        counts
    }

    fn each(&self, segment: &Segment, give: &mut dyn FnMut(&[u32])) {
        let mut cache = self.caches().pop().unwrap_or_default();
        if segment.control {
            self.text(self.specials.control(&segment.text), &mut cache, give);
        } else {
            for parts in self.specials.contents(&segment.text) {
                self.text(parts, &mut cache, give);
            }
        }
        self.caches().push(cache);
    }

    fn text(&self, parts: Vec<Part<'_>>, cache: &mut Cache, give: &mut dyn FnMut(&[u32])) {
        let mut after_token = true;
        for part in parts {
            match part {
                Part::Token(token) => give(&[token]),
                Part::Text(text) => self.plain(text, after_token, cache, give),
            }
            after_token = matches!(part, Part::Token(_));
        }
    }

    fn plain(&self, text: &str, after_token: bool, cache: &mut Cache, give: &mut dyn FnMut(&[u32])) {
        match &self.model {
            Model::BytePairs(model) => {
                model.split(text, &mut |word| give(cache.get(word, |tokens| model.word(word, tokens))));
            }
            Model::Pieces(model) => {
                model.split(text, after_token, &mut |word| {
                    give(cache.get(word, |tokens| model.word(word, tokens)));
                });
            }
            Model::WordPieces(model) => {
                model.split(text, &mut |word| give(cache.get(word, |tokens| model.word(word, tokens))));
            }
        }
    }

    fn caches(&self) -> std::sync::MutexGuard<'_, Vec<Cache>> {
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
