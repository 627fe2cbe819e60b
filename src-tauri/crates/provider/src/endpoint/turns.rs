//! Converts a chat into turns, which each API writes in its own form. `context::chat_template` does
//! the same for local templates.

use domain::prompt::{Prompt, PromptMessage, PromptRole};
use domain::{SignedThought, ToolArguments, ToolCall, ToolResult};
use serde_json::{Map, Value};

use super::dialect::RoleRules;

/// User message after a character's text, for endpoints that require the user last.
const TURN: &str = "[Go on.]";
/// User message before a greeting, for endpoints that require the user first.
const OPENING: &str = "[The chat begins.]";

/// Speaker of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TurnRole {
    System,
    User,
    Assistant,
    /// The results of the calls in the turn before.
    Tool,
}

/// Consecutive messages of one role.
#[derive(Debug, PartialEq)]
pub(crate) struct EndpointTurn<'a> {
    pub(crate) role: TurnRole,
    /// Never empty.
    pub(crate) parts: Vec<TurnPart<'a>>,
    /// The turn is no part of the chat; the endpoint's rules require it.
    pub(crate) filler: bool,
}

#[derive(Debug, PartialEq)]
pub(crate) enum TurnPart<'a> {
    /// The text of one message; not blank.
    Text(&'a str),
    /// A `data:` URI.
    Picture(&'a str),
    /// A thought before the calls.
    Thought(&'a SignedThought),
    Call {
        call: &'a ToolCall,
        /// Its service demands it back.
        signature: Option<&'a str>,
    },
    Result {
        call: &'a ToolCall,
        result: &'a ToolResult,
    },
}

impl<'a> EndpointTurn<'a> {
    fn new(role: TurnRole, parts: Vec<TurnPart<'a>>) -> Self {
        Self {
            role,
            parts,
            filler: false,
        }
    }

    fn filler(text: &'static str) -> Self {
        Self {
            role: TurnRole::User,
            parts: vec![TurnPart::Text(text)],
            filler: true,
        }
    }
}

/// Merges messages into turns, because many endpoints require alternating roles and refuse empty
/// content. Tool rounds stay turns of their own, and so do texts at a depth for endpoints without
/// rules. With `tools`, rounds are included.
pub(crate) fn turns(prompt: &Prompt, roles: RoleRules, tools: bool) -> Vec<EndpointTurn<'_>> {
    let mut turns = Turns {
        merged: Vec::with_capacity(prompt.messages.len() + 1),
        strict: roles != RoleRules::Free,
    };
    let mut rounds = prompt.tools.rounds.iter().filter(|_| tools).peekable();
    // True while only system messages have come.
    let mut head = true;
    for (index, message) in prompt.messages.iter().enumerate() {
        while let Some(round) = rounds.next_if(|round| round.before <= index) {
            head = false;
            turns.round(&round.round, false);
        }
        let pictures: Vec<&str> = pictures_of(prompt, index).collect();
        if message.text.trim().is_empty() && pictures.is_empty() {
            continue;
        }
        head &= message.role == PromptRole::System;
        let apart = roles == RoleRules::Free
            && !head
            && [Some(index), index.checked_sub(1)]
                .iter()
                .flatten()
                .any(|at| prompt.apart.contains(at));
        turns.message(
            message,
            role_of(message.role, roles, head),
            &pictures,
            apart,
        );
    }
    rounds.for_each(|round| turns.round(&round.round, true));
    turns.ended(prompt.continues)
}

fn role_of(role: PromptRole, roles: RoleRules, head: bool) -> TurnRole {
    match (role, roles) {
        (PromptRole::Character, _) => TurnRole::Assistant,
        (PromptRole::System, RoleRules::Free) => TurnRole::System,
        (PromptRole::System, RoleRules::Strict) if head => TurnRole::System,
        (PromptRole::System | PromptRole::User, _) => TurnRole::User,
    }
}

fn pictures_of(prompt: &Prompt, message: usize) -> impl Iterator<Item = &str> {
    prompt
        .pictures
        .iter()
        .filter(move |picture| picture.message == message)
        .map(|picture| picture.url.as_str())
}

struct Turns<'a> {
    merged: Vec<EndpointTurn<'a>>,
    strict: bool,
}

