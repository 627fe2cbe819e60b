//! The part of the suite for abilities that not every model has.

use domain::prompt::{
    Prompt, PromptMessage, PromptPicture, PromptRole, PromptToolRound, PromptTools, ToolChoice,
};
use domain::{SignedThought, ToolArguments, ToolCall, ToolDefinition, ToolResult, ToolRound};
use futures_util::StreamExt;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::Violation;
use crate::{FinishReason, GenerationEvent, Provider, ProviderErrorKind, Request};

/// Name of the offered tool.
pub const TOOL: &str = "dice";
/// A user message that a model with tools answers with a call of [`TOOL`].
pub const CALLS: &str = "Roll the dice.";
/// A result whose text a model with tools repeats.
pub const RESULT: &str = "forty-two";
/// The media type of the sent picture, which a model with eyes repeats.
pub const MEDIA_TYPE: &str = "image/png";
/// A text that ends every reply.
const STOP: &str = "e";
const PICTURE: &str = "data:image/png;base64,aGVsbG8=";

/// Abilities of a provider beyond streaming text.
#[derive(Debug, Clone, Copy, Default)]
pub struct Abilities {
    /// Calls [`TOOL`] after [`CALLS`], and repeats [`RESULT`].
    pub tools: bool,
    /// Repeats [`MEDIA_TYPE`].
    pub pictures: bool,
    /// Continues an unfinished reply. Otherwise it must refuse with `NoPrefill`.
    pub prefill: bool,
    /// Thinks before its calls, apart from the text. Otherwise its thoughts are not checked.
    pub thoughts: bool,
    /// Calls a tool whenever the request demands it. Otherwise it must refuse with `BadRequest`.
    pub forced_calls: bool,
}

/// Everything that one reply contained.
#[derive(Debug, Default)]
struct Reply {
    text: String,
    thoughts: String,
    signed: Vec<SignedThought>,
    calls: Vec<ToolCall>,
    reason: Option<FinishReason>,
}

/// Checks stop texts, the limit of the reply, roles, unfinished replies, and the `abilities`.
///
/// # Errors
/// The first violation.
pub async fn check_abilities(
    provider: &dyn Provider,
    request: &Request,
    abilities: Abilities,
) -> Result<(), Violation> {
    stops(provider, request).await?;
    limit(provider, request).await?;
    roles(provider, request).await?;
    prefill(provider, request, abilities.prefill).await?;
    if abilities.pictures {
        pictures(provider, request).await?;
    }
    if abilities.tools {
        calls(provider, request).await?;
        results(provider, request).await?;
        forced(provider, request, abilities.forced_calls).await?;
    }
    if abilities.thoughts {
        thoughts(provider, request).await?;
    }
    Ok(())
}

/// Checks that a call arrives whole, and that [`ToolChoice::Never`] prevents calls.
///
/// # Errors
/// The first violation.
pub async fn calls(provider: &dyn Provider, request: &Request) -> Result<(), Violation> {
    let mut asked = with(request, vec![message(PromptRole::User, CALLS)]);
    asked.prompt.tools = offered();
    let reply = read(provider, asked.clone()).await?;
    let right = |call: &ToolCall| call.name == TOOL && call.arguments.is_object();
    if reply.calls.len() != 1
        || !reply.calls.iter().all(right)
        || reply.reason != Some(FinishReason::Stop)
    {
        return Err(wrong("a call", format!("{reply:?}")));
    }
    asked.prompt.tools.choice = ToolChoice::Never;
    let reply = read(provider, asked).await?;
    if !reply.calls.is_empty() {
        return Err(wrong(
            "no call, because only an answer was allowed",
            format!("{reply:?}"),
        ));
    }
    Ok(())
}

