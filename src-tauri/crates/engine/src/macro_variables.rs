//! The variables of macros: what a turn's texts make of them, and how that is kept.

use std::collections::BTreeMap;

use context::macros::MacroState;
use domain::chat::Chat;
use domain::{ChatId, SwipeId, Timestamp};
use serde::{Deserialize, Serialize};
use store::StoreError;

use crate::Engine;
use crate::error::Answer;
use crate::words::Kept;

/// Row of the table of settings: the macros' global variables.
const GLOBALS: &str = "variables";

type Variables = BTreeMap<String, String>;

/// What texts made of variables: by name, what was and what is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Changes {
    local: BTreeMap<String, Change>,
    global: BTreeMap<String, Change>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Change {
    was: Option<String>,
    is: Option<String>,
}

impl Changes {
    /// Goes on from what is recorded already.
    pub(crate) fn record(&mut self, before: &MacroState, after: &MacroState) {
        record(&mut self.local, &before.local, &after.local);
        record(&mut self.global, &before.global, &after.global);
    }

    /// Takes back what nobody has changed since.
    pub(crate) fn undo(&self, state: &mut MacroState) {
        undo(&self.local, &mut state.local);
        undo(&self.global, &mut state.global);
    }

    /// Adds what came after.
    pub(crate) fn follow(&mut self, later: Self) {
        follow(&mut self.local, later.local);
        follow(&mut self.global, later.global);
    }

    /// Makes them again, of the variables as they are now.
    pub(crate) fn redo(&self, state: &mut MacroState) {
        redo(&self.local, &mut state.local);
        redo(&self.global, &mut state.global);
    }
}

fn record(changes: &mut BTreeMap<String, Change>, before: &Variables, after: &Variables) {
    for name in before.keys().chain(after.keys()) {
        let (was, is) = (before.get(name), after.get(name));
        if was != is {
            let change = changes.entry(name.clone()).or_insert_with(|| Change { was: was.cloned(), is: None });
            change.is = is.cloned();
        }
    }
}

fn follow(changes: &mut BTreeMap<String, Change>, later: BTreeMap<String, Change>) {
    for (name, Change { was, is }) in later {
        changes.entry(name).or_insert_with(|| Change { was, is: None }).is = is;
    }
}

fn undo(changes: &BTreeMap<String, Change>, variables: &mut Variables) {
    for (name, change) in changes {
        if variables.get(name) == change.is.as_ref() {
            set(variables, name, change.was.as_ref());
        }
    }
}

fn redo(changes: &BTreeMap<String, Change>, variables: &mut Variables) {
    for (name, change) in changes {
        set(variables, name, change.is.as_ref());
    }
}

fn set(variables: &mut Variables, name: &str, value: Option<&String>) {
    match value {
        Some(value) => variables.insert(name.to_owned(), value.clone()),
        None => variables.remove(name),
    };
}

fn parse(json: Option<String>) -> Variables {
    json.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default()
}

impl Engine {
    /// The variables that the texts of `chat` see.
    pub(crate) async fn macro_state(&self, chat: &Chat) -> Answer<MacroState> {
        Ok(MacroState { local: Kept::of(chat).variables, global: self.global_variables().await? })
    }

    pub(crate) async fn global_variables(&self) -> Answer<BTreeMap<String, String>> {
        Ok(parse(self.store().read(|store| store.settings().get(GLOBALS)).await?))
    }
}

/// Writes what a text's macros have changed.
pub(crate) fn keep(
    store: &mut store::Write<'_>,
    chat: &Chat,
    before: &MacroState,
    after: &MacroState,
) -> Result<(), StoreError> {
    if before.local != after.local {
        let kept = Kept { variables: after.local.clone(), ..Kept::of(chat) };
        store.chats_mut().set_variables(chat.id, &kept.to_json())?;
    }
    keep_global(store, before, after)
}

/// Only what has changed: another chat may have written the rest meanwhile.
pub(crate) fn keep_global(
    store: &mut store::Write<'_>,
    before: &MacroState,
    after: &MacroState,
) -> Result<(), StoreError> {
    let mut changes = BTreeMap::new();
    record(&mut changes, &before.global, &after.global);
    if changes.is_empty() {
        return Ok(());
    }
    let mut variables = parse(store.settings().get(GLOBALS)?);
    redo(&changes, &mut variables);
    let json = serde_json::to_string(&variables).unwrap_or_else(|_| "{}".into());
    store.settings_mut().set(GLOBALS, &json)
}

/// Undoes the variable changes of the old greeting, except for variables changed since, and applies those of the new
/// one.
pub(crate) fn show_greeting(
    store: &mut store::Write<'_>,
    chat: ChatId,
    before: Option<SwipeId>,
    after: Option<SwipeId>,
) -> Result<(), StoreError> {
    let Some(chat) = store.chats().get(chat)? else { return Ok(()) };
    let mut kept = Kept::of(&chat);
    if kept.greetings.is_empty() || before == after {
        return Ok(());
    }
    let of = |swipe: Option<SwipeId>| {
        let set = swipe.and_then(|swipe| kept.greetings.get(&swipe.to_string())).cloned();
        let mut changes = Changes::default();
        record(&mut changes.local, &Variables::new(), &set.unwrap_or_default());
        changes
    };
    let (before, after) = (of(before), of(after));
    undo(&before.local, &mut kept.variables);
    redo(&after.local, &mut kept.variables);
    store.chats_mut().set_variables(chat.id, &kept.to_json())
}

/// Writes what the texts of a head made of the variables, when it is read ahead of the turn that it is for.
pub(crate) fn keep_head(
    store: &mut store::Write<'_>,
    chat: &Chat,
    head_at: Timestamp,
    head: Changes,
) -> Result<(), StoreError> {
    let kept = Kept::of(chat);
    let before = MacroState { local: kept.variables.clone(), global: parse(store.settings().get(GLOBALS)?) };
    let mut after = before.clone();
    head.redo(&mut after);
    keep_global(store, &before, &after)?;
    let kept = Kept { head_at: Some(head_at), variables: after.local, head, ..kept };
    store.chats_mut().set_variables(chat.id, &kept.to_json())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(pairs: &[(&str, &str)]) -> MacroState {
        let local = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        MacroState { local, ..MacroState::default() }
    }

    #[test]
    fn what_was_changed_since_is_not_taken_back() {
        let mut changes = Changes::default();
        changes.record(&state(&[("a", "1"), ("b", "1")]), &state(&[("a", "2"), ("b", "1"), ("c", "1")]));
        changes.record(&state(&[("a", "5"), ("c", "1")]), &state(&[("a", "6"), ("c", "1")]));
        let mut now = state(&[("a", "6"), ("b", "1"), ("c", "7")]);
        changes.undo(&mut now);
        assert_eq!(now, state(&[("a", "1"), ("b", "1"), ("c", "7")]));
        changes.redo(&mut now);
        assert_eq!(now, state(&[("a", "6"), ("b", "1"), ("c", "1")]));
        let mut now = state(&[("c", "1")]);
        changes.undo(&mut now);
        assert_eq!(now, state(&[]));
    }
}