impl<'a> Turns<'a> {
    /// With `apart`, the message does not become part of the turn before it.
    fn message(
        &mut self,
        message: &'a PromptMessage,
        role: TurnRole,
        pictures: &[&'a str],
        apart: bool,
    ) {
        if role == TurnRole::Assistant {
            self.open_for_user();
        }
        let text = (!message.text.trim().is_empty()).then_some(TurnPart::Text(&message.text));
        let parts = text
            .into_iter()
            .chain(pictures.iter().map(|url| TurnPart::Picture(url)));
        match self
            .merged
            .last_mut()
            .filter(|last| last.role == role && !apart)
        {
            Some(last) => last.parts.extend(parts),
            None => self.merged.push(EndpointTurn::new(role, parts.collect())),
        }
    }

    /// Only the reply that is being written needs its signed thoughts. Services drop those of
    /// earlier replies, but those that want plain thoughts back want all of them.
    fn round(&mut self, round: &'a domain::ToolRound, open: bool) {
        self.open_for_user();
        if self.strict
            && self
                .merged
                .last()
                .is_some_and(|last| last.role == TurnRole::Assistant)
        {
            self.merged.push(EndpointTurn::filler(TURN));
        }
        let text = (!round.text.trim().is_empty()).then_some(TurnPart::Text(&round.text));
        let wanted =
            |thought: &&SignedThought| open || matches!(thought, SignedThought::Plain { .. });
        let thoughts = || round.thoughts.iter().filter(wanted);
        let blocks = thoughts().filter(|thought| !matches!(thought, SignedThought::Call { .. }));
        let calls = round.calls.iter().enumerate();
        let calls = calls.map(|(at, call)| TurnPart::Call {
            call,
            signature: signature_of(at, thoughts()),
        });
        let parts = blocks
            .map(TurnPart::Thought)
            .chain(text)
            .chain(calls)
            .collect();
        self.merged
            .push(EndpointTurn::new(TurnRole::Assistant, parts));
        let results = round.calls.iter().zip(&round.results);
        let results = results.map(|(call, result)| TurnPart::Result { call, result });
        self.merged
            .push(EndpointTurn::new(TurnRole::Tool, results.collect()));
    }

    /// Strict endpoints need the user before the first reply.
    fn open_for_user(&mut self) {
        if self.strict && self.merged.iter().all(|turn| turn.role == TurnRole::System) {
            self.merged.push(EndpointTurn::filler(OPENING));
        }
    }

    fn ended(mut self, continues: bool) -> Vec<EndpointTurn<'a>> {
        self.open_for_user();
        if self.strict
            && !continues
            && self
                .merged
                .last()
                .is_some_and(|last| last.role == TurnRole::Assistant)
        {
            self.merged.push(EndpointTurn::filler(TURN));
        }
        self.merged.retain(|turn| !turn.parts.is_empty());
        self.merged
    }
}

/// The arguments of a call as a JSON object; empty if the model wrote something else. The result
/// then says so.
pub(crate) fn arguments(call: &ToolCall) -> Value {
    match &call.arguments {
        ToolArguments::Object(text) => {
            serde_json::from_str(text).unwrap_or_else(|_| Value::Object(Map::new()))
        }
        ToolArguments::Malformed(_) => Value::Object(Map::new()),
    }
}

/// The text of a result for APIs that cannot mark it as an error.
pub(crate) fn result_text(result: &ToolResult) -> String {
    if result.error {
        format!("Error: {}", result.text)
    } else {
        result.text.clone()
    }
}

/// A picture in a `data:` URI.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DataUri<'a> {
    /// Such as `image/png`.
    pub(crate) media_type: &'a str,
    /// In base64.
    pub(crate) data: &'a str,
}

/// Splits a base64 `data:` URI (RFC 2397); `None` for any other address.
pub(crate) fn data_uri(url: &str) -> Option<DataUri<'_>> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    let media_type = head
        .strip_suffix(";base64")?
        .split(';')
        .next()
        .filter(|kind| !kind.is_empty())?;
    Some(DataUri { media_type, data })
}

/// The signature of the call with this number.
fn signature_of<'a>(
    number: usize,
    mut thoughts: impl Iterator<Item = &'a SignedThought>,
) -> Option<&'a str> {
    thoughts.find_map(|thought| match thought {
        SignedThought::Call {
            number: of,
            signature,
        } if *of == number => Some(signature.as_str()),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
