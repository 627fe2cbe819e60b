//! Results of tools as text for a model. Each block is read by itself, so that an odd block costs
//! only itself.

use serde_json::Value;

use crate::text::{clean, clean_line};

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutput {
    pub text: String,
    /// The tool failed; `text` gives the reason.
    pub error: bool,
}

/// Text of a result. Pictures, sounds and files become notes.
pub(crate) fn of_call(result: &Value, most: usize) -> ToolOutput {
    let mut parts: Vec<String> = items(&result["content"]).map(block).collect();
    let structured = &result["structuredContent"];
    let text = parts.join("\n");
    if !structured.is_null() && !repeats(&text, structured) {
        parts.push(structured.to_string());
    }
    parts.retain(|part| !part.trim().is_empty());
    let text = clean(parts.join("\n").trim(), most);
    let text = if text.is_empty() {
        "The tool returned nothing.".to_owned()
    } else {
        text
    };
    ToolOutput {
        text,
        error: result["isError"].as_bool().unwrap_or(false),
    }
}

/// Text of a resource.
pub(crate) fn of_resource(result: &Value, most: usize) -> String {
    let parts: Vec<String> = items(&result["contents"]).map(contents).collect();
    clean(&parts.join("\n"), most)
}

/// The items of a list, or the one value that a server sent instead of a list.
fn items(list: &Value) -> impl Iterator<Item = &Value> {
    let one = (!list.is_array() && !list.is_null()).then_some(list);
    list.as_array().into_iter().flatten().chain(one)
}

/// Whether the text contains every value of the structured content already. Servers send both for
/// older clients.
fn repeats(text: &str, structured: &Value) -> bool {
    match structured {
        Value::Null => true,
        Value::Bool(_) | Value::Number(_) => text.contains(&structured.to_string()),
        Value::String(value) => {
            text.contains(value.trim()) || text.contains(structured.to_string().trim_matches('"'))
        }
        Value::Array(items) => {
            !text.trim().is_empty() && items.iter().all(|item| repeats(text, item))
        }
        Value::Object(fields) => {
            !text.trim().is_empty() && fields.values().all(|value| repeats(text, value))
        }
    }
}

fn block(block: &Value) -> String {
    let kind = block["type"].as_str().unwrap_or_default();
    match (kind, block) {
        (_, Value::String(text)) => text.clone(),
        ("text" | "", _) if block["text"].is_string() => word(block, "text"),
        ("image", _) => media("Picture", block),
        ("audio", _) => media("Sound", block),
        ("resource", _) if block["resource"].is_object() => contents(&block["resource"]),
        ("resource_link", _) => {
            format!(
                "[Resource {}: {}]",
                clean_line(&word(block, "name"), 200),
                clean_line(&word(block, "uri"), 500)
            )
        }
        ("", _) => "[Content of an unknown kind: not shown]".to_owned(),
        // A later version of the protocol, or a damaged block.
        (kind, _) => format!("[Content of the kind {}: not shown]", clean_line(kind, 100)),
    }
}

fn contents(contents: &Value) -> String {
    match (contents["text"].as_str(), contents["blob"].as_str()) {
        (Some(text), _) => text.to_owned(),
        (None, Some(data)) => note("File", &kind(contents), data.len()),
        (None, None) => "[Content of an unknown kind: not shown]".to_owned(),
    }
}

/// A picture or a sound. Some servers send its address instead of its data.
fn media(what: &str, block: &Value) -> String {
    match (
        block["data"].as_str(),
        block["url"].as_str().or_else(|| block["uri"].as_str()),
    ) {
        (Some(data), _) => note(what, &kind(block), data.len()),
        (None, Some(url)) => format!("[{what} at {}: not shown]", clean_line(url, 500)),
        (None, None) => format!("[{what} without data: not shown]"),
    }
}

fn word(block: &Value, field: &str) -> String {
    block[field].as_str().unwrap_or_default().to_owned()
}

