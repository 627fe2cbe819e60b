//! Removes repetition among recalled memories: finds duplicates, and orders memories by maximal
//! marginal relevance (MMR). Consolidation merges duplicates within a scope in idle time; this
//! module also compares different scopes.
//!
//! Guarantees
//! - It drops nothing. It marks duplicates, and the plan, which knows what fits, skips a memory if
//!   one that says the same is included.
//! - The more certain of two duplicates represents both, whatever their scores. Pinned and
//!   superseded memories are never skipped as duplicates.

use crate::weights::mmr;
use std::collections::{BTreeSet, HashMap};

use context::frame::{Candidate, SignalKind, Source};
use domain::MemoryId;
use domain::memory::{Memory, MemoryOrigin};

use crate::statement::Statement;

/// The duplicates among memories, each with the memories that contain the same statement.
#[derive(Debug, Default)]
pub struct Doubles {
    said_by: HashMap<MemoryId, Vec<(Source, String)>>,
}

/// A memory and its normalized statement.
struct NormalizedMemory<'m> {
    memory: &'m Memory,
    saying: Statement,
}

impl<'m> NormalizedMemory<'m> {
    fn new(memory: &'m Memory, user: &[String]) -> Self {
        Self {
            memory,
            saying: Statement::of(memory, user),
        }
    }

    /// Whether `other` may be skipped if this memory is included. A less certain memory may
    /// represent another one only if both have the same words.
    fn stands_for(&self, other: &Self) -> bool {
        if self.saying.is(&other.saying) {
            self.memory.duplicate_rank() > other.memory.duplicate_rank()
        } else {
            self.saying.has(&other.saying) && self.memory.confidence >= other.memory.confidence
        }
    }
}

impl Doubles {
    /// Compares all `memories`; `user` are the words of the user's name.
    pub fn among<'m>(memories: impl Iterator<Item = &'m Memory>, user: &[String]) -> Self {
        let telling = memories
            .filter(|memory| memory.archived.is_none() && memory.origin != MemoryOrigin::Keyframe);
        let all: Vec<NormalizedMemory<'m>> = telling
            .map(|memory| NormalizedMemory::new(memory, user))
            .filter(|said| said.saying.is_informative())
            .collect();
        let mut saying_so: HashMap<&[String], Vec<usize>> = HashMap::new();
        for (at, said) in all.iter().enumerate() {
            saying_so.entry(&said.saying.words).or_default().push(at);
        }
        let lengths: BTreeSet<usize> = all.iter().map(|said| said.saying.words.len()).collect();
        let mut doubles = Self::default();
        for better in &all {
            let words = &better.saying.words;
            let beginnings = lengths
                .range(..=words.len())
                .filter_map(|length| saying_so.get(&words[..*length]));
            for other in beginnings.flatten().map(|at| &all[*at]) {
                if !other.memory.pinned && better.stands_for(other) {
                    let said_by = doubles.said_by.entry(other.memory.id).or_default();
                    said_by.push((source(better.memory), better.memory.text.trim().to_owned()));
                }
            }
        }
        doubles
    }

    /// Marks the duplicates among `candidates` and ranks the memories that represent them higher.
    pub fn mark(&self, candidates: &mut [Candidate]) {
        if self.said_by.is_empty() {
            return;
        }
        for candidate in candidates.iter_mut() {
            candidate.said_by = self.of(&candidate.source);
        }
        // A representative may be a duplicate of a third memory, but never of itself, so the loop
        // ends.
        while let Some((better, score)) = misranked_representative(candidates) {
            candidates[better].score = score.next_up();
        }
    }

    fn of(&self, source: &Source) -> Vec<(Source, String)> {
        let Source::Memory { id } = source else {
            return Vec::new();
        };
        let said_by = id
            .parse()
            .ok()
            .and_then(|id: MemoryId| self.said_by.get(&id));
        said_by.cloned().unwrap_or_default()
    }
}

/// A representative that ranks no higher than its duplicate, and the duplicate's score.
fn misranked_representative(candidates: &[Candidate]) -> Option<(usize, f32)> {
    let doubles = candidates
        .iter()
        .filter(|candidate| !candidate.said_by.is_empty());
    let mut behind = doubles.flat_map(|double| {
        double
            .said_by
            .iter()
            .map(|(better, _)| (better, double.score))
    });
    behind.find_map(|(better, score)| {
        let at = candidates
            .iter()
            .position(|candidate| candidate.source == *better && candidate.score <= score)?;
        Some((at, score))
    })
}

