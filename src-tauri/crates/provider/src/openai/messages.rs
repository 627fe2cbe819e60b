//! Writes turns as messages of OpenAI's API.

use domain::prompt::{Prompt, PromptTools, ToolChoice};
use domain::{SignedThought, ToolArguments, ToolCall, ToolDefinition};
use serde::Serialize;
use serde_json::{Value, json};

use crate::endpoint::dialect::{LearnedDialect, ThoughtsBack};
use crate::endpoint::turns::{EndpointTurn, TurnPart, TurnRole, result_text, turns};

/// Thoughts of a reply that were not recorded, for services that refuse a reply without any.
const NO_THOUGHTS: &str = "(not recorded)";

#[derive(Debug, Serialize)]
pub(crate) struct RequestMessage<'a> {
    pub(crate) role: &'static str,
    /// Only for services that want the thoughts back.
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
    /// Absent only beside calls.
    content: Option<Content<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<WireCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
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

#[derive(Debug, Serialize)]
struct WireCall<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    function: CalledFunction<'a>,
}

#[derive(Debug, Serialize)]
struct CalledFunction<'a> {
    name: &'a str,
    /// Servers parse this text, so it is always a JSON object.
    arguments: &'a str,
}

/// A tool that the model may call.
#[derive(Debug, Serialize)]
pub(crate) struct WireTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: OfferedFunction<'a>,
}

#[derive(Debug, Serialize)]
struct OfferedFunction<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

/// Writes the definitions of tools, as OpenAI and Ollama expect them.
pub(crate) fn tools(tools: &PromptTools) -> Vec<WireTool<'_>> {
    tools
        .definitions
        .iter()
        .map(|tool| {
            let ToolDefinition {
                name,
                description,
                parameters,
            } = tool;
            WireTool {
                kind: "function",
                function: OfferedFunction {
                    name,
                    description,
                    parameters,
                },
            }
        })
        .collect()
}

/// Writes the choice; `None` for the default.
pub(crate) fn tool_choice(choice: &ToolChoice) -> Option<Value> {
    Some(match choice {
        ToolChoice::Auto => return None,
        ToolChoice::Never => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Named(name) => json!({ "type": "function", "function": { "name": name } }),
    })
}

impl<'a> Content<'a> {
    /// Appends a paragraph.
    fn say(&mut self, text: &str) {
        let before = match self {
            Self::Text(before) => before,
            Self::Parts(parts) => {
                let Some(ContentPart::Text { text: before }) = parts.last_mut() else {
                    return parts.push(ContentPart::Text {
                        text: text.to_owned(),
                    });
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
            parts.push(ContentPart::ImageUrl {
                image_url: ImageUrl { url },
            });
        }
    }
}

impl<'a> RequestMessage<'a> {
    fn new(role: &'static str) -> Self {
        Self {
            role,
            reasoning_content: None,
            content: None,
            tool_calls: Vec::new(),
            tool_call_id: None,
        }
    }

    /// Adds the thoughts of `turn` if the service wants them back.
    fn think(&mut self, turn: &EndpointTurn<'a>, back: ThoughtsBack) {
        let wanted = match back {
            ThoughtsBack::Never => false,
            ThoughtsBack::WithCalls => !self.tool_calls.is_empty(),
            ThoughtsBack::Always => self.role == "assistant",
        };
        let thoughts = turn.parts.iter().filter_map(|part| match part {
            TurnPart::Thought(
                SignedThought::Plain { text } | SignedThought::Block { text, .. },
            ) => Some(text.as_str()),
            _ => None,
        });
        let text = thoughts.collect::<Vec<_>>().join("\n\n");
        let text = if text.trim().is_empty() {
            NO_THOUGHTS.to_owned()
        } else {
            text
        };
        self.reasoning_content = wanted.then_some(text);
    }

    fn add(&mut self, part: &TurnPart<'a>) {
        let content = &mut self.content;
        match part {
            TurnPart::Text(text) => content
                .get_or_insert_with(|| Content::Text(String::new()))
                .say(text),
            TurnPart::Picture(url) => content
                .get_or_insert_with(|| Content::Text(String::new()))
                .show(url),
            TurnPart::Call { call, .. } => self.tool_calls.push(wire_call(call)),
            TurnPart::Result { .. } | TurnPart::Thought(_) => {}
        }
    }
}

fn wire_call(call: &ToolCall) -> WireCall<'_> {
    let arguments = match &call.arguments {
        ToolArguments::Object(text) => text.as_str(),
        ToolArguments::Malformed(_) => "{}",
    };
    let function = CalledFunction {
        name: &call.name,
        arguments,
    };
    WireCall {
        id: call.id.as_deref().unwrap_or_default(),
        kind: "function",
        function,
    }
}

/// Writes the messages of `prompt`. A tool round is one message with the calls, and one for each
/// result.
pub(crate) fn messages<'a>(
    prompt: &'a Prompt,
    dialect: &LearnedDialect,
) -> Vec<RequestMessage<'a>> {
    turns(prompt, dialect.roles, dialect.sends("tools"))
        .iter()
        .flat_map(|turn| of_turn(turn, dialect.thoughts_back()))
        .collect()
}

fn of_turn<'a>(turn: &EndpointTurn<'a>, back: ThoughtsBack) -> Vec<RequestMessage<'a>> {
    let role = match turn.role {
        TurnRole::System => "system",
        TurnRole::User => "user",
        TurnRole::Assistant => "assistant",
        TurnRole::Tool => return turn.parts.iter().filter_map(of_result).collect(),
    };
    let mut message = RequestMessage::new(role);
    turn.parts.iter().for_each(|part| message.add(part));
    message.think(turn, back);
    vec![message]
}

fn of_result<'a>(part: &TurnPart<'a>) -> Option<RequestMessage<'a>> {
    let TurnPart::Result { result, .. } = part else {
        return None;
    };
    let content = Some(Content::Text(result_text(result)));
    Some(RequestMessage {
        content,
        tool_call_id: Some(&result.call_id),
        ..RequestMessage::new("tool")
    })
}
