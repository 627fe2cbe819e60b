//! Assembles tool calls from the pieces that endpoints send.

use std::borrow::Cow;

use domain::{ToolArguments, ToolCall};
use serde_json::Value;

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

    /// Takes the `tool_calls` value of a stream piece or of a whole reply. Skips entries of an unknown format.
    pub(crate) fn take(&mut self, pieces: &Value) -> Result<(), TooMany> {
        pieces.as_array().into_iter().flatten().try_for_each(|piece| self.piece(piece))
    }

    /// Returns the calls in the order of their indexes and empties the list.
    pub(crate) fn finish(&mut self) -> impl Iterator<Item = AssembledCall> {
        let mut open = std::mem::take(&mut self.open);
        open.sort_by_key(|call| call.index);
        open.into_iter().map(PartialToolCall::close)
    }

    fn piece(&mut self, piece: &Value) -> Result<(), TooMany> {
        let text = |value: &'_ Value| value.as_str().unwrap_or_default().to_owned();
        let (id, name) = (text(&piece["id"]), text(&piece["function"]["name"]));
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
            self.open.push(PartialToolCall { index, ..PartialToolCall::default() });
            self.open.len() - 1
        });
        self.open[at].add(&id, &name, &arguments);
        self.open[at].signature.push_str(&signature);
        Ok(())
    }

    /// Returns the call that a piece continues, or `None` if it starts a new one.
    fn place(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let at = match index {
            Some(_) => self.open.iter().rposition(|call| call.index == index)?,
            // Without indexes, a name starts a new call.
            None if name.is_empty() => self.open.len().checked_sub(1)?,
            None => return None,
        };
        // Some servers give every call index 0; a different id then means a different call.
        let known = &self.open[at].id;
        (id.is_empty() || known.is_empty() || id == known).then_some(at)
    }
}

impl PartialToolCall {
    fn add(&mut self, id: &str, name: &str, arguments: &str) {
        if self.id.is_empty() {
            self.id.push_str(id);
        }
        // Most servers send the name once, some split it, and some repeat it in every piece.
        if self.name != name {
            self.name.push_str(name);
        }
        self.arguments.push_str(arguments);
    }

    fn close(self) -> AssembledCall {
        let name = Some(self.name).filter(|name| !name.trim().is_empty());
        let call = ToolCall {
            id: Some(self.id).filter(|id| !id.is_empty()),
            name: name.unwrap_or_else(|| UNNAMED.to_owned()),
            arguments: ToolArguments::read(&self.arguments),
        };
        AssembledCall { call, signature: Some(self.signature).filter(|signature| !signature.is_empty()) }
    }
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
        assert_eq!(read(&mixed).unwrap(), ["weather({\"city\":\"Oslo\"})", "time({})"]);
    }

    #[test]
    fn accepts_known_server_variants() {
        let all_first = [piece(0, "a", "one", "{}"), piece(0, "b", "two", "{\"x\""), piece(0, "", "", ":1}")];
        assert_eq!(read(&all_first).unwrap(), ["one({})", "two({\"x\":1})"]);
        let name_again = [piece(0, "a", "one", "{\"x\""), piece(0, "a", "one", ":1}")];
        assert_eq!(read(&name_again).unwrap(), ["one({\"x\":1})"]);
        let name_in_pieces = [piece(0, "a", "wea", ""), piece(0, "", "ther", "")];
        assert_eq!(read(&name_in_pieces).unwrap(), ["weather({})"]);
        let unnumbered =
            json!([{ "function": { "name": "one" } }, { "function": { "name": "one", "arguments": {"x": 1} } }]);
        assert_eq!(read(&[unnumbered]).unwrap(), ["one({})", "one({\"x\":1})"]);
        let continued = [
            json!([{ "function": { "name": "one", "arguments": "{\"x\"" } }]),
            json!([{ "function": { "arguments": ":1}" } }]),
        ];
        assert_eq!(read(&continued).unwrap(), ["one({\"x\":1})"]);
        assert_eq!(read(&[json!([{ "function": { "arguments": "{\"x\"" } }])]).unwrap(), ["unnamed({\"x\")?"]);
    }

    #[test]
    fn skips_malformed_calls() {
        for odd in [json!(null), json!("x"), json!({}), json!([null, 7, {}, { "function": 7 }, { "index": 0 }])] {
            assert_eq!(read(std::slice::from_ref(&odd)).unwrap(), [""; 0], "{odd}");
        }
    }

    #[test]
    fn limits_number_and_size() {
        let many: Vec<Value> = (0..33).map(|index| piece(index, "", "one", "")).collect();
        assert!(read(&many[..32]).is_ok());
        assert_eq!(read(&many), Err(TooMany));
        let long: Vec<Value> = (0..17).map(|_| piece(0, "", "one", &"x".repeat(4_096))).collect();
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
