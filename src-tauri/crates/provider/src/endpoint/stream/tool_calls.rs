//! Assembles tool calls from the pieces that endpoints send.

use std::borrow::Cow;

use domain::{ToolArguments, ToolCall};
use serde_json::Value;

use super::concatenated::objects;

/// Maximum number of calls in one reply. An endpoint that sends more is broken or hostile.
const MAX_CALLS: usize = 32;
/// Maximum total bytes of the names, ids, arguments and signatures in one reply.
const MAX_BYTES: usize = 64 << 10;
/// Name of a call that never received one.
const UNNAMED: &str = "unnamed";

/// Tool calls received so far in one reply.
#[derive(Debug, Default)]
pub(crate) struct ToolCallAssembler {
    open: Vec<PartialToolCall>,
    bytes: usize,
}

#[derive(Debug, Default)]
struct PartialToolCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// The last piece that is a complete object. Some servers send all arguments again at the end.
    whole: Option<String>,
    signature: String,
}

/// A complete call, with the signature that its service wants back.
#[derive(Debug)]
pub(crate) struct AssembledCall {
    pub(crate) call: ToolCall,
    pub(crate) signature: Option<String>,
}

/// The reply exceeds [`MAX_CALLS`] or [`MAX_BYTES`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooMany;

impl ToolCallAssembler {
    pub(crate) fn any(&self) -> bool {
        !self.open.is_empty()
    }

    /// Takes the `tool_calls` value of a stream piece or of a whole reply. Skips entries of an
    /// unknown format.
    pub(crate) fn take(&mut self, pieces: &Value) -> Result<(), TooMany> {
        pieces
            .as_array()
            .into_iter()
            .flatten()
            .try_for_each(|piece| self.piece(piece))
    }

    /// Returns the calls in the order of their indexes and empties the list.
    pub(crate) fn finish(&mut self) -> impl Iterator<Item = AssembledCall> {
        let mut open = std::mem::take(&mut self.open);
        open.sort_by_key(|call| call.index);
        open.into_iter()
            .flat_map(PartialToolCall::close)
            .take(MAX_CALLS)
    }

    fn piece(&mut self, piece: &Value) -> Result<(), TooMany> {
        let text = |value: &'_ Value| value.as_str().unwrap_or_default().to_owned();
        let id = text(&piece["id"]);
        let name = text(&piece["function"]["name"]);
        let arguments = arguments(&piece["function"]["arguments"]);
        if id.is_empty() && name.is_empty() && arguments.is_empty() {
            return Ok(());
        }
        let signature = text(&piece["signature"]);
        self.bytes += id.len() + name.len() + arguments.len() + signature.len();
        let index = piece["index"].as_u64();
        let at = self.place(index, &id, &name);
        if self.bytes > MAX_BYTES || (at.is_none() && self.open.len() == MAX_CALLS) {
            return Err(TooMany);
        }
        let at = at.unwrap_or_else(|| {
            self.open.push(PartialToolCall {
                index,
                ..PartialToolCall::default()
            });
            self.open.len() - 1
        });
        self.open[at].add(&id, &name, &arguments);
        self.open[at].signature.push_str(&signature);
        Ok(())
    }

    /// Returns the call that a piece continues, or `None` if it starts a new one.
    fn place(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let at_index =
            |call: &PartialToolCall| call.index == index || call.index.is_none() || index.is_none();
        let same = |call: &PartialToolCall| !id.is_empty() && call.id == id && at_index(call);
        let at = match (self.open.iter().rposition(same), index) {
            (Some(at), _) => at,
            (None, Some(_)) => self.open.iter().rposition(|call| call.index == index)?,
            // Without indexes, a name starts a new call.
            (None, None) if name.is_empty() => self.open.len().checked_sub(1)?,
            (None, None) => return None,
        };
        // Some servers give every call index 0; a different id or another name then means a
        // different call.
        let known = &self.open[at];
        let same_id = id.is_empty() || known.id.is_empty() || id == known.id;
        (same_id && !known.is_followed_by(name)).then_some(at)
    }
}

impl PartialToolCall {
    /// Whether `name` begins the next call. Names come before the arguments, so a part of one
    /// follows no arguments.
    fn is_followed_by(&self, name: &str) -> bool {
        !self.arguments.is_empty() && !name.is_empty() && !self.name.is_empty() && self.name != name
    }

    fn add(&mut self, id: &str, name: &str, arguments: &str) {
        if self.id.is_empty() {
            self.id.push_str(id);
        }
        // Most servers send the name once, some split it, and some repeat it in every piece.
        if self.name != name {
            self.name.push_str(name);
        }
        if !(id.is_empty() && name.is_empty()) && is_object(arguments) {
            self.whole = Some(arguments.to_owned());
        }
        self.arguments.push_str(arguments);
    }

