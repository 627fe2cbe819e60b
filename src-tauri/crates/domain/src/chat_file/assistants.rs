//! Reads the conversations that ChatGPT, Claude and Gemini export, with their branches and the
//! names of their pictures.

mod chatgpt;
mod claude;

use serde_json::{Map, Value};

use self::chatgpt::chatgpt;
use self::claude::claude;
use super::talk_tree::Talk;
use crate::chat_file::model::{ChatFile, ChatFileAuthor, ChatFileMessage, MessageVersion};

/// Maximum number of conversations per file.
const MAX_TALKS: usize = 5_000;
const MAX_NAME: usize = 200;
/// Google's export begins each prompt with this word.
const PROMPTED: &str = "Prompted ";

/// The conversations with an assistant.
#[derive(Debug, Clone, PartialEq)]
pub struct AssistantExport {
    pub app: &'static str,
    pub talks: Vec<Talk>,
    /// Number of conversations without messages, or above the limit.
    pub unread: usize,
}

/// Reads the file; `None` if it is not an export of an assistant.
pub fn read_assistant(root: &Value) -> Option<AssistantExport> {
    let listed: &[Value] = match root {
        Value::Array(all) => all,
        Value::Object(one) => match one.get("conversations").and_then(Value::as_array) {
            Some(all) => all,
            None => std::slice::from_ref(root),
        },
        _ => return None,
    };
    let items: Vec<&Map<String, Value>> = listed.iter().filter_map(Value::as_object).collect();
    // One odd item costs only itself.
    let has = |is: fn(&Map<String, Value>) -> bool| items.iter().any(|item| is(item));
    if has(|item| item.get("mapping").is_some_and(Value::is_object)) {
        return Some(export("ChatGPT", listed, chatgpt));
    }
    if has(|item| item.get("chat_messages").is_some_and(Value::is_array)) {
        return Some(export("Claude", listed, claude));
    }
    if let [one] = &items[..]
        && let Some(chunks) = one
            .get("chunkedPrompt")
            .and_then(|prompt| prompt.get("chunks"))
            .and_then(Value::as_array)
    {
        let talks: Vec<Talk> = studio(chunks).into_iter().collect();
        return Some(AssistantExport {
            app: "Gemini",
            unread: usize::from(talks.is_empty()),
            talks,
        });
    }
    let gemini = |item: &Map<String, Value>| {
        matches!(text(item, "header"), "Gemini Apps" | "Bard" | "Gemini")
    };
    let prompts: Vec<_> = items.into_iter().filter(|item| gemini(item)).collect();
    if prompts.is_empty() {
        return None;
    }
    let talks = activity(&prompts);
    let unread = listed.len() - prompts.len() + usize::from(talks.is_empty());
    Some(AssistantExport {
        app: "Gemini",
        unread,
        talks,
    })
}

fn export(
    app: &'static str,
    listed: &[Value],
    read: fn(&Map<String, Value>) -> Option<Talk>,
) -> AssistantExport {
    let talks: Vec<Talk> = listed
        .iter()
        .take(MAX_TALKS)
        .filter_map(|item| read(item.as_object()?))
        .collect();
    AssistantExport {
        app,
        unread: listed.len() - talks.len(),
        talks,
    }
}

/// A prompt of AI Studio: one conversation without branches.
fn studio(chunks: &[Value]) -> Option<Talk> {
    let mut messages: Vec<ChatFileMessage> = Vec::new();
    let mut thoughts = String::new();
    for chunk in chunks.iter().filter_map(Value::as_object) {
        if chunk.get("isThought") == Some(&Value::Bool(true)) {
            thoughts = text(chunk, "text").to_owned();
            continue;
        }
        let by = if text(chunk, "role") == "user" {
            ChatFileAuthor::User
        } else {
            ChatFileAuthor::Character
        };
        let inline = chunk.get("inlineImage").or_else(|| chunk.get("inlineData"));
        let inline = inline.and_then(|image| {
            Some(format!(
                "data:{};base64,{}",
                image.get("mimeType")?.as_str()?,
                image.get("data")?.as_str()?
            ))
        });
        let on_drive = chunk
            .get("driveImage")
            .and_then(|image| image.get("id")?.as_str())
            .map(str::to_owned);
        let version = MessageVersion {
            text: text(chunk, "text").to_owned(),
            thoughts: std::mem::take(&mut thoughts),
            ..MessageVersion::default()
        };
        messages.extend(written_message(
            by,
            version,
            inline.into_iter().chain(on_drive).collect(),
        ));
    }
    Talk::of_messages(String::new(), messages)
}

