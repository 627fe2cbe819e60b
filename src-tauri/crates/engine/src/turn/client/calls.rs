//! Tool calls in the conversation that a request brings along. The client has run them.

use std::collections::HashSet;

use context::tools::plain_name;
use domain::{ToolCall, ToolResult, ToolRound};

use crate::api::client::{ClientMessage, ClientRole};

/// A message of a conversation, with the tool rounds that led to it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GivenMessage {
    pub(crate) rounds: Vec<ToolRound>,
    pub(crate) message: ClientMessage,
}

/// A conversation whose tool messages are rounds.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Conversation {
    pub(crate) messages: Vec<GivenMessage>,
    /// Rounds of the reply that is being written.
    pub(crate) open: Vec<ToolRound>,
}

impl Conversation {
    /// The ids of all calls.
    pub(crate) fn call_ids(&self) -> HashSet<String> {
        let rounds = self
            .messages
            .iter()
            .flat_map(|given| &given.rounds)
            .chain(&self.open);
        rounds
            .flat_map(|round| &round.calls)
            .filter_map(|call| call.id.clone())
            .collect()
    }
}

/// Joins each call with its result. A result without a call, which no model accepts, is left out.
pub(crate) fn conversation(messages: Vec<ClientMessage>) -> Conversation {
    let mut conversation = Conversation::default();
    for message in messages {
        match message {
            ClientMessage {
                role: ClientRole::Tool,
                result,
                ..
            } => {
                if let (Some(result), Some(round)) = (result, conversation.open.last_mut()) {
                    answer(round, result);
                }
            }
            ClientMessage {
                role: ClientRole::Assistant,
                text,
                calls,
                ..
            } if !calls.is_empty() => {
                // Templates write names as control text.
                let calls: Vec<ToolCall> = calls
                    .into_iter()
                    .map(|call| ToolCall {
                        name: plain_name(&call.name),
                        ..call
                    })
                    .collect();
                let missing = calls
                    .iter()
                    .map(|call| missing(call.id.clone().unwrap_or_default()))
                    .collect();
                conversation.open.push(ToolRound {
                    text,
                    calls,
                    results: missing,
                    thoughts: Vec::new(),
                });
            }
            message => {
                let rounds = std::mem::take(&mut conversation.open);
                conversation.messages.push(GivenMessage { rounds, message });
            }
        }
    }
    conversation
}

fn answer(round: &mut ToolRound, result: ToolResult) {
    if let Some(place) = round
        .results
        .iter_mut()
        .find(|place| place.call_id == result.call_id)
    {
        *place = result;
    }
}

fn missing(call_id: String) -> ToolResult {
    ToolResult {
        call_id,
        text: "The result is missing.".to_owned(),
        error: true,
    }
}

/// The rounds as text, for a place in a prompt where calls cannot stand.
pub(crate) fn told(rounds: &[ToolRound]) -> String {
    let line = |round: &ToolRound| {
        let calls = round.calls.iter().zip(&round.results);
        let shown = calls.map(|(call, result)| {
            format!(
                "[{}({}): {}]",
                call.name,
                call.arguments.text(),
                result.text
            )
        });
        let texts = std::iter::once(round.text.clone())
            .filter(|text| !text.trim().is_empty())
            .chain(shown);
        texts.collect::<Vec<_>>().join("\n")
    };
    rounds.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use domain::ToolArguments;

    use super::*;

    fn call(id: &str) -> ToolCall {
        ToolCall {
            id: Some(id.to_owned()),
            name: "roll".to_owned(),
            arguments: ToolArguments::read("{}"),
        }
    }

    fn result(id: &str, text: &str) -> ClientMessage {
        let result = ToolResult {
            call_id: id.to_owned(),
            text: text.to_owned(),
            error: false,
        };
        ClientMessage {
            result: Some(result),
            ..ClientMessage::new(ClientRole::Tool, "")
        }
    }

    #[test]
    fn results_join_their_calls() {
        let said = |role, text: &str| ClientMessage::new(role, text);
        let asked = |ids: &[&str]| ClientMessage {
            calls: ids.iter().map(|id| call(id)).collect(),
            ..said(ClientRole::Assistant, "")
        };
        let joined = conversation(vec![
            result("x", "nobody asked"),
            said(ClientRole::User, "Roll."),
            asked(&["a", "b"]),
            result("b", "six"),
            said(ClientRole::Assistant, "A six."),
            said(ClientRole::User, "Again."),
            asked(&["c"]),
            result("c", "two"),
        ]);
        let texts: Vec<_> = joined
            .messages
            .iter()
            .map(|given| (given.message.text.as_str(), given.rounds.len()))
            .collect();
        assert_eq!(texts, [("Roll.", 0), ("A six.", 1), ("Again.", 0)]);
        assert_eq!(
            told(&joined.messages[1].rounds),
            "[roll({}): The result is missing.]\n[roll({}): six]"
        );
        assert_eq!(told(&joined.open), "[roll({}): two]");
    }
}
