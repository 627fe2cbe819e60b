//! Separates calls from the text of a reply while it streams.

use domain::{ToolArguments, ToolCall};
use serde_json::Value;

use super::{CallSyntax, plain_name};

/// Maximum number of calls in one reply.
const MAX_CALLS: usize = 16;

/// The calls in a reply of a model that writes them as text.
pub struct ReplyCalls {
    marker: String,
    /// Text that may begin a marker.
    held: String,
    /// Text from the first marker on.
    calls: Option<String>,
    /// Text other than white space has passed.
    begun: bool,
    /// Maximum number of calls. Further ones are ignored.
    limit: usize,
}

impl ReplyCalls {
    pub fn new(syntax: &CallSyntax) -> Self {
        Self {
            marker: syntax.marker().to_owned(),
            held: String::new(),
            calls: None,
            begun: false,
            limit: MAX_CALLS,
        }
    }

    /// Reads only the first call if `single`.
    #[must_use]
    pub fn with_single_call(self, single: bool) -> Self {
        Self {
            limit: if single { 1 } else { self.limit },
            ..self
        }
    }

    /// Adds a piece of the reply and returns the text that is no call.
    pub fn push(&mut self, text: &str) -> String {
        if let Some(calls) = &mut self.calls {
            calls.push_str(text);
            return String::new();
        }
        self.held.push_str(text);
        if self.marker.is_empty() {
            return self.push_bare();
        }
        if let Some(at) = self.held.find(&self.marker) {
            let calls = self.held.split_off(at);
            self.calls = Some(calls);
            return std::mem::take(&mut self.held).trim_end().to_owned();
        }
        let keep = (1..self.marker.len()).rev().find(|length| {
            self.marker.is_char_boundary(*length) && self.held.ends_with(&self.marker[..*length])
        });
        // A marker follows on its own line, so the line break before it is held as well.
        let end = self.held.len() - keep.unwrap_or(0);
        let end = if keep.is_some() {
            self.held[..end].trim_end().len()
        } else {
            end
        };
        let rest = self.held.split_off(end);
        std::mem::replace(&mut self.held, rest)
    }

    /// Without a marker only a reply that begins as JSON is a call.
    fn push_bare(&mut self) -> String {
        if self.begun {
            return std::mem::take(&mut self.held);
        }
        let Some(first) = self.held.trim_start().chars().next() else {
            return String::new();
        };
        self.begun = true;
        let text = std::mem::take(&mut self.held);
        if first == '{' {
            self.calls = Some(text);
            return String::new();
        }
        text
    }

    /// The text that was held back, and the calls.
    pub fn finish(self) -> (String, Vec<ToolCall>) {
        let Some(text) = self.calls else {
            return (self.held, Vec::new());
        };
        let mut calls = parse(&text, &self.marker);
        calls.truncate(self.limit);
        if calls.is_empty() && self.marker.is_empty() {
            return (text, calls);
        }
        (String::new(), calls)
    }
}

/// Reads the calls of `text`. A part that is no call becomes a call with malformed arguments, so
/// that the model learns of its mistake.
fn parse(text: &str, marker: &str) -> Vec<ToolCall> {
    let parts: Vec<&str> = if marker.is_empty() {
        vec![text]
    } else {
        text.split(marker).skip(1).collect()
    };
    let mut calls = Vec::new();
    for part in parts {
        let json = part.find(['{', '[']).map_or("", |at| &part[at..]);
        let before = calls.len();
        for value in serde_json::Deserializer::from_str(json)
            .into_iter::<Value>()
            .map_while(Result::ok)
        {
            match value {
                Value::Array(items) => calls.extend(items.iter().filter_map(call)),
                value => calls.extend(call(&value)),
            }
        }
        if calls.len() == before && !marker.is_empty() {
            let name = named(part).unwrap_or_default();
            let arguments = ToolArguments::Malformed(part.trim().to_owned());
            calls.push(ToolCall {
                id: None,
                name: plain_name(name),
                arguments,
            });
        }
    }
    calls
}

