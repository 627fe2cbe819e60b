//! Changes that texts make to macro variables.

use context::macros::MacroState;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub(crate) type Variables = BTreeMap<String, String>;

/// Changes that texts made to variables: the old and the new value by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct VariableChanges {
    pub(crate) local: BTreeMap<String, VariableChange>,
    pub(crate) global: BTreeMap<String, VariableChange>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct VariableChange {
    pub(crate) was: Option<String>,
    pub(crate) is: Option<String>,
}

impl VariableChanges {
    /// Records the changes between two states, in addition to earlier ones.
    pub(crate) fn record(&mut self, before: &MacroState, after: &MacroState) {
        record(&mut self.local, &before.local, &after.local);
        record(&mut self.global, &before.global, &after.global);
    }

    /// Undoes the changes, except for variables that have changed since.
    pub(crate) fn undo(&self, state: &mut MacroState) {
        undo(&self.local, &mut state.local);
        undo(&self.global, &mut state.global);
    }

    /// Appends later changes.
    pub(crate) fn follow(&mut self, later: Self) {
        follow(&mut self.local, later.local);
        follow(&mut self.global, later.global);
    }

    /// Applies the changes to the current variables.
    pub(crate) fn redo(&self, state: &mut MacroState) {
        redo(&self.local, &mut state.local);
        redo(&self.global, &mut state.global);
    }
}

pub(crate) fn record(changes: &mut BTreeMap<String, VariableChange>, before: &Variables, after: &Variables) {
    for name in before.keys().chain(after.keys()) {
        let (was, is) = (before.get(name), after.get(name));
        if was != is {
            let change = changes.entry(name.clone()).or_insert_with(|| VariableChange { was: was.cloned(), is: None });
            change.is = is.cloned();
        }
    }
}

pub(crate) fn follow(changes: &mut BTreeMap<String, VariableChange>, later: BTreeMap<String, VariableChange>) {
    for (name, VariableChange { was, is }) in later {
        changes.entry(name).or_insert_with(|| VariableChange { was, is: None }).is = is;
    }
}

pub(crate) fn undo(changes: &BTreeMap<String, VariableChange>, variables: &mut Variables) {
    for (name, change) in changes {
        if variables.get(name) == change.is.as_ref() {
            set(variables, name, change.was.as_ref());
        }
    }
}

pub(crate) fn redo(changes: &BTreeMap<String, VariableChange>, variables: &mut Variables) {
    for (name, change) in changes {
        set(variables, name, change.is.as_ref());
    }
}

pub(crate) fn set(variables: &mut Variables, name: &str, value: Option<&String>) {
    match value {
        Some(value) => variables.insert(name.to_owned(), value.clone()),
        None => variables.remove(name),
    };
}
