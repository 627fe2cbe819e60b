//! Searches all plain keys at once, with one Aho-Corasick automaton for case-insensitive keys and
//! one for the others.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::lore::keys::fold;

/// Deduplicated plain keys.
#[derive(Debug, Default)]
pub(crate) struct Literals {
    pub(crate) folded: Side,
    pub(crate) cased: Side,
    compatible: bool,
}

/// The keys that are searched in one form of the text.
#[derive(Debug, Default)]
pub(crate) struct Side {
    ids: HashMap<String, u32>,
    automaton: Option<AhoCorasick>,
    /// First and last character of each key.
    edges: Vec<(char, char)>,
}

/// The positions where a key was found. Messages are numbered from the newest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LiteralMatch {
    message: u32,
    whole_message: u32,
    others: u16,
    whole_others: u16,
}

/// The text that is searched.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Spot {
    Message(u32),
    /// One bit per text; see [`crate::lore::text`].
    Other(u16),
}

/// The matches so far.
#[derive(Debug, Default)]
pub(crate) struct Hits {
    folded: Vec<LiteralMatch>,
    cased: Vec<LiteralMatch>,
}

const NOWHERE: LiteralMatch = LiteralMatch {
    message: u32::MAX,
    whole_message: u32::MAX,
    others: 0,
    whole_others: 0,
};

impl Literals {
    pub(crate) fn new(compatible: bool) -> Self {
        Self {
            compatible,
            ..Self::default()
        }
    }

    /// Adds a key and returns its id. Case-insensitive keys must be folded already.
    pub(crate) fn add(&mut self, key: String, cased: bool) -> u32 {
        if cased {
            self.cased.add(key)
        } else {
            self.folded.add(key)
        }
    }

    pub(crate) fn build(&mut self) {
        self.folded.build();
        self.cased.build();
    }

    pub(crate) fn hits(&self) -> Hits {
        Hits {
            folded: vec![NOWHERE; self.folded.edges.len()],
            cased: vec![NOWHERE; self.cased.edges.len()],
        }
    }

    /// Finds every key in one text.
    pub(crate) fn search(&self, text: &str, spot: Spot, hits: &mut Hits) {
        if self.folded.automaton.is_some() {
            self.folded.search(
                &fold::folded(text, self.compatible),
                spot,
                self.compatible,
                &mut hits.folded,
            );
        }
        self.cased
            .search(text, spot, self.compatible, &mut hits.cased);
    }
}

impl Side {
    fn add(&mut self, key: String) -> u32 {
        let next = self.edges.len() as u32;
        *self.ids.entry(key).or_insert_with_key(|key| {
            let first = key.chars().next().unwrap_or_default();
            self.edges
                .push((first, key.chars().next_back().unwrap_or(first)));
            next
        })
    }

    fn build(&mut self) {
        if self.ids.is_empty() {
            return;
        }
        let mut keys: Vec<(&String, &u32)> = self.ids.iter().collect();
        keys.sort_unstable_by_key(|(_, id)| **id);
        // `build` fails only with gigabytes of keys, which no book file can contain.
        self.automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(keys.into_iter().map(|(key, _)| key))
            .ok();
        self.ids = HashMap::new();
    }

    fn search(&self, text: &str, spot: Spot, compatible: bool, hits: &mut [LiteralMatch]) {
        let Some(automaton) = &self.automaton else {
            return;
        };
        for found in automaton.find_overlapping_iter(text) {
            let id = found.pattern().as_usize();
            let hit = &mut hits[id];
            if hit.knows(spot) {
                continue;
            }
            let start = found.start();
            let end = found.end();
            let whole = if compatible {
                whole_ascii(text, start, end)
            } else {
                let (first, last) = self.edges[id];
                let before = text[..start].chars().next_back();
                let after = text[end..].chars().next();
                before.is_none_or(|c| fold::is_boundary(c, first))
                    && after.is_none_or(|c| fold::is_boundary(last, c))
            };
            hit.add(spot, whole);
        }
    }
}

pub(crate) fn whole_ascii(text: &str, start: usize, end: usize) -> bool {
    let bytes = text.as_bytes();
    fold::is_ascii_boundary(start.checked_sub(1).and_then(|at| bytes.get(at)))
        && fold::is_ascii_boundary(bytes.get(end))
}

impl LiteralMatch {
    /// True if further matches at this spot add nothing, because a whole-word match is known.
    fn knows(&self, spot: Spot) -> bool {
        match spot {
            Spot::Message(message) => self.whole_message <= message,
            Spot::Other(bit) => self.whole_others & bit != 0,
        }
    }

    fn add(&mut self, spot: Spot, whole: bool) {
        match spot {
            Spot::Message(message) => {
                self.message = self.message.min(message);
                if whole {
                    self.whole_message = self.whole_message.min(message);
                }
            }
            Spot::Other(bit) => {
                self.others |= bit;
                if whole {
                    self.whole_others |= bit;
                }
            }
        }
    }

    /// The newest message within `depth`, else the first of the other texts.
    fn within(&self, whole: bool, depth: u32, others: u16) -> Option<Spot> {
        let (message, bits) = if whole {
            (self.whole_message, self.whole_others)
        } else {
            (self.message, self.others)
        };
        if message < depth {
            return Some(Spot::Message(message));
        }
        let bits = bits & others;
        (bits != 0).then(|| Spot::Other(1 << bits.trailing_zeros()))
    }
}

impl Hits {
    pub(crate) fn find(
        &self,
        id: u32,
        cased: bool,
        whole: bool,
        depth: u32,
        others: u16,
    ) -> Option<Spot> {
        let side = if cased { &self.cased } else { &self.folded };
        side.get(id as usize)?.within(whole, depth, others)
    }
}
