//! Reads chats from plain text with `Name: text` lines or paragraphs.

use std::collections::HashMap;

use crate::chat_file::model::{
    ChatFile, ChatFileAuthor, ChatFileError, ChatFileMessage, MAX_FILE, MAX_MESSAGES,
    MessageVersion,
};
use crate::lenient_json::{self, RepairKind};

/// Limits of a name, in characters and words. A longer text before a colon is part of a sentence.
const MAX_NAME: usize = 40;
const MAX_WORDS: usize = 4;

/// A conversation read from plain text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    /// Speaker names with their texts, as in the file.
    lines: Vec<(String, String)>,
}

impl Transcript {
    /// # Errors
    /// [`ChatFileError`] if the file is not UTF-8 text, exceeds the limits, or has fewer than two
    /// speakers.
    pub fn read(bytes: &[u8]) -> Result<Self, ChatFileError> {
        if bytes.len() > MAX_FILE {
            return Err(ChatFileError::TooLarge {
                bytes: bytes.len(),
                limit: MAX_FILE,
            });
        }
        let (text, repair) = lenient_json::text(bytes);
        if repair.is_some_and(|repair| repair.fault == RepairKind::NotText) {
            let offset =
                std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
            return Err(ChatFileError::NotUtf8 { offset });
        }
        let talk = Self {
            lines: messages(text.as_ref())?,
        };
        if talk.speakers().len() < 2 {
            Err(ChatFileError::NoTalk)
        } else {
            Ok(talk)
        }
    }

    /// Names of the speakers without duplicates, in order of appearance.
    pub fn speakers(&self) -> Vec<&str> {
        let mut found: Vec<&str> = Vec::new();
        for (name, _) in &self.lines {
            if !found.contains(&name.as_str()) {
                found.push(name);
            }
        }
        found
    }

    /// Builds a chat. Speakers other than `user` become characters.
    pub fn into_chat(self, character: &str, user: &str) -> ChatFile {
        let said = |(name, text): (String, String)| {
            let by = if name == user {
                ChatFileAuthor::User
            } else {
                ChatFileAuthor::Character
            };
            let versions = vec![MessageVersion {
                text,
                ..MessageVersion::default()
            }];
            ChatFileMessage {
                name,
                by,
                versions,
                ..ChatFileMessage::default()
            }
        };
        ChatFile {
            user: user.to_owned(),
            character: character.to_owned(),
            messages: self.lines.into_iter().map(said).collect(),
            ..ChatFile::default()
        }
    }
}

/// Finds the speakers: names that start more than one line, and the first name. If there are
/// exactly two names, both are speakers. This rule ignores prefixes such as "Note:" inside a
/// message.
fn speakers(text: &str) -> Vec<&str> {
    let mut counted: HashMap<&str, usize> = HashMap::new();
    let mut first = None;
    for (name, _) in text.lines().filter_map(spoken) {
        *counted.entry(name).or_default() += 1;
        first.get_or_insert(name);
    }
    let pair = counted.len() == 2;
    counted
        .into_iter()
        .filter(|(name, count)| *count > 1 || pair || first == Some(*name))
        .map(|(name, _)| name)
        .collect()
}

/// Splits a line into a possible name and the text after the colon.
fn spoken(line: &str) -> Option<(&str, &str)> {
    let (name, words) = line.split_once(':')?;
    let spaced = words.is_empty() || words.starts_with(char::is_whitespace);
    let begins = name.chars().next().is_some_and(char::is_alphanumeric);
    let short = name.chars().count() <= MAX_NAME && name.split_whitespace().count() <= MAX_WORDS;
    (spaced && begins && short && name.trim_end() == name).then(|| (name, words.trim()))
}

/// The speaker and the text of each message.
fn messages(text: &str) -> Result<Vec<(String, String)>, ChatFileError> {
    let speakers = speakers(text);
    let mut messages: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        let begins = spoken(line).filter(|(name, _)| speakers.contains(name));
        match (begins, messages.last_mut()) {
            (Some((name, start)), _) => messages.push((name.to_owned(), start.to_owned())),
            (None, Some((_, text))) => {
                text.push('\n');
                text.push_str(line);
            }
            (None, None) if line.trim().is_empty() => {}
            (None, None) => return Err(ChatFileError::NoTalk),
        }
        if messages.len() > MAX_MESSAGES {
            return Err(ChatFileError::TooManyMessages {
                limit: MAX_MESSAGES,
            });
        }
    }
    for (_, text) in &mut messages {
        *text = text.trim().to_owned();
    }
    Ok(messages)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::readable_chat::{ReadableChat, ReadableOptions};

    fn check(text: &str) -> Vec<String> {
        let chat = Transcript::read(text.as_bytes())
            .unwrap()
            .into_chat("Mira", "Tom");
        chat.messages
            .iter()
            .map(|said| format!("{:?} {}: {}", said.by, said.name, said.shown().text))
            .collect()
    }

    #[test]
    fn reads_chats_in_lines_or_paragraphs() {
        let expected = [
            "Character Mira: Come in.",
            "User Tom: Thanks.",
            "Character Mira: Sit.",
        ];
        assert_eq!(
            check("\u{feff}Mira: Come in.\nTom: Thanks.\nMira: Sit.\n"),
            expected
        );
        assert_eq!(
            check("\nMira: Come in.\r\n\r\nTom: Thanks.\r\n\r\nMira:\r\nSit.\r\n"),
            expected
        );
    }

    #[test]
    fn a_colon_inside_a_message_is_not_a_name() {
        let text = "Mira: Look at this: https://example.org\nNote: bring oil.\n\nAnd matches.\nTom: At 9:30: yes.\nMira: Good.\nTom: So.";
        assert_eq!(
            check(text),
            [
                "Character Mira: Look at this: https://example.org\nNote: bring oil.\n\nAnd matches.",
                "User Tom: At 9:30: yes.",
                "Character Mira: Good.",
                "User Tom: So.",
            ]
        );
    }

    #[test]
    fn refuses_text_that_is_not_a_chat() {
        for other in [
            "",
            "Once upon a time: nothing.",
            "Mira: alone\nMira: still",
            "A novel.\nMira: Hi.\nTom: Hi.",
        ] {
            assert_eq!(
                Transcript::read(other.as_bytes()),
                Err(ChatFileError::NoTalk),
                "{other}"
            );
        }
        assert_eq!(
            Transcript::read(b"A: \xff"),
            Err(ChatFileError::NotUtf8 { offset: 3 })
        );
    }

    proptest! {
        /// Plain text exports can be imported again, with the same speakers.
        #[test]
        fn text_exports_can_be_read_again(words in prop::collection::vec("[a-zA-Z灯.,]{1,9}( [a-z灯.]{1,9}){0,4}", 2..9)) {
            let said = |(at, text): (usize, &String)| ChatFileMessage {
                name: ["Mira", "Tom"][at % 2].to_owned(),
                by: [ChatFileAuthor::Character, ChatFileAuthor::User][at % 2],
                versions: vec![MessageVersion { text: text.clone(), ..MessageVersion::default() }],
                ..ChatFileMessage::default()
            };
            let messages = words.iter().enumerate().map(said).collect();
            let chat = ChatFile { user: "Tom".into(), character: "Mira".into(), messages, ..ChatFile::default() };
            let text = ReadableChat::of(&chat, "").to_text(ReadableOptions::default());
            let read = Transcript::read(text.as_bytes()).unwrap().into_chat("Mira", "Tom");
            prop_assert_eq!(read, chat);
        }
    }
}
