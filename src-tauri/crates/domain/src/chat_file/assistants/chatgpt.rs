//! Exports of ChatGPT.

use serde_json::{Map, Value};

use crate::chat_file::assistants::{cut, joined, seconds, text, written_message};
use crate::chat_file::model::{ChatFileAuthor, ChatFileMessage, MessageVersion};
use crate::chat_file::talk_tree::{Node, Talk, talk};

pub(super) fn chatgpt(root: &Map<String, Value>) -> Option<Talk> {
    let mapping = root.get("mapping")?.as_object()?;
    let nodes = mapping.iter().map(|(id, node)| Node {
        id: id.clone(),
        parent: node
            .get("parent")
            .and_then(Value::as_str)
            .map(str::to_owned),
        message: node
            .get("message")
            .and_then(Value::as_object)
            .and_then(chatgpt_message),
    });
    let current = root.get("current_node").and_then(Value::as_str);
    talk(
        cut(text(root, "title")),
        seconds(root.get("create_time")),
        nodes.collect(),
        current,
    )
}

pub(super) fn chatgpt_message(message: &Map<String, Value>) -> Option<ChatFileMessage> {
    let role = message.get("author")?.get("role")?.as_str()?;
    let content = message.get("content")?.as_object()?;
    let about = message.get("metadata");
    let hidden = about.and_then(|about| about.get("is_visually_hidden_from_conversation"))
        == Some(&Value::Bool(true));
    // Messages to a tool are programs and searches.
    let to_all = message
        .get("recipient")
        .and_then(Value::as_str)
        .is_none_or(|recipient| recipient == "all");
    if hidden || !to_all {
        return None;
    }
    let by = match role {
        "user" => ChatFileAuthor::User,
        "assistant" | "tool" => ChatFileAuthor::Character,
        _ => return None,
    };
    let (mut texts, pictures) = parts(content);
    if role == "tool" {
        texts.clear();
    }
    texts.extend(
        content
            .get("text")
            .and_then(Value::as_str)
            .filter(|_| role != "tool"),
    );
    let thoughts = content
        .get("thoughts")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let thoughts: Vec<&str> = thoughts
        .filter_map(|thought| thought.get("content")?.as_str())
        .collect();
    let version = MessageVersion {
        text: joined(&texts),
        thoughts: joined(&thoughts),
        date: seconds(message.get("create_time")),
        model: about
            .and_then(|about| about.get("model_slug")?.as_str())
            .map(cut)
            .unwrap_or_default(),
        ..MessageVersion::default()
    };
    written_message(by, version, pictures)
}

/// The texts and the ids of the pictures of a message.
fn parts(content: &Map<String, Value>) -> (Vec<&str>, Vec<String>) {
    let parts = content.get("parts").and_then(Value::as_array);
    let mut texts = Vec::new();
    let mut pictures = Vec::new();
    for part in parts.into_iter().flatten() {
        match part {
            Value::String(text) => texts.push(text.as_str()),
            part => match part.get("asset_pointer").and_then(Value::as_str) {
                Some(pointer) => {
                    let id = pointer.rsplit_once("://").map_or(pointer, |(_, id)| id);
                    pictures.push(id.to_owned());
                }
                None => texts.extend(part.get("text").and_then(Value::as_str)),
            },
        }
    }
    (texts, pictures)
}
