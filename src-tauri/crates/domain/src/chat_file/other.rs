//! Reads JSON chats of text-generation-webui, Agnai, Character.AI and JanitorAI, and names known
//! files that contain no readable chat.

mod character_ai;
mod janitor;

use serde_json::{Map, Value};

use self::character_ai::character_ai;
use self::janitor::janitor;
use super::versions::MAX_VERSIONS;
use super::{AssistantExport, RisuChat, from_risuai, read_assistant};
use crate::chat_file::model::{
    ChatFile, ChatFileAuthor, ChatFileMessage, MAX_MESSAGES, MessageVersion,
};

/// Maximum number of chats per file.
const MAX_CHATS: usize = 2_000;
/// Maximum length of a name, title or date, in characters.
const MAX_NAME: usize = 200;
/// Placeholder for the user's message before a greeting in text-generation-webui.
const NO_MESSAGE: &str = "<|BEGIN-VISIBLE-CHAT|>";

/// Kind of a JSON file with chats.
#[derive(Debug, Clone, PartialEq)]
pub enum DetectedChats {
    /// SillyTavern's lines as one array. Read them with [`ChatFile::from_jsonl`].
    Lines,
    /// RisuAI's chats, and the number of items that are not chats.
    Risu(Vec<RisuChat>, usize),
    Other(OtherChats),
    /// Conversations with an assistant.
    Assistant(AssistantExport),
    /// Name of a known but unsupported file type.
    Unsupported(&'static str),
}

/// Chats of another app. A name is empty if the file does not contain it.
#[derive(Debug, Clone, PartialEq)]
pub struct OtherChats {
    /// Name of the app.
    pub app: &'static str,
    /// Chats with their titles. A title may be empty.
    pub chats: Vec<(String, ChatFile)>,
    /// Number of items in the file without messages.
    pub unread: usize,
}

/// Detects and reads the chats in a JSON file; `None` for any other JSON.
pub fn detect_chats(root: &Value) -> Option<DetectedChats> {
    if let Some(export) = read_assistant(root) {
        return Some(DetectedChats::Assistant(export));
    }
    let root = match root {
        Value::Array(all) => {
            let is_line = |value: &Value| value.get("mes").is_some_and(Value::is_string);
            return all.iter().any(is_line).then_some(DetectedChats::Lines);
        }
        Value::Object(root) => root,
        _ => return None,
    };
    if let Some((chats, unread)) = from_risuai(root) {
        return Some(DetectedChats::Risu(chats, unread));
    }
    let readers: [(&str, ChatReader); 4] = [
        ("text-generation-webui", webui),
        ("Agnai", agnai),
        ("Character.AI", character_ai),
        ("JanitorAI", janitor),
    ];
    let other = readers
        .into_iter()
        .find_map(|(app, read)| Some(bounded(app, read(root)?)));
    other
        .map(DetectedChats::Other)
        .or_else(|| unsupported(root).map(DetectedChats::Unsupported))
}

/// Reads the chats of one app; `None` if the file is from another app.
type ChatReader = fn(&Map<String, Value>) -> Option<TitledChats>;

/// Titles and chats, including chats without messages.
type TitledChats = Vec<(String, ChatFile)>;

fn bounded(app: &'static str, found: TitledChats) -> OtherChats {
    let total = found.len();
    let mut left = MAX_MESSAGES;
    let chats: TitledChats = found
        .into_iter()
        .take(MAX_CHATS)
        .filter(|(_, chat)| {
            let fits = !chat.messages.is_empty() && chat.messages.len() <= left;
            left -= if fits { chat.messages.len() } else { 0 };
            fits
        })
        .collect();
    OtherChats {
        app,
        unread: total - chats.len(),
        chats,
    }
}

/// Reads pairs of a user message and a reply. Uses `internal`, because `visible` is HTML. Newer
/// files also contain versions.
fn webui(root: &Map<String, Value>) -> Option<TitledChats> {
    let pairs = |keys: [&str; 2]| keys.iter().find_map(|key| root.get(*key)?.as_array());
    let internal = pairs(["internal", "data"])?;
    let visible = pairs(["visible", "data_visible"])?;
    let is_pair = |value: &Value| value.as_array().is_some_and(|pair| pair.len() == 2);
    if !internal.iter().chain(visible).all(is_pair) {
        return None;
    }
    let mut messages = Vec::new();
    for (index, pair) in internal.iter().enumerate() {
        for (place, by) in [ChatFileAuthor::User, ChatFileAuthor::Character]
            .into_iter()
            .enumerate()
        {
            let text = pair.get(place).and_then(Value::as_str).unwrap_or_default();
            let is_empty = text.trim().is_empty();
            // The user's first message is a mark if the character opened the chat.
            if !is_empty && (by == ChatFileAuthor::Character || text != NO_MESSAGE) {
                messages.push(webui_message(by, text, webui_metadata(root, by, index)));
            }
        }
    }
    let chat = ChatFile {
        messages,
        ..ChatFile::default()
    };
    Some(vec![(String::new(), chat)])
}

fn webui_metadata(
    root: &Map<String, Value>,
    by: ChatFileAuthor,
    index: usize,
) -> Option<&Map<String, Value>> {
    let author = match by {
        ChatFileAuthor::User => "user",
        _ => "assistant",
    };
    root.get("metadata")?
        .get(format!("{author}_{index}"))?
        .as_object()
}

fn webui_message(
    by: ChatFileAuthor,
    text: &str,
    about: Option<&Map<String, Value>>,
) -> ChatFileMessage {
    let dated = |about: &Map<String, Value>| short(about, "timestamp");
    let one = |version: &Value| {
        let version = version.as_object()?;
        Some(MessageVersion {
            text: version.get("text")?.as_str()?.to_owned(),
            date: dated(version),
            ..MessageVersion::default()
        })
    };
    let listed = about
        .and_then(|about| about.get("versions"))
        .and_then(Value::as_array);
    let versions: Vec<MessageVersion> = listed.into_iter().flatten().filter_map(one).collect();
    let shown = MessageVersion {
        text: text.to_owned(),
        date: about.map(dated).unwrap_or_default(),
        ..MessageVersion::default()
    };
    among(by, versions, shown)
}

fn agnai(root: &Map<String, Value>) -> Option<TitledChats> {
    let all = root.get("messages")?.as_array()?;
    if all.is_empty()
        || !all
            .iter()
            .all(|message| message.get("msg").is_some_and(Value::is_string))
    {
        return None;
    }
    let mut messages: Vec<ChatFileMessage> = all
        .iter()
        .filter_map(|message| agnai_message(message.as_object()?))
        .collect();
    let greeting = text(root, "greeting");
    // The messages already start with the greeting, unless the chat was cut.
    if !greeting.trim().is_empty()
        && messages
            .first()
            .is_some_and(|first| first.by == ChatFileAuthor::User)
    {
        messages.insert(
            0,
            one(
                ChatFileAuthor::Character,
                String::new(),
                greeting,
                String::new(),
            ),
        );
    }
    let mut chat = named_by_messages(messages);
    chat.created = date(root.get("createdAt"));
    Some(vec![(short(root, "name"), chat)])
}

fn agnai_message(message: &Map<String, Value>) -> Option<ChatFileMessage> {
    let of_user = message
        .get("userId")
        .is_some_and(|id| !id.is_null() && id != "");
    let of_character = message
        .get("characterId")
        .is_some_and(|id| !id.is_null() && id != "");
    let by = if of_user && !of_character {
        ChatFileAuthor::User
    } else {
        ChatFileAuthor::Character
    };
    let shown = MessageVersion {
        date: date(message.get("createdAt")),
        ..version(text(message, "msg"))
    };
    let retries = message
        .get("retries")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let versions = retries.filter_map(Value::as_str).map(version).collect();
    Some(ChatFileMessage {
        name: short(message, "handle"),
        ..among(by, versions, shown)
    })
}

fn unsupported(root: &Map<String, Value>) -> Option<&'static str> {
    let has = |keys: &[&str]| keys.iter().all(|key| root.contains_key(*key));
    if has(&["savedsettings", "actions"]) || has(&["gamestarted", "prompt", "actions"]) {
        return Some("a saved KoboldAI Lite story");
    }
    if has(&["storyContainerVersion"]) {
        return Some("a NovelAI story");
    }
    let is_message =
        |message: &Value| message.get("role").is_some() && message.get("content").is_some();
    let messages = root.get("messages").and_then(Value::as_array)?;
    (!messages.is_empty() && messages.iter().all(is_message)).then_some("a log of model requests")
}

