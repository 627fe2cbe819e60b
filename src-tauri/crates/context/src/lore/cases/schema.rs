//! The JSON of a case.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::lore::Bindings;

/// Values for fields that cases omit.
#[derive(Debug, Clone, Deserialize)]
pub struct Header {
    pub(super) entry_defaults: Map<String, Value>,
    pub(super) settings_defaults: Map<String, Value>,
    pub(super) case_defaults: Map<String, Value>,
}

/// A case: books, a chat, and the points at which the chat is scanned.
#[derive(Debug, Clone, Deserialize)]
pub struct Case {
    pub id: String,
    pub(super) settings: Map<String, Value>,
    pub(super) context: u32,
    pub(super) tokens: String,
    pub(super) random: f64,
    pub(super) character: Character,
    pub(super) texts: BTreeMap<String, String>,
    pub(super) note: Note,
    pub(super) injections: Vec<String>,
    #[serde(default)]
    pub(super) active: Active,
    #[serde(default)]
    pub(super) books: BTreeMap<String, Value>,
    pub(super) chat: Vec<Message>,
    pub(super) at: Vec<Point>,
    #[serde(default)]
    pub(super) expect: Vec<Map<String, Value>>,
    #[serde(default)]
    pub(super) budget_tokens: Option<u32>,
    /// Peculiarities that affect the outcome.
    #[serde(default)]
    pub quirks: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Character {
    #[serde(default)]
    pub(super) file: String,
    #[serde(default)]
    pub(super) tags: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(default)]
pub(super) struct Note {
    pub(super) text: String,
    pub(super) interval: usize,
    pub(super) scan: bool,
}

impl Default for Note {
    fn default() -> Self {
        Self {
            text: String::new(),
            interval: 1,
            scan: false,
        }
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Active {
    pub(super) global: Vec<String>,
    pub(super) character: Vec<String>,
    pub(super) chat: Option<String>,
    pub(super) persona: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Message {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) is_user: bool,
    #[serde(default)]
    pub(super) is_system: bool,
    #[serde(default)]
    pub(super) mes: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Point {
    pub(super) n: usize,
    #[serde(default)]
    pub(super) trigger: Option<String>,
    #[serde(default)]
    pub(super) dry: bool,
    #[serde(default)]
    pub(super) random: Option<f64>,
    #[serde(default)]
    pub(super) external: Vec<String>,
    #[serde(default)]
    pub(super) edits: Vec<Edit>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Edit {
    pub(super) book: String,
    pub(super) uid: Value,
    #[serde(default)]
    pub(super) set: Option<Map<String, Value>>,
    #[serde(default)]
    pub(super) remove: bool,
}

impl Active {
    pub(super) fn bindings(&self) -> Bindings {
        Bindings {
            global: self.global.clone(),
            character: self.character.clone(),
            chat: self.chat.iter().cloned().collect(),
            persona: self.persona.iter().cloned().collect(),
        }
    }
}
