//! Builds the request body: system blocks, turns, tools and cache markers.
//!
//! Cache markers. The provider stores the prompt up to each marker, and a later request whose
//! blocks begin with the same ones does not pay for them again
//! (<https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching>). A prompt of this app
//! grows only at its end within an epoch, so three markers suffice:
//! - at the end of the head (tools and system), which survives a new epoch,
//! - at the end of the user's previous turn, in case that the stored end of the last prompt is too
//!   far from the new one,
//! - at the end of the prompt, for the next turn.

use domain::prompt::{PromptTools, ToolChoice};
use domain::{SignedThought, ToolCall, ToolDefinition};
use serde::Serialize;
use serde_json::Value;

use crate::Request;
use crate::endpoint::dialect::{LearnedDialect, RoleRules};
use crate::endpoint::turns::{EndpointTurn, TurnPart, TurnRole, arguments, data_uri, turns};

/// Largest temperature that the API accepts.
const MAX_TEMPERATURE: f32 = 1.0;
/// Maximum number of stop texts.
const MAX_STOPS: usize = 16;
/// Id of a call that has none.
const NO_ID: &str = "call";

#[derive(Debug, Serialize)]
pub(crate) struct AnthropicBody<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stop_sequences: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<WireChoice<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Marked<ContentBlock<'a>>>,
    messages: Vec<AnthropicMessage<'a>>,
}

#[derive(Debug, Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

/// Field `tool_choice`
/// (<https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use>).
#[derive(Debug, Serialize)]
struct WireChoice<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    disable_parallel_tool_use: bool,
}

impl<'a> WireChoice<'a> {
    /// `None` for the default.
    fn of(tools: &'a PromptTools) -> Option<Self> {
        let single = tools.single_call;
        let of = |kind, name| {
            Some(Self {
                kind,
                name,
                disable_parallel_tool_use: single,
            })
        };
        match &tools.choice {
            ToolChoice::Auto if !single => None,
            ToolChoice::Auto => of("auto", None),
            ToolChoice::Never => Some(Self {
                kind: "none",
                name: None,
                disable_parallel_tool_use: false,
            }),
            ToolChoice::Required => of("any", None),
            ToolChoice::Named(name) => of("tool", Some(name)),
        }
    }
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum CacheControl {
    /// Stored for five minutes after its last use.
    Ephemeral,
}

/// A block that may end a stored prefix.
#[derive(Debug, Serialize)]
struct Marked<T> {
    #[serde(flatten)]
    block: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Debug, Serialize)]
struct AnthropicMessage<'a> {
    role: &'static str,
    content: Vec<Marked<ContentBlock<'a>>>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentBlock<'a> {
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    Text {
        text: String,
    },
    Image {
        source: Source<'a>,
    },
    ToolUse {
        id: String,
        name: &'a str,
        input: Value,
    },
    ToolResult {
        tool_use_id: String,
        content: &'a str,
        is_error: bool,
    },
}

#[derive(Debug, Serialize)]
struct Source<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    media_type: &'a str,
    data: &'a str,
}

impl<'a> AnthropicBody<'a> {
    /// Builds the body without the parameters that `dialect` excludes.
    pub(crate) fn new(model: &'a str, request: &'a Request, dialect: &LearnedDialect) -> Self {
        let sampling = &request.sampling;
        let prompt = &request.prompt;
        let takes_tools = dialect.sends("tools");
        let turns = turns(prompt, RoleRules::Strict, takes_tools);
        let mut tools = if takes_tools {
            tools(&prompt.tools)
        } else {
            Vec::new()
        };
        let (mut system, mut messages) = system_and_messages(&turns);
        if prompt.continues {
            trim_end(&mut messages);
        }
        match (system.last_mut(), tools.last_mut()) {
            (Some(last), _) => last.cache_control = Some(CacheControl::Ephemeral),
            (None, Some(last)) => last.cache_control = Some(CacheControl::Ephemeral),
            (None, None) => {}
        }
        mark(&mut messages, turns.last().is_some_and(|last| last.filler));
        let stops = prompt
            .stop
            .iter()
            .map(String::as_str)
            .filter(|stop| !stop.trim().is_empty());
        Self {
            model,
            max_tokens: sampling.max_tokens.max(1),
            stream: true,
            temperature: dialect
                .sends("temperature")
                .then_some(sampling.temperature.clamp(0.0, MAX_TEMPERATURE)),
            stop_sequences: stops
                .take(if dialect.sends("stop") { MAX_STOPS } else { 0 })
                .collect(),
            tool_choice: WireChoice::of(&prompt.tools).filter(|_| !tools.is_empty()),
            tools,
            system,
            messages,
        }
    }
}

type SystemAndMessages<'a> = (Vec<Marked<ContentBlock<'a>>>, Vec<AnthropicMessage<'a>>);

