//! Who counts the tokens of a prompt: the model's own tokenizer or an encoding that fits, each text once, or an estimate.

use std::cell::RefCell;
use std::collections::HashMap;

use context::CountTokens;
use domain::model::LocalModel;
use domain::prompt::Segment;
use store::TextHash;

use crate::Engine;
use crate::answer::Answerer;
use crate::error::Answer;
use crate::known_counts::Known;
use crate::remote_count::{RemoteCounting, Tokens};

/// Whose tokens are counted.
pub(crate) enum Counting {
    /// Exactly, by the model on this machine.
    Local(LocalModel),
    /// More or less.
    Remote(RemoteCounting),
}

/// Counts by a tokenizer alone.
struct Raw {
    counts: Vec<(Segment, u32)>,
    /// How many of them no store had.
    fresh: u32,
}

impl Counting {
    /// Names the tokenizer.
    pub(crate) fn tokenizer(&self) -> String {
        match self {
            Self::Local(model) => model.sha256.clone(),
            Self::Remote(remote) => remote.tokens.key(),
        }
    }

    /// A count of the tokenizer's as the model would make it.
    pub(crate) fn corrected(&self, raw: u32) -> u32 {
        match self {
            Self::Local(_) => raw,
            Self::Remote(remote) => remote.calibration.apply(raw),
        }
    }

    /// Has the memory know the counts of `segments`.
    pub(crate) async fn learn(&self, engine: &Engine, segments: Vec<Segment>) -> Answer<()> {
        self.raw(engine, segments, false).await.map(|_| ())
    }

    /// Counts of `segments` that are not in memory: from the store, as far as this tokenizer has counted them before in this
    /// revision of the counting. It keeps the new ones, unless they are counted `in_passing`. Memory knows them all from then on,
    /// estimates too: the budgets of lorebooks are held by what is known.
    async fn raw(&self, engine: &Engine, segments: Vec<Segment>, in_passing: bool) -> Answer<Raw> {
        let tokenizer = self.tokenizer();
        let known = |stored| move |(hash, count): (&TextHash, &u32)| (*hash, Known { count: *count, stored });
        let hashes: Vec<TextHash> = segments.iter().map(|segment| hash(&segment.text, segment.control)).collect();
        if let Some(remote) = self.estimate() {
            let counts: Vec<u32> = segments.iter().map(|segment| remote.raw(segment)).collect();
            engine.known_counts().keep(&tokenizer, hashes.iter().zip(&counts).map(known(true)));
            return Ok(Raw { counts: segments.into_iter().zip(counts).collect(), fresh: 0 });
        }
        let (of, asked) = (key(&tokenizer), hashes.clone());
        let stored = engine.store().read(move |store| store.token_counts().get_many(&of, &asked)).await?;
        let (old, new): (Vec<_>, Vec<_>) =
            segments.into_iter().zip(hashes).partition(|(_, hash)| stored.contains_key(hash));
        let mut counts: Vec<(Segment, u32)> =
            old.into_iter().filter_map(|(segment, hash)| Some((segment, *stored.get(&hash)?))).collect();
        if new.is_empty() {
            engine.known_counts().keep(&tokenizer, stored.iter().map(known(true)));
            return Ok(Raw { counts, fresh: 0 });
        }
        let (texts, hashes): (Vec<Segment>, Vec<TextHash>) = new.into_iter().unzip();
        let counted = match self {
            Self::Local(model) => engine.local().count(model, &texts).await?,
            Self::Remote(remote) => remote.raw_all(texts.clone()).await?,
        };
        let now_known = hashes.iter().zip(&counted).map(known(!in_passing));
        engine.known_counts().keep(&tokenizer, stored.iter().map(known(true)).chain(now_known));
        if !in_passing {
            store(engine, &tokenizer, hashes.into_iter().zip(counted.iter().copied()).collect());
        }
        let fresh = texts.len().try_into().unwrap_or(u32::MAX);
        counts.extend(texts.into_iter().zip(counted));
        Ok(Raw { counts, fresh })
    }

    /// For a prompt that is faster than any memory of it, and than planning twice.
    fn estimate(&self) -> Option<&RemoteCounting> {
        match self {
            Self::Remote(remote) if matches!(remote.tokens, Tokens::Estimate) => Some(remote),
            _ => None,
        }
    }
}

/// No turn waits for the disk with what can be counted again.
fn store(engine: &Engine, tokenizer: &str, counts: Vec<(TextHash, u32)>) {
    let key = key(tokenizer);
    let kept = engine.store().checkpoint(move |store| store.token_counts_mut().insert_many(&key, &counts));
    tokio::spawn(async move {
        if let Err(error) = kept.await {
            tracing::warn!(%error, "counts of tokens were not kept");
        }
    });
}

/// Counts for one prompt: what is in memory is known at once, the rest has to be [learned](Self::learn) first.
pub(crate) struct Counter<'a> {
    engine: &'a Engine,
    counting: &'a Counting,
    tokenizer: String,
    in_passing: bool,
    seen: RefCell<Seen>,
    /// Segments that a tokenizer had to count: no count of them was kept.
    pub(crate) counted: u32,
}

/// What the prompt needed.
#[derive(Default)]
struct Seen {
    counts: HashMap<Segment, u32>,
    /// Counted in passing, before.
    unstored: Vec<(TextHash, u32)>,
}

impl<'a> Counter<'a> {
    pub(crate) fn new(engine: &'a Engine, answerer: &'a Answerer) -> Self {
        let counting = answerer.counting();
        let (tokenizer, seen) = (counting.tokenizer(), RefCell::default());
        Self { engine, counting, tokenizer, in_passing: false, seen, counted: 0 }
    }

    /// Nothing of it goes into the store: most of what is typed is typed on.
    pub(crate) fn in_passing(self, in_passing: bool) -> Self {
        Self { in_passing, ..self }
    }

    /// Learns the counts of `segments`.
    pub(crate) async fn learn(&mut self, segments: Vec<Segment>) -> Answer<()> {
        let Raw { counts, fresh } = self.counting.raw(self.engine, segments, self.in_passing).await?;
        self.counted += fresh;
        let corrected = counts.into_iter().map(|(segment, count)| (segment, self.counting.corrected(count)));
        self.seen.get_mut().counts.extend(corrected);
        Ok(())
    }

    /// What was counted in passing and is in a prompt now goes into the store.
    pub(crate) fn finish(self) {
        let Seen { unstored, .. } = self.seen.into_inner();
        if self.in_passing || unstored.is_empty() {
            return;
        }
        let stored = unstored.iter().map(|(hash, count)| (*hash, Known { count: *count, stored: true }));
        self.engine.known_counts().keep(&self.tokenizer, stored);
        store(self.engine, &self.tokenizer, unstored);
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
        let Known { count, stored } = self.engine.known_counts().get(&self.tokenizer, hash)?;
        seen.unstored.extend((!stored).then_some((hash, count)));
        let count = self.counting.corrected(count);
        seen.counts.insert(segment.clone(), count);
        Some(count)
    }

    fn exact(&self) -> bool {
        matches!(self.counting, Counting::Local(_))
    }
}

/// The same words cost differently as control text and as contents.
pub(crate) fn hash(text: &str, control: bool) -> TextHash {
    TextHash::joined([if control { "c" } else { "p" }, text])
}

/// Names a tokenizer to the store, in this revision of the counting.
fn key(tokenizer: &str) -> String {
    format!("{tokenizer} {}", local::COUNTING_REVISION)
}