/// Checks that thoughts before a call are no text, and that the model goes on when it gets them
/// back with the result.
///
/// # Errors
/// The first violation.
async fn thoughts(provider: &dyn Provider, request: &Request) -> Result<(), Violation> {
    let mut asked = with(request, vec![message(PromptRole::User, CALLS)]);
    asked.prompt.tools = offered();
    let reply = read(provider, asked.clone()).await?;
    if reply.thoughts.is_empty() || reply.text.contains(&reply.thoughts) || reply.calls.is_empty() {
        return Err(wrong(
            "thoughts apart from the text, and a call",
            format!("{reply:?}"),
        ));
    }
    let call = |call: ToolCall| ToolCall {
        id: call.id.or_else(|| Some("call_1".to_owned())),
        ..call
    };
    let calls: Vec<ToolCall> = reply.calls.into_iter().map(call).collect();
    let result = |call: &ToolCall| ToolResult {
        call_id: call.id.clone().unwrap_or_default(),
        text: RESULT.to_owned(),
        error: false,
    };
    let results = calls.iter().map(result).collect();
    let round = ToolRound {
        text: reply.text,
        calls,
        results,
        thoughts: reply.signed,
    };
    asked.prompt.tools.rounds = vec![PromptToolRound { before: 1, round }];
    let reply = read(provider, asked).await?;
    if reply.text.contains(RESULT) {
        Ok(())
    } else {
        Err(wrong("the text of the result", reply.text))
    }
}

/// Checks that a demanded call comes, and only one, although the user's message asks for none.
///
/// # Errors
/// The first violation.
pub async fn forced(
    provider: &dyn Provider,
    request: &Request,
    forces: bool,
) -> Result<(), Violation> {
    for choice in [ToolChoice::Required, ToolChoice::Named(TOOL.to_owned())] {
        let mut asked = with(request, vec![message(PromptRole::User, "Good evening.")]);
        asked.prompt.tools = PromptTools {
            choice,
            single_call: true,
            ..offered()
        };
        match (read(provider, asked).await, forces) {
            (Ok(reply), true) if matches!(&reply.calls[..], [call] if call.name == TOOL) => {}
            (Err(Violation::Failed(error)), false)
                if error.kind == ProviderErrorKind::BadRequest => {}
            (Err(error), _) => return Err(error),
            (Ok(reply), _) => {
                return Err(wrong(
                    "the demanded call, or a refusal",
                    format!("{reply:?}"),
                ));
            }
        }
    }
    Ok(())
}

/// Checks that the results of calls reach the model, in the round that is being written and in an
/// earlier one.
///
/// # Errors
/// The first violation.
pub async fn results(provider: &dyn Provider, request: &Request) -> Result<(), Violation> {
    let mut asked = with(request, vec![message(PromptRole::User, CALLS)]);
    asked.prompt.tools = offered();
    asked.prompt.tools.rounds = vec![round(1)];
    let reply = read(provider, asked.clone()).await?;
    if !reply.text.contains(RESULT) {
        return Err(wrong("the text of the result", reply.text));
    }
    asked.prompt.messages.extend([
        message(PromptRole::Character, "Done."),
        message(PromptRole::User, "Thank you."),
    ]);
    if read(provider, asked).await?.text.is_empty() {
        Err(Violation::NoText)
    } else {
        Ok(())
    }
}

async fn stops(provider: &dyn Provider, request: &Request) -> Result<(), Violation> {
    let mut asked = request.clone();
    asked.prompt.stop = vec![STOP.to_owned()];
    let reply = read(provider, asked).await?;
    if reply.text.contains(STOP) {
        Err(wrong("a reply without its stop text", reply.text))
    } else {
        Ok(())
    }
}

async fn limit(provider: &dyn Provider, request: &Request) -> Result<(), Violation> {
    let mut asked = request.clone();
    asked.sampling.max_tokens = 1;
    let reply = read(provider, asked).await?;
    match reply.reason {
        Some(FinishReason::Length) => Ok(()),
        reason => Err(wrong(
            "a reply that ends at its limit",
            format!("{reason:?}"),
        )),
    }
}

