//! The scanned texts (messages, card texts, prompts and recursion texts) and the matches in them.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::outcome::KeyLocation;
use super::{LoreInput, LoreSettings};
use crate::lore::keys::key_regex::{JsRegex, Text};
use crate::lore::keys::literals::{Hits, Literals, Spot, whole_ascii};
use crate::lore::keys::{Test, fold};

/// Texts besides the messages, one bit each: six of the card, then prompts, then recursion texts.
const PROMPTS: u16 = 1 << 6;
pub(super) const RECURSION: u16 = 1 << 7;
pub(super) const ALWAYS_SEEN: u16 = PROMPTS | RECURSION;
const CARD: [KeyLocation; 6] = [
    KeyLocation::Persona,
    KeyLocation::Description,
    KeyLocation::Personality,
    KeyLocation::DepthPrompt,
    KeyLocation::Scenario,
    KeyLocation::CreatorNotes,
];

/// Maximum scan depth in messages.
const MAX_DEPTH: usize = 1000;
/// Total bytes that patterns may search in one activation. It stops hostile books after a short
/// time.
const PATTERN_BYTES: usize = 64 << 20;

/// The texts that an entry scans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct View {
    /// Number of messages, from the newest.
    pub(super) depth: u32,
    pub(super) others: u16,
    /// Scans nothing at all, not even an empty line.
    pub(super) nothing: bool,
}

