//! Tools: rounds of calls in a reply, questions to the user, and the user's decisions.

use domain::ChatId;
use serde::{Deserialize, Serialize};
use specta::Type;

/// A round of tool calls: the model called tools and received their results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ToolRound {
    /// Text of the model before the calls, often empty.
    pub text: String,
    pub calls: Vec<ToolUse>,
}

/// A call with its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ToolUse {
    pub name: String,
    /// Verbatim.
    pub arguments: String,
    /// The text that the model received.
    pub result: String,
    /// The tool failed, was refused or does not exist.
    pub error: bool,
}

/// Figures of a tool round.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ToolRoundFigures {
    /// Tokens of the calls and results in the prompts after it.
    pub tokens: u32,
    /// Milliseconds from the request to the last call.
    pub model_ms: f64,
    /// Milliseconds that the tools took, with the wait for the user's answers.
    pub tools_ms: f64,
}

/// A question to the user: may this tool run with these arguments? The reply waits for the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ToolRequest {
    pub id: String,
    pub chat: ChatId,
    /// Name of the speaker whose model wants to call the tool.
    pub speaker: String,
    /// Server of the tool; empty for the app's own.
    pub source: String,
    pub tool: String,
    pub description: String,
    /// A JSON object.
    pub arguments: String,
    /// The tool's description of its arguments. The model has read it too.
    pub argument_texts: Vec<ToolArgumentText>,
}

/// The description of an argument of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ToolArgumentText {
    /// Its name, such as `files.path` for a part of an argument.
    pub name: String,
    pub about: String,
}

/// The user's answer to a [`ToolRequest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum ToolDecision {
    /// Run it now; ask again next time.
    Once,
    ThisChat,
    /// In all chats.
    Always,
    /// Do not run it now; ask again next time.
    NotNow,
    /// Never run it, in any chat.
    Never,
}

/// A decision about a tool that applies until it is deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ToolGrant {
    /// Server of the tool; empty for the app's own.
    pub source: String,
    pub tool: String,
    /// The chat in which it applies; `null` for all.
    pub chat: Option<ChatId>,
    /// Title of that chat; empty if it has none.
    pub chat_title: Option<String>,
    pub allowed: bool,
}
