//! Runs passes over a turn until no further entry activates.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use super::check::Match;
use super::input::{ExpandedText, Written};
use super::outcome::{Activated, LoreOutcome, Pass, PassKind, Reason, Rejected, Rule, UiPrompt};
use super::text::ScanText;
use super::timed::TimedEffect;
use super::{LoreInput, PreparedBooks};
use crate::lore::keys::literals::Literals;
use crate::lore::keys::{KeyRules, Test};

/// Activates the entries of this turn.
pub fn activate(books: &PreparedBooks, input: &LoreInput) -> LoreOutcome {
    let expanded = ExpandedEntry::new(books, input);
    let mut scan = Scan::new(books, input, &expanded);
    scan.run();
    scan.outcome()
}

/// An entry that matched in this pass. Groups, roll and budget decide whether it activates.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntryCandidate {
    pub(super) entry: usize,
    pub(super) matched: Match,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Waiting,
    Active,
    /// The probability roll failed. It is not repeated in later passes of this turn.
    FailedRoll,
}

/// State that changes between passes. Entries are identified by their index in the list.
pub(super) struct Scan<'a> {
    pub(super) books: &'a PreparedBooks,
    pub(super) input: &'a LoreInput<'a>,
    pub(super) expanded: &'a ExpandedEntry,
    pub(super) compatible: bool,
    pub(super) text: ScanText<'a>,
    pub(super) timed: TimedEffect,
    /// Number of messages that are not hidden.
    pub(super) now: u32,
    /// Number of messages by the character that are not hidden.
    pub(super) character_messages: u32,
    external: HashSet<usize>,
    pub(super) kind: PassKind,
    pub(super) passes: Vec<Pass>,
    /// Scan depth in messages, including widening.
    pub(super) depth: i64,
    pub(super) level: u32,
    levels: VecDeque<u32>,
    pub(super) status: Vec<Status>,
    pub(super) rules: Vec<Rule>,
    pub(super) active: Vec<usize>,
    pub(super) activated: Vec<Activated>,
    pub(super) budget: u32,
    pub(super) tokens: u32,
    pub(super) overflowed: bool,
    /// Corrected profile: tokens charged to the budgets.
    pub(super) used: u32,
    pub(super) used_by_book: Vec<u32>,
    /// Compatible profile: text charged to the budget of later passes.
    pub(super) earlier_text: String,
}

impl<'a> Scan<'a> {
    fn new(
        books: &'a PreparedBooks,
        input: &'a LoreInput<'a>,
        expanded: &'a ExpandedEntry,
    ) -> Self {
        let settings = &books.settings;
        let compatible = settings.compatible();
        let visible = || input.messages.iter().filter(|message| !message.hidden);
        let now = input.earlier.messages + visible().count() as u32;
        let mut levels = levels(books);
        Self {
            books,
            input,
            expanded,
            compatible,
            text: ScanText::new(input, settings, &books.literals, &expanded.literals),
            timed: TimedEffect::begin(&books.entries, input.timed, now, input.dry_run, compatible),
            now,
            character_messages: input.earlier.of_character
                + visible().filter(|message| !message.from_user).count() as u32,
            external: external(books, input),
            kind: PassKind::First,
            passes: Vec::new(),
            depth: settings.scan_depth,
            level: levels.pop_front().unwrap_or_default(),
            levels,
            status: vec![Status::Waiting; books.entries.len()],
            rules: vec![Rule::NotConsidered; books.entries.len()],
            active: Vec::new(),
            activated: Vec::new(),
            budget: settings.budget(input.context_tokens),
            tokens: 0,
            overflowed: false,
            used: 0,
            used_by_book: vec![0; books.books.len()],
            earlier_text: String::new(),
        }
    }