    /// Returns one call, or several if different arguments came under one index.
    fn close(self) -> Vec<AssembledCall> {
        let name = Some(self.name)
            .filter(|name| !name.trim().is_empty())
            .unwrap_or_else(|| UNNAMED.to_owned());
        let arguments = distinct_arguments(self.arguments, self.whole);
        let call = |(number, text): (usize, String)| AssembledCall {
            call: ToolCall {
                // A round generates the ids of the others.
                id: Some(self.id.clone()).filter(|id| !id.is_empty() && number == 0),
                name: name.clone(),
                arguments: ToolArguments::read(&text),
            },
            signature: Some(self.signature.clone()).filter(|signature| !signature.is_empty()),
        };
        arguments.into_iter().enumerate().map(call).collect()
    }
}

/// Returns the arguments of each call in `text`, without repetitions. `whole` replaces pieces that
/// make no object.
fn distinct_arguments(text: String, whole: Option<String>) -> Vec<String> {
    if ToolArguments::read(&text).is_object() {
        return vec![text];
    }
    let parts = objects(&text);
    if !parts.iter().all(|part| is_object(part)) {
        return vec![whole.unwrap_or(text)];
    }
    let mut distinct: Vec<(Option<Value>, &str)> = Vec::new();
    for part in parts {
        let value = serde_json::from_str(part).ok();
        let is_same = |other: &(Option<Value>, &str)| {
            other.1 == part || (value.is_some() && other.0 == value)
        };
        if !distinct.iter().any(is_same) {
            distinct.push((value, part));
        }
    }
    distinct
        .into_iter()
        .map(|(_, part)| part.to_owned())
        .collect()
}

fn is_object(text: &str) -> bool {
    !text.trim().is_empty() && ToolArguments::read(text).is_object()
}

