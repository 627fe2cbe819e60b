//! A grammar (GBNF of llama.cpp) for replies that are either text or calls of the offered tools.

use std::fmt::Write;

use domain::ToolDefinition;
use domain::prompt::ToolChoice;
use serde_json::Value;

use super::{CallSyntax, FrameTools};
use crate::json_pattern;

/// Deeper parts of a schema accept any JSON.
const MAX_DEPTH: usize = 6;

const JSON: &str = r#"
ws ::= [ \n]?
any ::= [^\x00]
value ::= object | array | string | number | boolean | "null"
object ::= "{" ws (string ws ":" ws value (ws "," ws string ws ":" ws value)*)? ws "}"
array ::= "[" ws (value (ws "," ws value)*)? ws "]"
string ::= "\"" ([^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F]))* "\""
integer ::= "-"? ("0" | [1-9] [0-9]*)
number ::= integer ("." [0-9]+)? ([eE] [-+]? [0-9]+)?
boolean ::= "true" | "false"
"#;

/// The grammar. A reply that does not begin with a call is free text, unless a call is forced.
pub fn grammar(syntax: &CallSyntax, tools: &FrameTools) -> String {
    let calls = if tools.single_call {
        "call"
    } else {
        "call (\"\\n\" call)*"
    };
    let mut text = if tools.choice.is_forced() {
        format!("root ::= {calls}\n")
    } else {
        format!("root ::= {calls} | text\n")
    };
    let may_call = |tool: &&ToolDefinition| !matches!(&tools.choice, ToolChoice::Named(name) if *name != tool.name);
    let definitions: Vec<&ToolDefinition> = tools.definitions.iter().filter(may_call).collect();
    let names: Vec<String> = (0..definitions.len())
        .map(|index| format!("tool-{index}"))
        .collect();
    let _ = writeln!(text, "call ::= {}", names.join(" | "));
    for (name, tool) in names.iter().zip(definitions) {
        let begin = literal(&format!("{}{}{}", syntax.open, tool.name, syntax.middle));
        let _ = writeln!(
            text,
            "{name} ::= {begin} {} {}",
            of(&tool.parameters, 0),
            literal(&syntax.close)
        );
    }
    let _ = writeln!(text, "text ::= {}", no_call(syntax));
    text.push_str(JSON);
    text
}

/// Text that does not begin like a call.
fn no_call(syntax: &CallSyntax) -> String {
    let marker = Some(syntax.marker())
        .filter(|marker| !marker.is_empty())
        .unwrap_or("{");
    let mut ways = Vec::new();
    let mut before = String::new();
    for letter in marker.chars() {
        let start = if before.is_empty() {
            String::new()
        } else {
            format!("{} ", literal(&before))
        };
        ways.push(format!("{start}[^{}\\x00] any*", escaped(letter)));
        before.push(letter);
    }
    ways.join(" | ")
}

fn of(schema: &Value, depth: usize) -> String {
    let any = if depth == 0 { "object" } else { "value" };
    if depth > MAX_DEPTH {
        return any.to_owned();
    }
    if let Some(constant) = schema.get("const") {
        return literal(&constant.to_string());
    }
    if let Some(values) = schema
        .get("enum")
        .and_then(Value::as_array)
        .filter(|values| !values.is_empty())
    {
        return group(values.iter().map(|value| literal(&value.to_string())));
    }
    if let Some(ways) = ["anyOf", "oneOf"]
        .iter()
        .find_map(|key| schema.get(key)?.as_array())
        .filter(|ways| !ways.is_empty())
    {
        return group(ways.iter().map(|way| of(way, depth + 1)));
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("object") => object(schema, depth),
        Some("array") => {
            let item = schema
                .get("items")
                .map_or_else(|| "value".to_owned(), |items| of(items, depth + 1));
            format!("\"[\" ws ({item} (ws \",\" ws {item})*)? ws \"]\"")
        }
        Some("string") => string(schema),
        Some(kind @ ("integer" | "number" | "boolean")) => kind.to_owned(),
        Some("null") => "\"null\"".to_owned(),
        _ => any.to_owned(),
    }
}

/// A string, of the form that its pattern asks for. The API refuses a pattern that no grammar can
/// express; one of a tool server leaves the string free.
fn string(schema: &Value) -> String {
    let pattern = schema.get("pattern").and_then(Value::as_str);
    match pattern.map(json_pattern::expression) {
        Some(Ok(expression)) => format!("\"\\\"\" ({expression}) \"\\\"\""),
        Some(Err(_)) | None => "string".to_owned(),
    }
}

