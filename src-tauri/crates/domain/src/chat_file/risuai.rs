//! Reads chats of RisuAI: one chat (`risuChat`) or all chats of a character (`risuAllChats`). The
//! files do not name the character.

use serde_json::{Map, Value};

use crate::chat_file::model::{
    ChatFile, ChatFileAuthor, ChatFileMessage, MAX_MESSAGES, MessageVersion,
};

/// Maximum number of chats per file.
const MAX_CHATS: usize = 2_000;
/// Maximum length of a name, in characters.
const MAX_NAME: usize = 200;

/// A RisuAI chat and its related data.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RisuChat {
    /// May be empty.
    pub title: String,
    /// Greeting of the card that the chat started with. It is not among the messages.
    pub greeting: Greeting,
    /// The author's note; may be empty.
    pub note: String,
    /// Entries of the chat's own lorebook, in RisuAI's format.
    pub lore: Vec<Value>,
    pub messages: Vec<ChatFileMessage>,
}

/// The card's greeting that a chat started with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Greeting {
    #[default]
    First,
    /// Index into the card's alternate greetings.
    Alternate(usize),
}

/// Returns the chats in a file and the number of items that are not chats; `None` for any other
/// JSON.
pub fn from_risuai(root: &Map<String, Value>) -> Option<(Vec<RisuChat>, usize)> {
    let data = root.get("data")?;
    let all: Vec<&Value> = match root.get("type")?.as_str()? {
        "risuChat" => vec![data],
        "risuAllChats" => data.as_array()?.iter().collect(),
        _ => return None,
    };
    let mut left = MAX_MESSAGES;
    let chats: Vec<RisuChat> = all
        .iter()
        .take(MAX_CHATS)
        .filter_map(|value| {
            let chat = chat(value.as_object()?, left)?;
            left -= chat.messages.len();
            Some(chat)
        })
        .collect();
    let unread = all.len() - chats.len();
    Some((chats, unread))
}

impl RisuChat {
    /// Builds the chat, starting with the greeting. Replaces the name macros in the greeting.
    pub fn into_chat(self, greeting: &str, character: &str, user: &str) -> ChatFile {
        let named = greeting
            .replace("{{char}}", character)
            .replace("{{user}}", user);
        let sent = self
            .messages
            .first()
            .map(|message| message.shown().date.clone())
            .unwrap_or_default();
        let opening = Some(named)
            .filter(|text| !text.trim().is_empty())
            .map(|text| ChatFileMessage {
                by: ChatFileAuthor::Character,
                versions: vec![MessageVersion {
                    text,
                    date: sent.clone(),
                    ..MessageVersion::default()
                }],
                ..ChatFileMessage::default()
            });
        ChatFile {
            user: user.to_owned(),
            character: character.to_owned(),
            created: sent,
            header: Map::new(),
            messages: opening.into_iter().chain(self.messages).collect(),
        }
    }
}

/// Reads a chat; `None` if it has no messages, or more than `left`.
fn chat(chat: &Map<String, Value>, left: usize) -> Option<RisuChat> {
    let messages: Vec<ChatFileMessage> = chat
        .get("message")?
        .as_array()?
        .iter()
        .filter_map(read_message)
        .collect();
    let greeting = match chat
        .get("fmIndex")
        .and_then(Value::as_i64)
        .and_then(|at| usize::try_from(at).ok())
    {
        Some(at) => Greeting::Alternate(at),
        None => Greeting::First,
    };
    (!messages.is_empty() && messages.len() <= left).then(|| RisuChat {
        title: text(chat, "name").chars().take(MAX_NAME).collect(),
        greeting,
        note: text(chat, "note").to_owned(),
        lore: chat
            .get("localLore")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default(),
        messages,
    })
}

fn read_message(message: &Value) -> Option<ChatFileMessage> {
    let message = message.as_object()?;
    let by = match text(message, "role") {
        "user" => ChatFileAuthor::User,
        "char" => ChatFileAuthor::Character,
        _ => return None,
    };
    let made = message.get("generationInfo").and_then(Value::as_object);
    let version = MessageVersion {
        text: message.get("data")?.as_str()?.to_owned(),
        thoughts: String::new(),
        // In milliseconds since 1970.
        date: message
            .get("time")
            .and_then(Value::as_f64)
            .map_or_else(String::new, |time| (time as i64).to_string()),
        model: made
            .map(|made| text(made, "model").chars().take(MAX_NAME).collect())
            .unwrap_or_default(),
        unused_fields: Map::new(),
    };
    let hidden = message.get("disabled").and_then(Value::as_bool) == Some(true);
    let name = text(message, "name").chars().take(MAX_NAME).collect();
    Some(ChatFileMessage {
        name,
        by,
        hidden,
        versions: vec![version],
        ..ChatFileMessage::default()
    })
}

fn text<'v>(object: &'v Map<String, Value>, key: &str) -> &'v str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: Value) -> Option<(Vec<RisuChat>, usize)> {
        from_risuai(value.as_object().unwrap())
    }

    fn shown(chat: &ChatFile) -> Vec<String> {
        chat.messages
            .iter()
            .map(|message| format!("{:?}: {}", message.by, message.shown().text))
            .collect()
    }

    #[test]
    fn adds_the_greeting_missing_from_the_file() {
        let (mut chats, unread) = read(json!({"type": "risuChat", "ver": 2, "data": {
        "name": "By the lamp", "note": "Slowly.", "fmIndex": 1, "localLore": [{"key": "oil"}],
        "message": [
            {"role": "user", "data": "Hello.", "time": 1_705_321_815_000_i64},
            {"role": "char", "data": "Come in.", "generationInfo": {"model": "tiny"}},
            {"role": "char", "data": "Long ago.", "disabled": true},
        ]}}))
        .unwrap();
        let chat = chats.remove(0);
        assert_eq!(
            (chat.title.as_str(), chat.note.as_str(), unread),
            ("By the lamp", "Slowly.", 0)
        );
        assert_eq!(
            (chat.greeting, chat.lore.len()),
            (Greeting::Alternate(1), 1)
        );
        let file = chat.into_chat("Evening, {{user}}.", "Mira", "Tom");
        assert_eq!(
            shown(&file),
            [
                "Character: Evening, Tom.",
                "User: Hello.",
                "Character: Come in.",
                "Character: Long ago."
            ]
        );
        assert_eq!(
            (
                file.created.as_str(),
                file.messages[2].shown().model.as_str()
            ),
            ("1705321815000", "tiny")
        );
        assert!(file.messages[3].hidden);
    }

    #[test]
    fn a_bad_chat_does_not_affect_the_others() {
        let good = json!({"message": [{"role": "user", "data": "x"}, 7, {"role": "user"}]});
        let (chats, unread) =
            read(json!({"type": "risuAllChats", "data": [good, {"message": []}, "nonsense", {"name": "y"}]})).unwrap();
        assert_eq!((chats.len(), unread, chats[0].messages.len()), (1, 3, 1));
        assert_eq!(chats[0].greeting, Greeting::First);
    }

    #[test]
    fn other_risuai_files_are_not_chats() {
        for other in [
            json!({"type": "risu", "data": []}),
            json!({"type": "risuChat"}),
            json!({"data": {}}),
        ] {
            assert_eq!(read(other), None);
        }
    }
}
