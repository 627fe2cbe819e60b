//! Compiles books for many turns: sources and their precedence, keys, and resolved settings of
//! entries.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use domain::lorebook::{Book, Entry, InsertionRole, Uid};

use super::decorators::{self, Decorators};
use super::position::EntryPosition;
use super::{Activated, LoreSettings, Rejected, Strategy, text, timed, timed_state};
use crate::lore::keys::literals::Literals;
use crate::lore::keys::{KeyRules, Test, fold};

/// A book and the name in bindings.
#[derive(Debug, Clone)]
pub struct NamedBook {
    pub name: Arc<str>,
    pub book: Arc<Book>,
}

/// The names of the books that are used in a chat. Names without a book are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bindings {
    pub global: Vec<String>,
    /// The card's own or linked book, then additional ones.
    pub character: Vec<String>,
    pub chat: Vec<String>,
    pub persona: Vec<String>,
}

/// All entries that are used in a chat, prepared for activation.
#[derive(Debug)]
pub struct PreparedBooks {
    pub(super) settings: LoreSettings,
    pub(super) books: Vec<PreparedBook>,
    /// In list order.
    pub(super) entries: Vec<Prepared>,
    pub(super) literals: Literals,
    pub(super) has_macros: bool,
}

#[derive(Debug)]
pub(super) struct PreparedBook {
    pub(super) name: Arc<str>,
    pub(super) book: Arc<Book>,
    /// `None` in the compatible profile, which ignores it.
    pub(super) token_budget: Option<u32>,
}

#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) book: usize,
    /// Index in the book.
    pub(super) index: usize,
    pub(super) uid: Uid,
    pub(super) id: String,
    pub(super) hash: String,
    pub(super) content: String,
    pub(super) decorators: Decorators,
    pub(super) rules: KeyRules,
    pub(super) keys: Vec<Test>,
    pub(super) secondary: Vec<Test>,
    /// Keys for scoring, if they differ.
    pub(super) score_keys: Option<(Vec<Test>, Vec<Test>)>,
    pub(super) additional: Vec<Vec<Test>>,
    pub(super) exclude: Vec<Test>,
    pub(super) constant: bool,
    /// The entry's own scan depth, else the book's.
    pub(super) scan_depth: Option<i64>,
    /// Bits of the texts that it scans besides the messages.
    pub(super) others: u16,
    pub(super) groups: Vec<String>,
    pub(super) order: f64,
    pub(super) priority: Option<f64>,
    pub(super) place: EntryPosition,
    pub(super) role: InsertionRole,
    pub(super) sticky: Option<i64>,
    pub(super) cooldown: Option<i64>,
    pub(super) delay: Option<i64>,
    /// True if its text may trigger other entries.
    pub(super) feeds: bool,
}

impl PreparedBooks {
    /// Compiles the books named in `bindings`. A book bound twice is used once: global before chat,
    /// persona and character.
    pub fn new(books: &[NamedBook], bindings: &Bindings, settings: &LoreSettings) -> Self {
        let mut prepared = Self {
            settings: settings.clone(),
            books: Vec::new(),
            entries: Vec::new(),
            literals: Literals::new(settings.compatible()),
            has_macros: false,
        };
        let by_name: HashMap<&str, &NamedBook> =
            books.iter().map(|book| (&*book.name, book)).collect();
        let mut read = |names: Vec<&String>| -> Vec<Prepared> {
            let found = names
                .into_iter()
                .filter_map(|name| by_name.get(name.as_str()).copied());
            found.flat_map(|book| prepared.add_book(book)).collect()
        };
        let global = unique(bindings.global.iter(), &[]);
        let chat = unique(bindings.chat.iter(), &[&global]);
        let persona = unique(bindings.persona.iter(), &[&global, &chat]);
        let character = unique(bindings.character.iter(), &[&global, &chat, &persona]);
        let global = read(global);
        let character = read(character);
        let chat = read(chat);
        let persona = read(persona);
        let shared = match settings.strategy {
            Strategy::Evenly => sorted(global.into_iter().chain(character).collect()),
            Strategy::CharacterFirst => [sorted(character), sorted(global)]
                .into_iter()
                .flatten()
                .collect(),
            Strategy::GlobalFirst => [sorted(global), sorted(character)]
                .into_iter()
                .flatten()
                .collect(),
        };
        prepared.entries = [sorted(chat), sorted(persona), shared]
            .into_iter()
            .flatten()
            .collect();
        prepared.name_apart();
        prepared.literals.build();
        prepared.has_macros = prepared.entries.iter().any(Prepared::has_macros);
        prepared
    }

