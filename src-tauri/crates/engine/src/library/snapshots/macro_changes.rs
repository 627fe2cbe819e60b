//! Changes that texts make to macro variables.

use std::collections::BTreeMap;

use context::macros::MacroState;
use serde::{Deserialize, Serialize};

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

    pub(crate) fn is_empty(&self) -> bool {
        self.local.is_empty() && self.global.is_empty()
    }

    /// The changes between two states.
    pub(crate) fn between(before: &MacroState, after: &MacroState) -> Self {
        let mut changes = Self::default();
        changes.record(before, after);
        changes
    }

    /// Undoes the changes of a version that is no longer shown. A number that has changed since
    /// loses what the version added to it; other variables that have changed since stay.
    pub(crate) fn take_back(&self, state: &mut MacroState) {
        take_back(&self.local, &mut state.local);
        take_back(&self.global, &mut state.global);
    }

    /// Applies the changes of a version that is shown again. What the version added to a number is
    /// added again.
    pub(crate) fn put_back(&self, state: &mut MacroState) {
        put_back(&self.local, &mut state.local);
        put_back(&self.global, &mut state.global);
    }

    /// The changes of a text, without those that the text before it would make as well.
    pub(crate) fn without(&self, earlier: &Self) -> Self {
        Self {
            local: without(&self.local, &earlier.local),
            global: without(&self.global, &earlier.global),
        }
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

pub(crate) fn record(
    changes: &mut BTreeMap<String, VariableChange>,
    before: &Variables,
    after: &Variables,
) {
    for name in before.keys().chain(after.keys()) {
        let was = before.get(name);
        let is = after.get(name);
        if was != is {
            let change = changes
                .entry(name.clone())
                .or_insert_with(|| VariableChange {
                    was: was.cloned(),
                    is: None,
                });
            change.is = is.cloned();
        }
    }
}

pub(crate) fn follow(
    changes: &mut BTreeMap<String, VariableChange>,
    later: BTreeMap<String, VariableChange>,
) {
    for (name, VariableChange { was, is }) in later {
        changes
            .entry(name)
            .or_insert_with(|| VariableChange { was, is: None })
            .is = is;
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

fn take_back(changes: &BTreeMap<String, VariableChange>, variables: &mut Variables) {
    for (name, change) in changes {
        let now = variables.get(name);
        if now == change.is.as_ref() {
            set(variables, name, change.was.as_ref());
        } else if let Some(sum) = added(now, change, -1.0) {
            set(variables, name, Some(&sum));
        }
    }
}

fn put_back(changes: &BTreeMap<String, VariableChange>, variables: &mut Variables) {
    for (name, change) in changes {
        let now = variables.get(name);
        let sum = if now == change.was.as_ref() {
            None
        } else {
            added(now, change, 1.0)
        };
        set(variables, name, sum.as_ref().or(change.is.as_ref()));
    }
}

fn without(
    changes: &BTreeMap<String, VariableChange>,
    earlier: &BTreeMap<String, VariableChange>,
) -> BTreeMap<String, VariableChange> {
    let mut left = changes.clone();
    for (name, before) in earlier {
        let change = left.entry(name.clone()).or_insert_with(|| VariableChange {
            was: before.was.clone(),
            is: before.was.clone(),
        });
        if change.is == before.is {
            change.is = change.was.clone();
        } else if let Some(sum) = added(change.is.as_ref(), before, -1.0) {
            change.is = Some(sum);
        }
    }
    left.retain(|_, change| change.is != change.was);
    left
}

/// `now` plus what the change added to a number, times `sign`. `None` unless all values are
/// numbers.
fn added(now: Option<&String>, change: &VariableChange, sign: f64) -> Option<String> {
    let number = |text: Option<&String>| {
        text?
            .trim()
            .parse::<f64>()
            .ok()
            .filter(|number| number.is_finite())
    };
    let sum = number(now)? + sign * (number(change.is.as_ref())? - number(change.was.as_ref())?);
    Some(sum.to_string())
}

pub(crate) fn set(variables: &mut Variables, name: &str, value: Option<&String>) {
    match value {
        Some(value) => variables.insert(name.to_owned(), value.clone()),
        None => variables.remove(name),
    };
}
