//! Expands the macros of lorebook entries, and tracks what the entries in the head change since the
//! epoch began.

use std::cell::RefCell;
use std::collections::HashMap;

use context::lore::{ExpandedText, Written};
use context::macros::{Expanded, MacroState};

use crate::library::snapshots::macro_changes::VariableChanges;
use crate::library::snapshots::macro_scope::{self, MacroNames};
use crate::turn::lore::activation::ActivationInput;

/// Expands the macros of keys and entries. Each text is expanded once per turn, however often it is
/// needed, so that it changes variables only once.
pub(crate) struct EntryMacros<'a> {
    words: &'a MacroNames<'a>,
    scene: &'a ActivationInput<'a>,
    read: RefCell<MacroExpansion>,
}

/// Macro variables and expanded texts of a turn.
#[derive(Default)]
pub(crate) struct MacroExpansion {
    /// Variables as the texts of this turn see them.
    pub(crate) now: MacroState,
    /// Variables as the head's texts see them.
    pub(crate) head: MacroState,
    /// Changes that the head's texts made.
    pub(crate) changes: VariableChanges,
    /// Whether a text in the head depends on the time.
    pub(crate) volatile: bool,
    texts: HashMap<(bool, String), ExpandedText>,
    noticed: Expanded,
}

impl<'a> EntryMacros<'a> {
    pub(crate) fn new(words: &'a MacroNames<'a>, scene: &'a ActivationInput<'a>) -> Self {
        let read = MacroExpansion {
            now: scene.of_now.clone(),
            head: scene.of_head.clone(),
            ..MacroExpansion::default()
        };
        Self {
            words,
            scene,
            read: RefCell::new(read),
        }
    }

    pub(crate) fn tell(&self, written: Written<'_>) -> ExpandedText {
        let read = &mut *self.read.borrow_mut();
        let head = self
            .scene
            .head
            .as_ref()
            .filter(|_| matches!(written, Written::Constant(_)));
        let key = (head.is_some(), written.text().to_owned());
        if let Some(known) = read.texts.get(&key) {
            return known.clone();
        }
        let expanded = match head {
            Some(head) => read.in_head(&key.1, |text, state| self.words.expand(text, head, state)),
            None => read.now(&key.1, |text, state| {
                self.words.expand(text, &self.scene.now, state)
            }),
        };
        read.noticed.unknown.extend(expanded.unknown);
        read.noticed.absent.extend(expanded.absent);
        let told = ExpandedText {
            text: expanded.text,
            hidden_keys: expanded.hidden_keys,
        };
        read.texts.insert(key, told.clone());
        told
    }

    /// Returns the resulting variables and the notices for the user.
    pub(crate) fn finish(self) -> (MacroExpansion, Vec<String>) {
        let mut read = self.read.into_inner();
        let mut noticed = std::mem::take(&mut read.noticed);
        for names in [&mut noticed.unknown, &mut noticed.absent] {
            names.sort();
            names.dedup();
        }
        (
            read,
            macro_scope::notices("the lorebook", &noticed).collect(),
        )
    }
}

impl MacroExpansion {
    fn now(
        &mut self,
        text: &str,
        expand: impl FnOnce(&str, &mut MacroState) -> Expanded,
    ) -> Expanded {
        let (expanded, changes) = changed(text, &mut self.now, expand);
        changes.redo(&mut self.head);
        expanded
    }

    fn in_head(
        &mut self,
        text: &str,
        expand: impl FnOnce(&str, &mut MacroState) -> Expanded,
    ) -> Expanded {
        let (expanded, changes) = changed(text, &mut self.head, expand);
        changes.redo(&mut self.now);
        self.changes.follow(changes);
        self.volatile |= expanded.volatile;
        expanded
    }
}

/// Expands `text`. Also returns its changes to the variables.
fn changed(
    text: &str,
    state: &mut MacroState,
    expand: impl FnOnce(&str, &mut MacroState) -> Expanded,
) -> (Expanded, VariableChanges) {
    // Most texts have no macros, and a large book has many texts, so skip the comparison for them.
    if !text.contains("{{") {
        return (expand(text, state), VariableChanges::default());
    }
    let before = state.clone();
    let expanded = expand(text, state);
    let mut changes = VariableChanges::default();
    changes.record(&before, state);
    (expanded, changes)
}
