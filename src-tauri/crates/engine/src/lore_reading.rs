//! The macros of lorebooks: what entries say this turn, and what those in the head have said since the epoch began.

use std::cell::RefCell;
use std::collections::HashMap;

use context::lore::{Told, Written};
use context::macros::{Expanded, MacroState};

use crate::lore::Scene;
use crate::macro_variables::Changes;
use crate::words::{self, Words};

/// Resolves the macros of keys and entries: each text once a turn, however often it is asked for, so that what one counts is
/// counted once.
pub(crate) struct Reading<'a> {
    words: &'a Words<'a>,
    scene: &'a Scene<'a>,
    read: RefCell<Read>,
}

/// What texts made of the variables.
#[derive(Default)]
pub(crate) struct Read {
    /// As the texts of this turn see them.
    pub(crate) now: MacroState,
    /// As those of the head do.
    pub(crate) head: MacroState,
    /// What those of the head made of them.
    pub(crate) changes: Changes,
    /// A text of the head tells of the moment.
    pub(crate) volatile: bool,
    texts: HashMap<(bool, String), Told>,
    noticed: Expanded,
}

impl<'a> Reading<'a> {
    pub(crate) fn new(words: &'a Words<'a>, scene: &'a Scene<'a>) -> Self {
        let read = Read { now: scene.of_now.clone(), head: scene.of_head.clone(), ..Read::default() };
        Self { words, scene, read: RefCell::new(read) }
    }

    pub(crate) fn tell(&self, written: Written<'_>) -> Told {
        let read = &mut *self.read.borrow_mut();
        let head = self.scene.head.as_ref().filter(|_| matches!(written, Written::Constant(_)));
        let key = (head.is_some(), written.text().to_owned());
        if let Some(known) = read.texts.get(&key) {
            return known.clone();
        }
        let expanded = match head {
            Some(head) => read.in_head(&key.1, |text, state| self.words.expand(text, head, state)),
            None => read.now(&key.1, |text, state| self.words.expand(text, &self.scene.now, state)),
        };
        read.noticed.unknown.extend(expanded.unknown);
        read.noticed.absent.extend(expanded.absent);
        let told = Told { text: expanded.text, hidden_keys: expanded.hidden_keys };
        read.texts.insert(key, told.clone());
        told
    }

    /// The variables as they are now, and what the user ought to know.
    pub(crate) fn finish(self) -> (Read, Vec<String>) {
        let mut read = self.read.into_inner();
        let mut noticed = std::mem::take(&mut read.noticed);
        for names in [&mut noticed.unknown, &mut noticed.absent] {
            names.sort();
            names.dedup();
        }
        (read, words::notices("the lorebook", &noticed).collect())
    }
}

impl Read {
    fn now(&mut self, text: &str, expand: impl FnOnce(&str, &mut MacroState) -> Expanded) -> Expanded {
        let (expanded, changes) = changed(text, &mut self.now, expand);
        changes.redo(&mut self.head);
        expanded
    }

    fn in_head(&mut self, text: &str, expand: impl FnOnce(&str, &mut MacroState) -> Expanded) -> Expanded {
        let (expanded, changes) = changed(text, &mut self.head, expand);
        changes.redo(&mut self.now);
        self.changes.follow(changes);
        self.volatile |= expanded.volatile;
        expanded
    }
}

/// What `text` says, and what it made of the variables.
fn changed(
    text: &str,
    state: &mut MacroState,
    expand: impl FnOnce(&str, &mut MacroState) -> Expanded,
) -> (Expanded, Changes) {
    // Most texts have no macros, and a big book has many texts.
    if !text.contains("{{") {
        return (expand(text, state), Changes::default());
    }
    let before = state.clone();
    let expanded = expand(text, state);
    let mut changes = Changes::default();
    changes.record(&before, state);
    (expanded, changes)
}
