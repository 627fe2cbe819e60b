//! A group file of SillyTavern: members, chats and settings.

use std::collections::HashSet;
use std::path::Path;

use domain::chat::{GroupSettings, TurnOrder};
use domain::chat_file::{ChatFile, ChatFileAuthor};
use domain::lenient_json;
use serde_json::Value;

use crate::base::files::read_capped;
use crate::import::sillytavern::folder::{composed, file_name};
use crate::import::sillytavern::groups::NAMED;
use crate::library::exports::group::{ImportedGroup, OWN};
use crate::library::groups::members::MAX_DELAY;

/// A group file. It identifies members by the names of their picture files.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct GroupFile {
    pub(crate) name: String,
    pub(crate) members: Vec<String>,
    pub(super) muted: Vec<String>,
    /// Stems of the group's chat files.
    pub(crate) chats: Vec<String>,
    pub(super) world: Option<String>,
    pub(crate) scenario: String,
    pub(crate) settings: GroupSettings,
}

impl GroupFile {
    pub(crate) fn read(value: &Value) -> Self {
        let texts = |key: &str| -> Vec<String> {
            let all = value
                .get(key)
                .and_then(Value::as_array)
                .into_iter()
                .flatten();
            all.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let mut chats: Vec<String> = texts("chats");
        chats.extend(text("chat_id"));
        let chats = chats.iter().map(|chat| composed(chat)).collect();
        Self {
            name: text("name").unwrap_or_default().trim().to_owned(),
            members: texts("members").iter().map(|file| composed(file)).collect(),
            muted: texts("disabled_members")
                .iter()
                .map(|file| composed(file))
                .collect(),
            chats,
            world: value
                .pointer("/chat_metadata/world_info")
                .and_then(Value::as_str)
                .map(str::to_owned),
            scenario: value
                .pointer("/chat_metadata/scenario")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .trim()
                .to_owned(),
            settings: settings(value),
        }
    }

    /// The settings, with what an export needs to name the same group again.
    pub(crate) fn keeping(&self, missing: Vec<String>) -> GroupSettings {
        let missing_muted = missing
            .iter()
            .filter(|file| self.muted.contains(file))
            .cloned()
            .collect();
        let kept = ImportedGroup {
            name: self.name.clone(),
            missing,
            missing_muted,
        };
        let mut foreign: serde_json::Map<String, Value> =
            serde_json::from_str(&self.settings.foreign).unwrap_or_default();
        if let Ok(kept) = serde_json::to_value(kept) {
            foreign.insert(OWN.to_owned(), kept);
        }
        GroupSettings {
            foreign: Value::Object(foreign).to_string(),
            ..self.settings.clone()
        }
    }

    /// Warning about chats of the group that are not in `there`.
    pub(super) fn missing(&self, there: &HashSet<String>) -> Option<String> {
        let mut missing: Vec<&str> = self
            .chats
            .iter()
            .filter(|chat| !there.contains(*chat))
            .map(String::as_str)
            .collect();
        missing.sort_unstable();
        missing.dedup();
        if !self.chats.iter().any(|chat| there.contains(chat)) {
            return Some("this group has no messages, so there is no chat to import".to_owned());
        }
        let names = missing
            .iter()
            .take(NAMED)
            .map(|chat| format!("{chat}.jsonl"))
            .collect::<Vec<_>>()
            .join(", ");
        let count = missing.len();
        match count {
            0 => None,
            1 => Some(format!(
                "1 chat that this group names is not in the folder: {names}"
            )),
            count => Some(format!(
                "{count} chats that this group names are not in the folder: {names}"
            )),
        }
    }

    /// A group whose own file is missing. All speakers are members.
    pub(super) fn heard_in(chat: &ChatFile) -> Self {
        let mut members = Vec::new();
        for said in chat
            .messages
            .iter()
            .filter(|said| said.by == ChatFileAuthor::Character && !said.avatar.is_empty())
        {
            if !members.contains(&said.avatar) {
                members.push(said.avatar.clone());
            }
        }
        Self {
            members,
            ..Self::default()
        }
    }
}

/// Reads how the members take turns.
pub(super) fn settings(value: &Value) -> GroupSettings {
    let number = |key: &str| value.get(key).and_then(Value::as_u64);
    let own = value.get(OWN);
    let directed = own
        .and_then(|own| own.get("order"))
        .is_some_and(|order| order == TurnOrder::Director.as_str());
    let foreign: serde_json::Map<String, Value> = value
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, _)| !USED.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    GroupSettings {
        order: match number("activation_strategy") {
            Some(1) => TurnOrder::List,
            Some(2) => TurnOrder::Manual,
            Some(3) => TurnOrder::Pooled,
            _ if directed => TurnOrder::Director,
            _ => TurnOrder::Natural,
        },
        several_replies: own
            .and_then(|own| own.get("several_replies")?.as_bool())
            .unwrap_or(true),
        self_responses: value
            .get("allow_self_responses")
            .and_then(Value::as_bool)
            .unwrap_or_default(),
        auto_delay: number("auto_mode_delay")
            .map_or(5, |seconds| seconds.min(MAX_DELAY.into()) as u32),
        foreign: Value::Object(foreign).to_string(),
    }
}

/// Fields of a group file that this app uses. The others are kept.
pub(super) const USED: [&str; 9] = [
    "name",
    "members",
    "disabled_members",
    "chats",
    "chat_id",
    "activation_strategy",
    "allow_self_responses",
    "auto_mode_delay",
    OWN,
];

/// Maximum size of a group file, in bytes.
pub(super) const MAX_GROUP: usize = 4 << 20;

pub(super) fn read_group(path: &Path) -> Result<GroupFile, (String, &'static str, String)> {
    let file = file_name(path);
    let bytes = match read_capped(path, MAX_GROUP, "a group") {
        Ok(bytes) => bytes,
        Err((kind, reason)) => return Err((file, kind, reason)),
    };
    match lenient_json::read(&bytes).map(|(value, _)| value) {
        Ok(value @ Value::Object(_)) => Ok(GroupFile::read(&value)),
        Ok(_) => Err((file, "malformed", "this is not a group file".to_owned())),
        Err(error) => Err((file, "malformed", error.to_string())),
    }
}
