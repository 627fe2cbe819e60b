//! Memories as candidates for a prompt, with score and reason.

use context::frame::{BlockKind, Candidate, Signal, SignalKind};
use context::reason::{BlockReason, two_decimals};
use domain::Timestamp;
use domain::memory::{Memory, MemoryOrigin, MemoryType};
use recall::memory_mmr::source;
use recall::weights::memories;

use crate::Clock;
use crate::recall_service::facts::{DAY, LASTING, MatchedMemory, SURE, VITAL};

pub(super) fn match_candidate(called: &MatchedMemory, now: Timestamp, clock: &Clock) -> Candidate {
    let score = weigh(&called.memory, called.fit(), now);
    let reason = if called.words > 0.0 {
        BlockReason::WordsOfThisTurn {
            score: two_decimals(score),
        }
    } else {
        BlockReason::ByMeaning {
            similarity: two_decimals(called.nearness),
        }
    };
    candidate(&called.memory, clock, reason, score).with_signals(signals(called, now))
}

pub(super) fn standing_reason(memory: &Memory) -> BlockReason {
    if memory.pinned {
        BlockReason::Pinned
    } else {
        BlockReason::Importance {
            value: memory.importance,
        }
    }
}

pub(super) fn vital_candidate(memory: &Memory, now: Timestamp, clock: &Clock) -> Candidate {
    let reason = standing_reason(memory);
    candidate(memory, clock, reason, weigh(memory, 0.0, now))
}

/// The score, 0 to 1: `0.5 * fit + 0.3 * importance + 0.2 * recency`.
pub(super) fn weigh(memory: &Memory, fit: f32, now: Timestamp) -> f32 {
    memories::FIT * fit
        + memories::IMPORTANCE * worth(memory, now) / 10.0
        + memories::RECENCY * recency(memory, now)
}

/// The importance, 0 to 10, as it has faded until `now`. The highest importance and pinned memories
/// do not fade.
pub(crate) fn worth(memory: &Memory, now: Timestamp) -> f32 {
    let importance = f32::from(memory.importance);
    if memory.pinned || memory.importance >= LASTING {
        importance
    } else {
        importance * faded(memory, now, memories::IMPORTANCE_HALF_LIFE)
    }
}

pub(super) fn signals(called: &MatchedMemory, now: Timestamp) -> Vec<Signal> {
    let importance = worth(&called.memory, now) / 10.0;
    vec![
        SignalKind::Words.is(called.words),
        SignalKind::Nearness.is(called.nearness),
        SignalKind::Importance.is(importance),
        SignalKind::Recency.is(recency(&called.memory, now)),
    ]
}

pub(super) fn recency(memory: &Memory, now: Timestamp) -> f32 {
    faded(memory, now, memories::RECENCY_HALF_LIFE)
}

/// Exponential decay from 1 to 0 since the last change, with a half-life of `half` days.
pub(super) fn faded(memory: &Memory, now: Timestamp, half: f32) -> f32 {
    let days = (now.0 - memory.updated.0).max(0) as f32 / DAY;
    0.5_f32.powf(days / half)
}

pub(super) fn candidate(
    memory: &Memory,
    clock: &Clock,
    reason: BlockReason,
    score: f32,
) -> Candidate {
    // The title says of which day the memory is and how important it is.
    let title = format!("{}, {}/10", clock.day(memory.created), memory.importance);
    let text = told(memory, clock);
    Candidate::new(kind(memory.kind), source(memory), reason, text)
        .with_score(score)
        .with_title(title)
        .with_source_messages(memory.sources.clone())
}

/// The text for the prompt. A superseded memory says until when it was true.
pub(super) fn told(memory: &Memory, clock: &Clock) -> String {
    match memory.archived {
        Some(archived) => format!(
            "{} (until {}; not so now)",
            memory.text,
            clock.day(archived.since)
        ),
        None => memory.text.clone(),
    }
}

pub(super) fn kind(kind: MemoryType) -> BlockKind {
    match kind {
        MemoryType::Relationship => BlockKind::Relationship,
        MemoryType::Fact | MemoryType::Personality | MemoryType::Preference | MemoryType::Rule => {
            BlockKind::Fact
        }
        MemoryType::OpenThread => BlockKind::LastSession,
        _ => BlockKind::Memory,
    }
}

/// Whether the memory is included whatever the turn is about.
pub(super) fn is_vital(memory: &Memory) -> bool {
    memory.pinned
        || memory.importance >= VITAL
            && memory.confidence >= SURE
            && memory.origin != MemoryOrigin::Keyframe
}
