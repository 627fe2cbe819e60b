//! Tools in a model's own chat template.
//!
//! Names are plain words and are passed as they are. Descriptions, schemas, arguments and results
//! are texts of strangers, so the template sees a placeholder for each of them.

use domain::prompt::PromptRole;

use super::{ChatTemplate, RenderedRun, RenderedTurn, contents};
use crate::hash;
use crate::tools::CallSyntax;

/// The tools of a chat. Numbers without another meaning are indices of parts, as in
/// [`RenderedTurn::parts`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RenderedTools {
    pub definitions: Vec<RenderedDefinition>,
    /// Index of a turn of the character, and its calls.
    pub calls: Vec<(usize, Vec<RenderedCall>)>,
    /// Index of a turn that is a result, with the id and the name of its call.
    pub results: Vec<(usize, String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedDefinition {
    pub name: String,
    pub description: usize,
    /// JSON.
    pub parameters: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedCall {
    pub id: String,
    pub name: String,
    /// JSON.
    pub arguments: usize,
}

impl RenderedTools {
    pub(super) fn has_turn(&self, turn: usize) -> bool {
        self.calls.iter().any(|(at, _)| *at == turn) || self.is_result(turn)
    }

    pub(super) fn is_result(&self, turn: usize) -> bool {
        self.results.iter().any(|(at, ..)| *at == turn)
    }

    /// The parts outside messages, in the order of their placeholders, and whether each is JSON.
    pub(super) fn parts(&self) -> Vec<contents::ToolPart> {
        let definitions = self.definitions.iter().flat_map(|definition| {
            [
                (definition.description, false),
                (definition.parameters, true),
            ]
        });
        let calls = self
            .calls
            .iter()
            .flat_map(|(_, calls)| calls)
            .map(|call| (call.arguments, true));
        definitions
            .chain(calls)
            .map(|(part, json)| contents::ToolPart { part, json })
            .collect()
    }

    /// Input of the template. The placeholders of the parts begin at number `first`; `message_of`
    /// finds the message of a turn.
    pub(super) fn input(
        &self,
        first: usize,
        message_of: impl Fn(usize) -> Option<usize>,
    ) -> Result<jinja::ToolInput, super::TemplateError> {
        let mut number = first;
        let mut next = || {
            number += 1;
            contents::placeholder(number - 1).map(String::from)
        };
        let mut input = jinja::ToolInput::default();
        for definition in &self.definitions {
            let name = definition.name.clone();
            let description = next()?;
            let parameters = next()?;
            input.definitions.push(jinja::ToolDefinitionInput {
                name,
                description,
                parameters,
            });
        }
        for (turn, calls) in &self.calls {
            let mut seen = Vec::with_capacity(calls.len());
            for call in calls {
                let id = plain_id(&call.id);
                let name = call.name.clone();
                let arguments = next()?;
                seen.push(jinja::ToolCallInput {
                    id,
                    name,
                    arguments,
                });
            }
            input.calls.extend(message_of(*turn).map(|at| (at, seen)));
        }
        for (turn, id, name) in &self.results {
            let answered = jinja::ToolCallInput {
                id: plain_id(id),
                name: name.clone(),
                arguments: String::new(),
            };
            input
                .results
                .extend(message_of(*turn).map(|at| (at, answered)));
        }
        Ok(input)
    }
}

/// Letters and digits of an id in a template. Mistral's templates demand exactly nine.
const ID_LENGTH: usize = 9;

/// The id that the template sees, which becomes control text: nine letters and digits. An id of
/// another form, which comes from an endpoint or a program, is replaced by one that is computed
/// from it.
fn plain_id(id: &str) -> String {
    if id.len() == ID_LENGTH && id.chars().all(|letter| letter.is_ascii_alphanumeric()) {
        return id.to_owned();
    }
    let mut bits = hash::of(&id);
    let digits = (0..ID_LENGTH).map(|_| {
        let digit = char::from_digit((bits % 36) as u32, 36).unwrap_or('0');
        bits /= 36;
        digit
    });
    digits.collect()
}

/// Name and id of the call in the probe. The id has the form that Mistral's templates demand.
const NAME: &str = "inspect";
const ID: &str = "a1b2c3d4e";

impl ChatTemplate {
    /// Syntax of the model's calls; `None` if its template shows no tools.
    pub fn tool_syntax(&self) -> Option<&CallSyntax> {
        self.tool_syntax.as_ref()
    }

    /// Renders a chat with a definition, a call and a result, and reads the syntax of calls from
    /// it.
    pub(super) fn find_tool_syntax(&self) -> Option<CallSyntax> {
        use PromptRole::{Character, User};
        let turn = |role, parts: &[usize]| RenderedTurn {
            role,
            parts: parts.to_vec(),
        };
        let turns = [turn(User, &[0]), turn(Character, &[]), turn(User, &[1])];
        let pieces = self.render_with(&turns, &probe_tools(), false).ok()?;
        let at = pieces
            .iter()
            .position(|piece| *piece == RenderedRun::Part(4))?;
        let (RenderedRun::Control(before), RenderedRun::Control(after)) =
            (pieces.get(at.checked_sub(1)?)?, pieces.get(at + 1)?)
        else {
            return None;
        };
        let reply = self.render(&turns[..1], false).ok()?;
        let opening = match reply.last()? {
            RenderedRun::Control(text) => text.as_str(),
            _ => "",
        };
        let shared = before
            .bytes()
            .zip(opening.bytes())
            .take_while(|(one, other)| one == other)
            .count();
        let written = &before[before.floor_char_boundary(shared)..];
        let (open, middle) = written.rsplit_once(NAME)?;
        let end = self
            .stops
            .iter()
            .filter_map(|stop| after.find(stop.as_str()))
            .min();
        let close = end.map_or_else(
            || after.lines().next().unwrap_or_default(),
            |end| &after[..end],
        );
        Some(CallSyntax {
            open: open.trim_start().to_owned(),
            middle: middle.to_owned(),
            close: close.trim_end().to_owned(),
        })
    }
}

/// One definition, one call and its result.
fn probe_tools() -> RenderedTools {
    RenderedTools {
        definitions: vec![RenderedDefinition {
            name: NAME.to_owned(),
            description: 2,
            parameters: 3,
        }],
        calls: vec![(
            1,
            vec![RenderedCall {
                id: ID.to_owned(),
                name: NAME.to_owned(),
                arguments: 4,
            }],
        )],
        results: vec![(2, ID.to_owned(), NAME.to_owned())],
    }
}