/// OpenAI sends the arguments as a JSON string, some servers as a JSON object.
fn arguments(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => Cow::Borrowed(""),
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// Formats the calls of `pieces`; a question mark marks malformed arguments.
    fn read(pieces: &[Value]) -> Result<Vec<String>, TooMany> {
        let mut calls = ToolCallAssembler::default();
        pieces.iter().try_for_each(|piece| calls.take(piece))?;
        let mark = |call: &ToolCall| if call.arguments.is_object() { "" } else { "?" };
        Ok(calls
            .finish()
            .map(|assembled| assembled.call)
            .map(|call| format!("{}({}){}", call.name, call.arguments.text(), mark(&call)))
            .collect())
    }

    fn piece(index: u64, id: &str, name: &str, arguments: &str) -> Value {
        json!([{ "index": index, "id": id, "type": "function", "function": { "name": name, "arguments": arguments } }])
    }

    #[test]
    fn joins_pieces_by_index() {
        let mixed = [
            piece(1, "b", "time", ""),
            piece(0, "a", "weather", "{\"city\""),
            piece(1, "", "", "{}"),
            piece(0, "", "", ":\"Oslo\"}"),
        ];
        assert_eq!(
            read(&mixed).unwrap(),
            ["weather({\"city\":\"Oslo\"})", "time({})"]
        );
    }

    #[test]
    fn accepts_known_server_variants() {
        let all_first = [
            piece(0, "a", "one", "{}"),
            piece(0, "b", "two", "{\"x\""),
            piece(0, "", "", ":1}"),
        ];
        assert_eq!(read(&all_first).unwrap(), ["one({})", "two({\"x\":1})"]);
        let name_again = [piece(0, "a", "one", "{\"x\""), piece(0, "a", "one", ":1}")];
        assert_eq!(read(&name_again).unwrap(), ["one({\"x\":1})"]);
        let name_in_pieces = [piece(0, "a", "wea", ""), piece(0, "", "ther", "")];
        assert_eq!(read(&name_in_pieces).unwrap(), ["weather({})"]);
        let unnumbered = json!([{ "function": { "name": "one" } }, { "function": { "name": "one", "arguments": {"x": 1} } }]);
        assert_eq!(read(&[unnumbered]).unwrap(), ["one({})", "one({\"x\":1})"]);
        let continued = [
            json!([{ "function": { "name": "one", "arguments": "{\"x\"" } }]),
            json!([{ "function": { "arguments": ":1}" } }]),
        ];
        assert_eq!(read(&continued).unwrap(), ["one({\"x\":1})"]);
        assert_eq!(
            read(&[json!([{ "function": { "arguments": "{\"x\"" } }])]).unwrap(),
            ["unnamed({\"x\")?"]
        );
    }

    #[test]
    fn repeated_arguments_are_one_call() {
        let again = [
            piece(0, "a", "roll", ""),
            piece(0, "", "", "{\"n\": "),
            piece(0, "", "", "2}"),
        ];
        for last in [
            piece(0, "a", "roll", "{\"n\":2}"),
            piece(0, "", "", "{\"n\": 2}"),
            json!([{ "id": "a", "function": { "name": "roll", "arguments": { "n": 2 } } }]),
        ] {
            let pieces: Vec<Value> = again.iter().cloned().chain([last.clone()]).collect();
            assert_eq!(read(&pieces).unwrap(), ["roll({\"n\": 2})"], "{last}");
        }
        assert_eq!(
            read(&[piece(0, "a", "roll", "{\"n\":2}{\"n\":2}{\"n\":2}")]).unwrap(),
            ["roll({\"n\":2})"]
        );
        let after_a_part = [
            piece(0, "a", "roll", "{\"n\":"),
            piece(0, "a", "roll", "{\"n\":2}"),
        ];
        assert_eq!(read(&after_a_part).unwrap(), ["roll({\"n\":2})"]);
        let nested = [
            piece(0, "a", "roll", "{\"n\":"),
            piece(0, "", "", "{\"n\":2}"),
            piece(0, "", "", "}"),
        ];
        assert_eq!(read(&nested).unwrap(), ["roll({\"n\":{\"n\":2}})"]);
    }

    #[test]
    fn different_calls_under_one_index_stay_apart() {
        let one = [piece(0, "a", "roll", "{\"n\":1}{\"n\":2}")];
        assert_eq!(read(&one).unwrap(), ["roll({\"n\":1})", "roll({\"n\":2})"]);
        let unnamed = [
            piece(0, "", "roll", "{\"n\":1}"),
            piece(0, "", "roll", "{\"n\":2}"),
        ];
        assert_eq!(
            read(&unnamed).unwrap(),
            ["roll({\"n\":1})", "roll({\"n\":2})"]
        );
        let other_name = [
            piece(0, "", "roll", "{\"n\":1}"),
            piece(0, "", "time", "{}"),
            piece(0, "", "", ""),
        ];
        assert_eq!(read(&other_name).unwrap(), ["roll({\"n\":1})", "time({})"]);
        let same_id = [
            piece(0, "a", "roll", "{}"),
            piece(0, "a", "time", "{\"z\""),
            piece(0, "", "", ":1}"),
        ];
        assert_eq!(read(&same_id).unwrap(), ["roll({})", "time({\"z\":1})"]);
        let both_again = [
            piece(0, "a", "one", "{}"),
            piece(0, "b", "two", "{}"),
            piece(0, "a", "one", "{}"),
            piece(0, "b", "two", "{}"),
        ];
        assert_eq!(read(&both_again).unwrap(), ["one({})", "two({})"]);
        let one_id = [
            piece(0, "call", "one", "{}"),
            piece(1, "call", "one", "{\"x\":1}"),
        ];
        assert_eq!(
            read(&one_id).unwrap(),
            ["one({})", "one({\"x\":1})"],
            "indexes count more than ids"
        );
    }

    #[test]
    fn skips_malformed_calls() {
        for odd in [
            json!(null),
            json!("x"),
            json!({}),
            json!([null, 7, {}, { "function": 7 }, { "index": 0 }]),
        ] {
            assert_eq!(read(std::slice::from_ref(&odd)).unwrap(), [""; 0], "{odd}");
        }
    }

    #[test]
    fn limits_number_and_size() {
        let many: Vec<Value> = (0..33).map(|index| piece(index, "", "one", "")).collect();
        assert!(read(&many[..32]).is_ok());
        assert_eq!(read(&many), Err(TooMany));
        let long: Vec<Value> = (0..17)
            .map(|_| piece(0, "", "one", &"x".repeat(4_096)))
            .collect();
        assert!(read(&long[..15]).is_ok());
        assert_eq!(read(&long), Err(TooMany));
    }

    proptest! {
        #[test]
        fn result_is_independent_of_argument_splits(arguments in "[^\\u{0}]{0,60}", at in prop::collection::vec(0_usize..60, 0..6)) {
            let letters: Vec<char> = arguments.chars().collect();
            let mut at: Vec<usize> = at.into_iter().map(|at| at.min(letters.len())).collect();
            at.sort_unstable();
            let mut pieces = vec![piece(0, "a", "one", "")];
            let mut from = 0;
            for to in at.into_iter().chain([letters.len()]) {
                pieces.push(piece(0, "", "", &letters[from..to].iter().collect::<String>()));
                from = to;
            }
            prop_assert_eq!(read(&pieces).unwrap(), read(&[piece(0, "a", "one", &arguments)]).unwrap());
        }
    }
}
