//! What is said once of memories that say the same, and what goes back behind what is unlike it (C11): memories of one scope are
//! put together in idle time, but a scope does not know of the others.
//!
//! Promises
//! - Nothing is left out here. The plan, which knows what has room, says a memory unless one that stands for it is told.
//! - The surer of two stands for the other, whatever their scores; what the user pinned is always told, and so is what is so no
//!   longer.

use std::cmp::Reverse;
use std::collections::HashMap;

use context::frame::{Candidate, SignalKind, Source};
use domain::MemoryId;
use domain::memory::{Memory, MemoryOrigin};

use super::saying::Saying;

/// What fits counts as much as that it is new (C11: MMR with lambda 0.5).
const LAMBDA: f32 = 0.5;

/// Memories that others say as well.
#[derive(Debug, Default)]
pub(super) struct Doubles {
    said_by: HashMap<MemoryId, Vec<(Source, String)>>,
}

impl Doubles {
    /// `memories` once each; `user` are the words of the user's name.
    pub(super) fn among<'m>(memories: impl Iterator<Item = &'m Memory>, user: &[String]) -> Self {
        let telling = memories.filter(|memory| memory.archived.is_none() && memory.origin != MemoryOrigin::Keyframe);
        let telling: Vec<(&Memory, Saying)> = telling
            .map(|memory| (memory, Saying::of(memory, user)))
            .filter(|(_, saying)| saying.is_telling())
            .collect();
        let mut saying_so: HashMap<&[String], Vec<usize>> = HashMap::new();
        for (at, (_, saying)) in telling.iter().enumerate() {
            saying_so.entry(&saying.words).or_default().push(at);
        }
        let mut doubles = Self::default();
        for (better, saying) in &telling {
            let beginnings = (1..=saying.words.len()).filter_map(|end| saying_so.get(&saying.words[..end]));
            for (memory, said) in beginnings.flatten().map(|at| &telling[*at]) {
                if !memory.pinned && stands_for((better, saying), (memory, said)) {
                    let said_by = doubles.said_by.entry(memory.id).or_default();
                    said_by.push((source(better), better.text.trim().to_owned()));
                }
            }
        }
        doubles
    }

    /// Tells the plan of `candidates` which of them say what others say, and puts those before them.
    pub(super) fn mark(&self, candidates: &mut [Candidate]) {
        if self.said_by.is_empty() {
            return;
        }
        let mut best: HashMap<Source, f32> = HashMap::new();
        for candidate in candidates.iter_mut() {
            candidate.said_by = self.of(&candidate.source);
            for (better, _) in &candidate.said_by {
                let score = best.entry(better.clone()).or_insert(candidate.score);
                *score = score.max(candidate.score);
            }
        }
        for candidate in candidates {
            if let Some(score) = best.get(&candidate.source).filter(|score| **score >= candidate.score) {
                candidate.score = score.next_up();
            }
        }
    }

    fn of(&self, source: &Source) -> Vec<(Source, String)> {
        let Source::Memory { id } = source else { return Vec::new() };
        let said_by = id.parse().ok().and_then(|id: MemoryId| self.said_by.get(&id));
        said_by.cloned().unwrap_or_default()
    }
}

/// A memory that may be told this turn.
pub(super) struct Ranked {
    pub(super) candidate: Candidate,
    saying: Saying,
    /// It is told whatever it is like.
    vital: bool,
    /// The most of it that those before it say.
    said: f32,
}

impl Ranked {
    pub(super) fn new(candidate: Candidate, memory: &Memory, user: &[String], vital: bool) -> Self {
        Self { candidate, saying: Saying::of(memory, user), vital, said: 0.0 }
    }

    fn score(&self) -> f32 {
        LAMBDA * self.candidate.score + (1.0 - LAMBDA) * (1.0 - self.said)
    }

    fn scored(mut self) -> Candidate {
        if self.said > 0.0 && !self.candidate.signals.is_empty() {
            self.candidate.signals.push(SignalKind::Novelty.is(1.0 - self.said));
        }
        let score = self.score();
        self.candidate.scored(score)
    }
}

/// Puts memories into the order in which each is worth most behind those before it (C11).
pub(super) fn diversify(mut ranked: Vec<Ranked>) -> Vec<Candidate> {
    let mut diverse = Vec::with_capacity(ranked.len());
    while let Some(best) = first_of_the_best(&ranked) {
        let next = ranked.remove(best);
        for other in ranked.iter_mut().filter(|other| !other.vital) {
            other.said = other.said.max(next.saying.likeness(&other.saying));
        }
        diverse.push(next.scored());
    }
    diverse
}

fn first_of_the_best(ranked: &[Ranked]) -> Option<usize> {
    (0..ranked.len()).rev().max_by(|one, other| ranked[*one].score().total_cmp(&ranked[*other].score()))
}