/// A candidate during the MMR ordering.
pub struct Ranked<'m> {
    candidate: Candidate,
    memory: &'m Memory,
    content: BTreeSet<String>,
    /// Exempt from the penalty for repetition.
    vital: bool,
    /// Highest similarity to a memory ordered before it, 0 to 1.
    said: f32,
}

impl<'m> Ranked<'m> {
    pub fn new(candidate: Candidate, memory: &'m Memory, user: &[String], vital: bool) -> Self {
        Self {
            candidate,
            memory,
            content: Statement::of(memory, user).content(),
            vital,
            said: 0.0,
        }
    }

    /// MMR score on the scale of the candidate's own score: `score - (1 - lambda) / lambda *
    /// repetition`. A memory that repeats nothing keeps its score.
    fn score(&self) -> f32 {
        self.candidate.score - (1.0 - mmr::MEMORIES) / mmr::MEMORIES * self.said
    }

    /// Superseded memories neither cause a penalty nor get one. An outdated value is similar to the
    /// current one, and both may be needed.
    fn penalize(&mut self, before: &Self) {
        if !self.vital && self.memory.archived.is_none() && before.memory.archived.is_none() {
            self.said = self.said.max(likeness(&self.content, &before.content));
        }
    }

    fn scored(mut self) -> Candidate {
        if self.said > 0.0 && !self.candidate.signals.is_empty() {
            self.candidate
                .signals
                .push(SignalKind::Novelty.is(1.0 - self.said));
        }
        let score = self.score();
        self.candidate.with_score(score)
    }
}

