//! Memories for a prompt: standing facts for the digest, and memories that match the turn, for the
//! context block.
//!
//! The score of a match is `0.5 * fit + 0.3 * importance + 0.2 * recency`, all from 0 to 1. `fit`
//! is the lexical (BM25) score relative to the best match plus the cosine similarity, at most 1.
//! `importance` halves every year and `recency` every 30 days.

use std::collections::{HashMap, HashSet};

use context::frame::{BlockKind, Candidate, Source};
use context::reason::BlockReason;
use domain::memory::{Memory, MemoryOrigin, MemoryScope};
use domain::{LorebookId, MemoryId, MessageId, Timestamp};
use recall::memory_mmr::{Doubles, Ranked, diversify, source};
use recall::tokens::words;
use store::{FoundMemory, Query, ReadTransaction, StoreError};

use crate::Clock;
use crate::library::groups::presence::Knowledge;
use crate::recall_service::fact_candidates::{
    candidate, is_vital, match_candidate, recency, standing_reason, vital_candidate, weigh,
};
use crate::recall_service::memory_scopes::MemoryScopes;
use crate::recall_service::messages::branches::Branches;
use crate::recall_service::messages::witnessed;

/// Standing facts read per scope: more than their share of any budget has room for.
const STANDING: u32 = 60;
/// Number of other chats' last summaries that are read to find one that is not of another branch.
const SESSIONS: u32 = 20;
/// Maximum number of matches of one search, over all scopes.
const CALLED: u32 = 15;
/// Minimum confidence for the digest, 1 to 10.
pub(crate) const SURE: u8 = 5;
/// Maximum number of nearest memories that are checked for these scopes. Other characters may have
/// heard more of the same.
pub(crate) const LOOKED_AT: usize = 1_000;
/// Minimum importance of a memory that is included whatever the turn is about.
pub(super) const VITAL: u8 = 9;
pub(super) const DAY: f32 = 86_400_000.0;
/// Minimum importance of a memory that never fades.
pub(super) const LASTING: u8 = 10;

/// The memories found in the scopes that apply.
#[derive(Default)]
pub(crate) struct Facts {
    pub(crate) standing: Vec<Memory>,
    pub(crate) called: Vec<MatchedMemory>,
    /// See [`StandingFacts`].
    pub(crate) last_session: Option<Memory>,
    own_worlds: HashSet<LorebookId>,
    /// The words of the user's name.
    user: Vec<String>,
    doubles: Doubles,
}

/// The memories that apply in every turn.
#[derive(Default)]
pub(crate) struct StandingFacts {
    memories: Vec<Memory>,
    /// The summary of the pair's previous chat, for a chat that has no story yet.
    last_session: Option<Memory>,
    /// See [`witnessed::own_worlds`].
    own_worlds: HashSet<LorebookId>,
}

impl StandingFacts {
    pub(crate) fn read(
        store: &ReadTransaction<'_>,
        counting: &MemoryScopes,
    ) -> Result<Self, StoreError> {
        let mut memories = Vec::new();
        let branches = Branches::of(store, counting.company.chat)?;
        for scope in counting.everywhere(store)? {
            let standing = store
                .memories()
                .active(scope, counting.among(&branches, STANDING))?;
            memories
                .extend(counting.first((store, &branches), STANDING, standing, |memory| memory)?);
        }
        let last_session = if counting.others {
            let among = if branches.are_none() { 1 } else { SESSIONS };
            let last =
                store
                    .memories()
                    .last_sessions(counting.scopes[1], counting.company.chat, among)?;
            counting
                .first((store, &branches), 1, last, |memory| memory)?
                .pop()
        } else {
            None
        };
        let own_worlds = witnessed::own_worlds(store, &counting.known, counting.company)?;
        Ok(Self {
            memories,
            last_session,
            own_worlds,
        })
    }

    /// Leaves out the memories that were learned from that message.
    pub(crate) fn leave_out(&mut self, message: MessageId) {
        self.memories.retain(|memory| !is_made_of(memory, message));
    }
}