/// Nothing is lost where only the first of two is told. It may be less sure only if it is what the other one is, word for word.
fn stands_for((better, saying): (&Memory, &Saying), (memory, said): (&Memory, &Saying)) -> bool {
    if saying.words == said.words {
        return rank(better) > rank(memory);
    }
    saying.has(said) && better.confidence >= memory.confidence
}

fn rank(memory: &Memory) -> (bool, u8, u8, Reverse<MemoryId>) {
    (memory.pinned, memory.confidence, memory.importance, Reverse(memory.id))
}

pub(super) fn source(memory: &Memory) -> Source {
    Source::Memory { id: memory.id.to_string() }
}

#[cfg(test)]
mod tests {
    use context::frame::BlockKind;
    use domain::Timestamp;
    use domain::memory::{Archived, ArchivedAs};

    use super::*;
    use crate::memory::saying::tests::memory;

    /// Which memories are said by others, each with those.
    fn doubles(memories: &[Memory]) -> Vec<String> {
        let doubles = Doubles::among(memories.iter(), &["tom".to_owned()]);
        let number = |source: &Source| memories.iter().position(|memory| super::source(memory) == *source).unwrap() + 1;
        let line = |(at, memory): (usize, &Memory)| {
            let by = doubles.of(&super::source(memory));
            let by: Vec<String> = by.iter().map(|(source, _)| number(source).to_string()).collect();
            (!by.is_empty()).then(|| format!("{} by {}", at + 1, by.join(" ")))
        };
        memories.iter().enumerate().filter_map(line).collect()
    }

    fn of(texts: &[&str]) -> Vec<Memory> {
        (1..).zip(texts).map(|(number, text)| memory(number, text)).collect()
    }

    fn candidate(memory: &Memory, score: f32) -> Candidate {
        Candidate::new(BlockKind::Fact, source(memory), "", memory.text.clone()).scored(score)
    }

    #[test]
    fn the_surer_of_two_says_it_for_both() {
        assert_eq!(doubles(&of(&["Tom owns a boat.", "Tom said: \"I own a boat\""])), ["1 by 2"]);
        assert_eq!(doubles(&of(&["Tom owns a boat.", "Tom owns the boat"])), ["2 by 1"], "of equals, one");
        assert_eq!(doubles(&of(&["Tom owns a boat, a blue one.", "Tom owns a boat."])), ["2 by 1"]);
        assert_eq!(doubles(&of(&["Tom owns a boat, a blue one.", "Tom said: \"I own a boat\""])), [""; 0], "surer");
        assert_eq!(doubles(&of(&["Tom owns a boat.", "Tom never owns a boat.", "Ida owns a boat."])), [""; 0]);
    }

    #[test]
    fn what_is_pinned_or_so_no_longer_is_said_by_no_other() {
        let mut memories = of(&["Tom owns a boat.", "Tom owns a boat.", "Tom owns a boat."]);
        memories[0].pinned = true;
        memories[1].archived = Some(Archived { why: ArchivedAs::Superseded, since: Timestamp(0), by: None });
        assert_eq!(doubles(&memories), ["3 by 1"]);
    }

    #[test]
    fn who_says_it_for_others_comes_before_them() {
        let memories = of(&["Tom owns a boat.", "Tom said: \"I own a boat\"", "Tom owns a cat."]);
        let mut candidates: Vec<Candidate> =
            memories.iter().zip([0.8, 0.3, 0.5]).map(|(memory, score)| candidate(memory, score)).collect();
        Doubles::among(memories.iter(), &["tom".to_owned()]).mark(&mut candidates);
        let said_by: Vec<usize> = candidates.iter().map(|candidate| candidate.said_by.len()).collect();
        assert_eq!(said_by, [1, 0, 0]);
        candidates.sort_by(|one, other| other.score.total_cmp(&one.score));
        assert_eq!(candidates[0].source, source(&memories[1]));
    }

    #[test]
    fn what_is_like_one_that_fits_better_goes_behind_what_is_new() {
        let memories =
            of(&["Tom camped at Elm Lake.", "Tom camped at Oak Lake.", "Ida camped with a dog.", "Tom camps."]);
        let order = |vital: &[bool]| {
            let each = memories.iter().zip([0.9, 0.8, 0.7, 0.1]).zip(vital);
            let ranked =
                each.map(|((memory, score), vital)| Ranked::new(candidate(memory, score), memory, &[], *vital));
            let diverse = diversify(ranked.collect());
            assert!(diverse.is_sorted_by(|one, other| one.score >= other.score), "the plan keeps the order");
            let number = |of: Candidate| memories.iter().position(|memory| source(memory) == of.source).unwrap() + 1;
            diverse.into_iter().map(number).collect::<Vec<_>>()
        };
        assert_eq!(order(&[false; 4]), [1, 3, 2, 4]);
        assert_eq!(order(&[false, true, false, false]), [1, 2, 3, 4], "what must not be missing does not");
    }
}