fn kind(block: &Value) -> String {
    let kind = clean_line(&word(block, "mimeType"), 100);
    if kind.is_empty() {
        "unknown type".to_owned()
    } else {
        kind
    }
}

/// `base64` is the length of the encoded data, which is a third longer than the data.
fn note(what: &str, kind: &str, base64: usize) -> String {
    format!(
        "[{what}, {kind}, {} kB: not shown]",
        (base64 / 4 * 3).div_ceil(1000)
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn output(result: &Value) -> ToolOutput {
        of_call(result, 80)
    }

    #[test]
    fn text_of_all_blocks_is_joined() {
        let both = json!({ "content": [{ "type": "text", "text": "one" }, { "type": "text", "text": "two\u{1b}" }] });
        assert_eq!(
            output(&both),
            ToolOutput {
                text: "one\ntwo".into(),
                error: false
            }
        );
    }

    #[test]
    fn odd_block_costs_only_itself() {
        for (odd, shown) in [
            (
                json!({ "type": "chart", "series": [1] }),
                "[Content of the kind chart: not shown]",
            ),
            (
                json!({ "type": "text", "text": 7 }),
                "[Content of the kind text: not shown]",
            ),
            (
                json!({ "type": "text", "text": "x", "annotations": { "audience": ["robot"] } }),
                "x",
            ),
            (
                json!({ "type": "text", "text": "x", "annotations": { "priority": "high" } }),
                "x",
            ),
            (
                json!({ "type": "image", "url": "https://e.org/a" }),
                "[Picture at https://e.org/a: not shown]",
            ),
            (
                json!({ "type": "image" }),
                "[Picture without data: not shown]",
            ),
            (
                json!({ "type": "resource", "resource": { "uri": "x" } }),
                "[Content of an unknown kind: not shown]",
            ),
            (
                json!({ "type": "resource_link", "uri": 1 }),
                "[Resource : ]",
            ),
            (json!("plain"), "plain"),
            (json!(7), "[Content of an unknown kind: not shown]"),
            (json!(null), "[Content of an unknown kind: not shown]"),
            (json!({ "text": "no type" }), "no type"),
        ] {
            let text = |text: &str| json!({ "type": "text", "text": text });
            let result = json!({ "content": [text("before"), odd, text("after")] });
            assert_eq!(
                output(&result).text,
                format!("before\n{shown}\nafter"),
                "{odd}"
            );
        }
        assert_eq!(output(&json!({ "content": "one text" })).text, "one text");
        assert_eq!(
            output(&json!({ "content": { "type": "text", "text": "one" }, "isError": "no" })).text,
            "one"
        );
    }

    #[test]
    fn pictures_become_notes() {
        let picture = json!({ "content": [{ "type": "image", "data": "AAAA", "mimeType": "image/png" }], "isError": true });
        assert_eq!(
            output(&picture),
            ToolOutput {
                text: "[Picture, image/png, 1 kB: not shown]".into(),
                error: true
            }
        );
    }

    #[test]
    fn structured_content_is_added_once() {
        let only = json!({ "content": [], "structuredContent": { "hour": 7 } });
        assert_eq!(output(&only).text, r#"{"hour":7}"#);
        assert_eq!(
            output(&json!({ "content": [] })).text,
            "The tool returned nothing."
        );
        let text = |text: &str, structured: Value| {
            output(&json!({ "content": [{ "type": "text", "text": text }], "structuredContent": structured })).text
        };
        assert_eq!(
            text("{ \"hour\": 7 }", json!({ "hour": 7 })),
            "{ \"hour\": 7 }"
        );
        assert_eq!(
            text("Sunny.", json!({ "result": "Sunny." })),
            "Sunny.",
            "a wrapped text"
        );
        assert_eq!(
            text("See below.", json!({ "line": 121 })),
            "See below.\n{\"line\":121}"
        );
    }

    #[test]
    fn long_result_is_cut() {
        let long = json!({ "content": [{ "type": "text", "text": "x".repeat(100) }] });
        assert_eq!(output(&long).text, format!("{}…", "x".repeat(80)));
    }
}
