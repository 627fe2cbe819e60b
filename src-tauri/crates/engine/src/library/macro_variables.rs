//! Variables of macros: tracks how a turn's texts change them, and stores them.

use crate::library::macro_changes::{VariableChanges, Variables, record, redo, undo};
use std::collections::BTreeMap;

use context::macros::MacroState;
use domain::chat::Chat;
use domain::{ChatId, SwipeId, Timestamp};
use store::StoreError;

use crate::base::error::ApiResult;
use crate::library::chat_macros::StoredMacroState;
use crate::library::handle::Library;

/// Row of the settings table with the macros' global variables.
const GLOBALS: &str = "variables";

fn parse(json: Option<String>) -> Variables {
    json.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default()
}

impl Library {
    /// The variables that the texts of `chat` see.
    pub(crate) async fn macro_state(&self, chat: &Chat) -> ApiResult<MacroState> {
        Ok(MacroState { local: StoredMacroState::of(chat).variables, global: self.global_variables().await? })
    }

    pub(crate) async fn global_variables(&self) -> ApiResult<BTreeMap<String, String>> {
        Ok(parse(self.base().store().read(|store| store.settings().get(GLOBALS)).await?))
    }
}

/// Stores the variables that the macros of a text have changed.
pub(crate) fn keep(
    store: &mut store::WriteTransaction<'_>,
    chat: &Chat,
    before: &MacroState,
    after: &MacroState,
) -> Result<(), StoreError> {
    if before.local != after.local {
        let kept = StoredMacroState { variables: after.local.clone(), ..StoredMacroState::of(chat) };
        store.chats_mut().set_variables(chat.id, &kept.to_json())?;
    }
    keep_global(store, before, after)
}

/// Stores only the changed variables, because another chat may have changed others meanwhile.
pub(crate) fn keep_global(
    store: &mut store::WriteTransaction<'_>,
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
    store: &mut store::WriteTransaction<'_>,
    chat: ChatId,
    before: Option<SwipeId>,
    after: Option<SwipeId>,
) -> Result<(), StoreError> {
    let Some(chat) = store.chats().get(chat)? else { return Ok(()) };
    let mut kept = StoredMacroState::of(&chat);
    if kept.greetings.is_empty() || before == after {
        return Ok(());
    }
    let of = |swipe: Option<SwipeId>| {
        let set = swipe.and_then(|swipe| kept.greetings.get(&swipe.to_string())).cloned();
        let mut changes = VariableChanges::default();
        record(&mut changes.local, &Variables::new(), &set.unwrap_or_default());
        changes
    };
    let (before, after) = (of(before), of(after));
    undo(&before.local, &mut kept.variables);
    redo(&after.local, &mut kept.variables);
    store.chats_mut().set_variables(chat.id, &kept.to_json())
}

/// Stores the variable changes of a head that is read ahead of its turn.
pub(crate) fn keep_head(
    store: &mut store::WriteTransaction<'_>,
    chat: &Chat,
    head_at: Timestamp,
    head: VariableChanges,
) -> Result<(), StoreError> {
    let kept = StoredMacroState::of(chat);
    let before = MacroState { local: kept.variables.clone(), global: parse(store.settings().get(GLOBALS)?) };
    let mut after = before.clone();
    head.redo(&mut after);
    keep_global(store, &before, &after)?;
    let kept = StoredMacroState { head_at: Some(head_at), variables: after.local, head, ..kept };
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
    fn undo_keeps_later_changes() {
        let mut changes = VariableChanges::default();
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
