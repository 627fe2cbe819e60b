//! Every weight and threshold of recall: its range, its meaning, and where it was set.
//!
//! Weights are round numbers. Those of [`messages`] and [`lexical`] were tried on the LoCoMo
//! development conversations (R@10, three conversations, 354 questions); the others were set by
//! hand and checked with scenarios. Change one only with a run of `nook memory rank` on a corpus
//! before and after.

/// Scores of earlier messages when embeddings are available. Each signal is from 0 to 1.
pub mod messages {
    /// Cosine similarity of the question and the message with its neighbours.
    pub const SIMILARITY: f32 = 1.0;
    /// Lexical score, scaled by how well the question's words are covered. The rest of this weight
    /// goes to the similarity of the nearest sentence.
    pub const LEXICAL: f32 = 0.75;
    /// MaxSim of late interaction.
    pub const MAX_SIM: f32 = 1.0;
    /// Each hint: the speaker and the date that the question asks about.
    pub const HINT: f32 = 0.75;
    /// The message names the same possession as the question ("my dog"). It is a third of a hint's
    /// weight, because other messages may be about it as well.
    pub const NAMED: f32 = 0.25;
    /// Penalty for the share of the message that consists of questions.
    pub const QUESTION: f32 = 0.5;
    /// Share of the question's IDF mass, 0 to 1, from which on the lexical score has its full
    /// weight. Below it, the answer is probably a paraphrase.
    pub const FULL_COVERAGE: f32 = 0.4;
    /// Minimum score relative to the best message, 0 to 1. Anything below is off topic.
    pub const FLOOR: f32 = 0.3;
}

/// Scores of earlier messages without embeddings. Each signal is from 0 to 1.
pub mod lexical {
    /// BM25 score of the message alone.
    pub const OWN: f32 = 1.0;
    /// BM25 score of the message and its neighbours as one text.
    pub const NEIGHBOURS: f32 = 2.0;
    /// BM25 scores of the ten messages on each side.
    pub const TOPIC: f32 = 0.5;
    /// Each hint: the speaker and the date that the question asks about.
    pub const HINT: f32 = 1.0;
    /// Logarithm of the message's length, relative to the longest: longer messages say more.
    pub const LENGTH: f32 = 0.5;
    /// The sum of the weights of the words.
    pub const WORDS: f32 = OWN + NEIGHBOURS + TOPIC;
}

/// The sum of `signals`, each multiplied by its weight, in the order given.
pub fn weighted_sum(signals: &[(f32, f32)]) -> f32 {
    signals
        .iter()
        .fold(0.0, |sum, (signal, weight)| sum + signal * weight)
}

/// Scores of memories. Each signal is from 0 to 1, and the weights add up to 1.
pub mod memories {
    /// Lexical score plus cosine similarity, at most 1.
    pub const FIT: f32 = 0.5;
    /// Importance, which decays with its half-life.
    pub const IMPORTANCE: f32 = 0.3;
    /// Recency, which decays with its shorter half-life.
    pub const RECENCY: f32 = 0.2;
    /// Half-life of importance, in days without a change.
    pub const IMPORTANCE_HALF_LIFE: f32 = 365.0;
    /// Half-life of recency, in days.
    pub const RECENCY_HALF_LIFE: f32 = 30.0;
    /// Minimum cosine similarity of a match. Unrelated sentences stay below 0.2.
    pub const MIN_SIMILARITY: f32 = 0.3;
}

/// Maximal marginal relevance.
pub mod mmr {
    /// Lambda for memories, 0 to 1: the weight of relevance against novelty. Both weigh the same.
    pub const MEMORIES: f32 = 0.5;
    /// Maximum penalty for a message that repeats others. It is small, so it rarely drops a
    /// relevant message.
    pub const MESSAGE_PENALTY: f32 = 0.3;
    /// Jaccard similarity of unrelated sentences, 0 to 1; only similarity above it is repetition.
    pub const UNRELATED: f32 = 0.4;
}

/// Embeddings and their tokens.
pub mod embeddings {
    /// Weight of each neighbour in a message's pooled vector; the message has weight 1.
    pub const NEIGHBOUR: f32 = 0.5;
    /// Tokens that at least this share of the passages contain are ignored, 0 to 1: they
    /// distinguish too little.
    pub const COMMON_TOKEN: f64 = 0.3;
}

/// BM25.
pub mod bm25 {
    /// `k1`: how soon further occurrences of a word stop adding to the score.
    pub const SATURATION: f64 = 1.2;
    /// `b`, 0 to 1: how much a text's length counts against it.
    pub const LENGTH: f64 = 0.75;
}
