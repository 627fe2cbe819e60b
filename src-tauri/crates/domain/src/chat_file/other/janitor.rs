//! Chats of JanitorAI.

use serde_json::{Map, Value};

use crate::chat_file::model::{ChatFile, ChatFileAuthor, ChatFileMessage, MessageVersion};
use crate::chat_file::other::{TitledChats, cut, date, version};
use crate::chat_file::versions::MAX_VERSIONS;

/// Reads messages. Replies that are not the main one become versions of it.
pub(super) fn janitor(root: &Map<String, Value>) -> Option<TitledChats> {
    let all = root.get("chatMessages")?.as_array()?;
    let mut listed: Vec<&Map<String, Value>> = all.iter().filter_map(Value::as_object).collect();
    // The service returns the newest message first.
    listed.sort_by_key(|message| {
        let id = message.get("id").and_then(Value::as_i64);
        id.unwrap_or_default()
    });
    let mut messages: Vec<ChatFileMessage> = Vec::new();
    for message in listed {
        add(message, &mut messages);
    }
    let character = name(root, "character").unwrap_or_default();
    let chat = ChatFile {
        character: character.clone(),
        user: name(root, "persona").unwrap_or_default(),
        messages,
        ..ChatFile::default()
    };
    Some(vec![(character, chat)])
}

fn name(root: &Map<String, Value>, key: &str) -> Option<String> {
    root.get(key)?.get("name")?.as_str().map(cut)
}

fn is(message: &Map<String, Value>, key: &str) -> bool {
    message.get(key).and_then(Value::as_bool) == Some(true)
}

/// Adds a message, or a version of the last reply.
fn add(message: &Map<String, Value>, messages: &mut Vec<ChatFileMessage>) {
    let Some(text) = message.get("message").and_then(Value::as_str) else {
        return;
    };
    let by = if is(message, "is_bot") {
        ChatFileAuthor::Character
    } else {
        ChatFileAuthor::User
    };
    let version = MessageVersion {
        date: date(message.get("created_at")),
        ..version(text)
    };
    let last = messages.last_mut().filter(|last| {
        by == ChatFileAuthor::Character && last.by == by && last.versions.len() < MAX_VERSIONS
    });
    match last {
        Some(last) => {
            last.versions.push(version);
            if is(message, "is_main") {
                last.selected = last.versions.len() - 1;
            }
        }
        None => messages.push(ChatFileMessage {
            by,
            versions: vec![version],
            ..ChatFileMessage::default()
        }),
    }
}
