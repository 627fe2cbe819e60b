//! Variables of macros: tracks how a turn's texts change them, and stores them.

use std::collections::BTreeMap;

use context::macros::MacroState;
use domain::chat::Chat;
use domain::{ChatId, MessageId, SwipeId, Timestamp};
use store::StoreError;

use crate::base::error::ApiResult;
use crate::library::snapshots::Snapshots;
use crate::library::snapshots::chat_macros::StoredMacroState;
use crate::library::snapshots::macro_changes::{VariableChanges, Variables, record, redo};

/// Row of the settings table with the macros' global variables.
const GLOBALS: &str = "variables";

fn parse(json: Option<String>) -> Variables {
    json.and_then(|json| serde_json::from_str(&json).ok())
        .unwrap_or_default()
}

impl Snapshots {
    /// The variables that the texts of `chat` see.
    pub(crate) async fn macro_state(&self, chat: &Chat) -> ApiResult<MacroState> {
        Ok(MacroState {
            local: StoredMacroState::of(chat).variables,
            global: self.global_variables().await?,
        })
    }

    /// The changes that the shown version of a message made.
    pub(crate) async fn changes_of_shown(
        &self,
        chat: &Chat,
        message: MessageId,
    ) -> ApiResult<VariableChanges> {
        let chat = chat.clone();
        let changes =
            self.base()
                .store()
                .read(move |store| match store.messages().get(message)? {
                    Some(message) => version_changes(store, &chat, message.swipe().id),
                    None => Ok(VariableChanges::default()),
                });
        Ok(changes.await?)
    }

    pub(crate) async fn global_variables(&self) -> ApiResult<BTreeMap<String, String>> {
        Ok(self.base().store().read(globals).await?)
    }
}

/// The global variables of macros.
pub(crate) fn globals(
    store: &store::ReadTransaction<'_>,
) -> Result<BTreeMap<String, String>, StoreError> {
    Ok(parse(store.settings().get(GLOBALS)?))
}

