//! Plans which memories of a scope to archive. Duplicates are merged, and outdated memories are
//! superseded. Old, uncertain and unused ones are retired. If there are still too many, the
//! lowest-ranked are crowded out. Consolidation uses no model and writes no text: it only marks
//! memories. An archived memory becomes active again if its replacement is deleted.
//!
//! Guarantees
//! - Memories that the user wrote, pinned or restored stay as they are.
//! - A second run right after the first does nothing.

use std::collections::{HashMap, HashSet};

use domain::memory::{ArchiveReason, ArchivedState, Memory, MemoryOrigin};
use domain::{CharacterId, MemoryId, Timestamp};
use recall::attributes::Attribute;
use recall::statement::Statement;
use store::ActiveMemory;

use crate::recall_service::fact_candidates::worth;
use crate::recall_service::facts::SURE;

/// Maximum number of active memories in a scope. Going through that many takes about a second.
pub(crate) const MOST: usize = 1_000;
/// Above this number of memories, the pairwise steps (superseding and merging) are skipped.
const MAX_COMPARED: usize = 4_000;
/// Minimum cosine similarity of two memories that say the same, if their names and numbers are the
/// same.
const SAME_COSINE: f32 = 0.96;
/// Age in milliseconds from which an unused memory is old.
const OLD: i64 = 90 * 86_400_000;
/// Maximum importance of a memory that may be retired.
const UNIMPORTANT: u8 = 3;

/// The input of the plan besides the memories.
pub(crate) struct PlanInputs {
    /// Words of the user's name.
    pub(crate) user: Vec<String>,
    /// Embeddings by the numbers of the memories; empty without an encoder.
    pub(crate) vectors: HashMap<i64, Vec<f32>>,
    /// Memories that were recalled for some message.
    pub(crate) called_up: HashSet<MemoryId>,
    /// The characters that missed a source of a memory, by its number; only memories that somebody
    /// missed.
    pub(crate) unknown_to: HashMap<i64, HashSet<CharacterId>>,
    pub(crate) now: Timestamp,
}

struct Compared<'a> {
    standing: &'a ActiveMemory,
    saying: Statement,
    attribute: Option<Attribute>,
    vector: Option<&'a [f32]>,
    unknown_to: Option<&'a HashSet<CharacterId>>,
}

impl<'a> Compared<'a> {
    fn new(standing: &'a ActiveMemory, around: &'a PlanInputs) -> Self {
        let saying = Statement::of(&standing.memory, &around.user);
        let vector = around.vectors.get(&standing.number).map(Vec::as_slice);
        let unknown_to = around.unknown_to.get(&standing.number);
        Self {
            standing,
            attribute: Attribute::of(&saying),
            saying,
            vector,
            unknown_to,
        }
    }

    fn memory(&self) -> &Memory {
        &self.standing.memory
    }

    /// The memory is a single statement. A summary of messages (keyframe) is not, so it is never
    /// merged or superseded.
    fn says_one_thing(&self) -> bool {
        self.memory().origin != MemoryOrigin::Keyframe && self.saying.is_informative()
    }

    fn may_go(&self) -> bool {
        !self.standing.unarchived_by_user && !self.memory().is_protected()
    }

    /// Whether this memory may replace `other` without a loss.
    fn stands_for(&self, other: &Self) -> bool {
        if !self.is_known_to_all_who_know(other) {
            return false;
        }
        let has =
            self.saying.has(&other.saying) && self.memory().confidence >= other.memory().confidence;
        has || self.memory().duplicate_rank() > other.memory().duplicate_rank()
            && (self.saying.is(&other.saying) || self.means(other))
    }

    /// A character that was away for this memory keeps the other one.
    fn is_known_to_all_who_know(&self, other: &Self) -> bool {
        let knows_neither = |character| {
            other
                .unknown_to
                .is_some_and(|unknown| unknown.contains(character))
        };
        self.unknown_to
            .is_none_or(|unknown| unknown.iter().all(knows_neither))
    }

    fn means(&self, other: &Self) -> bool {
        let Some((one, other_one)) = self.vector.zip(other.vector) else {
            return false;
        };
        self.memory().kind == other.memory().kind
            && self.saying.may_mean(&other.saying)
            && one
                .iter()
                .zip(other_one)
                .map(|(one, other)| one * other)
                .sum::<f32>()
                >= SAME_COSINE
    }

    fn is_newer_than(&self, other: &Self) -> bool {
        (self.memory().created, self.standing.number)
            > (other.memory().created, other.standing.number)
    }

    fn supersedes(&self, older: &Self) -> bool {
        let (Some(newer), Some(attribute)) = (&self.attribute, &older.attribute) else {
            return false;
        };
        self.memory().confidence >= SURE && self.is_newer_than(older) && newer.supersedes(attribute)
    }

