//! Converts a chat into one message per turn. Strict endpoints get one system message at the start, followed by the
//! user. `context::chat_template` does the same for local templates.

use domain::prompt::{Prompt, PromptRole};
use serde::Serialize;

use super::dialect::RoleRules;

/// User message after a character's text, for endpoints that require the user last.
const TURN: &str = "[Go on.]";
/// User message before a greeting, for endpoints that require the user first.
const OPENING: &str = "[The chat begins.]";

#[derive(Debug, Serialize)]
pub(super) struct RequestMessage<'a> {
    pub(super) role: &'static str,
    content: Content<'a>,
}

/// Plain text where possible, because many servers accept nothing else.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(String),
    Parts(Vec<ContentPart<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentPart<'a> {
    Text { text: String },
    ImageUrl { image_url: ImageUrl<'a> },
}

#[derive(Debug, Serialize)]
struct ImageUrl<'a> {
    url: &'a str,
}

impl<'a> Content<'a> {
    /// Appends a paragraph.
    fn say(&mut self, text: &str) {
        let before = match self {
            Self::Text(before) => before,
            Self::Parts(parts) => {
                let Some(ContentPart::Text { text: before }) = parts.last_mut() else {
                    return parts.push(ContentPart::Text { text: text.to_owned() });
                };
                before
            }
        };
        if !before.is_empty() {
            before.push_str("\n\n");
        }
        before.push_str(text);
    }

    fn show(&mut self, url: &'a str) {
        if let Self::Text(text) = self {
            let text = std::mem::take(text);
            let words = (!text.is_empty()).then_some(ContentPart::Text { text });
            *self = Self::Parts(words.into_iter().collect());
        }
        if let Self::Parts(parts) = self {
            parts.push(ContentPart::ImageUrl { image_url: ImageUrl { url } });
        }
    }
}

/// Merges messages into one per turn, because many endpoints require alternating roles and refuse empty content.
pub(super) fn messages(prompt: &Prompt, roles: RoleRules) -> Vec<RequestMessage<'_>> {
    let mut merged: Vec<RequestMessage<'_>> = Vec::with_capacity(prompt.messages.len() + 1);
    // True while only system messages have come.
    let mut head = true;
    for (index, message) in prompt.messages.iter().enumerate() {
        let mut pictures = prompt.pictures.iter().filter(|picture| picture.message == index).peekable();
        if message.text.trim().is_empty() && pictures.peek().is_none() {
            continue;
        }
        head &= message.role == PromptRole::System;
        let role = match (message.role, roles) {
            (PromptRole::Character, _) => "assistant",
            (PromptRole::System, RoleRules::Free) => "system",
            (PromptRole::System, RoleRules::Strict) if head => "system",
            (PromptRole::System | PromptRole::User, _) => "user",
        };
        let first = merged.iter().all(|message| message.role == "system");
        if roles != RoleRules::Free && first && role == "assistant" {
            merged.push(RequestMessage { role: "user", content: Content::Text(OPENING.to_owned()) });
        }
        if merged.last().is_none_or(|last| last.role != role) {
            merged.push(RequestMessage { role, content: Content::Text(String::new()) });
        }
        let Some(RequestMessage { content, .. }) = merged.last_mut() else { continue };
        if !message.text.is_empty() {
            content.say(&message.text);
        }
        pictures.for_each(|picture| content.show(&picture.url));
    }
    if roles != RoleRules::Free && merged.iter().all(|message| message.role == "system") {
        merged.push(RequestMessage { role: "user", content: Content::Text(OPENING.to_owned()) });
    }
    if roles != RoleRules::Free && !prompt.continues && merged.last().is_some_and(|last| last.role == "assistant") {
        merged.push(RequestMessage { role: "user", content: Content::Text(TURN.to_owned()) });
    }
    merged
}

#[cfg(test)]
mod tests {
    use domain::prompt::PromptMessage;

    use super::*;

    fn sent(messages: &[(PromptRole, &str)], roles: RoleRules) -> Vec<String> {
        let messages = messages.iter().map(|&(role, text)| PromptMessage { role, text: text.to_owned() }).collect();
        let prompt = Prompt { messages, ..Prompt::default() };
        let line = |message: &RequestMessage<'_>| match &message.content {
            Content::Text(text) => format!("{}: {}", message.role, text.replace("\n\n", " / ")),
            Content::Parts(_) => message.role.to_owned(),
        };
        super::messages(&prompt, roles).iter().map(line).collect()
    }

    #[test]
    fn strict_endpoints_get_alternating_turns() {
        use PromptRole::{Character as C, System as S, User as U};
        let chat = [
            (S, "Rules."),
            (S, "Card."),
            (C, "Evening."),
            (S, "It rains."),
            (U, "Hi."),
            (U, "You?"),
            (C, "I."),
            (S, "Be brief."),
        ];
        assert_eq!(
            sent(&chat, RoleRules::Strict),
            [
                "system: Rules. / Card.",
                "user: [The chat begins.]",
                "assistant: Evening.",
                "user: It rains. / Hi. / You?",
                "assistant: I.",
                "user: Be brief.",
            ]
        );
        assert_eq!(sent(&chat, RoleRules::NoSystem)[0], "user: Rules. / Card.");
        assert_eq!(sent(&chat, RoleRules::Free).len(), 6);
        assert_eq!(sent(&[(S, "Rules.")], RoleRules::Strict), ["system: Rules.", "user: [The chat begins.]"]);
        assert_eq!(sent(&[(S, "Rules."), (U, "Hi.")], RoleRules::NoSystem), ["user: Rules. / Hi."]);
        assert_eq!(sent(&[(U, "Hi."), (C, "Ada: Oh.")], RoleRules::Strict)[2], "user: [Go on.]");
        assert_eq!(sent(&[(U, " \n"), (C, "Hi.")], RoleRules::Free), ["assistant: Hi."]);
    }
}
