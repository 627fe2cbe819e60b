//! What is said once of memories that say the same, and what goes back behind what is unlike it (C11): memories of one scope are
//! put together in idle time, but a scope does not know of the others.
//!
//! Promises
//! - Nothing is left out here. The plan, which knows what has room, says a memory unless one that stands for it is told.
//! - The surer of two stands for the other, whatever their scores; what the user pinned is always told, and so is what is so no
//!   longer.

use std::collections::{BTreeSet, HashMap};

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

/// What a memory says.
struct Said<'m> {
    memory: &'m Memory,
    saying: Saying,
}

impl<'m> Said<'m> {
    fn new(memory: &'m Memory, user: &[String]) -> Self {
        Self { memory, saying: Saying::of(memory, user) }
    }

    /// Nothing is lost where only this one of the two is told. It may be less sure only if it is what the other one is, word for
    /// word.
    fn stands_for(&self, other: &Self) -> bool {
        match self.saying.is(&other.saying) {
            true => self.memory.rank() > other.memory.rank(),
            false => self.saying.has(&other.saying) && self.memory.confidence >= other.memory.confidence,
        }
    }
}

impl Doubles {
    /// `memories` once each; `user` are the words of the user's name.
    pub(super) fn among<'m>(memories: impl Iterator<Item = &'m Memory>, user: &[String]) -> Self {
        let telling = memories.filter(|memory| memory.archived.is_none() && memory.origin != MemoryOrigin::Keyframe);
        let all: Vec<Said<'m>> =
            telling.map(|memory| Said::new(memory, user)).filter(|said| said.saying.is_telling()).collect();
        let mut saying_so: HashMap<&[String], Vec<usize>> = HashMap::new();
        for (at, said) in all.iter().enumerate() {
            saying_so.entry(&said.saying.words).or_default().push(at);
        }
        let lengths: BTreeSet<usize> = all.iter().map(|said| said.saying.words.len()).collect();
        let mut doubles = Self::default();
        for better in &all {
            let words = &better.saying.words;
            let beginnings = lengths.range(..=words.len()).filter_map(|length| saying_so.get(&words[..*length]));
            for other in beginnings.flatten().map(|at| &all[*at]) {
                if !other.memory.pinned && better.stands_for(other) {
                    let said_by = doubles.said_by.entry(other.memory.id).or_default();
                    said_by.push((source(better.memory), better.memory.text.trim().to_owned()));
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
        for candidate in candidates.iter_mut() {
            candidate.said_by = self.of(&candidate.source);
        }
        // Who stands for one may be said by a third, but none by itself: it ends.
        while let Some((better, score)) = behind_its_double(candidates) {
            candidates[better].score = score.next_up();
        }
    }

    fn of(&self, source: &Source) -> Vec<(Source, String)> {
        let Source::Memory { id } = source else { return Vec::new() };
        let said_by = id.parse().ok().and_then(|id: MemoryId| self.said_by.get(&id));
        said_by.cloned().unwrap_or_default()
    }
}

/// One of those that say what another one says and have no better score, and the score of that.
fn behind_its_double(candidates: &[Candidate]) -> Option<(usize, f32)> {
    let doubles = candidates.iter().filter(|candidate| !candidate.said_by.is_empty());
    let mut behind = doubles.flat_map(|double| double.said_by.iter().map(|(better, _)| (better, double.score)));
    behind.find_map(|(better, score)| {
        let at = candidates.iter().position(|candidate| candidate.source == *better && candidate.score <= score)?;
        Some((at, score))
    })
}

/// A memory that may be told this turn.
pub(super) struct Ranked<'m> {
    candidate: Candidate,
    memory: &'m Memory,
    content: BTreeSet<String>,
    /// It is told whatever it is like.
    vital: bool,
    /// The most of it that those before it say.
    said: f32,
}

impl<'m> Ranked<'m> {
    pub(super) fn new(candidate: Candidate, memory: &'m Memory, user: &[String], vital: bool) -> Self {
        Self { candidate, memory, content: Saying::of(memory, user).content(), vital, said: 0.0 }
    }

    /// In the measure of the candidate's own score: what is like none keeps it.
    fn score(&self) -> f32 {
        self.candidate.score - (1.0 - LAMBDA) / LAMBDA * self.said
    }

    /// What was so once is like what is so now, and no reason to leave that out; nor the other way round.
    fn hear(&mut self, before: &Self) {
        if !self.vital && self.memory.archived.is_none() && before.memory.archived.is_none() {
            self.said = self.said.max(likeness(&self.content, &before.content));
        }
    }

    fn scored(mut self) -> Candidate {
        if self.said > 0.0 && !self.candidate.signals.is_empty() {
            self.candidate.signals.push(SignalKind::Novelty.is(1.0 - self.said));
        }
        let score = self.score();
        self.candidate.scored(score)
    }
}

/// Of the words of both, the part that both have, from 0 to 1.
fn likeness(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f32 {
    let common = one.intersection(other).count();
    common as f32 / (one.len() + other.len() - common).max(1) as f32
}

/// Puts memories into the order in which each is worth most behind those before it (C11).
pub(super) fn diversify(mut ranked: Vec<Ranked<'_>>) -> Vec<Candidate> {
    let mut diverse = Vec::with_capacity(ranked.len());
    while let Some(best) = first_of_the_best(&ranked) {
        let next = ranked.remove(best);
        ranked.iter_mut().for_each(|other| other.hear(&next));
        diverse.push(next.scored());
    }
    diverse
}

fn first_of_the_best(ranked: &[Ranked<'_>]) -> Option<usize> {
    (0..ranked.len()).rev().max_by(|one, other| ranked[*one].score().total_cmp(&ranked[*other].score()))
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
        assert_eq!(doubles(&of(&["Tom owns a boat.", "Tom owns the boat"])), ["1 by 2"], "of equals, the newer");
        assert_eq!(doubles(&of(&["Tom owns a boat, a blue one.", "Tom owns a boat."])), ["2 by 1"]);
        assert_eq!(doubles(&of(&["Tom owns a boat, a blue one.", "Tom said: \"I own a boat\""])), [""; 0], "surer");
        assert_eq!(doubles(&of(&["Tom owns a boat.", "Tom never owns a boat.", "Ida owns a boat."])), [""; 0]);
    }

    #[test]
    fn signs_that_are_no_words_count() {
        assert_eq!(doubles(&of(&["Tom likes C++.", "Tom likes C#.", "Tom likes C."])), [""; 0]);
        assert_eq!(doubles(&of(&["It is -5 outside, Tom says.", "It is 5 outside, Tom says."])), [""; 0]);
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

    /// In a row, and behind one that is like them.
    #[test]
    fn who_stands_for_others_comes_first_whatever_else_is_there() {
        let texts = ["Tom owns a boat.", "Tom owns a boat.", "Tom owns a boat, a red one.", "Tom paints a red boat."];
        let memories = of(&texts);
        let scores = [0.8, 0.79, 0.3, 0.9];
        let each = memories
            .iter()
            .zip(scores)
            .map(|(memory, score)| Ranked::new(candidate(memory, score), memory, &[], false));
        let mut diverse = diversify(each.collect());
        Doubles::among(memories.iter(), &["tom".to_owned()]).mark(&mut diverse);
        diverse.sort_by(|one, other| other.score.total_cmp(&one.score));
        let place = |at: usize| diverse.iter().position(|candidate| candidate.source == source(&memories[at])).unwrap();
        assert!(place(2) < place(1) && place(1) < place(0), "{diverse:?}");
    }

    #[test]
    fn what_was_so_once_is_no_reason_to_leave_out_what_is_so_now() {
        let mut memories = of(&["Tom lives in Oak Lane.", "Tom lives in Birch Lane."]);
        memories[1].archived = Some(Archived { why: ArchivedAs::Superseded, since: Timestamp(0), by: None });
        let ranked = memories
            .iter()
            .zip([0.6, 0.8])
            .map(|(memory, score)| Ranked::new(candidate(memory, score), memory, &[], false));
        let scores: Vec<f32> = diversify(ranked.collect()).iter().map(|candidate| candidate.score).collect();
        assert_eq!(scores, [0.8, 0.6]);
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
