//! Replies with text, tool calls, both or neither. Each case is tested streamed and complete, with
//! the same result.

use serde_json::{Value, json};

use super::support::*;

fn call(index: u64, id: &str, name: &str, arguments: &str) -> Value {
    json!({ "index": index, "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
}

fn chunk(delta: &Value, reason: Option<&str>) -> String {
    format!(
        "data: {}\n\n",
        json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] })
    )
}

/// `message` in one piece, like a server that does not stream.
fn whole(message: &Value, reason: &str) -> Play {
    let reply = json!({ "choices": [{ "message": message, "finish_reason": reason }] });
    answer(
        "200 OK",
        "Content-Type: application/json\r\n",
        &reply.to_string(),
    )
}

/// `line` is in the notation of [`Seen`].
async fn check(name: &str, deltas: &[Value], message: &Value, reason: &str, line: &str) {
    let pieces: String = deltas.iter().map(|delta| chunk(delta, None)).collect();
    let streamed = stream(pieces + &ends(reason) + DONE);
    for (how, play) in [("streamed", streamed), ("whole", whole(message, reason))] {
        let (seen, requests) = run(vec![play]).await;
        assert_eq!(
            (seen.line.as_str(), requests),
            (line, 1),
            "{name}, {how}: {:?}",
            seen.error
        );
    }
}

#[tokio::test]
async fn text_only() {
    let message = json!({ "content": "Hello there.", "tool_calls": [] });
    let deltas = [
        json!({ "content": "Hello ", "tool_calls": null }),
        json!({ "content": "there." }),
    ];
    check("text", &deltas, &message, "stop", "Hello there.[Stop]").await;

    let part = |text: &str| json!({ "type": "text", "text": text });
    let message = json!({ "content": [part("Hello "), { "type": "thinking", "text": "Hm." }, part("there.")] });
    let thought = json!({ "type": "thinking", "text": "Hm." });
    let deltas = [
        json!({ "content": [thought, part("Hello ")] }),
        json!({ "content": [part("the"), part("re.")] }),
    ];
    check(
        "text in parts",
        &deltas,
        &message,
        "stop",
        "(Hm.)Hello there.[Stop]",
    )
    .await;
}

#[tokio::test]
async fn tools_only() {
    let message = json!({ "content": null, "tool_calls": [
        call(0, "a", "weather", "{\"city\":\"Oslo\"}"),
        call(1, "b", "time", ""),
    ]});
    let deltas = [
        json!({ "role": "assistant", "content": null, "tool_calls": [call(0, "a", "weather", "")] }),
        json!({ "tool_calls": [call(0, "", "", "{\"city\":")] }),
        json!({ "tool_calls": [call(1, "b", "time", ""), call(0, "", "", "\"Oslo\"}")] }),
    ];
    let line = "<weather({\"city\":\"Oslo\"})><time({})>[Stop]";
    check("tools", &deltas, &message, "tool_calls", line).await;
}

#[tokio::test]
async fn text_and_tools() {
    let message = json!({ "content": "Let me look.", "tool_calls": [call(0, "a", "look", "{}")] });
    let deltas = [
        json!({ "content": "Let me " }),
        json!({ "content": "look.", "tool_calls": [call(0, "a", "look", "{}")] }),
    ];
    check(
        "mixed",
        &deltas,
        &message,
        "tool_calls",
        "Let me look.<look({})>[Stop]",
    )
    .await;
}

#[tokio::test]
async fn empty() {
    check(
        "empty",
        &[json!({ "content": "" }), json!({})],
        &json!({ "content": "" }),
        "stop",
        "[Stop]",
    )
    .await;
}

#[tokio::test]
async fn keeps_arguments_that_are_not_json() {
    let message =
        json!({ "content": null, "tool_calls": [call(0, "a", "weather", "{\"city\": Oslo")] });
    let deltas = [
        json!({ "tool_calls": [call(0, "a", "weather", "{\"city\"")] }),
        json!({ "tool_calls": [call(0, "", "", ": Oslo")] }),
    ];
    check(
        "malformed",
        &deltas,
        &message,
        "tool_calls",
        "<weather({\"city\": Oslo)?>[Stop]",
    )
    .await;
}

#[tokio::test]
async fn returns_a_truncated_call_without_a_retry() {
    let begun = chunk(
        &json!({ "tool_calls": [call(0, "a", "weather", "{\"ci")] }),
        None,
    );
    let (seen, requests) = run(vec![stream(begun), healthy()]).await;
    assert_eq!(
        (seen.line.as_str(), requests),
        ("<weather({\"ci)?>[Cut]", 1)
    );
}

#[tokio::test]
async fn refuses_endless_calls() {
    let many: Vec<Value> = (0..100).map(|index| call(index, "", "one", "{}")).collect();
    let (seen, _) = run(vec![stream(
        says("Hello ") + &chunk(&json!({ "tool_calls": many }), None),
    )])
    .await;
    assert!(
        seen.line.starts_with("Hello <one({})>") && seen.line.ends_with("[Malformed]"),
        "{}",
        seen.line
    );
    assert_eq!(seen.line.matches("<one").count(), 32);
}