/// A memory that matches the turn, with its lexical score and its cosine similarity, each from 0 to
/// 1.
pub(crate) struct MatchedMemory {
    pub(super) memory: Memory,
    /// It belongs to a world of [`witnessed::own_worlds`].
    own_world: bool,
    pub(super) words: f32,
    pub(super) nearness: f32,
}

impl MatchedMemory {
    pub(super) fn fit(&self) -> f32 {
        (self.words + self.nearness).min(1.0)
    }

    pub(crate) fn text(&self) -> &str {
        &self.memory.text
    }

    /// Whether it was learned from that message.
    pub(crate) fn is_of(&self, message: MessageId) -> bool {
        is_made_of(&self.memory, message)
    }
}

/// The memories that share words with a turn. They are found while the encoder embeds the message.
pub(crate) struct LexicalMatches {
    scopes: Vec<MemoryScope>,
    branches: Branches,
    called: Vec<MatchedMemory>,
}

impl LexicalMatches {
    pub(crate) fn read(
        store: &ReadTransaction<'_>,
        counting: &MemoryScopes,
        query: &Query,
    ) -> Result<Self, StoreError> {
        let scopes = counting.everywhere(store)?;
        let branches = Branches::of(store, counting.company.chat)?;
        let among = counting.among(&branches, CALLED);
        let found = store.memories().search(&scopes, query, among)?;
        let found = counting.first((store, &branches), CALLED, found, |found| &found.memory)?;
        Ok(Self {
            scopes,
            branches,
            called: by_words(found),
        })
    }

    /// The memories that match a turn. `near` has the numbers of memories with their cosine
    /// similarity, nearest first.
    pub(crate) fn with_near(
        self,
        store: &ReadTransaction<'_>,
        counting: &MemoryScopes,
        near: &[(i64, f32)],
    ) -> Result<Vec<MatchedMemory>, StoreError> {
        let Self {
            scopes,
            branches,
            mut called,
        } = self;
        let nearness: HashMap<i64, f32> = near.iter().copied().collect();
        let nearest = near.iter().map(|(number, _)| *number);
        let among = counting.among(&branches, CALLED);
        let nearest = store
            .memories()
            .by_row_numbers(&scopes, nearest, among as usize)?;
        let looked = (store, &branches);
        for (number, memory) in counting.first(looked, CALLED, nearest, |(_, memory)| memory)? {
            let nearness = nearness[&number];
            match called.iter_mut().find(|known| known.memory.id == memory.id) {
                Some(known) => known.nearness = nearness,
                None => called.push(MatchedMemory {
                    memory,
                    own_world: false,
                    words: 0.0,
                    nearness,
                }),
            }
        }
        witnessed::as_known(
            store,
            &counting.known,
            called.iter_mut().map(|called| &mut called.memory).collect(),
        )?;
        let own = witnessed::own_worlds(store, &counting.known, counting.company)?;
        for called in &mut called {
            called.own_world =
                matches!(called.memory.scope, MemoryScope::World(world) if own.contains(&world));
        }
        Ok(called)
    }
}

fn is_made_of(memory: &Memory, message: MessageId) -> bool {
    memory.sources.contains(&message)
}

/// Scales the lexical scores so that the best match has 1.
fn by_words(found: Vec<FoundMemory>) -> Vec<MatchedMemory> {
    let best = found.iter().map(|found| found.score).fold(0.0, f64::max);
    let share = |score: f64| {
        if best > 0.0 {
            (score / best) as f32
        } else {
            0.0
        }
    };
    let called = found.into_iter().map(|found| {
        let words = share(found.score);
        let memory = found.memory;
        MatchedMemory {
            memory,
            own_world: false,
            words,
            nearness: 0.0,
        }
    });
    called.collect()
}

impl Facts {
    /// `user` is the user's name.
    pub(crate) fn new(
        StandingFacts {
            memories,
            last_session,
            own_worlds,
        }: StandingFacts,
        called: Vec<MatchedMemory>,
        user: &str,
    ) -> Self {
        let user: Vec<String> = words(user).collect();
        let standing: HashSet<MemoryId> = memories.iter().map(|memory| memory.id).collect();
        let besides = called
            .iter()
            .map(|called| &called.memory)
            .filter(|memory| !standing.contains(&memory.id));
        let doubles = Doubles::among(memories.iter().chain(besides), &user);
        Self {
            standing: memories,
            called,
            last_session,
            own_worlds,
            user,
            doubles,
        }
    }

