//! Chats as documents for people: one HTML file, Markdown or plain text.
//!
//! All texts are data: nothing in a message becomes HTML or a terminal command. HTML files contain
//! their pictures, run no script and load nothing.

mod html;
mod inline;
mod markup;
mod plain;

use crate::chat_file::{ChatFile, ChatFileAuthor, ChatFileMessage};

/// The parts that a document shows besides the shown texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase", default)]
pub struct ReadableOptions {
    /// The name of the speaker at each message.
    pub names: bool,
    pub thoughts: bool,
    pub times: bool,
    /// Messages that are hidden from the model.
    pub hidden: bool,
}

impl Default for ReadableOptions {
    fn default() -> Self {
        Self {
            names: true,
            thoughts: false,
            times: false,
            hidden: false,
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadableChat {
    pub title: String,
    /// Notes included, which no document shows.
    pub messages: Vec<ReadableMessage>,
}

/// The shown version of a message. Unknown values are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadableMessage {
    pub name: String,
    pub by: ChatFileAuthor,
    pub hidden: bool,
    pub note: bool,
    /// For display.
    pub time: String,
    pub text: String,
    pub thoughts: String,
    pub pictures: Vec<EmbeddedPicture>,
}

/// A picture with its bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EmbeddedPicture {
    pub name: String,
    /// Such as `image/png`.
    pub mime: String,
    pub base64: String,
}

impl ReadableChat {
    /// The shown versions, without times and pictures.
    pub fn of(file: &ChatFile, title: &str) -> Self {
        Self {
            title: title.to_owned(),
            messages: file.messages.iter().map(ReadableMessage::of).collect(),
        }
    }

    /// The messages that a document shows.
    pub fn shown(&self, options: ReadableOptions) -> impl Iterator<Item = &ReadableMessage> {
        self.messages
            .iter()
            .filter(move |message| !message.note && (options.hidden || !message.hidden))
    }
}

impl ReadableMessage {
    fn of(said: &ChatFileMessage) -> Self {
        let version = said.shown();
        Self {
            name: said.name.clone(),
            by: said.by,
            hidden: said.hidden,
            note: said.note || said.event,
            text: version.text.clone(),
            thoughts: version.thoughts.clone(),
            ..Self::default()
        }
    }
}

/// Removes control characters, because terminals interpret them as commands.
fn printable(text: &str) -> String {
    text.chars()
        .filter(|letter| !letter.is_control() || matches!(letter, '\n' | '\t'))
        .collect()
}
