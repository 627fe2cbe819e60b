//! The macro state that is stored with a chat.

use std::collections::BTreeMap;

use context::lore::TimedState;
use domain::Timestamp;
use domain::chat::Chat;
use serde::{Deserialize, Serialize};

use crate::library::snapshots::macro_changes::VariableChanges;

/// State of macros and lorebooks that is stored with a chat.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct StoredMacroState {
    pub(crate) variables: BTreeMap<String, String>,
    /// Time that macros in the head and the chat template show: the start of the epoch, so that the
    /// head does not change.
    pub(crate) head_at: Option<Timestamp>,
    /// Changes that the head's texts made to variables. They are applied once per epoch, because a
    /// head that counts turns would otherwise change every turn.
    pub(crate) head: VariableChanges,
    /// Variables that each greeting set, by swipe id. They apply while that greeting is shown.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) greetings: BTreeMap<String, BTreeMap<String, String>>,
    /// Sticky and cooldown state of lorebook entries.
    pub(crate) timed: TimedState,
}

impl StoredMacroState {
    /// Empty if it is unreadable, because a lost variable must not block the chat.
    pub(crate) fn of(chat: &Chat) -> Self {
        serde_json::from_str(&chat.variables).unwrap_or_default()
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| "{}".into())
    }
}
