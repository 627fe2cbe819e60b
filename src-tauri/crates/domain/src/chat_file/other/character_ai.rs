//! Chats of Character.AI.

use serde_json::{Map, Value};

use crate::chat_file::model::{ChatFile, ChatFileAuthor, ChatFileMessage, MessageVersion};
use crate::chat_file::other::{
    TitledChats, cut, date, named_by_messages, one, short, text, version,
};
use crate::chat_file::versions::MAX_VERSIONS;

/// Reads histories of messages with sources, or turns with candidates.
pub(super) fn character_ai(root: &Map<String, Value>) -> Option<TitledChats> {
    if let Some(turns) = root.get("turns").and_then(Value::as_array) {
        let chat = chat_of_turns(turns)?;
        return Some(vec![(title(root).unwrap_or_default(), chat)]);
    }
    let histories = match root.get("histories")? {
        Value::Array(all) => all,
        Value::Object(nested) => nested.get("histories")?.as_array()?,
        _ => return None,
    };
    let chats = histories
        .iter()
        .map(|history| (String::new(), chat_of_history(history)));
    let mut chats: TitledChats = chats.collect();
    if let Some(name) = title(root) {
        chats
            .iter_mut()
            .for_each(|(_, chat)| chat.character = cut(&name));
    }
    Some(chats)
}

fn title(root: &Map<String, Value>) -> Option<String> {
    let name = root.get("info")?.get("character")?.get("name")?;
    name.as_str().map(str::to_owned)
}

fn chat_of_turns(turns: &[Value]) -> Option<ChatFile> {
    let known = |turn: &Value| {
        turn.get("candidates").is_some_and(Value::is_array) && turn.get("author").is_some()
    };
    if turns.is_empty() || !turns.iter().all(known) {
        return None;
    }
    let mut chat = named_by_messages(turns.iter().filter_map(turn).collect());
    // The service returns the newest turn first.
    if date_of(chat.messages.first()) > date_of(chat.messages.last()) {
        chat.messages.reverse();
    }
    Some(chat)
}

fn date_of(message: Option<&ChatFileMessage>) -> Option<&String> {
    message.map(|message| &message.shown().date)
}

fn chat_of_history(history: &Value) -> ChatFile {
    let messages = history.get("msgs").and_then(Value::as_array);
    let messages = messages.into_iter().flatten().filter_map(message);
    let mut chat = named_by_messages(messages.collect());
    chat.created = date(history.get("created"));
    chat
}

fn message(message: &Value) -> Option<ChatFileMessage> {
    let source = message.get("src")?.as_object()?;
    let message = message.as_object()?;
    let names = [text(source, "name"), text(message, "display_name")];
    let name = names
        .into_iter()
        .find(|name| !name.is_empty())
        .unwrap_or_default();
    let written = message.get("text")?.as_str()?;
    let date = date(message.get("created"));
    Some(one(author(source), cut(name), written, date))
}

pub(super) fn author(source: &Map<String, Value>) -> ChatFileAuthor {
    if source.get("is_human").and_then(Value::as_bool) == Some(true) {
        ChatFileAuthor::User
    } else {
        ChatFileAuthor::Character
    }
}

pub(super) fn turn(turn: &Value) -> Option<ChatFileMessage> {
    let turn = turn.as_object()?;
    let source = turn.get("author")?.as_object()?;
    let candidates: Vec<&Map<String, Value>> = turn
        .get("candidates")?
        .as_array()?
        .iter()
        .filter_map(Value::as_object)
        .take(MAX_VERSIONS)
        .collect();
    let primary = turn.get("primary_candidate_id");
    let is_primary = |candidate: &&Map<String, Value>| {
        primary.is_some() && candidate.get("candidate_id") == primary
    };
    let selected = candidates.iter().position(is_primary).unwrap_or(0);
    let sent = date(turn.get("create_time"));
    let versions: Vec<MessageVersion> = candidates
        .iter()
        .map(|candidate| MessageVersion {
            date: sent.clone(),
            ..version(text(candidate, "raw_content"))
        })
        .collect();
    (!versions.is_empty()).then(|| ChatFileMessage {
        name: short(source, "name"),
        by: author(source),
        versions,
        selected,
        ..ChatFileMessage::default()
    })
}