pub(super) struct ScanText<'a> {
    compatible: bool,
    /// Newest first, each with its index in the input.
    messages: Vec<(usize, String)>,
    searched: usize,
    card: Vec<(u16, &'a str)>,
    prompts: Vec<&'a str>,
    recursion: Vec<String>,
    sets: [(&'a Literals, Hits); 2],
    joined: RefCell<HashMap<View, Rc<Joined>>>,
    bytes_left: Cell<usize>,
}

/// The joined text of a view, for patterns.
struct Joined {
    text: Text,
    starts: Vec<(usize, Spot)>,
}

impl<'a> ScanText<'a> {
    /// `fixed` has the keys without macros, `expanded` those with macros.
    pub(super) fn new(
        input: &LoreInput<'a>,
        settings: &LoreSettings,
        fixed: &'a Literals,
        expanded: &'a Literals,
    ) -> Self {
        let messages = input
            .messages
            .iter()
            .enumerate()
            .filter(|(_, message)| !message.hidden)
            .rev()
            .take(MAX_DEPTH);
        let line = |message: &super::LoreMessage| {
            if settings.include_names {
                fold::trim(&format!("{}: {}", message.name, message.text)).to_owned()
            } else {
                fold::trim(message.text).to_owned()
            }
        };
        let card = input
            .texts
            .all()
            .into_iter()
            .enumerate()
            .map(|(i, text)| (1 << i, text));
        let mut text = Self {
            compatible: settings.compatible(),
            messages: messages.map(|(i, message)| (i, line(message))).collect(),
            searched: 0,
            card: card.filter(|(_, text)| !text.is_empty()).collect(),
            prompts: input
                .injections
                .iter()
                .copied()
                .filter(|text| !text.is_empty())
                .collect(),
            recursion: Vec::new(),
            sets: [(fixed, fixed.hits()), (expanded, expanded.hits())],
            joined: RefCell::default(),
            bytes_left: Cell::new(PATTERN_BYTES),
        };
        for (bit, card_text) in text.card.clone() {
            text.search(card_text, Spot::Other(bit));
        }
        for prompt in text.prompts.clone() {
            text.search(prompt, Spot::Other(PROMPTS));
        }
        text
    }

    /// Extends the search to `depth` messages.
    pub(super) fn reach(&mut self, depth: usize) {
        while self.searched < depth.min(self.messages.len()) {
            let message = std::mem::take(&mut self.messages[self.searched].1);
            self.search(&message, Spot::Message(self.searched as u32));
            self.messages[self.searched].1 = message;
            self.searched += 1;
        }
    }

    pub(super) fn add_recursion(&mut self, text: String) {
        self.search(&text, Spot::Other(RECURSION));
        self.recursion.push(text);
        self.joined.borrow_mut().clear();
    }

    pub(super) fn has_recursion(&self) -> bool {
        !self.recursion.is_empty()
    }

    /// True if the work limit was reached and some patterns were not tried.
    pub(super) fn is_exhausted(&self) -> bool {
        self.bytes_left.get() == 0
    }

    /// Number of messages that can be scanned.
    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    /// Searches for a key in a view. `expanded` selects the set of a plain key.
    pub(super) fn find(&self, test: &Test, expanded: bool, view: View) -> Option<KeyLocation> {
        match test {
            Test::Never | Test::Macro(_) => None,
            Test::Always => Some(KeyLocation::Anywhere),
            Test::Literal { .. } | Test::Joined { .. } if view.nothing => None,
            Test::Literal { id, cased, whole } => {
                let hits = &self.sets[usize::from(expanded)].1;
                hits.find(*id, *cased, *whole, view.depth, view.others)
                    .map(|spot| self.found(spot))
            }
            Test::Joined { key, cased, whole } => self.find_joined(key, *cased, *whole, view),
            Test::Regex(regex) => self.find_regex(regex, view),
        }
    }

    fn search(&mut self, text: &str, spot: Spot) {
        for (literals, hits) in &mut self.sets {
            literals.search(text, spot, hits);
        }
    }

    fn find_joined(&self, key: &str, cased: bool, whole: bool, view: View) -> Option<KeyLocation> {
        let joined = self.joined(view);
        let plain = joined.text.plain();
        let text = if cased {
            plain.into()
        } else {
            fold::folded(plain, self.compatible)
        };
        let mut places = text
            .match_indices(key)
            .map(|(at, found)| (at, at + found.len()));
        // Lower-casing may shift offsets slightly; they are only for display.
        let (at, _) = places.find(|(start, end)| !whole || whole_ascii(&text, *start, *end))?;
        Some(self.found_at(&joined, at))
    }

    fn find_regex(&self, regex: &JsRegex, view: View) -> Option<KeyLocation> {
        let joined = self.joined(view);
        let left = self
            .bytes_left
            .get()
            .saturating_sub(joined.text.plain().len() + 1);
        self.bytes_left.set(left);
        if left == 0 {
            return None;
        }
        regex
            .find(&joined.text)
            .map(|at| self.found_at(&joined, at))
    }

    fn found_at(&self, joined: &Joined, at: usize) -> KeyLocation {
        let before = joined.starts.partition_point(|(start, _)| *start <= at);
        before
            .checked_sub(1)
            .map_or(KeyLocation::Anywhere, |i| self.found(joined.starts[i].1))
    }

    fn found(&self, spot: Spot) -> KeyLocation {
        match spot {
            Spot::Message(message) => KeyLocation::Message(self.messages[message as usize].0),
            Spot::Other(PROMPTS) => KeyLocation::Prompt,
            Spot::Other(RECURSION) => KeyLocation::Entry,
            Spot::Other(bit) => CARD
                .get(bit.trailing_zeros() as usize)
                .copied()
                .unwrap_or(KeyLocation::Anywhere),
        }
    }

    fn joined(&self, view: View) -> Rc<Joined> {
        let known = self.joined.borrow().get(&view).cloned();
        known.unwrap_or_else(|| {
            let joined = Rc::new(self.join(view));
            self.joined.borrow_mut().insert(view, Rc::clone(&joined));
            joined
        })
    }

    /// Joins messages, card texts, prompts and recursion texts, one per line. In SillyTavern each
    /// begins with a control character.
    fn join(&self, view: View) -> Joined {
        let mut text = String::new();
        let mut starts = Vec::new();
        let mark = if self.compatible { "\u{1}" } else { "" };
        if !view.nothing {
            text.push_str(mark);
        }
        let messages = self.messages.iter().take(view.depth as usize).enumerate();
        let messages = messages.map(|(i, (_, text))| (Spot::Message(i as u32), text.as_str()));
        let card = self
            .card
            .iter()
            .map(|(bit, text)| (Spot::Other(*bit), *text));
        let prompts = self
            .prompts
            .iter()
            .map(|text| (Spot::Other(PROMPTS), *text));
        let recursion = self
            .recursion
            .iter()
            .map(|text| (Spot::Other(RECURSION), text.as_str()));
        for (spot, part) in messages.chain(card).chain(prompts).chain(recursion) {
            let seen = !view.nothing && !matches!(spot, Spot::Other(bit) if view.others & bit == 0);
            if !seen {
                continue;
            }
            let no_message =
                self.compatible && starts.is_empty() && !matches!(spot, Spot::Message(_));
            if !starts.is_empty() || no_message {
                text.push('\n');
                text.push_str(mark);
            }
            starts.push((text.len(), spot));
            text.push_str(part);
        }
        Joined {
            text: Text::new(text),
            starts,
        }
    }
}
