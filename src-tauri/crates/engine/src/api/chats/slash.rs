//! Results of what a user types into the composer: a message or a slash command.

use domain::ChatId;
use serde::{Deserialize, Serialize};
use specta::Type;

use crate::api::{ChatFileFormat, Message, Started};

/// The result of a text from the composer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum CommandOutcome {
    /// A reply starts: to a message that was sent, or as a new swipe, or as the continuation of a
    /// reply.
    Started { started: Started },
    /// The model writes a draft of the user's next message.
    Drafting,
    /// A message was stored, and no reply starts.
    Added { message: Message },
    /// A swipe was selected, or messages were hidden or shown. These are the changed messages.
    Updated { messages: Vec<Message> },
    /// A setting of the chat has a new value.
    Set {
        setting: CommandSetting,
        value: String,
    },
    /// The current value of a setting, and the values that it may have; none if it is a text.
    Shown {
        setting: CommandSetting,
        value: String,
        choices: Vec<String>,
    },
    /// A memory was stored or forgotten. `remembered` and `forgot` events report it.
    Memorized,
    /// The user wants to search for this text.
    Search { text: String },
    /// The user wants this chat as a file.
    Export { format: ChatFileFormat },
    /// A new chat was made of this one, and the user continues there.
    Opened { chat: ChatId, title: String },
    /// The text belongs into the composer.
    Insert { text: String },
    /// The commands.
    Help { commands: Vec<CommandHelp> },
    /// Nothing was done. The text belongs back into the composer.
    Refused { refusal: CommandRefusal },
}

/// The setting that a command changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum CommandSetting {
    Mode,
    Persona,
    Model,
    Template,
    Note,
    Scene,
    Checkpoint,
}

/// A command for the help.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct CommandHelp {
    /// Without the slash.
    pub name: String,
    /// Its arguments; those in brackets may be missing.
    pub usage: String,
    /// One line, in English.
    pub help: String,
}

/// Why a command was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct CommandRefusal {
    pub code: RefusalCode,
    /// The command as typed, without the slash.
    pub command: String,
    /// The part of the text that is wrong; the usage if an argument is missing.
    pub value: String,
    /// Names that the user may have meant; what there is if none is similar.
    pub near: Vec<String>,
    /// The whole reason, in English.
    pub message: String,
}

/// Codes of [`CommandRefusal`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum RefusalCode {
    UnknownCommand,
    ArgumentMissing,
    UnknownName,
    AmbiguousName,
    BadDice,
    BadNumber,
    NothingFound,
    MemoryOff,
    NoReply,
    NoMessage,
}

/// A completion of the text in the composer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct CommandCompletion {
    /// The whole text. It ends in a space if an argument may follow.
    pub text: String,
    /// The command, without the slash.
    pub name: String,
    pub usage: String,
    /// One line, in English; empty for an argument.
    pub help: String,
}