/// Every order of roles must be accepted.
async fn roles(provider: &dyn Provider, request: &Request) -> Result<(), Violation> {
    use PromptRole::{Character, System, User};
    let chat = [
        (System, "You are Mira."),
        (System, "She keeps the lighthouse."),
        (Character, "Good evening."),
        (System, "It rains."),
        (User, "Hello."),
        (User, "Who are you?"),
        (Character, "I am Mira."),
        (User, "And now?"),
        (System, "Answer briefly."),
    ];
    let chat: Vec<PromptMessage> = chat
        .iter()
        .map(|(role, text)| message(*role, text))
        .collect();
    for end in [chat.len(), chat.len() - 1, 3, 1] {
        if read(provider, with(request, chat[..end].to_vec()))
            .await?
            .text
            .is_empty()
        {
            return Err(Violation::NoText);
        }
    }
    Ok(())
}

async fn prefill(
    provider: &dyn Provider,
    request: &Request,
    continues: bool,
) -> Result<(), Violation> {
    let chat = vec![
        message(PromptRole::User, "Tell me a story."),
        message(PromptRole::Character, "Once upon a"),
    ];
    let mut asked = with(request, chat);
    asked.prompt.continues = true;
    match (read(provider, asked).await, continues) {
        (Ok(reply), true) if !reply.text.is_empty() => Ok(()),
        (Err(Violation::Failed(error)), false) if error.kind == ProviderErrorKind::NoPrefill => {
            Ok(())
        }
        (Err(error), _) => Err(error),
        (Ok(reply), _) => Err(wrong(
            "an unfinished reply to be continued or refused",
            reply.text,
        )),
    }
}

async fn pictures(provider: &dyn Provider, request: &Request) -> Result<(), Violation> {
    let mut asked = with(request, vec![message(PromptRole::User, "Look.")]);
    asked.prompt.pictures = vec![PromptPicture {
        message: 0,
        segment: None,
        url: PICTURE.to_owned(),
    }];
    let reply = read(provider, asked).await?;
    if reply.text.contains(MEDIA_TYPE) {
        Ok(())
    } else {
        Err(wrong("the media type of the picture", reply.text))
    }
}

fn message(role: PromptRole, text: &str) -> PromptMessage {
    PromptMessage {
        role,
        text: text.to_owned(),
    }
}

fn with(request: &Request, messages: Vec<PromptMessage>) -> Request {
    Request {
        prompt: Prompt {
            messages,
            ..Prompt::default()
        },
        ..request.clone()
    }
}

fn offered() -> PromptTools {
    let parameters = json!({ "type": "object", "properties": { "sides": { "type": "integer" } } });
    let dice = ToolDefinition {
        name: TOOL.to_owned(),
        description: "Rolls dice.".to_owned(),
        parameters,
    };
    PromptTools {
        definitions: vec![dice],
        ..PromptTools::default()
    }
}

fn round(before: usize) -> PromptToolRound {
    let arguments = ToolArguments::read("{\"sides\":6}");
    let call = ToolCall {
        id: Some("call_1".to_owned()),
        name: TOOL.to_owned(),
        arguments,
    };
    let result = ToolResult {
        call_id: "call_1".to_owned(),
        text: RESULT.to_owned(),
        error: false,
    };
    PromptToolRound {
        before,
        round: ToolRound {
            text: String::new(),
            calls: vec![call],
            results: vec![result],
            thoughts: Vec::new(),
        },
    }
}

fn wrong(expected: &'static str, got: String) -> Violation {
    Violation::Ability { expected, got }
}

async fn read(provider: &dyn Provider, request: Request) -> Result<Reply, Violation> {
    let mut events = provider.stream(request, CancellationToken::new());
    let mut reply = Reply::default();
    while let Some(event) = events.next().await {
        match event? {
            GenerationEvent::Text(text) => reply.text += &text,
            GenerationEvent::Thoughts(text) => reply.thoughts += &text,
            GenerationEvent::SignedThought(thought) => reply.signed.push(thought),
            GenerationEvent::ToolCall(call) => reply.calls.push(call),
            GenerationEvent::Finished { reason, .. } => reply.reason = Some(reason),
            _ => {}
        }
    }
    if reply.reason.is_none() {
        Err(Violation::NoEnding)
    } else {
        Ok(reply)
    }
}