    /// Number of entries, disabled ones included.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The title of an active entry; may be empty.
    pub fn title(&self, entry: &Activated) -> &str {
        let found = self.written(entry);
        found.map_or("", |found| {
            if found.comment.is_empty() {
                &found.name
            } else {
                &found.comment
            }
        })
    }

    /// The source of an active entry.
    pub fn written(&self, entry: &Activated) -> Option<&Entry> {
        self.entry(&entry.book, entry.index)
    }

    /// The source of a rejected entry.
    pub fn rejected(&self, entry: &Rejected) -> Option<&Entry> {
        self.entry(&entry.book, entry.index)
    }

    fn entry(&self, book: &Arc<str>, index: usize) -> Option<&Entry> {
        let book = self.books.iter().find(|known| known.name == *book);
        book.and_then(|book| book.book.entries.get(index))
    }

    pub fn settings(&self) -> &LoreSettings {
        &self.settings
    }

    pub(super) fn source(&self, prepared: &Prepared) -> &Entry {
        &self.books[prepared.book].book.entries[prepared.index]
    }

    fn add_book(&mut self, named: &NamedBook) -> Vec<Prepared> {
        let budget = named
            .book
            .token_budget()
            .and_then(|budget| u32::try_from(budget).ok())
            .filter(|budget| *budget > 0);
        self.books.push(PreparedBook {
            name: Arc::clone(&named.name),
            book: Arc::clone(&named.book),
            token_budget: budget.filter(|_| !self.settings.compatible()),
        });
        let place = self.books.len() - 1;
        let entries = named.book.entries.iter().enumerate();
        entries
            .map(|(index, entry)| self.add_entry(place, index, entry, named))
            .collect()
    }

    fn add_entry(
        &mut self,
        book: usize,
        index: usize,
        entry: &Entry,
        named: &NamedBook,
    ) -> Prepared {
        let settings = &self.settings;
        let compatible = settings.compatible();
        let (decorators, content) = if compatible {
            decorators::parse_compatible(&entry.content)
        } else {
            decorators::parse(&entry.content)
        };
        let rules = key_rules(entry, settings);
        let patterns = rules.patterns;
        let own_depth = decorators.scan_depth.filter(|_| !compatible);
        let book_depth = named.book.scan_depth().filter(|_| !compatible);
        let recursive = named
            .book
            .recursive_scanning()
            .filter(|_| !compatible)
            .unwrap_or(settings.recursive);
        let place = decorators.place().filter(|_| !compatible);
        let literals = &mut self.literals;
        let has_secondary = entry.selective && !patterns;
        let groups = if entry.group.is_empty() {
            Vec::new()
        } else {
            groups(&entry.group, compatible)
        };
        let scored = compatible && !groups.is_empty();
        let role = decorators.role.filter(|_| !compatible).or(entry.role);
        let timed = duration(entry.sticky)
            .or(duration(entry.cooldown))
            .is_some()
            || decorators.remembers_match();
        Prepared {
            book,
            index,
            uid: entry.uid.clone(),
            id: timed_state::id(&named.name, entry.uid.as_str()),
            // Only entries with timed effects need a hash.
            hash: if timed {
                timed::hash(entry)
            } else {
                String::new()
            },
            content: content.to_owned(),
            rules,
            keys: rules.read_all(&entry.keys, literals),
            secondary: rules.read_all(&entry.secondary_keys, literals),
            score_keys: scored.then(|| score_keys(entry, rules, literals)),
            additional: decorators
                .additional_keys
                .iter()
                .map(|keys| rules.read_all(keys, literals))
                .collect(),
            exclude: match &decorators.exclude_keys {
                Some(keys) if !patterns => rules.read_all(keys, literals),
                _ => Vec::new(),
            },
            constant: entry.constant && !patterns,
            scan_depth: own_depth.or(entry.scan_depth).or(book_depth),
            others: others(entry),
            groups,
            order: entry.order,
            priority: entry.priority.filter(|_| !compatible),
            place: place
                .unwrap_or_else(|| EntryPosition::of(entry.position, entry.depth, &entry.outlet)),
            role: role.unwrap_or(InsertionRole::System),
            sticky: duration(entry.sticky),
            cooldown: duration(entry.cooldown),
            delay: duration(entry.delay),
            feeds: recursive && !entry.prevent_recursion,
            decorators,
        }
        .with_secondary(has_secondary)
    }

