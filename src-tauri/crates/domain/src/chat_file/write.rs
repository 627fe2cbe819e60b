//! Writes chats as SillyTavern JSON lines.

use serde_json::{Map, Value, json};

use super::versions::OF_VERSION;
use super::{
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

fn line(said: &ChatFileMessage) -> Value {
    let shown = said.shown();
    let mut line = Map::from_iter([
        ("name".to_owned(), json!(said.name)),
        ("is_user".to_owned(), json!(said.by == ChatFileAuthor::User)),
        (
            "is_system".to_owned(),
            json!(said.hidden || said.note || said.event),
        ),
        ("send_date".to_owned(), json!(shown.date)),
        ("mes".to_owned(), json!(shown.text)),
        ("extra".to_owned(), extra(said, shown)),
    ]);
    if !said.avatar.is_empty() {
        line.insert("original_avatar".to_owned(), json!(said.avatar));
    }
    let own = OF_VERSION
        .iter()
        .filter_map(|key| Some(((*key).to_owned(), shown.unused_fields.get(*key)?.clone())));
    line.extend(own.chain(said.unused_fields.clone()));
    // SillyTavern writes versions of a user's message only if there are several.
    if said.by != ChatFileAuthor::User || said.versions.len() > 1 {
        let texts: Vec<&str> = said
            .versions
            .iter()
            .map(|version| version.text.as_str())
            .collect();
        line.insert(
            "swipe_id".to_owned(),
            json!(said.selected.min(said.versions.len() - 1)),
        );
        line.insert("swipes".to_owned(), json!(texts));
        line.insert(
            "swipe_info".to_owned(),
            said.versions
                .iter()
                .map(|version| about(said, version))
                .collect(),
        );
    }
    Value::Object(line)
}

fn about(said: &ChatFileMessage, version: &MessageVersion) -> Value {
    let mut about = Map::from_iter([("send_date".to_owned(), json!(version.date))]);
    about.extend(version.unused_fields.clone());
    about.insert("extra".to_owned(), extra(said, version));
    Value::Object(about)
}

fn extra(said: &ChatFileMessage, version: &MessageVersion) -> Value {
    let mut extra = match version.unused_fields.get("extra") {
        Some(Value::Object(extra)) => extra.clone(),
        _ => Map::new(),
    };
    if said.event {
        extra.insert(OWN.to_owned(), EVENT.into());
    }
    let kind = match (said.note || said.event, said.by) {
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