    fn may_retire(&self, around: &PlanInputs) -> bool {
        is_old_and_unsure(self.memory(), around.now)
            && !around.called_up.contains(&self.memory().id)
    }
}

/// Whether the memory may be retired, provided that no message was sent with it.
pub(crate) fn is_old_and_unsure(memory: &Memory, now: Timestamp) -> bool {
    let last = memory.created.0.max(memory.updated.0);
    memory.importance <= UNIMPORTANT && memory.confidence < SURE && now.0 - last >= OLD
}

/// One step of the plan: the indexes of the memories to archive, and why. The last argument is the
/// maximum number of memories in a scope.
type ConsolidationStep = fn(&[Compared<'_>], &PlanInputs, usize) -> Vec<(usize, ArchivedState)>;

/// The memories to archive, and why, so that at most `most` of them stay.
pub(crate) fn plan(
    standing: &[ActiveMemory],
    around: &PlanInputs,
    most: usize,
) -> Vec<(Memory, ArchivedState)> {
    let mut held: Vec<Compared<'_>> = standing
        .iter()
        .map(|each| Compared::new(each, around))
        .collect();
    let mut planned = Vec::new();
    let steps: [ConsolidationStep; 4] = [superseded, merged, retired, crowded];
    let first = if standing.len() > MAX_COMPARED { 2 } else { 0 };
    for step in &steps[first..] {
        let archived = step(&held, around, most);
        let gone: HashSet<usize> = archived.iter().map(|(at, _)| *at).collect();
        planned.extend(
            archived
                .into_iter()
                .map(|(at, archived)| (held[at].memory().clone(), archived)),
        );
        let mut at = 0..;
        held.retain(|_| !at.next().is_some_and(|at| gone.contains(&at)));
    }
    planned
}

/// Memories that a newer one supersedes; the newest of those replaces it.
fn superseded(held: &[Compared<'_>], _: &PlanInputs, _: usize) -> Vec<(usize, ArchivedState)> {
    let mut gone = Vec::new();
    for (at, older) in held
        .iter()
        .enumerate()
        .filter(|(_, held)| held.may_go() && held.says_one_thing())
    {
        let newer = held
            .iter()
            .filter(|newer| newer.says_one_thing() && newer.supersedes(older));
        if let Some(newest) =
            newer.max_by_key(|newer| (newer.memory().created, newer.standing.number))
        {
            let since = newest.memory().created;
            let by = Some(newest.memory().id);
            gone.push((
                at,
                ArchivedState {
                    reason: ArchiveReason::Superseded,
                    since,
                    replaced_by: by,
                },
            ));
        }
    }
    gone
}

/// Memories whose statement another memory contains, lowest rank first.
fn merged(held: &[Compared<'_>], around: &PlanInputs, _: usize) -> Vec<(usize, ArchivedState)> {
    let mut order: Vec<usize> = (0..held.len())
        .filter(|at| held[*at].says_one_thing())
        .collect();
    order.sort_by_key(|at| held[*at].memory().duplicate_rank());
    let mut gone: Vec<(usize, ArchivedState)> = Vec::new();
    let mut left: HashSet<usize> = order.iter().copied().collect();
    for at in order.iter().copied().filter(|at| held[*at].may_go()) {
        let stands_for = |other: &&usize| {
            left.contains(*other) && **other != at && held[**other].stands_for(&held[at])
        };
        if let Some(other) = order.iter().rev().find(stands_for) {
            let by = Some(held[*other].memory().id);
            gone.push((
                at,
                ArchivedState {
                    reason: ArchiveReason::Merged,
                    since: around.now,
                    replaced_by: by,
                },
            ));
            left.remove(&at);
        }
    }
    gone
}

fn retired(held: &[Compared<'_>], around: &PlanInputs, _: usize) -> Vec<(usize, ArchivedState)> {
    let old = held
        .iter()
        .enumerate()
        .filter(|(_, held)| held.may_go() && held.may_retire(around));
    old.map(|(at, _)| {
        (
            at,
            ArchivedState {
                reason: ArchiveReason::Retired,
                since: around.now,
                replaced_by: None,
            },
        )
    })
    .collect()
}

/// The memories with the lowest worth, as many as there are too many.
fn crowded(held: &[Compared<'_>], around: &PlanInputs, most: usize) -> Vec<(usize, ArchivedState)> {
    let mut going: Vec<usize> = (0..held.len()).filter(|at| held[*at].may_go()).collect();
    let worth = |at: &usize| worth(held[*at].memory(), around.now);
    going.sort_by(|one, other| worth(one).total_cmp(&worth(other)).then(one.cmp(other)));
    going.truncate(held.len().saturating_sub(most));
    going
        .into_iter()
        .map(|at| {
            (
                at,
                ArchivedState {
                    reason: ArchiveReason::Crowded,
                    since: around.now,
                    replaced_by: None,
                },
            )
        })
        .collect()
}

#[cfg(test)]
mod tests;