    fn run(&mut self) {
        if self.books.entries.is_empty() {
            return;
        }
        let own = self
            .books
            .entries
            .iter()
            .filter_map(|entry| entry.scan_depth)
            .max();
        self.reach(own.unwrap_or_default());
        let limit = self.books.settings.max_recursion_steps as usize;
        while limit == 0 || self.passes.len() < limit {
            self.reach(self.depth);
            let mut candidates = self.candidates();
            self.choose_of_groups(&mut candidates);
            let before = self.activated.len();
            let feeding = self.accept(candidates);
            let added = (self.activated.len() - before) as u32;
            self.passes.push(Pass {
                kind: self.kind,
                added,
            });
            let Some(next) = self.next(&feeding) else {
                break;
            };
            self.feed(&feeding);
            self.kind = next;
        }
        for index in &self.active {
            if !self.input.dry_run {
                self.timed.start(&self.books.entries[*index]);
            }
        }
    }

    fn reach(&mut self, depth: i64) {
        self.text.reach(usize::try_from(depth).unwrap_or_default());
    }

    /// Sticky entries first, then list order. In SillyTavern, external entries come in between.
    fn candidates(&mut self) -> Vec<EntryCandidate> {
        let mut found = Vec::new();
        for entry in 0..self.books.entries.len() {
            if self.status[entry] != Status::Waiting {
                continue;
            }
            match self.check(entry) {
                Ok(matched) => found.push(EntryCandidate { entry, matched }),
                Err(rule) => self.rules[entry] = rule,
            }
        }
        let from_outside = |candidate: &EntryCandidate| {
            self.compatible && candidate.matched.reason == Reason::External
        };
        found.sort_by_key(|candidate| {
            (
                !self.timed.is_sticky(candidate.entry),
                !from_outside(candidate),
            )
        });
        found
    }

    pub(super) fn is_external(&self, entry: usize) -> bool {
        self.external.contains(&entry)
    }

    /// The kind of the next pass, if any.
    fn next(&mut self, feeding: &[usize]) -> Option<PassKind> {
        // The compatible profile starts no new search after an overflow.
        if !self.overflowed || !self.compatible {
            let recursive = !self.compatible || self.books.settings.recursive;
            let after_widening =
                self.compatible && self.kind == PassKind::Widened && self.text.has_recursion();
            if recursive && (!feeding.is_empty() || after_widening) {
                return Some(PassKind::Recursion);
            }
            if self.may_widen() {
                self.depth += 1;
                return Some(PassKind::Widened);
            }
        }
        let next_level = self.levels.pop_front()?;
        self.level = next_level;
        Some(PassKind::Recursion)
    }

    fn may_widen(&self) -> bool {
        let settings = &self.books.settings;
        if self.active.len() >= settings.min_activations as usize {
            return false;
        }
        let limit = match settings.min_activations_depth_max {
            0 => i64::MAX,
            limit => i64::from(limit),
        };
        let limit = limit.min(self.text.len() as i64);
        if self.compatible {
            self.depth <= limit
        } else {
            self.depth < limit
        }
    }

    /// Passes the texts of this pass to the next passes.
    fn feed(&mut self, feeding: &[usize]) {
        let expanded: Vec<ExpandedText> = feeding
            .iter()
            .map(|entry| self.told_before(*entry))
            .collect();
        let text = expanded
            .iter()
            .map(|expanded| expanded.text.as_str())
            .collect::<Vec<_>>()
            .join("\n");
        let keys = expanded
            .iter()
            .flat_map(|expanded| expanded.hidden_keys.iter().map(String::as_str));
        let keys = keys.collect::<Vec<_>>().join("\n");
        if self.compatible && !text.is_empty() {
            self.earlier_text = format!("{text}\n{}", self.earlier_text);
        }
        for scanned in [text, keys].into_iter().filter(|text| !text.is_empty()) {
            self.text.add_recursion(scanned);
        }
    }

