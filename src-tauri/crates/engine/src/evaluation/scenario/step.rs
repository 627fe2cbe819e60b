//! The steps of a scenario, as in its file.

use serde::{Deserialize, Serialize};

/// A step and its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// RFC 3339, or a date and a time without a zone, which is UTC then. Without it, the time of
    /// the step before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    #[serde(flatten)]
    pub step: Step,
}

/// Something that happens, or a probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    Character(Character),
    Pair(Pair),
    Chat(Chat),
    Presence(Presence),
    /// Lets a participant know everything that was said in the chat so far.
    Inform(Informed),
    Say(Say),
    Turn(Turn),
    Edit(Rewritten),
    Swipe(Rewritten),
    Delete(Deleted),
    Branch(Branch),
    DeleteChat(Where),
    Remember(Noted),
    Forget(Noted),
    /// Lets memories that contain the text apply in all chats, as the memory panel does.
    Share(Noted),
    Lorebook(Lorebook),
    Setting(Set),
    /// Embeds messages, as the app does in idle time; does nothing without an encoder.
    Learn,
    /// Archives outdated and repeated memories, as the app does once a day.
    Consolidate,
    /// Purges what was deleted, as the app's next start does.
    Compact,
    /// Ends the engine and starts another one in the same folder.
    Reopen,
    Probe(Probe),
}

/// A character with that name and description. An existing one stays as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Character {
    pub name: String,
    #[serde(default)]
    pub description: String,
}

/// A persona and a character by their names. Each is created if it is missing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    pub pair: String,
    pub persona: String,
    pub character: String,
}

/// The characters that take part in a chat from now on besides the pair's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chat {
    pub pair: String,
    pub chat: String,
    #[serde(default)]
    pub members: Vec<String>,
}

/// A chat of a pair. It is created when a step first names it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Where {
    pub pair: String,
    pub chat: String,
}

/// From now on, the participant is away or back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Presence {
    pub pair: String,
    pub chat: String,
    pub character: String,
    pub away: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Informed {
    pub pair: String,
    pub chat: String,
    pub character: String,
}

/// A message, stored as an import does. Commands of the user ("remember that ...") are executed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Say {
    pub pair: String,
    pub chat: String,
    /// `user`, `character`, `narrator`, or the name of another participant.
    pub who: String,
    pub text: String,
    /// The scenario's name of the message; without it, the number of its step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// A whole turn: the prompt is assembled and its plan stored. `reply` takes the place of the
/// model's reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    pub pair: String,
    pub chat: String,
    pub text: String,
    pub reply: String,
    /// The name of the user's message; the reply is named `<id>.reply`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// A new text of a message, or a new swipe of it, which is then selected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rewritten {
    pub message: String,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Deleted {
    pub message: String,
}

/// A chat `to` that begins with the messages of `chat` up to `after`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Branch {
    pub pair: String,
    pub chat: String,
    /// The last message that both have.
    pub after: String,
    pub to: String,
}

/// A memory of the pair, as the memory panel writes it. To forget: every memory that contains the
/// text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Noted {
    pub pair: String,
    pub text: String,
}

/// A lorebook of the pair's character, or of one chat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lorebook {
    pub pair: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat: Option<String>,
    pub name: String,
    pub entries: Vec<ScenarioEntry>,
}

/// An entry without keys is always active.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScenarioEntry {
    #[serde(default)]
    pub keys: Vec<String>,
    pub text: String,
}

/// A setting as text: of a chat, of a character, or of all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Set {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat: Option<String>,
    pub key: String,
    pub value: String,
}

/// A question: the prompt that the user's message `text` would get now. Nothing is sent or stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    pub id: String,
    pub pair: String,
    pub chat: String,
    pub text: String,
    /// Token limit of everything that is retrieved (setting `retrieval_cap`). Without it, the
    /// settings decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<u32>,
    /// Returns the whole prompt with the answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
}
