//! Exports of Claude.

use serde_json::{Map, Value};

use crate::chat_file::assistants::{cut, joined, text, written_message};
use crate::chat_file::model::{ChatFileAuthor, ChatFileMessage, MessageVersion};
use crate::chat_file::talk_tree::{Node, Talk, talk};

/// Claude's id of the message before the first.
pub(super) const CLAUDE_ROOT: &str = "00000000-0000-4000-8000-000000000000";

pub(super) fn claude(root: &Map<String, Value>) -> Option<Talk> {
    let messages: Vec<&Map<String, Value>> = root
        .get("chat_messages")?
        .as_array()?
        .iter()
        .filter_map(Value::as_object)
        .collect();
    let tree = messages
        .iter()
        .any(|message| message.contains_key("parent_message_uuid"));
    let mut before: Option<String> = None;
    let mut nodes = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let id = match text(message, "uuid") {
            "" => at.to_string(),
            id => id.to_owned(),
        };
        let parent = if tree {
            Some(text(message, "parent_message_uuid")).filter(|id| !matches!(*id, "" | CLAUDE_ROOT))
        } else {
            before.as_deref()
        };
        nodes.push(Node {
            parent: parent.map(str::to_owned),
            message: claude_message(message),
            id: id.clone(),
        });
        before = Some(id);
    }
    // The newest message is the end of the shown branch.
    let newest = messages
        .iter()
        .max_by_key(|message| text(message, "created_at"))
        .map(|message| text(message, "uuid"));
    let current = root
        .get("current_leaf_message_uuid")
        .and_then(Value::as_str)
        .or(newest);
    talk(
        cut(text(root, "name")),
        text(root, "created_at").to_owned(),
        nodes,
        current,
    )
}

pub(super) fn claude_message(message: &Map<String, Value>) -> Option<ChatFileMessage> {
    let by = if text(message, "sender") == "human" {
        ChatFileAuthor::User
    } else {
        ChatFileAuthor::Character
    };
    let list = |field: &str| {
        message
            .get(field)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    let of = |kind: &'static str, field: &'static str| {
        let parts = list("content")
            .filter(move |part| part.get("type").and_then(Value::as_str) == Some(kind));
        parts
            .filter_map(move |part| part.get(field)?.as_str())
            .collect::<Vec<&str>>()
    };
    let mut texts: Vec<String> = of("text", "text").into_iter().map(str::to_owned).collect();
    if texts.iter().all(|text| text.trim().is_empty()) {
        texts = vec![text(message, "text").to_owned()];
    }
    for file in list("attachments").filter_map(Value::as_object) {
        texts.push(format!(
            "[{}]\n{}",
            text(file, "file_name"),
            text(file, "extracted_content")
        ));
    }
    let files = list("files")
        .filter_map(|file| file.get("file_name")?.as_str())
        .map(str::to_owned)
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let version = MessageVersion {
        text: joined(&texts),
        thoughts: joined(&of("thinking", "thinking")),
        date: text(message, "created_at").to_owned(),
        ..MessageVersion::default()
    };
    written_message(by, version, files)
}