    /// Candidates for the digest, ordered by pin, importance and recency. Uncertain memories are
    /// left out until a question matches them, and so are summaries of messages, because the digest
    /// has the chat's own keyframes. A memory may be a candidate for the context block as well; the
    /// plan includes it once.
    pub(crate) fn digest(&self, now: Timestamp, clock: &Clock) -> Vec<Candidate> {
        let one = |memory: &Memory| {
            let first = if memory.pinned { 100.0 } else { 0.0 };
            let reason = standing_reason(memory);
            candidate(
                memory,
                clock,
                reason,
                first + f32::from(memory.importance) + 0.5 * recency(memory, now),
            )
        };
        let sure = self
            .standing
            .iter()
            .filter(|memory| memory.pinned || memory.confidence >= SURE);
        let last = self.last_session.iter().map(|memory| {
            let score = f32::from(memory.importance);
            Candidate {
                kind: BlockKind::LastSession,
                ..candidate(memory, clock, BlockReason::PreviousChat, score)
            }
        });
        let sure = sure.filter(|memory| memory.origin != MemoryOrigin::Keyframe);
        let mut candidates: Vec<Candidate> = sure.map(one).chain(last).collect();
        self.doubles.mark(&mut candidates);
        candidates
    }

    /// The sources of the memories that only the speaker may read.
    pub(crate) fn private(&self, known: &Knowledge) -> HashSet<Source> {
        let own = |memory: &Memory| matches!(memory.scope, MemoryScope::World(world) if self.own_worlds.contains(&world));
        let standing = self.standing.iter().chain(&self.last_session);
        let standing = standing.map(|memory| (memory, own(memory)));
        let called = self
            .called
            .iter()
            .map(|called| (&called.memory, called.own_world));
        let private = standing
            .chain(called)
            .filter(|(memory, own)| *own || known.is_private(memory));
        private.map(|(memory, _)| source(memory)).collect()
    }

    /// Messages in which the user asked to remember what one of these memories says.
    pub(crate) fn repeated(&self) -> HashSet<MessageId> {
        let all = self
            .standing
            .iter()
            .chain(self.called.iter().map(|called| &called.memory));
        let all = all.filter(|memory| memory.origin == MemoryOrigin::Command);
        all.filter_map(|memory| <[MessageId; 1]>::try_from(memory.sources.as_slice()).ok())
            .flatten()
            .collect()
    }

    /// The memories that match this turn, best first.
    fn called(&self, now: Timestamp) -> Vec<&MatchedMemory> {
        let mut called: Vec<_> = self.called.iter().collect();
        let weight = |called: &MatchedMemory| weigh(&called.memory, called.fit(), now);
        called.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
        called
    }

    /// Candidates for the context block, ordered by MMR: memories that match this turn, and vital
    /// ones.
    pub(crate) fn context(&self, now: Timestamp, clock: &Clock) -> Vec<Candidate> {
        let called = self.called(now);
        let told: HashSet<MemoryId> = called.iter().map(|called| called.memory.id).collect();
        let vital = self
            .standing
            .iter()
            .filter(|memory| is_vital(memory) && !told.contains(&memory.id));
        let (memories, candidates): (Vec<&Memory>, Vec<Candidate>) = called
            .into_iter()
            .map(|called| (&called.memory, match_candidate(called, now, clock)))
            .chain(vital.map(|memory| (memory, vital_candidate(memory, now, clock))))
            .unzip();
        let ranked = candidates.into_iter().zip(memories);
        let ranked = ranked.map(|(candidate, memory)| {
            Ranked::new(candidate, memory, &self.user, is_vital(memory))
        });
        let mut diverse = diversify(ranked.collect());
        self.doubles.mark(&mut diverse);
        diverse
    }
}

#[cfg(test)]
mod tests;