fn call(value: &Value) -> Option<ToolCall> {
    let value = value
        .get("function")
        .filter(|function| function.is_object())
        .unwrap_or(value);
    let name = value.get("name")?.as_str()?;
    let arguments = match value.get("arguments").or_else(|| value.get("parameters")) {
        None | Some(Value::Null) => "{}".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    Some(ToolCall {
        id: None,
        name: plain_name(name),
        arguments: ToolArguments::read(&arguments),
    })
}

/// The name in a call that is no JSON.
fn named(part: &str) -> Option<&str> {
    let rest = part
        .split_once("\"name\"")?
        .1
        .trim_start()
        .strip_prefix(':')?
        .trim_start()
        .strip_prefix('"')?;
    Some(rest.split_once('"')?.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The shown text without spaces at its end, and each call as `name(arguments)`; malformed
    /// arguments are marked.
    fn read(syntax: &CallSyntax, pieces: &[&str]) -> (String, Vec<String>) {
        let mut filter = ReplyCalls::new(syntax);
        let mut shown: String = pieces.iter().map(|piece| filter.push(piece)).collect();
        let (rest, calls) = filter.finish();
        shown.push_str(&rest);
        let call = |call: &ToolCall| {
            format!(
                "{}({}){}",
                call.name,
                call.arguments.text(),
                if call.arguments.is_object() { "" } else { "?" }
            )
        };
        (
            shown.trim_end().to_owned(),
            calls.iter().map(call).collect(),
        )
    }

    #[test]
    fn calls_are_no_part_of_the_text() {
        let text = "I look.\n<tool_call>\n{\"name\": \"look\", \"arguments\": {\"at\": \"sea\"}}\n</tool_call>\n<tool_call>\n{\"name\": \"roll\"}\n</tool_call>";
        let expected = (
            "I look.".to_owned(),
            vec!["look({\"at\":\"sea\"})".to_owned(), "roll({})".to_owned()],
        );
        assert_eq!(read(&CallSyntax::text(), &[text]), expected);
        let letters: Vec<String> = text.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        assert_eq!(
            read(&CallSyntax::text(), &letters),
            expected,
            "letter by letter"
        );
    }

    #[test]
    fn broken_calls_are_reported_as_malformed() {
        let (shown, calls) = read(
            &CallSyntax::text(),
            &["<tool_call>{\"name\": \"look\", \"argu"],
        );
        assert_eq!(
            (shown.as_str(), calls),
            ("", vec!["look({\"name\": \"look\", \"argu)?".to_owned()])
        );
        assert_eq!(
            read(&CallSyntax::text(), &["a < b and <tool"]).0,
            "a < b and <tool"
        );
    }

    #[test]
    fn json_alone_is_a_call_without_a_marker() {
        let bare = CallSyntax {
            open: "{\"name\": \"".into(),
            middle: "\", \"parameters\": ".into(),
            close: "}".into(),
        };
        assert_eq!(
            read(
                &bare,
                &["{\"name\": \"roll\", \"para", "meters\": {\"of\": 6}}"]
            )
            .1,
            ["roll({\"of\":6})"]
        );
        assert_eq!(
            read(&bare, &["{no call}"]),
            ("{no call}".to_owned(), vec![])
        );
        assert_eq!(
            read(&bare, &["Hello ", "{\"name\": \"roll\"}"]).0,
            "Hello {\"name\": \"roll\"}"
        );
    }

    proptest! {
        #[test]
        fn pieces_of_any_size_give_the_same_result(text in "[a<>/_tolc{}\":é ]{0,60}", at in 0_usize..60) {
            let at = text.char_indices().map(|(at, _)| at).nth(at).unwrap_or(text.len());
            let syntax = CallSyntax::text();
            let whole = read(&syntax, &[&text]);
            let parts = read(&syntax, &[&text[..at], &text[at..]]);
            prop_assert_eq!(whole.1, parts.1);
            prop_assert_eq!(whole.0, parts.0);
        }
    }
}