fn system_and_messages<'a>(turns: &[EndpointTurn<'a>]) -> SystemAndMessages<'a> {
    let mut system = Vec::new();
    let mut messages = Vec::with_capacity(turns.len());
    for turn in turns {
        match turn.role {
            TurnRole::System => system = blocks(turn),
            TurnRole::User | TurnRole::Tool => push(&mut messages, "user", turn),
            TurnRole::Assistant => push(&mut messages, "assistant", turn),
        }
    }
    (system, messages)
}

fn tools(tools: &PromptTools) -> Vec<Tool<'_>> {
    let of = tools.definitions.iter().map(|tool| {
        let ToolDefinition {
            name,
            description,
            parameters,
        } = tool;
        Tool {
            name,
            description,
            input_schema: parameters,
            cache_control: None,
        }
    });
    of.collect()
}

/// Appends a turn. The results of calls and the user's next message are one message.
fn push<'a>(messages: &mut Vec<AnthropicMessage<'a>>, role: &'static str, turn: &EndpointTurn<'a>) {
    let content = blocks(turn);
    match messages.last_mut().filter(|last| last.role == role) {
        Some(last) => last.content.extend(content),
        None => messages.push(AnthropicMessage { role, content }),
    }
}

/// Each message of the prompt stays a block of its own, so that a stored prefix never ends inside a
/// block that grows.
fn blocks<'a>(turn: &EndpointTurn<'a>) -> Vec<Marked<ContentBlock<'a>>> {
    let mut after_text = false;
    let mut blocks = Vec::with_capacity(turn.parts.len());
    for part in &turn.parts {
        let block = block(
            part,
            std::mem::replace(&mut after_text, matches!(part, TurnPart::Text(_))),
        );
        blocks.extend(block.map(|block| Marked {
            block,
            cache_control: None,
        }));
    }
    blocks
}

/// Consecutive texts are paragraphs.
fn block<'a>(part: &TurnPart<'a>, after_text: bool) -> Option<ContentBlock<'a>> {
    Some(match part {
        TurnPart::Text(text) if after_text => ContentBlock::Text {
            text: format!("\n\n{text}"),
        },
        TurnPart::Text(text) => ContentBlock::Text {
            text: (*text).to_owned(),
        },
        TurnPart::Picture(url) => {
            let picture = data_uri(url)?;
            ContentBlock::Image {
                source: Source {
                    kind: "base64",
                    media_type: picture.media_type,
                    data: picture.data,
                },
            }
        }
        TurnPart::Thought(SignedThought::Block { text, signature }) => ContentBlock::Thinking {
            thinking: text,
            signature,
        },
        TurnPart::Thought(SignedThought::Redacted { data }) => {
            ContentBlock::RedactedThinking { data }
        }
        TurnPart::Thought(SignedThought::Call { .. } | SignedThought::Plain { .. }) => return None,
        TurnPart::Call { call, .. } => ContentBlock::ToolUse {
            id: id(call),
            name: &call.name,
            input: arguments(call),
        },
        TurnPart::Result { call, result } => ContentBlock::ToolResult {
            tool_use_id: id(call),
            content: &result.text,
            is_error: result.error,
        },
    })
}

/// Ids of calls from other providers may contain characters that this API refuses.
fn id(call: &ToolCall) -> String {
    let allowed = |letter: char| {
        if letter.is_ascii_alphanumeric() || "_-".contains(letter) {
            letter
        } else {
            '_'
        }
    };
    let id: String = call
        .id
        .as_deref()
        .unwrap_or_default()
        .chars()
        .map(allowed)
        .collect();
    if id.is_empty() { NO_ID.to_owned() } else { id }
}

/// The API refuses an unfinished reply that ends with whitespace.
fn trim_end(messages: &mut [AnthropicMessage<'_>]) {
    let last = messages
        .last_mut()
        .filter(|last| last.role == "assistant")
        .and_then(|last| last.content.last_mut());
    if let Some(Marked {
        block: ContentBlock::Text { text },
        ..
    }) = last
    {
        text.truncate(text.trim_end().len());
    }
}

/// Marks the end of the prompt and the end of the user's turn before it. A filler at the end is not
/// part of the next prompt.
fn mark(messages: &mut [AnthropicMessage<'_>], filler: bool) {
    let end = messages.len() - usize::from(filler && !messages.is_empty());
    let Some((last, before)) = messages[..end].split_last_mut() else {
        return;
    };
    let previous = before
        .iter_mut()
        .rev()
        .find(|message| message.role == "user");
    for message in previous.into_iter().chain([last]) {
        if let Some(block) = message.content.last_mut() {
            block.cache_control = Some(CacheControl::Ephemeral);
        }
    }
}

#[cfg(test)]
mod tests;