/// Google's activity list has single prompts with their replies; those of one day become one
/// conversation.
fn activity(items: &[&Map<String, Value>]) -> Vec<Talk> {
    let mut items: Vec<_> = items.to_vec();
    items.sort_by_key(|item| text(item, "time"));
    let mut days: Vec<(String, Vec<ChatFileMessage>)> = Vec::new();
    for item in items {
        let time = text(item, "time").to_owned();
        let day: String = time.chars().take(10).collect();
        let pair = prompt_and_reply(item, &time);
        match days.last_mut().filter(|(last, _)| *last == day) {
            Some((_, messages)) => messages.extend(pair),
            None => days.push((day, pair)),
        }
    }
    days.into_iter()
        .filter_map(|(day, messages)| Talk::of_messages(format!("Gemini {day}"), messages))
        .collect()
}

fn prompt_and_reply(item: &Map<String, Value>, time: &str) -> Vec<ChatFileMessage> {
    let list = |key: &str| {
        item.get(key)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    let version = |text: String| MessageVersion {
        text,
        date: time.to_owned(),
        ..MessageVersion::default()
    };
    let prompt = text(item, "title");
    let prompt = prompt.strip_prefix(PROMPTED).unwrap_or(prompt);
    let reply: Vec<String> = list("safeHtmlItem")
        .filter_map(|part| part.get("html")?.as_str())
        .map(plain)
        .collect();
    let files = list("attachedFiles")
        .filter_map(Value::as_str)
        .chain(item.get("imageFile").and_then(Value::as_str))
        .map(str::to_owned)
        .collect();
    let prompt = written_message(ChatFileAuthor::User, version(prompt.to_owned()), files);
    let reply = version(reply.join("\n\n"));
    let reply = written_message(ChatFileAuthor::Character, reply, Vec::new());
    prompt.into_iter().chain(reply).collect()
}

/// A message, unless it has neither text nor thoughts nor pictures.
fn written_message(
    by: ChatFileAuthor,
    version: MessageVersion,
    pictures: Vec<String>,
) -> Option<ChatFileMessage> {
    let empty =
        version.text.trim().is_empty() && version.thoughts.trim().is_empty() && pictures.is_empty();
    (!empty).then(|| ChatFileMessage {
        by,
        versions: vec![version],
        pictures,
        ..ChatFileMessage::default()
    })
}

fn joined(texts: &[&str]) -> String {
    texts
        .iter()
        .copied()
        .filter(|text| !text.trim().is_empty())
        .collect::<Vec<_>>()
        .join("\n\n")
}

/// Seconds since 1970 as milliseconds, the form of other apps' dates.
fn seconds(value: Option<&Value>) -> String {
    value
        .and_then(Value::as_f64)
        .map(|seconds| ((seconds * 1_000.0) as i64).to_string())
        .unwrap_or_default()
}

/// The text of HTML: paragraphs and list items on lines of their own, without tags.
fn plain(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        text.push_str(&rest[..at]);
        let Some(end) = rest[at..].find('>') else {
            rest = &rest[at..];
            break;
        };
        let tag = rest[at + 1..at + end].to_ascii_lowercase();
        let name = tag
            .trim_start_matches('/')
            .split(|letter: char| !letter.is_alphanumeric())
            .next()
            .unwrap_or_default();
        match name {
            "br" => text.push('\n'),
            "p" | "div" | "h1" | "h2" | "h3" | "h4" | "ul" | "ol" | "pre" | "tr"
                if tag.starts_with('/') =>
            {
                text.push_str("\n\n")
            }
            "li" if !tag.starts_with('/') => text.push_str("\n- "),
            _ => {}
        }
        rest = &rest[at + end + 1..];
    }
    text.push_str(rest);
    for (entity, letter) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ] {
        text = text.replace(entity, letter);
    }
    let mut lines = text
        .lines()
        .map(str::trim_end)
        .collect::<Vec<_>>()
        .join("\n");
    while lines.contains("\n\n\n") {
        lines = lines.replace("\n\n\n", "\n\n");
    }
    lines.trim().to_owned()
}

fn text<'v>(object: &'v Map<String, Value>, key: &str) -> &'v str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn cut(text: &str) -> String {
    text.trim().chars().take(MAX_NAME).collect()
}

impl Talk {
    /// A conversation without branches; `None` if it has no messages.
    fn of_messages(title: String, messages: Vec<ChatFileMessage>) -> Option<Self> {
        let main = ChatFile {
            messages,
            ..ChatFile::default()
        };
        (!main.messages.is_empty()).then(|| Self {
            title,
            main,
            ..Self::default()
        })
    }
}

#[cfg(test)]
mod tests;
