//! Counts the tokens of prompts with the model's own tokenizer, a matching encoding or an estimate.
//! Each text is counted only once.

use std::cell::RefCell;
use std::collections::HashMap;

use context::CountTokens;
use domain::model::LocalModel;
use domain::prompt::Segment;
use store::TextHash;

use crate::base::error::ApiResult;
use crate::settings::counting::count_cache::CachedCount;
use crate::settings::counting::remote_count::{RemoteCounting, Tokens};
use crate::settings::model_handles::handle::ModelHandle;
use crate::settings::token_counts::TokenCounts;

/// How the tokens of a model are counted.
pub(crate) enum TokenCounting {
    /// Exactly, with the local model's tokenizer.
    Local(LocalModel),
    /// Approximately, for a remote model.
    Remote(RemoteCounting),
}

/// Counts by the tokenizer, before calibration.
struct Raw {
    counts: Vec<(Segment, u32)>,
    /// Number of counts that were not in the store.
    fresh: u32,
}

impl TokenCounting {
    /// Identifies the tokenizer.
    pub(crate) fn tokenizer(&self) -> String {
        match self {
            Self::Local(model) => model.sha256.clone(),
            Self::Remote(remote) => remote.key(),
        }
    }

    /// Applies the calibration to a raw count.
    pub(crate) fn corrected(&self, raw: u32) -> u32 {
        match self {
            Self::Local(_) => raw,
            Self::Remote(remote) => remote.calibration.apply(raw),
        }
    }

    /// Loads the counts of `segments` into the memory cache.
    pub(crate) async fn learn(
        &self,
        config: &TokenCounts,
        segments: Vec<Segment>,
    ) -> ApiResult<()> {
        self.raw(config, segments, false).await.map(|_| ())
    }

    /// Counts `segments`, using stored counts of this tokenizer and counting revision where they
    /// exist. Stores new counts unless they are speculative (`in_passing`). All counts, including
    /// estimates, are in the memory cache afterwards, because lorebook budgets are checked against
    /// that cache.
    async fn raw(
        &self,
        config: &TokenCounts,
        segments: Vec<Segment>,
        in_passing: bool,
    ) -> ApiResult<Raw> {
        let tokenizer = self.tokenizer();
        let known = |stored| {
            move |(hash, count): (&TextHash, &u32)| {
                (
                    *hash,
                    CachedCount {
                        count: *count,
                        stored,
                    },
                )
            }
        };
        let hashes: Vec<TextHash> = segments
            .iter()
            .map(|segment| hash(&segment.text, segment.control))
            .collect();
        if let Some(remote) = self.estimate() {
            let counts: Vec<u32> = segments.iter().map(|segment| remote.raw(segment)).collect();
            config
                .known_counts()
                .keep(&tokenizer, hashes.iter().zip(&counts).map(known(true)));
            return Ok(Raw {
                counts: segments.into_iter().zip(counts).collect(),
                fresh: 0,
            });
        }
        let of = key(&tokenizer);
        let asked = hashes.clone();
        let stored = config
            .base()
            .store()
            .read(move |store| store.token_counts().get_many(&of, &asked))
            .await?;
        let (old, new): (Vec<_>, Vec<_>) = segments
            .into_iter()
            .zip(hashes)
            .partition(|(_, hash)| stored.contains_key(hash));
        let mut counts: Vec<(Segment, u32)> = old
            .into_iter()
            .filter_map(|(segment, hash)| Some((segment, *stored.get(&hash)?)))
            .collect();
        if new.is_empty() {
            config
                .known_counts()
                .keep(&tokenizer, stored.iter().map(known(true)));
            return Ok(Raw { counts, fresh: 0 });
        }
        let (texts, hashes): (Vec<Segment>, Vec<TextHash>) = new.into_iter().unzip();
        let counted = match self {
            Self::Local(model) => config.local().count(model, &texts).await?,
            Self::Remote(remote) => remote.raw_all(texts.clone()).await?,
        };
        let now_known = hashes.iter().zip(&counted).map(known(!in_passing));
        config
            .known_counts()
            .keep(&tokenizer, stored.iter().map(known(true)).chain(now_known));
        if !in_passing {
            store(
                config,
                &tokenizer,
                hashes.into_iter().zip(counted.iter().copied()).collect(),
            );
        }
        let fresh = texts.len().try_into().unwrap_or(u32::MAX);
        counts.extend(texts.into_iter().zip(counted));
        Ok(Raw { counts, fresh })
    }