/// Jaccard similarity of two word sets, 0 to 1.
fn likeness(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f32 {
    let common = one.intersection(other).count();
    common as f32 / (one.len() + other.len() - common).max(1) as f32
}

/// Orders memories by MMR: each next memory has the highest score given those before it.
pub fn diversify(mut ranked: Vec<Ranked<'_>>) -> Vec<Candidate> {
    let mut diverse = Vec::with_capacity(ranked.len());
    while let Some(best) = best_index(&ranked) {
        let next = ranked.remove(best);
        ranked.iter_mut().for_each(|other| other.penalize(&next));
        diverse.push(next.scored());
    }
    diverse
}

fn best_index(ranked: &[Ranked<'_>]) -> Option<usize> {
    (0..ranked.len())
        .rev()
        .max_by(|one, other| ranked[*one].score().total_cmp(&ranked[*other].score()))
}

pub fn source(memory: &Memory) -> Source {
    Source::Memory {
        id: memory.id.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use context::frame::BlockKind;
    use domain::Timestamp;
    use domain::memory::{ArchiveReason, ArchivedState};

    use super::*;
    use crate::statement::tests::memory;

    /// The memories that are duplicates, each with the numbers of those that say the same.
    fn doubles(memories: &[Memory]) -> Vec<String> {
        let doubles = Doubles::among(memories.iter(), &["tom".to_owned()]);
        let number = |source: &Source| {
            memories
                .iter()
                .position(|memory| super::source(memory) == *source)
                .unwrap()
                + 1
        };
        let line = |(at, memory): (usize, &Memory)| {
            let by = doubles.of(&super::source(memory));
            let by: Vec<String> = by
                .iter()
                .map(|(source, _)| number(source).to_string())
                .collect();
            (!by.is_empty()).then(|| format!("{} by {}", at + 1, by.join(" ")))
        };
        memories.iter().enumerate().filter_map(line).collect()
    }

    fn of(texts: &[&str]) -> Vec<Memory> {
        (1..)
            .zip(texts)
            .map(|(number, text)| memory(number, text))
            .collect()
    }

    fn candidate(memory: &Memory, score: f32) -> Candidate {
        Candidate::new(
            BlockKind::Fact,
            source(memory),
            context::Reasons::default(),
            memory.text.clone(),
        )
        .with_score(score)
    }

    #[test]
    fn more_certain_duplicate_represents_both() {
        assert_eq!(
            doubles(&of(&["Tom owns a boat.", "Tom said: \"I own a boat\""])),
            ["1 by 2"]
        );
        assert_eq!(
            doubles(&of(&["Tom owns a boat.", "Tom owns the boat"])),
            ["1 by 2"],
            "of equals, the newer"
        );
        assert_eq!(
            doubles(&of(&["Tom owns a boat, a blue one.", "Tom owns a boat."])),
            ["2 by 1"]
        );
        assert_eq!(
            doubles(&of(&[
                "Tom owns a boat, a blue one.",
                "Tom said: \"I own a boat\""
            ])),
            [""; 0],
            "surer"
        );
        assert_eq!(
            doubles(&of(&[
                "Tom owns a boat.",
                "Tom never owns a boat.",
                "Ida owns a boat."
            ])),
            [""; 0]
        );
    }

    #[test]
    fn symbols_distinguish_memories() {
        assert_eq!(
            doubles(&of(&["Tom likes C++.", "Tom likes C#.", "Tom likes C."])),
            [""; 0]
        );
        assert_eq!(
            doubles(&of(&[
                "It is -5 outside, Tom says.",
                "It is 5 outside, Tom says."
            ])),
            [""; 0]
        );
    }

    #[test]
    fn pinned_and_superseded_are_no_duplicates() {
        let mut memories = of(&["Tom owns a boat.", "Tom owns a boat.", "Tom owns a boat."]);
        memories[0].pinned = true;
        memories[1].archived = Some(ArchivedState {
            reason: ArchiveReason::Superseded,
            since: Timestamp(0),
            replaced_by: None,
        });
        assert_eq!(doubles(&memories), ["3 by 1"]);
    }

    #[test]
    fn representative_ranks_before_its_duplicate() {
        let memories = of(&[
            "Tom owns a boat.",
            "Tom said: \"I own a boat\"",
            "Tom owns a cat.",
        ]);
        let mut candidates: Vec<Candidate> = memories
            .iter()
            .zip([0.8, 0.3, 0.5])
            .map(|(memory, score)| candidate(memory, score))
            .collect();
        Doubles::among(memories.iter(), &["tom".to_owned()]).mark(&mut candidates);
        let said_by: Vec<usize> = candidates
            .iter()
            .map(|candidate| candidate.said_by.len())
            .collect();
        assert_eq!(said_by, [1, 0, 0]);
        candidates.sort_by(|one, other| other.score.total_cmp(&one.score));
        assert_eq!(candidates[0].source, source(&memories[1]));
    }

    /// Covers chains of duplicates, and duplicates of a memory that MMR moves back.
    #[test]
    fn representatives_rank_first_in_chains() {
        let texts = [
            "Tom owns a boat.",
            "Tom owns a boat.",
            "Tom owns a boat, a red one.",
            "Tom paints a red boat.",
        ];
        let memories = of(&texts);
        let scores = [0.8, 0.79, 0.3, 0.9];
        let each = memories
            .iter()
            .zip(scores)
            .map(|(memory, score)| Ranked::new(candidate(memory, score), memory, &[], false));
        let mut diverse = diversify(each.collect());
        Doubles::among(memories.iter(), &["tom".to_owned()]).mark(&mut diverse);
        diverse.sort_by(|one, other| other.score.total_cmp(&one.score));
        let place = |at: usize| {
            diverse
                .iter()
                .position(|candidate| candidate.source == source(&memories[at]))
                .unwrap()
        };
        assert!(place(2) < place(1) && place(1) < place(0), "{diverse:?}");
    }

    #[test]
    fn superseded_memory_causes_no_penalty() {
        let mut memories = of(&["Tom lives in Oak Lane.", "Tom lives in Birch Lane."]);
        memories[1].archived = Some(ArchivedState {
            reason: ArchiveReason::Superseded,
            since: Timestamp(0),
            replaced_by: None,
        });
        let ranked = memories
            .iter()
            .zip([0.6, 0.8])
            .map(|(memory, score)| Ranked::new(candidate(memory, score), memory, &[], false));
        let scores: Vec<f32> = diversify(ranked.collect())
            .iter()
            .map(|candidate| candidate.score)
            .collect();
        assert_eq!(scores, [0.8, 0.6]);
    }

    #[test]
    fn repetition_ranks_behind_novelty() {
        let memories = of(&[
            "Tom camped at Elm Lake.",
            "Tom camped at Oak Lake.",
            "Ida camped with a dog.",
            "Tom camps.",
        ]);
        let order = |vital: &[bool]| {
            let each = memories.iter().zip([0.9, 0.8, 0.7, 0.1]).zip(vital);
            let ranked = each.map(|((memory, score), vital)| {
                Ranked::new(candidate(memory, score), memory, &[], *vital)
            });
            let diverse = diversify(ranked.collect());
            assert!(
                diverse.is_sorted_by(|one, other| one.score >= other.score),
                "scores are in order"
            );
            let number = |of: Candidate| {
                memories
                    .iter()
                    .position(|memory| source(memory) == of.source)
                    .unwrap()
                    + 1
            };
            diverse.into_iter().map(number).collect::<Vec<_>>()
        };
        assert_eq!(order(&[false; 4]), [1, 3, 2, 4]);
        assert_eq!(
            order(&[false, true, false, false]),
            [1, 2, 3, 4],
            "a vital memory gets no penalty"
        );
    }
}