/// Stores the variables that the macros of a text have changed.
pub(crate) fn keep(
    store: &mut store::WriteTransaction<'_>,
    chat: &Chat,
    before: &MacroState,
    after: &MacroState,
) -> Result<(), StoreError> {
    if before.local != after.local {
        let kept = StoredMacroState {
            variables: after.local.clone(),
            ..StoredMacroState::of(chat)
        };
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

/// Takes back the variable changes of the version `before`, and applies those of the version
/// `after` that is shown now.
pub(crate) fn show_version(
    store: &mut store::WriteTransaction<'_>,
    chat: ChatId,
    before: Option<SwipeId>,
    after: Option<SwipeId>,
) -> Result<(), StoreError> {
    let Some(chat) = store.chats().get(chat)?.filter(|_| before != after) else {
        return Ok(());
    };
    let mut changes = [VariableChanges::default(), VariableChanges::default()];
    for (changes, swipe) in changes.iter_mut().zip([before, after]) {
        if let Some(swipe) = swipe {
            *changes = version_changes(store, &chat, swipe)?;
        }
    }
    let [before, after] = changes;
    change(store, &chat, |state| {
        before.take_back(state);
        after.put_back(state);
    })
}

/// Stores changes that scripts made for a version, and remembers that they belong to it.
pub(crate) fn keep_of_version(
    store: &mut store::WriteTransaction<'_>,
    chat: ChatId,
    swipe: SwipeId,
    changes: VariableChanges,
) -> Result<(), StoreError> {
    let Some(chat) = store.chats().get(chat)?.filter(|_| !changes.is_empty()) else {
        return Ok(());
    };
    change(store, &chat, |state| changes.put_back(state))?;
    note_of_version(store, swipe, changes)
}

/// Remembers that stored changes belong to a version.
pub(crate) fn note_of_version(
    store: &mut store::WriteTransaction<'_>,
    swipe: SwipeId,
    changes: VariableChanges,
) -> Result<(), StoreError> {
    if changes.is_empty() {
        return Ok(());
    }
    let mut all = changes_of_scripts(store, swipe)?;
    all.follow(changes);
    store.swipes_mut().set_variables(
        swipe,
        &serde_json::to_string(&all).unwrap_or_else(|_| "{}".into()),
    )
}

/// The changes that a version made: as a greeting, and by scripts.
pub(crate) fn version_changes(
    store: &store::ReadTransaction<'_>,
    chat: &Chat,
    swipe: SwipeId,
) -> Result<VariableChanges, StoreError> {
    let mut changes = VariableChanges::default();
    let greeting = StoredMacroState::of(chat)
        .greetings
        .remove(&swipe.to_string());
    record(
        &mut changes.local,
        &Variables::new(),
        &greeting.unwrap_or_default(),
    );
    changes.follow(changes_of_scripts(store, swipe)?);
    Ok(changes)
}

fn changes_of_scripts(
    store: &store::ReadTransaction<'_>,
    swipe: SwipeId,
) -> Result<VariableChanges, StoreError> {
    let json = store.swipes().variables(swipe)?;
    Ok(json
        .and_then(|json| serde_json::from_str(&json).ok())
        .unwrap_or_default())
}

/// Changes the stored variables of a chat.
fn change(
    store: &mut store::WriteTransaction<'_>,
    chat: &Chat,
    work: impl FnOnce(&mut MacroState),
) -> Result<(), StoreError> {
    let before = MacroState {
        local: StoredMacroState::of(chat).variables,
        global: parse(store.settings().get(GLOBALS)?),
    };
    let mut after = before.clone();
    work(&mut after);
    keep(store, chat, &before, &after)
}

/// Stores the variable changes of a head that is read ahead of its turn.
pub(crate) fn keep_head(
    store: &mut store::WriteTransaction<'_>,
    chat: &Chat,
    head_at: Timestamp,
    head: VariableChanges,
) -> Result<(), StoreError> {
    let kept = StoredMacroState::of(chat);
    let before = MacroState {
        local: kept.variables.clone(),
        global: parse(store.settings().get(GLOBALS)?),
    };
    let mut after = before.clone();
    head.redo(&mut after);
    keep_global(store, &before, &after)?;
    let kept = StoredMacroState {
        head_at: Some(head_at),
        variables: after.local,
        head,
        ..kept
    };
    store.chats_mut().set_variables(chat.id, &kept.to_json())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(pairs: &[(&str, &str)]) -> MacroState {
        let local = pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        MacroState {
            local,
            ..MacroState::default()
        }
    }

    #[test]
    fn undo_keeps_later_changes() {
        let mut changes = VariableChanges::default();
        changes.record(
            &state(&[("a", "1"), ("b", "1")]),
            &state(&[("a", "2"), ("b", "1"), ("c", "1")]),
        );
        changes.record(
            &state(&[("a", "5"), ("c", "1")]),
            &state(&[("a", "6"), ("c", "1")]),
        );
        let mut now = state(&[("a", "6"), ("b", "1"), ("c", "7")]);
        changes.undo(&mut now);
        assert_eq!(now, state(&[("a", "1"), ("b", "1"), ("c", "7")]));
        changes.redo(&mut now);
        assert_eq!(now, state(&[("a", "6"), ("b", "1"), ("c", "1")]));
        let mut now = state(&[("c", "1")]);
        changes.undo(&mut now);
        assert_eq!(now, state(&[]));
    }

    #[test]
    fn versions_add_to_numbers_once() {
        let changes = VariableChanges::between(
            &state(&[("xp", "900")]),
            &state(&[("xp", "920"), ("mood", "calm")]),
        );
        let mut now = state(&[("xp", "950"), ("mood", "angry")]);
        changes.take_back(&mut now);
        assert_eq!(
            now,
            state(&[("xp", "930"), ("mood", "angry")]),
            "later changes stay"
        );
        changes.put_back(&mut now);
        assert_eq!(now, state(&[("xp", "950"), ("mood", "calm")]));
        let mut now = state(&[("xp", "920"), ("mood", "calm")]);
        changes.take_back(&mut now);
        assert_eq!(now, state(&[("xp", "900")]));
    }

    #[test]
    fn edits_count_only_what_is_new() {
        let from = |value: &str| {
            VariableChanges::between(&state(&[("xp", "920")]), &state(&[("xp", value)]))
        };
        assert!(
            from("940").without(&from("940")).is_empty(),
            "the same text counts once"
        );
        assert_eq!(from("970").without(&from("940")), from("950"));
        assert_eq!(
            from("920").without(&from("940")),
            from("900"),
            "a text that is gone no longer counts"
        );
        assert_eq!(
            from("940").without(&VariableChanges::default()),
            from("940")
        );
    }
}