    /// Gives entries of one book with the same uid distinct ids, so that their timed effects stay
    /// separate.
    fn name_apart(&mut self) {
        let mut seen = HashSet::new();
        for entry in &mut self.entries {
            let mut copy = 2;
            while !seen.insert(entry.id.clone()) {
                entry.id = format!(
                    "{}#{copy}",
                    timed_state::id(&self.books[entry.book].name, entry.uid.as_str())
                );
                copy += 1;
            }
        }
    }
}

impl Prepared {
    /// Removes secondary keys that are used for scoring only.
    fn with_secondary(mut self, counts: bool) -> Self {
        if !counts {
            self.secondary.clear();
        }
        self
    }

    fn has_macros(&self) -> bool {
        let lists = [&self.keys, &self.secondary, &self.exclude]
            .into_iter()
            .chain(&self.additional);
        lists.flatten().any(|test| matches!(test, Test::Macro(_)))
    }
}

fn unique<'a>(names: impl Iterator<Item = &'a String>, taken: &[&[&String]]) -> Vec<&'a String> {
    let mut found: Vec<&String> = Vec::new();
    for name in names {
        if !found.contains(&name) && !taken.iter().any(|list| list.contains(&name)) {
            found.push(name);
        }
    }
    found
}

/// Sorts by order, descending; ties keep their order.
fn sorted(mut entries: Vec<Prepared>) -> Vec<Prepared> {
    entries.sort_by(|a, b| b.order.partial_cmp(&a.order).unwrap_or(Ordering::Equal));
    entries
}

fn key_rules(entry: &Entry, settings: &LoreSettings) -> KeyRules {
    let compatible = settings.compatible();
    let spec_case = entry.spec_case_sensitive.filter(|_| !compatible);
    KeyRules {
        compatible,
        cased: entry
            .case_sensitive
            .or(spec_case)
            .unwrap_or(settings.case_sensitive),
        whole: entry
            .match_whole_words
            .unwrap_or(settings.match_whole_words),
        patterns: !compatible && entry.use_regex && !entry.is_sillytavern_export(),
    }
}

/// The primary and the secondary keys, for group scoring.
fn score_keys(entry: &Entry, rules: KeyRules, literals: &mut Literals) -> (Vec<Test>, Vec<Test>) {
    let mut read = |keys: &[String]| -> Vec<Test> {
        keys.iter()
            .map(|key| rules.read_for_score(key, literals))
            .collect()
    };
    (read(&entry.keys), read(&entry.secondary_keys))
}

/// A duration of 0 is none.
fn duration(length: Option<i64>) -> Option<i64> {
    length.filter(|length| *length != 0)
}

fn others(entry: &Entry) -> u16 {
    let flags = [
        entry.match_persona_description,
        entry.match_character_description,
        entry.match_character_personality,
        entry.match_character_depth_prompt,
        entry.match_scenario,
        entry.match_creator_notes,
    ];
    let card = flags
        .into_iter()
        .enumerate()
        .map(|(bit, on)| u16::from(on) << bit)
        .sum::<u16>();
    card | text::ALWAYS_SEEN
}

/// The group names of an entry. SillyTavern trims only the start of names after a comma.
fn groups(field: &str, compatible: bool) -> Vec<String> {
    let trimmed = |(i, name): (usize, &str)| match (compatible, i) {
        (false, _) => fold::trim(name).to_owned(),
        (true, 0) => name.to_owned(),
        (true, _) => name.trim_start_matches(fold::is_space).to_owned(),
    };
    let mut names: Vec<String> = field
        .split(',')
        .enumerate()
        .map(trimmed)
        .filter(|name| !name.is_empty())
        .collect();
    if !compatible {
        let mut seen = HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
    }
    names
}