    /// The counter, if it only estimates. Estimating is faster than the cache, and faster than
    /// planning twice.
    fn estimate(&self) -> Option<&RemoteCounting> {
        match self {
            Self::Remote(remote) if matches!(remote.tokens, Tokens::Estimate) => Some(remote),
            _ => None,
        }
    }
}

/// Stores counts without making the turn wait for the disk. They can be computed again.
pub(crate) fn store(config: &TokenCounts, tokenizer: &str, counts: Vec<(TextHash, u32)>) {
    let key = key(tokenizer);
    let kept = config
        .base()
        .store()
        .checkpoint(move |store| store.token_counts_mut().insert_many(&key, &counts));
    tokio::spawn(async move {
        if let Err(error) = kept.await {
            tracing::warn!(%error, "token counts could not be stored; they will be computed again");
        }
    });
}

/// Token counter for one prompt. Cached counts are available at once; the others must be
/// [learned](Self::learn) first.
pub(crate) struct Counter<'a> {
    config: &'a TokenCounts,
    counting: &'a TokenCounting,
    tokenizer: String,
    in_passing: bool,
    seen: RefCell<Seen>,
    /// Number of segments without a stored count, which the tokenizer had to count.
    pub(crate) counted: u32,
}

/// Counts that this prompt uses.
#[derive(Default)]
struct Seen {
    counts: HashMap<Segment, u32>,
    /// Counts of earlier speculative prompts that are not stored yet.
    unstored: Vec<(TextHash, u32)>,
}

impl<'a> Counter<'a> {
    pub(crate) fn new(config: &'a TokenCounts, model_handle: &'a ModelHandle) -> Self {
        let counting = model_handle.counting();
        let tokenizer = counting.tokenizer();
        let seen = RefCell::default();
        Self {
            config,
            counting,
            tokenizer,
            in_passing: false,
            seen,
            counted: 0,
        }
    }

    /// Marks the prompt as speculative. Its counts are not stored, because most drafts change
    /// before they are sent.
    pub(crate) fn in_passing(self, in_passing: bool) -> Self {
        Self { in_passing, ..self }
    }

    /// Counts `segments` for this prompt.
    pub(crate) async fn learn(&mut self, segments: Vec<Segment>) -> ApiResult<()> {
        let Raw { counts, fresh } = self
            .counting
            .raw(self.config, segments, self.in_passing)
            .await?;
        self.counted += fresh;
        let corrected = counts
            .into_iter()
            .map(|(segment, count)| (segment, self.counting.corrected(count)));
        self.seen.get_mut().counts.extend(corrected);
        Ok(())
    }

    /// Stores the speculative counts that this prompt uses.
    pub(crate) fn finish(self) {
        let Seen { unstored, .. } = self.seen.into_inner();
        if self.in_passing || unstored.is_empty() {
            return;
        }
        let stored = unstored.iter().map(|(hash, count)| {
            (
                *hash,
                CachedCount {
                    count: *count,
                    stored: true,
                },
            )
        });
        self.config.known_counts().keep(&self.tokenizer, stored);
        store(self.config, &self.tokenizer, unstored);
    }
}

impl CountTokens for Counter<'_> {
    fn count(&self, segment: &Segment) -> Option<u32> {
        if let Some(remote) = self.counting.estimate() {
            return remote.count(segment);
        }
        let mut seen = self.seen.borrow_mut();
        if let Some(count) = seen.counts.get(segment) {
            return Some(*count);
        }
        let hash = hash(&segment.text, segment.control);
        let CachedCount { count, stored } =
            self.config.known_counts().get(&self.tokenizer, hash)?;
        seen.unstored.extend((!stored).then_some((hash, count)));
        let count = self.counting.corrected(count);
        seen.counts.insert(segment.clone(), count);
        Some(count)
    }

    fn exact(&self) -> bool {
        matches!(self.counting, TokenCounting::Local(_))
    }
}

/// Key of a text's count. The same text costs differently as control text and as content.
pub(crate) fn hash(text: &str, control: bool) -> TextHash {
    TextHash::joined([if control { "c" } else { "p" }, text])
}

/// Key of a tokenizer in the store, with the revision of the counting.
pub(crate) fn key(tokenizer: &str) -> String {
    format!("{tokenizer} {}", local::COUNTING_REVISION)
}