    /// The text of an entry of an earlier pass. In SillyTavern, an entry that did not fit may feed
    /// recursion too.
    fn told_before(&self, entry: usize) -> ExpandedText {
        match self.active.iter().rposition(|active| *active == entry) {
            Some(place) => {
                let Activated {
                    content,
                    hidden_keys,
                    ..
                } = &self.activated[place];
                ExpandedText {
                    text: content.clone(),
                    hidden_keys: hidden_keys.clone(),
                }
            }
            None => self.expanded_text(entry, self.books.entries[entry].constant),
        }
    }

    fn outcome(self) -> LoreOutcome {
        let books = self.books;
        let kept_out =
            (0..books.entries.len()).filter(|entry| self.status[*entry] != Status::Active);
        let rejected = kept_out.map(|index| {
            let entry = &books.entries[index];
            let book = books.books[entry.book].name.clone();
            Rejected {
                book,
                uid: entry.uid.clone(),
                rule: self.rules[index],
                index: entry.index,
            }
        });
        let prompts = self
            .active
            .iter()
            .flat_map(|entry| &books.entries[*entry].decorators.disable_prompts);
        let prompts: BTreeSet<UiPrompt> = prompts.copied().collect();
        LoreOutcome {
            rejected: rejected.collect(),
            disabled_prompts: prompts.into_iter().collect(),
            patterns_exhausted: self.text.is_exhausted(),
            activated: self.activated,
            passes: self.passes,
            budget: self.budget,
            tokens: self.tokens,
            overflowed: self.overflowed,
            timed: self.timed.state,
            no_entries: books.entries.is_empty(),
        }
    }
}

/// The recursion levels for which entries wait, ascending.
fn levels(books: &PreparedBooks) -> VecDeque<u32> {
    let compatible = books.settings.compatible();
    let recursive = books.settings.recursive || books.entries.iter().any(|entry| entry.feeds);
    if !compatible && !recursive {
        return VecDeque::new();
    }
    let sources = books.entries.iter().map(|entry| books.source(entry));
    let waiting =
        sources.filter(|entry| entry.delay_until_recursion > 0 && (compatible || !entry.disable));
    waiting
        .map(|entry| entry.delay_until_recursion)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

fn external(books: &PreparedBooks, input: &LoreInput) -> HashSet<usize> {
    if input.external.is_empty() {
        return HashSet::new();
    }
    let wanted: HashSet<(&str, &str)> = input.external.iter().copied().collect();
    let name = |entry: &super::prepare::Prepared| books.books[entry.book].name.clone();
    let all = books.entries.iter().enumerate();
    all.filter(|(_, entry)| wanted.contains(&(&*name(entry), entry.uid.as_str())))
        .map(|(index, _)| index)
        .collect()
}

/// Keys with macros, expanded for this turn.
#[derive(Default)]
pub(super) struct ExpandedEntry {
    literals: Literals,
    tests: HashMap<(bool, bool, bool), HashMap<String, Test>>,
}

impl ExpandedEntry {
    fn new(books: &PreparedBooks, input: &LoreInput) -> Self {
        let mut expanded = Self {
            literals: Literals::new(books.settings.compatible()),
            tests: HashMap::new(),
        };
        if !books.has_macros {
            return expanded;
        }
        for entry in &books.entries {
            let lists = [&entry.keys, &entry.secondary, &entry.exclude]
                .into_iter()
                .chain(&entry.additional);
            for test in lists.flatten() {
                if let Test::Macro(key) = test {
                    expanded.add(entry.rules, key, input);
                }
            }
        }
        expanded.literals.build();
        expanded
    }

    fn add(&mut self, rules: KeyRules, key: &str, input: &LoreInput) {
        let tests = self
            .tests
            .entry((rules.cased, rules.whole, rules.patterns))
            .or_default();
        if !tests.contains_key(key) {
            let test =
                rules.read_expanded(&(input.expand)(Written::Key(key)).text, &mut self.literals);
            tests.insert(key.to_owned(), test);
        }
    }

    pub(super) fn get(&self, rules: KeyRules, key: &str) -> Option<&Test> {
        self.tests
            .get(&(rules.cased, rules.whole, rules.patterns))?
            .get(key)
    }
}
