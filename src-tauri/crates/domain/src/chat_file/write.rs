//! Writes chats as SillyTavern JSON lines.

use serde_json::{Map, Value, json};

use super::versions::OF_VERSION;
use crate::chat_file::model::{
    ChatFile, ChatFileAuthor, ChatFileMessage, EVENT, MessageVersion, NARRATOR, NOTE, OWN,
};

impl ChatFile {
    /// Formats the chat as SillyTavern JSON lines.
    pub fn to_jsonl(&self) -> String {
        let mut header = Map::from_iter([
            ("user_name".to_owned(), json!(self.user)),
            ("character_name".to_owned(), json!(self.character)),
            ("create_date".to_owned(), json!(self.created)),
        ]);
        header.extend(self.header.clone());
        header.entry("chat_metadata").or_insert_with(|| json!({}));
        let lines = std::iter::once(Value::Object(header)).chain(self.messages.iter().map(line));
        lines
            .map(|line| line.to_string())
            .collect::<Vec<_>>()
            .join("\n")
    }
}

fn line(message: &ChatFileMessage) -> Value {
    let shown = message.shown();
    let mut line = Map::from_iter([
        ("name".to_owned(), json!(message.name)),
        (
            "is_user".to_owned(),
            json!(message.by == ChatFileAuthor::User),
        ),
        (
            "is_system".to_owned(),
            json!(message.hidden || message.note || message.event),
        ),
        ("send_date".to_owned(), json!(shown.date)),
        ("mes".to_owned(), json!(shown.text)),
        ("extra".to_owned(), extra(message, shown)),
    ]);
    if !message.avatar.is_empty() {
        line.insert("original_avatar".to_owned(), json!(message.avatar));
    }
    let own = OF_VERSION
        .iter()
        .filter_map(|key| Some(((*key).to_owned(), shown.unused_fields.get(*key)?.clone())));
    line.extend(own.chain(message.unused_fields.clone()));
    // SillyTavern writes versions of a user's message only if there are several.
    if message.by != ChatFileAuthor::User || message.versions.len() > 1 {
        insert_versions(&mut line, message);
    }
    Value::Object(line)
}

fn insert_versions(line: &mut Map<String, Value>, message: &ChatFileMessage) {
    let versions = &message.versions;
    let texts: Vec<&str> = versions
        .iter()
        .map(|version| version.text.as_str())
        .collect();
    let selected = message.selected.min(versions.len() - 1);
    line.insert("swipe_id".to_owned(), json!(selected));
    line.insert("swipes".to_owned(), json!(texts));
    let info = versions.iter().map(|version| about(message, version));
    line.insert("swipe_info".to_owned(), info.collect());
}

fn about(message: &ChatFileMessage, version: &MessageVersion) -> Value {
    let mut about = Map::from_iter([("send_date".to_owned(), json!(version.date))]);
    about.extend(version.unused_fields.clone());
    about.insert("extra".to_owned(), extra(message, version));
    Value::Object(about)
}

fn extra(message: &ChatFileMessage, version: &MessageVersion) -> Value {
    let mut extra = match version.unused_fields.get("extra") {
        Some(Value::Object(extra)) => extra.clone(),
        _ => Map::new(),
    };
    if message.event {
        extra.insert(OWN.to_owned(), EVENT.into());
    }
    let kind = match (message.note || message.event, message.by) {
        (true, _) => NOTE,
        (false, ChatFileAuthor::Narrator) => NARRATOR,
        _ => "",
    };
    if !kind.is_empty() {
        extra.entry("type").or_insert_with(|| kind.into());
    }
    for (key, text) in [("model", &version.model), ("reasoning", &version.thoughts)] {
        if !text.is_empty() {
            extra.insert(key.to_owned(), text.as_str().into());
        }
    }
    Value::Object(extra)
}