/// Selects the shown version among the others, or adds it.
fn among(
    by: ChatFileAuthor,
    mut versions: Vec<MessageVersion>,
    shown: MessageVersion,
) -> ChatFileMessage {
    versions.truncate(MAX_VERSIONS - 1);
    let selected = match versions
        .iter()
        .rposition(|version| version.text == shown.text)
    {
        Some(place) => place,
        None => {
            versions.push(shown);
            versions.len() - 1
        }
    };
    ChatFileMessage {
        by,
        versions,
        selected,
        ..ChatFileMessage::default()
    }
}

fn named_by_messages(messages: Vec<ChatFileMessage>) -> ChatFile {
    let first = |by| {
        messages
            .iter()
            .find(|said| said.by == by)
            .map(|said| said.name.clone())
            .unwrap_or_default()
    };
    ChatFile {
        user: first(ChatFileAuthor::User),
        character: first(ChatFileAuthor::Character),
        messages,
        ..ChatFile::default()
    }
}

fn one(by: ChatFileAuthor, name: String, text: &str, sent: String) -> ChatFileMessage {
    ChatFileMessage {
        name,
        by,
        versions: vec![MessageVersion {
            date: sent,
            ..version(text)
        }],
        ..ChatFileMessage::default()
    }
}

fn version(text: &str) -> MessageVersion {
    MessageVersion {
        text: text.to_owned(),
        ..MessageVersion::default()
    }
}

fn date(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(date)) => cut(date),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

fn text<'v>(object: &'v Map<String, Value>, key: &str) -> &'v str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn short(object: &Map<String, Value>, key: &str) -> String {
    cut(text(object, key))
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_NAME).collect()
}

#[cfg(test)]
mod tests;
