//! Reads a scenario: greeting, messages and sampler values.

use serde_json::{Map, Value};

use crate::backyard::json::{macros, objects, text};
use crate::chat_file::{ChatFile, ChatFileAuthor, ChatFileMessage, MessageVersion};

/// Maximum number of messages of a scenario.
const MAX_MESSAGES: usize = 100_000;

/// A Backyard scenario. Name placeholders outside `messages` are already macros.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scenario {
    pub title: String,
    pub scenario: String,
    pub system_prompt: String,
    pub examples: String,
    /// The opening message; empty if the user writes first.
    pub greeting: String,
    pub sampling: BackyardSampling,
    /// The messages after the greeting, unchanged.
    pub messages: Vec<ChatFileMessage>,
}

/// Sampler values from the file. A missing or non-numeric value is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BackyardSampling {
    pub temperature: Option<f64>,
    pub top_k: Option<f64>,
    pub top_p: Option<f64>,
    /// 0 if the file turns it off.
    pub min_p: Option<f64>,
    pub repeat_penalty: Option<f64>,
    /// In tokens.
    pub repeat_range: Option<f64>,
}

impl BackyardSampling {
    pub(super) fn read(document: &Map<String, Value>) -> Self {
        let number = |key: &str| document.get(key).and_then(Value::as_f64);
        let off = document.get("minPEnabled").and_then(Value::as_bool) == Some(false);
        Self {
            temperature: number("temperature"),
            top_k: number("topK"),
            top_p: number("topP"),
            min_p: if off { Some(0.0) } else { number("minP") },
            repeat_penalty: number("repeatPenalty"),
            repeat_range: number("repeatLastN"),
        }
    }

    /// Iterates over the present values, keyed by our setting names.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let all = [
            ("temperature", self.temperature),
            ("top_k", self.top_k),
            ("top_p", self.top_p),
            ("min_p", self.min_p),
            ("repeat_penalty", self.repeat_penalty),
            ("repeat_range", self.repeat_range),
        ];
        all.into_iter()
            .filter_map(|(key, value)| Some((key, value?)))
    }
}

impl Scenario {
    /// `character` is the id of the character in the document. Example messages with another id are
    /// the user's.
    pub(super) fn read(document: &Map<String, Value>, character: &str) -> Self {
        let examples: Vec<String> = objects(document, "exampleMessages")
            .map(|said| example(said, character))
            .collect();
        Self {
            title: text(document, "title").trim().to_owned(),
            scenario: macros(text(document, "narrative")),
            system_prompt: macros(text(document, "formattingInstructions")),
            examples: if examples.is_empty() {
                String::new()
            } else {
                format!("<START>\n{}", examples.join("\n"))
            },
            greeting: objects(document, "firstMessages")
                .next()
                .map(|said| macros(text(said, "text")))
                .unwrap_or_default(),
            sampling: BackyardSampling::read(document),
            messages: objects(document, "messages")
                .filter_map(message)
                .take(MAX_MESSAGES)
                .collect(),
        }
    }

    /// Builds the chat, starting with the greeting. Replaces the name macros in the greeting.
    pub fn into_chat(self, character: &str, user: &str) -> ChatFile {
        let named = self
            .greeting
            .replace("{{char}}", character)
            .replace("{{user}}", user);
        let opening = ChatFileMessage {
            by: ChatFileAuthor::Character,
            versions: vec![MessageVersion {
                text: named,
                ..MessageVersion::default()
            }],
            ..ChatFileMessage::default()
        };
        let sent = self
            .messages
            .first()
            .map(|said| said.shown().date.clone())
            .unwrap_or_default();
        let opening = Some(opening).filter(|_| !self.greeting.trim().is_empty());
        ChatFile {
            user: user.to_owned(),
            character: character.to_owned(),
            created: sent,
            header: Map::new(),
            messages: opening.into_iter().chain(self.messages).collect(),
        }
    }
}

/// Formats an example message as `name: text`, unless the text already starts with a name macro.
fn example(said: &Map<String, Value>, character: &str) -> String {
    let words = macros(text(said, "text"));
    if words.starts_with("{{char}}:") || words.starts_with("{{user}}:") {
        return words;
    }
    let name = if text(said, "characterID") == character {
        "{{char}}"
    } else {
        "{{user}}"
    };
    format!("{name}: {words}")
}

/// Reads a message; `None` for types other than `human` and `ai`.
fn message(said: &Map<String, Value>) -> Option<ChatFileMessage> {
    let version = |said: &Map<String, Value>| MessageVersion {
        text: text(said, "text").to_owned(),
        date: text(said, "createdAt").to_owned(),
        ..MessageVersion::default()
    };
    let (by, versions, selected) = match text(said, "type") {
        "human" => (ChatFileAuthor::User, vec![version(said)], 0),
        "ai" => {
            let outputs: Vec<_> = objects(said, "outputs").collect();
            // The output that was active last is shown. The timestamps are ISO 8601, so they sort
            // as strings.
            let active = outputs
                .iter()
                .enumerate()
                .max_by_key(|(_, output)| text(output, "activeTimestamp"));
            let selected = active.map_or(0, |(at, _)| at);
            (
                ChatFileAuthor::Character,
                outputs.into_iter().map(version).collect(),
                selected,
            )
        }
        _ => return None,
    };
    (!versions.is_empty()).then(|| ChatFileMessage {
        by,
        versions,
        selected,
        ..ChatFileMessage::default()
    })
}
