//! Turns candidates into active entries: probability roll, then budget.

use super::input::{ExpandedText, Written};
use super::outcome::{Activated, Reason, Rule};
use super::scan::{EntryCandidate, Scan, Status};

impl Scan<'_> {
    /// Activates the candidates that pass their roll and fit the budget. Returns the entries whose
    /// text may feed further passes.
    pub(super) fn accept(&mut self, candidates: Vec<EntryCandidate>) -> Vec<usize> {
        if self.compatible {
            self.accept_compatible(&candidates)
        } else {
            self.accept_corrected(candidates)
        }
    }

    fn accept_corrected(&mut self, candidates: Vec<EntryCandidate>) -> Vec<usize> {
        let mut feeding = Vec::new();
        for candidate in self.by_priority(candidates) {
            let prepared = &self.books.entries[candidate.entry];
            let ignores = self.books.source(prepared).ignore_budget;
            if !self.passes_roll(&candidate) {
                continue;
            }
            // The budget is used up, so further entries are neither expanded nor counted.
            if self.overflowed && self.used >= self.budget && !ignores {
                self.rules[candidate.entry] = Rule::Budget;
                continue;
            }
            let expanded = self.expanded_text(
                candidate.entry,
                candidate.matched.reason == Reason::Constant,
            );
            let tokens = if expanded.text.is_empty() {
                0
            } else {
                (self.input.count)(&expanded.text)
            };
            if !ignores && !self.fits(candidate.entry, tokens) {
                continue;
            }
            if prepared.feeds && !(expanded.text.is_empty() && expanded.hidden_keys.is_empty()) {
                feeding.push(candidate.entry);
            }
            self.activate(candidate, expanded, tokens);
        }
        feeding
    }

    /// Charges the tokens to the budget of the book and to the total budget, if both have enough.
    fn fits(&mut self, entry: usize, tokens: u32) -> bool {
        let book = self.books.entries[entry].book;
        let of_book = self.used_by_book[book].saturating_add(tokens);
        if self.books.books[book]
            .token_budget
            .is_some_and(|budget| of_book > budget)
        {
            self.rules[entry] = Rule::BookBudget;
            return false;
        }
        let used = self.used.saturating_add(tokens);
        if used > self.budget {
            self.overflowed = true;
            self.rules[entry] = Rule::Budget;
            return false;
        }
        (self.used, self.used_by_book[book]) = (used, of_book);
        true
    }

    /// Sorts the entries of a book that state a priority, highest first, among their positions.
    /// Entries that ask to be dropped first come last.
    fn by_priority(&self, candidates: Vec<EntryCandidate>) -> Vec<EntryCandidate> {
        let entry = |candidate: &EntryCandidate| &self.books.entries[candidate.entry];
        let mut sorted = candidates.clone();
        for book in 0..self.books.books.len() {
            let states = |candidate: &&EntryCandidate| {
                entry(candidate).book == book && entry(candidate).priority.is_some()
            };
            let mut ranked: Vec<EntryCandidate> =
                candidates.iter().filter(states).copied().collect();
            ranked.sort_by(|a, b| {
                entry(b)
                    .priority
                    .partial_cmp(&entry(a).priority)
                    .unwrap_or(std::cmp::Ordering::Equal)
            });
            let places = sorted.iter_mut().filter(|candidate| states(&&**candidate));
            places
                .zip(ranked)
                .for_each(|(place, candidate)| *place = candidate);
        }
        sorted.sort_by_key(|candidate| entry(candidate).decorators.drop_first);
        sorted
    }

    fn accept_compatible(&mut self, candidates: &[EntryCandidate]) -> Vec<usize> {
        let earlier = (self.input.count)(&self.earlier_text);
        let mut text = String::new();
        let mut feeding = Vec::new();
        for candidate in candidates {
            let prepared = &self.books.entries[candidate.entry];
            let source = self.books.source(prepared);
            let feeds = !source.prevent_recursion;
            if self.overflowed && !source.ignore_budget {
                self.rules[candidate.entry] = Rule::Budget;
                feeding.extend(feeds.then_some(candidate.entry));
                continue;
            }
            if !self.passes_roll(candidate) {
                continue;
            }
            feeding.extend(feeds.then_some(candidate.entry));
            let expanded = self.expanded_text(
                candidate.entry,
                candidate.matched.reason == Reason::Constant,
            );
            text.push_str(&expanded.text);
            text.push('\n');
            if !source.ignore_budget
                && earlier.saturating_add((self.input.count)(&text)) >= self.budget
            {
                self.overflowed = true;
                self.rules[candidate.entry] = Rule::Budget;
                continue;
            }
            let tokens = (self.input.count)(&expanded.text);
            self.activate(*candidate, expanded, tokens);
        }
        feeding
    }

    fn passes_roll(&mut self, candidate: &EntryCandidate) -> bool {
        let prepared = &self.books.entries[candidate.entry];
        let source = self.books.source(prepared);
        if !source.use_probability
            || source.probability == Some(100.0)
            || self.timed.is_sticky(candidate.entry)
        {
            return true;
        }
        let book = &self.books.books[prepared.book].name;
        let roll = self
            .input
            .chance
            .roll(&["probability", book, prepared.uid.as_str()])
            * 100.0;
        let passes = source
            .probability
            .is_some_and(|percent| roll < percent || (self.compatible && roll <= percent));
        if !passes {
            self.rules[candidate.entry] = Rule::Probability;
            // SillyTavern stores a failed roll of an external entry under another object than the
            // one it checks.
            if !(self.compatible && self.is_external(candidate.entry)) {
                self.status[candidate.entry] = Status::FailedRoll;
            }
        }
        passes
    }

    /// The text of an entry for this turn, with macros resolved.
    pub(super) fn expanded_text(&self, entry: usize, constant: bool) -> ExpandedText {
        let text = &self.books.entries[entry].content;
        (self.input.expand)(if constant {
            Written::Constant(text)
        } else {
            Written::Entry(text)
        })
    }

    fn activate(&mut self, candidate: EntryCandidate, expanded: ExpandedText, tokens: u32) {
        let ExpandedText {
            text: content,
            hidden_keys,
        } = expanded;
        let prepared = &self.books.entries[candidate.entry];
        let source = self.books.source(prepared);
        self.status[candidate.entry] = Status::Active;
        self.active.push(candidate.entry);
        self.tokens = self.tokens.saturating_add(tokens);
        self.activated.push(Activated {
            book: self.books.books[prepared.book].name.clone(),
            uid: prepared.uid.clone(),
            pass: self.passes.len() as u32,
            reason: candidate.matched.reason,
            key: candidate
                .matched
                .key
                .and_then(|key| source.keys.get(key).cloned()),
            found: candidate.matched.found,
            place: prepared.place.clone(),
            role: prepared.role,
            order: prepared.order,
            content,
            hidden_keys,
            tokens,
            sticky: self.timed.is_sticky(candidate.entry),
            index: prepared.index,
        });
    }
}
