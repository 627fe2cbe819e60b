//! Reads JSON chats of text-generation-webui, Agnai, Character.AI and JanitorAI, and names known
//! files that contain no readable chat.

use serde_json::{Map, Value};

use super::{
    AssistantExport, ChatFile, ChatFileAuthor, ChatFileMessage, MAX_MESSAGES, MessageVersion,
    RisuChat, from_risuai, read_assistant, versions::MAX_VERSIONS,
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
    let (total, mut left) = (found.len(), MAX_MESSAGES);
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
    let (internal, visible) = (
        pairs(["internal", "data"])?,
        pairs(["visible", "data_visible"])?,
    );
    let is_pair = |value: &Value| value.as_array().is_some_and(|pair| pair.len() == 2);
    if !internal.iter().chain(visible).all(is_pair) {
        return None;
    }
    let about = |who: &str, index: usize| {
        root.get("metadata")?
            .get(format!("{who}_{index}"))?
            .as_object()
    };
    let mut messages = Vec::new();
    for (index, pair) in internal.iter().enumerate() {
        let text = |place: usize| pair.get(place).and_then(Value::as_str).unwrap_or_default();
        if !text(0).trim().is_empty() && text(0) != NO_MESSAGE {
            messages.push(webui_said(
                ChatFileAuthor::User,
                text(0),
                about("user", index),
            ));
        }
        if !text(1).trim().is_empty() {
            messages.push(webui_said(
                ChatFileAuthor::Character,
                text(1),
                about("assistant", index),
            ));
        }
    }
    Some(vec![(
        String::new(),
        ChatFile {
            messages,
            ..ChatFile::default()
        },
    )])
}

