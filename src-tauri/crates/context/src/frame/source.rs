//! Sources of blocks, so that the X-ray can link to them.

use domain::MessageId;
use serde::{Deserialize, Serialize};

/// The record that a block comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Source {
    BuiltIn,
    /// A section of a prompt template.
    Template {
        template: String,
        section: String,
    },
    CardField {
        card: String,
        field: String,
    },
    /// A text of the chat that overrides a field of the card.
    ChatText {
        field: String,
    },
    Persona {
        name: String,
    },
    /// An entry of a lorebook. `book` and `entry` are ids; `title` is for display.
    Lore {
        book: String,
        entry: String,
        title: String,
    },
    Memory {
        id: String,
    },
    Keyframe {
        id: String,
    },
    Message {
        id: MessageId,
        speaker: String,
    },
    /// Messages outside the window, reported as one row.
    Older {
        first: MessageId,
        last: MessageId,
        count: usize,
    },
    /// Candidates with low scores, reported as one row.
    Others {
        count: usize,
    },
    /// A passage of an attached text: the id of the text, the position in it, and a name for
    /// display.
    Document {
        id: String,
        passage: u32,
        name: String,
    },
    Clock,
    Mode {
        name: String,
    },
    Reminder,
    Note,
    /// The user's wish for one version of a reply.
    Hint,
    /// A system message of a program that uses the local API.
    Client,
    Setting {
        key: String,
    },
    /// A round of tool calls that led to a reply; no message for the reply that is being written.
    ToolRound {
        message: Option<MessageId>,
        round: u32,
        names: String,
        /// The results instead of the calls.
        results: bool,
    },
}

impl Source {
    /// A description for display.
    pub fn description(&self) -> String {
        match self {
            Self::BuiltIn => "built in".to_owned(),
            Self::Template { template, section } => format!("section {section} of {template}"),
            Self::CardField { card, .. } => format!("card of {card}"),
            Self::ChatText { .. } => "changes for this chat".to_owned(),
            Self::Persona { name } => format!("persona {name}"),
            Self::Lore { book, title, entry } => {
                format!(
                    "lorebook {book}: {}",
                    if title.is_empty() { entry } else { title }
                )
            }
            Self::Memory { .. } => "memory".to_owned(),
            Self::Keyframe { .. } => "summary of earlier messages".to_owned(),
            Self::Message { speaker, .. } => format!("said by {speaker}"),
            Self::Older { count, .. } => format!("{count} older messages"),
            Self::Others { count } => format!("{count} more with lower scores"),
            Self::Document { name, .. } => format!("document {name}"),
            Self::ToolRound {
                names,
                results: false,
                ..
            } => format!("calls of {names}"),
            Self::ToolRound {
                names,
                results: true,
                ..
            } => format!("results of {names}"),
            Self::Clock => "date and time".to_owned(),
            Self::Mode { name } => format!("mode {name}"),
            Self::Reminder => "reminder".to_owned(),
            Self::Note => "author's note".to_owned(),
            Self::Hint => "hint for this reply".to_owned(),
            Self::Client => "instruction of the API client".to_owned(),
            Self::Setting { key } => format!("setting {key}"),
        }
    }

    /// A key that identifies the source across turns.
    pub fn key(&self) -> String {
        match self {
            Self::BuiltIn => "builtIn".to_owned(),
            Self::Template { template, section } => format!("template:{template}/{section}"),
            Self::CardField { card, field } => format!("card:{card}/{field}"),
            Self::ChatText { field } => format!("chatText:{field}"),
            Self::Persona { name } => format!("persona:{name}"),
            Self::Lore { book, entry, .. } => format!("lore:{book}/{entry}"),
            Self::Memory { id } => format!("memory:{id}"),
            Self::Keyframe { id } => format!("keyframe:{id}"),
            Self::Message { id, .. } => format!("message:{id}"),
            Self::Older { first, last, .. } => format!("older:{first}/{last}"),
            Self::Others { .. } => "others".to_owned(),
            Self::Document { id, passage, .. } => format!("document:{id}/{passage}"),
            Self::ToolRound {
                message: Some(id),
                round,
                ..
            } => format!("toolRound:{id}/{round}"),
            Self::ToolRound {
                message: None,
                round,
                ..
            } => format!("toolRound:{round}"),
            Self::Clock => "clock".to_owned(),
            Self::Mode { name } => format!("mode:{name}"),
            Self::Reminder => "reminder".to_owned(),
            Self::Note => "note".to_owned(),
            Self::Hint => "hint".to_owned(),
            Self::Client => "client".to_owned(),
            Self::Setting { key } => format!("setting:{key}"),
        }
    }
}