/// The required properties in order, then optional ones in order.
fn object(schema: &Value, depth: usize) -> String {
    let Some(properties) = schema
        .get("properties")
        .and_then(Value::as_object)
        .filter(|all| !all.is_empty())
    else {
        return "object".to_owned();
    };
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let pair = |(name, of_property): (&String, &Value)| {
        format!(
            "{} ws \":\" ws {}",
            literal(&Value::from(name.as_str()).to_string()),
            of(of_property, depth + 1)
        )
    };
    let (must, may): (Vec<_>, Vec<_>) = properties
        .iter()
        .partition(|(name, _)| required.contains(&name.as_str()));
    let (must, may): (Vec<String>, Vec<String>) = (
        must.into_iter().map(pair).collect(),
        may.into_iter().map(pair).collect(),
    );
    let tail = |from: usize| -> String {
        may[from..]
            .iter()
            .map(|pair| format!(" (ws \",\" ws {pair})?"))
            .collect()
    };
    let inside = if must.is_empty() {
        let ways = may
            .iter()
            .enumerate()
            .map(|(index, pair)| format!("{pair}{}", tail(index + 1)));
        format!("({})?", ways.collect::<Vec<_>>().join(" | "))
    } else {
        format!("{}{}", must.join(" ws \",\" ws "), tail(0))
    };
    format!("\"{{\" ws {inside} ws \"}}\"")
}

fn group(ways: impl Iterator<Item = String>) -> String {
    format!("({})", ways.collect::<Vec<_>>().join(" | "))
}

fn literal(text: &str) -> String {
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

fn escaped(letter: char) -> String {
    match letter {
        '"' | '\\' => format!("\\{letter}"),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        ']' | '[' | '^' => format!("\\x{:02X}", letter as u32),
        letter if letter.is_control() => format!("\\x{:02X}", (letter as u32).min(0xFF)),
        letter => letter.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn grammar_names_tools_and_arguments() {
        let roll = ToolDefinition {
            name: "roll_dice".into(),
            description: String::new(),
            parameters: json!({ "type": "object", "required": ["dice"], "properties": {
                "dice": { "type": "string" }, "times": { "type": "integer" } } }),
        };
        let text = grammar(&CallSyntax::text(), &offered(&[roll], ToolChoice::Auto));
        let line = |start: &str| {
            text.lines()
                .find(|line| line.starts_with(start))
                .unwrap()
                .to_owned()
        };
        assert_eq!(
            line("tool-0"),
            r#"tool-0 ::= "<tool_call>\n{\"name\": \"roll_dice\", \"arguments\": " "{" ws "\"dice\"" ws ":" ws string (ws "," ws "\"times\"" ws ":" ws integer)? ws "}" "}\n</tool_call>""#
        );
        assert!(line("text").starts_with(r#"text ::= [^<\x00] any* | "<" [^t\x00] any*"#));
    }

    fn offered(definitions: &[ToolDefinition], choice: ToolChoice) -> FrameTools {
        FrameTools {
            definitions: definitions.to_vec(),
            choice,
            ..FrameTools::default()
        }
    }

    #[test]
    fn forced_call_leaves_no_way_to_answer() {
        let tool = |name: &str| ToolDefinition {
            name: name.into(),
            description: String::new(),
            parameters: json!({ "type": "object" }),
        };
        let tools = [tool("roll"), tool("look")];
        let of = |choice, single_call| {
            let tools = FrameTools {
                single_call,
                ..offered(&tools, choice)
            };
            let text = grammar(&CallSyntax::text(), &tools);
            (
                text.lines().next().unwrap().to_owned(),
                text.contains("look"),
                text.contains("roll"),
            )
        };
        let line = |text: &str| text.to_owned();
        assert_eq!(
            of(ToolChoice::Auto, false),
            (line(r#"root ::= call ("\n" call)* | text"#), true, true)
        );
        assert_eq!(
            of(ToolChoice::Auto, true),
            (line("root ::= call | text"), true, true)
        );
        assert_eq!(
            of(ToolChoice::Required, false),
            (line(r#"root ::= call ("\n" call)*"#), true, true)
        );
        assert_eq!(
            of(ToolChoice::Named("look".into()), true),
            (line("root ::= call"), true, false)
        );
    }

    #[test]
    fn odd_schemas_accept_any_object() {
        for schema in [
            json!(null),
            json!({}),
            json!({ "type": "object", "properties": 7 }),
            json!({ "enum": [] }),
        ] {
            assert_eq!(of(&schema, 0), "object", "{schema}");
        }
        let only_optional = json!({ "type": "object", "properties": { "a": { "type": "null" }, "b": { "const": 1 } } });
        assert_eq!(
            of(&only_optional, 0),
            r#""{" ws ("\"a\"" ws ":" ws "null" (ws "," ws "\"b\"" ws ":" ws "1")? | "\"b\"" ws ":" ws "1")? ws "}""#
        );
        let mut deep = json!({ "type": "string" });
        for _ in 0..60 {
            deep = json!({ "type": "array", "items": deep });
        }
        assert!(of(&deep, 0).len() < 10_000);
    }
}
