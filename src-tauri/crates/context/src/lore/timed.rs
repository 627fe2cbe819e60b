//! Timed effects: sticky, cooldown, and V3's memory of earlier matches.

use std::collections::{BTreeMap, HashMap};

use domain::lorebook::Entry;

use super::chance::Fnv;
use super::prepare::Prepared;
use crate::lore::timed_state::{Effect, TimedState};

/// Equal entries have equal hashes on every machine.
pub(super) fn hash(entry: &Entry) -> String {
    let mut fnv = Fnv::default();
    let fields = serde_json::to_vec(entry.source()).unwrap_or_default();
    fnv.write(&fields);
    format!("{:016x}", fnv.0)
}

/// The effects of this turn.
pub(super) struct TimedEffect {
    pub(super) state: TimedState,
    sticky: Vec<bool>,
    cooldown: Vec<bool>,
    matched: Vec<bool>,
    now: u32,
}

#[derive(Clone, Copy, PartialEq)]
enum Which {
    Sticky,
    Cooldown,
    Matched,
}

impl TimedEffect {
    /// Updates `state` for a chat of `now` messages. A preview ignores all effects except delays.
    pub(super) fn begin(
        entries: &[Prepared],
        state: &TimedState,
        now: u32,
        dry_run: bool,
        compatible: bool,
    ) -> Self {
        let off = vec![false; entries.len()];
        let mut timed = Self {
            state: state.clone(),
            sticky: off.clone(),
            cooldown: off.clone(),
            matched: off,
            now,
        };
        let is_empty =
            state.sticky.is_empty() && state.cooldown.is_empty() && state.matched.is_empty();
        if dry_run || is_empty {
            return timed;
        }
        let by_id: HashMap<&str, usize> = entries
            .iter()
            .enumerate()
            .map(|(i, entry)| (entry.id.as_str(), i))
            .collect();
        for which in [Which::Sticky, Which::Cooldown, Which::Matched] {
            for (id, effect) in timed.of(which).clone() {
                let found = by_id.get(id.as_str()).map(|i| (*i, &entries[*i]));
                timed.check(which, &id, &effect, found, compatible);
            }
        }
        timed
    }

    pub(super) fn is_sticky(&self, entry: usize) -> bool {
        self.sticky[entry]
    }

    pub(super) fn is_on_cooldown(&self, entry: usize) -> bool {
        self.cooldown[entry]
    }

    pub(super) fn has_matched(&self, entry: usize) -> bool {
        self.matched[entry]
    }

    /// Starts the effects of an active entry that are not running yet.
    pub(super) fn start(&mut self, entry: &Prepared) {
        let now = self.now;
        let effect = |end| Effect {
            start: now,
            end,
            protected: false,
            hash: entry.hash.clone(),
        };
        if let Some(sticky) = entry.sticky {
            self.state
                .sticky
                .entry(entry.id.clone())
                .or_insert_with(|| effect(after(now, sticky)));
        }
        if let Some(cooldown) = entry.cooldown {
            self.state
                .cooldown
                .entry(entry.id.clone())
                .or_insert_with(|| effect(after(now, cooldown)));
        }
        if entry.decorators.remembers_match() {
            self.state
                .matched
                .entry(entry.id.clone())
                .or_insert_with(|| effect(u32::MAX));
        }
    }

    fn check(
        &mut self,
        which: Which,
        id: &str,
        effect: &Effect,
        found: Option<(usize, &Prepared)>,
        compatible: bool,
    ) {
        let over = self.now >= effect.end;
        if self.now <= effect.start && !effect.protected {
            self.of(which).remove(id);
            return;
        }
        let unchanged = found.filter(|(_, entry)| entry.hash == effect.hash);
        let Some((index, entry)) = unchanged else {
            // The book may be unbound only temporarily, but a changed entry is treated as a new
            // one.
            if over || (found.is_some() && !compatible) {
                self.of(which).remove(id);
            }
            return;
        };
        if over {
            self.of(which).remove(id);
            if let (Which::Sticky, Some(cooldown)) = (which, entry.cooldown) {
                self.cool_down(index, entry, cooldown);
            }
            return;
        }
        match which {
            Which::Sticky => self.sticky[index] = true,
            Which::Cooldown => self.cooldown[index] = true,
            Which::Matched => self.matched[index] = true,
        }
    }

    /// The end of a sticky effect starts the cooldown at once.
    fn cool_down(&mut self, index: usize, entry: &Prepared, length: i64) {
        let start = self.now;
        let hash = entry.hash.clone();
        let effect = Effect {
            start,
            end: after(start, length),
            protected: true,
            hash,
        };
        self.state.cooldown.insert(entry.id.clone(), effect);
        self.cooldown[index] = true;
    }

    fn of(&mut self, which: Which) -> &mut BTreeMap<String, Effect> {
        match which {
            Which::Sticky => &mut self.state.sticky,
            Which::Cooldown => &mut self.state.cooldown,
            Which::Matched => &mut self.state.matched,
        }
    }
}

fn after(now: u32, length: i64) -> u32 {
    u32::try_from(i64::from(now).saturating_add(length).max(0)).unwrap_or(u32::MAX)
}
