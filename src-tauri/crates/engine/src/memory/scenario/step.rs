//! The steps of a scenario, as its file has them.

use serde::{Deserialize, Serialize};

/// A step and when it is taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// RFC 3339, or a date and a time without a zone, which is UTC then. Without it, as late as the step before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    #[serde(flatten)]
    pub step: Step,
}

/// What happens, or is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    Character(Character),
    Pair(Pair),
    Chat(Chat),
    Say(Say),
    Turn(Turn),
    Edit(Rewritten),
    Swipe(Rewritten),
    Delete(Deleted),
    Branch(Branch),
    DeleteChat(Where),
    Remember(Noted),
    Forget(Noted),
    Lorebook(Lorebook),
    Setting(Set),
    /// Reads what was said, as the app does in idle time; without an encoder nothing.
    Learn,
    /// Removes for good what was deleted, as the app's next start does.
    Compact,
    /// Ends the engine and starts another one in the same folder.
    Reopen,
    Probe(Probe),
}

/// A character of that name, with a card that says no more than this; one that is there already is taken as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Character {
    pub name: String,
    #[serde(default)]
    pub description: String,
}

/// Who plays with whom, by their names. Persona and character are made where there are none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    pub pair: String,
    pub persona: String,
    pub character: String,
}

/// Who takes part in a chat from now on besides the pair's own character.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chat {
    pub pair: String,
    pub chat: String,
    #[serde(default)]
    pub members: Vec<String>,
}

/// A chat of a pair; it is made when it is first named.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Where {
    pub pair: String,
    pub chat: String,
}

/// A message as an import brings it. Wishes in the user's words ("remember that ...") are obeyed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Say {
    pub pair: String,
    pub chat: String,
    /// `user`, `character`, `narrator`, or the name of somebody else who takes part.
    pub who: String,
    pub text: String,
    /// How the scenario names the message; the number of its step if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// A whole turn: the prompt is made and its plan kept; `reply` stands for what the model would have written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    pub pair: String,
    pub chat: String,
    pub text: String,
    pub reply: String,
    /// The user's message; the reply is named `<id>.reply`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// Other words in the place of a message's, or on another swipe, which is shown from then on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rewritten {
    pub message: String,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Deleted {
    pub message: String,
}

/// A chat that begins as another did, up to a message: `to`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Branch {
    pub pair: String,
    pub chat: String,
    /// The last message that both have.
    pub after: String,
    pub to: String,
}

/// A memory of the pair as the memory panel has it. To forget: every one that has the text in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Noted {
    pub pair: String,
    pub text: String,
}

/// A lorebook of the pair's character.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lorebook {
    pub pair: String,
    pub name: String,
    pub entries: Vec<LoreEntry>,
}

/// Without keys it is always told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoreEntry {
    #[serde(default)]
    pub keys: Vec<String>,
    pub text: String,
}

/// A setting in words, of a chat or of all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Set {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat: Option<String>,
    pub key: String,
    pub value: String,
}

/// A question: what the prompt would be if the user said `text` now. Nothing is sent or kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    pub id: String,
    pub pair: String,
    pub chat: String,
    pub text: String,
    /// Tokens of everything that is retrieved: the setting `retrieval_cap`. Without it, as the settings have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<u32>,
    /// Brings the whole prompt with the answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
}