fn webui_said(
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
        .filter_map(|message| agnai_said(message.as_object()?))
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

fn agnai_said(message: &Map<String, Value>) -> Option<ChatFileMessage> {
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

/// Reads histories of messages with sources, or turns with candidates.
fn character_ai(root: &Map<String, Value>) -> Option<TitledChats> {
    let title = || {
        root.get("info")?
            .get("character")?
            .get("name")?
            .as_str()
            .map(str::to_owned)
    };
    if let Some(turns) = root.get("turns").and_then(Value::as_array) {
        let known = |turn: &Value| {
            turn.get("candidates").is_some_and(Value::is_array) && turn.get("author").is_some()
        };
        if turns.is_empty() || !turns.iter().all(known) {
            return None;
        }
        let mut chat = named_by_messages(turns.iter().filter_map(turn).collect());
        // The service returns the newest turn first.
        let first = |chat: &ChatFile| chat.messages.first().map(|said| said.shown().date.clone());
        let last = |chat: &ChatFile| chat.messages.last().map(|said| said.shown().date.clone());
        if first(&chat) > last(&chat) {
            chat.messages.reverse();
        }
        return Some(vec![(title().unwrap_or_default(), chat)]);
    }
    let histories = match root.get("histories")? {
        Value::Array(all) => all,
        Value::Object(nested) => nested.get("histories")?.as_array()?,
        _ => return None,
    };
    let history = |history: &Value| {
        let said = |message: &Value| {
            let (source, message) = (message.get("src")?.as_object()?, message.as_object()?);
            let name = [text(source, "name"), text(message, "display_name")];
            let name = name
                .into_iter()
                .find(|name| !name.is_empty())
                .unwrap_or_default();
            let words = message.get("text")?.as_str()?;
            Some(one(
                author(source),
                cut(name),
                words,
                date(message.get("created")),
            ))
        };
        let messages = history
            .get("msgs")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(said)
            .collect();
        let mut chat = named_by_messages(messages);
        chat.created = date(history.get("created"));
        (String::new(), chat)
    };
    let mut found: TitledChats = histories.iter().map(history).collect();
    if let Some(name) = title() {
        found
            .iter_mut()
            .for_each(|(_, chat)| chat.character = cut(&name));
    }
    Some(found)
}

fn author(source: &Map<String, Value>) -> ChatFileAuthor {
    if source.get("is_human").and_then(Value::as_bool) == Some(true) {
        ChatFileAuthor::User
    } else {
        ChatFileAuthor::Character
    }
}

fn turn(turn: &Value) -> Option<ChatFileMessage> {
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

/// Reads messages. Replies that are not the main one become versions of it.
fn janitor(root: &Map<String, Value>) -> Option<TitledChats> {
    let all = root.get("chatMessages")?.as_array()?;
    let mut listed: Vec<&Map<String, Value>> = all.iter().filter_map(Value::as_object).collect();
    let number = |message: &&Map<String, Value>| {
        message
            .get("id")
            .and_then(Value::as_i64)
            .unwrap_or_default()
    };
    // The service returns the newest message first.
    listed.sort_by_key(number);
    let mut messages: Vec<ChatFileMessage> = Vec::new();
    for message in listed {
        let Some(words) = message.get("message").and_then(Value::as_str) else {
            continue;
        };
        let is = |key: &str| message.get(key).and_then(Value::as_bool);
        let by = if is("is_bot") == Some(true) {
            ChatFileAuthor::Character
        } else {
            ChatFileAuthor::User
        };
        let version = MessageVersion {
            date: date(message.get("created_at")),
            ..version(words)
        };
        match messages.last_mut().filter(|last| {
            by == ChatFileAuthor::Character && last.by == by && last.versions.len() < MAX_VERSIONS
        }) {
            Some(last) => {
                last.versions.push(version);
                if is("is_main") == Some(true) {
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
    let name = |key: &str| {
        root.get(key)
            .and_then(|one| one.get("name"))
            .and_then(Value::as_str)
            .map(cut)
    };
    let character = name("character").unwrap_or_default();
    let chat = ChatFile {
        character: character.clone(),
        user: name("persona").unwrap_or_default(),
        messages,
        ..ChatFile::default()
    };
    Some(vec![(character, chat)])
}

fn unsupported(root: &Map<String, Value>) -> Option<&'static str> {
    let has = |keys: &[&str]| keys.iter().all(|key| root.contains_key(*key));
    let list = |key: &str| root.get(key).and_then(Value::as_array);
    if has(&["savedsettings", "actions"]) || has(&["gamestarted", "prompt", "actions"]) {
        return Some("a saved KoboldAI Lite story");
    }
    if has(&["storyContainerVersion"]) {
        return Some("a NovelAI story");
    }
    let said = |message: &Value| message.get("role").is_some() && message.get("content").is_some();
    list("messages")
        .filter(|all| !all.is_empty() && all.iter().all(said))
        .map(|_| "a log of model requests")
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
mod tests {
    use serde_json::json;

    use super::*;

    fn check(root: Value) -> Vec<String> {
        let Some(DetectedChats::Other(found)) = detect_chats(&root) else {
            panic!("{root} is no chat of another app")
        };
        let said =
            |said: &ChatFileMessage| format!("{:?} {}: {}", said.by, said.name, said.shown().text);
        found
            .chats
            .iter()
            .flat_map(|(_, chat)| chat.messages.iter().map(said))
            .collect()
    }

    #[test]
    fn reads_a_webui_chat_with_versions() {
        let pairs = json!({ "internal": [[NO_MESSAGE, "Hello."], ["Hi <b>", "Two."]], "visible": [["", "Hello."], ["Hi &lt;b&gt;", "Two."]],
            "metadata": { "assistant_1": { "timestamp": "Jun 05, 2025 12:07", "versions": [{ "text": "One." }, { "text": "Two." }] } } });
        assert_eq!(
            check(pairs.clone()),
            ["Character : Hello.", "User : Hi <b>", "Character : Two."]
        );
        let Some(DetectedChats::Other(found)) = detect_chats(&pairs) else {
            unreachable!()
        };
        let last = &found.chats[0].1.messages[2];
        assert_eq!((last.versions.len(), last.selected), (2, 1));
        assert_eq!(
            check(json!({ "data": [["a", "b"]], "data_visible": [["a", "b"]] })),
            ["User : a", "Character : b"]
        );
    }

    #[test]
    fn reads_speaker_names_of_an_agnai_chat() {
        let chat = json!({ "name": "Chat", "greeting": "Hello", "messages": [
            { "handle": "Miller", "characterId": "1", "msg": "Hello" }, { "handle": "Sam", "userId": "anon", "msg": "Hi" }] });
        assert_eq!(check(chat), ["Character Miller: Hello", "User Sam: Hi"]);
    }

    #[test]
    fn reads_both_character_ai_formats() {
        let source = |name: &str, human: bool| json!({ "name": name, "is_human": human });
        let old = json!({ "info": { "character": { "name": "Mira" } }, "histories": { "histories": [{ "msgs": [
            { "text": "Hello.", "src": source("Mira", false) }, { "text": "Hi.", "src": source("Tom", true) }] }] } });
        assert_eq!(check(old), ["Character Mira: Hello.", "User Tom: Hi."]);
        let candidate = |id: &str| json!({ "candidate_id": id, "raw_content": id });
        let new = json!({ "turns": [
            { "author": source("Tom", true), "create_time": "2024-02", "candidates": [candidate("b")] },
            { "author": source("Mira", false), "create_time": "2024-01", "candidates": [candidate("a"), candidate("c")], "primary_candidate_id": "c" }] });
        assert_eq!(check(new), ["Character Mira: c", "User Tom: b"]);
    }

    #[test]
    fn janitor_alternatives_become_versions() {
        let said = |id: u32, bot: bool, main: bool, text: &str| json!({ "id": id, "is_bot": bot, "is_main": main, "message": text });
        let chat = json!({ "character": { "name": "Mira" }, "chatMessages": [
            said(3, true, false, "Two."), said(2, true, true, "One."), said(1, false, false, "Hi.")] });
        assert_eq!(check(chat), ["User : Hi.", "Character : One."]);
    }

    #[test]
    fn other_json_is_not_a_chat() {
        for other in [
            json!({}),
            json!([]),
            json!({ "messages": [] }),
            json!({ "internal": 1, "visible": [] }),
            json!(7),
        ] {
            assert_eq!(detect_chats(&other), None, "{other}");
        }
        assert_eq!(
            detect_chats(&json!([{ "chat_metadata": {} }, { "mes": "x" }])),
            Some(DetectedChats::Lines)
        );
        let named = detect_chats(&json!({ "messages": [{ "role": "user", "content": "x" }] }));
        assert!(
            matches!(named, Some(DetectedChats::Unsupported(_))),
            "{named:?}"
        );
    }
}
