//! Parses the events of a message
//! (<https://docs.anthropic.com/en/docs/build-with-claude/streaming>), or a whole message.

use serde_json::{Value, json};

use crate::endpoint::api_error::EndpointError;
use crate::endpoint::stream::chunk::{
    StreamChunk, TextPiece, ThoughtPiece, Unreadable, WireUsage, count, end, object,
};
use crate::endpoint::stream::lenient;

/// Parses one event. Unknown events are empty, because the provider adds new ones.
pub(crate) fn parse(data: &str) -> Result<StreamChunk, Unreadable> {
    let parsed = object(data)?;
    let mut event = parsed.value;
    let has_surrogates = parsed.has_surrogates;
    let kind = event["type"].as_str().unwrap_or_default().to_owned();
    let replies = matches!(
        kind.as_str(),
        "message" | "message_start" | "message_delta" | "message_stop" | "ping"
    ) || kind.starts_with("content_block");
    let error = EndpointError::within(&event, replies);
    let mut chunk = StreamChunk {
        replies,
        has_surrogates,
        error,
        ..StreamChunk::default()
    };
    let index = event["index"].take();
    match kind.as_str() {
        "message_start" => chunk.usage = usage(&event["message"]["usage"]),
        "content_block_start" => opened(&mut chunk, event["content_block"].take(), index),
        "content_block_delta" => delta(&mut chunk, event["delta"].take(), index),
        "message_delta" => {
            ended(&mut chunk, &event["delta"]);
            chunk.usage = usage(&event["usage"]);
        }
        "message_stop" => chunk.last = true,
        "message" => whole(&mut chunk, event),
        _ => {}
    }
    if let Some(calls) = chunk.tool_calls.as_mut().filter(|_| has_surrogates) {
        lenient::replace_lone_surrogates(calls);
    }
    Ok(chunk)
}

fn opened(chunk: &mut StreamChunk, mut block: Value, index: Value) {
    match block["type"].as_str() {
        Some("text") => chunk.text = text(block["text"].take()),
        Some("thinking" | "redacted_thinking") => thought(chunk, &mut block),
        // The input follows in deltas.
        Some("tool_use") => chunk.tool_calls = Some(json!([called(&mut block, index, None)])),
        _ => {}
    }
}

fn delta(chunk: &mut StreamChunk, mut delta: Value, index: Value) {
    match delta["type"].as_str() {
        Some("text_delta") => chunk.text = text(delta["text"].take()),
        Some("thinking_delta" | "signature_delta") => thought(chunk, &mut delta),
        Some("input_json_delta") => {
            let arguments = delta["partial_json"].take();
            chunk.tool_calls =
                Some(json!([{ "index": index, "function": { "arguments": arguments } }]));
        }
        _ => {}
    }
}

/// Takes the thoughts, the signature or the encrypted data of a block or a delta.
fn thought(chunk: &mut StreamChunk, block: &mut Value) {
    let mut take = |key: &str| match block.get_mut(key).map(Value::take) {
        Some(Value::String(text)) if !text.is_empty() => Some(text),
        _ => None,
    };
    chunk
        .thoughts
        .extend(take("thinking").map(ThoughtPiece::Delta));
    chunk
        .thoughts
        .extend(take("signature").map(ThoughtPiece::Signature));
    chunk
        .thoughts
        .extend(take("data").map(ThoughtPiece::Redacted));
}

fn called(block: &mut Value, index: Value, arguments: Option<Value>) -> Value {
    let id = block["id"].take();
    let name = block["name"].take();
    json!({ "index": index, "id": id, "function": { "name": name, "arguments": arguments } })
}

/// A message that was not streamed.
fn whole(chunk: &mut StreamChunk, mut message: Value) {
    let mut said = String::new();
    let mut calls = Vec::new();
    let Value::Array(blocks) = message["content"].take() else {
        return;
    };
    for (index, mut block) in blocks
        .into_iter()
        .enumerate()
        .filter(|(_, block)| block.is_object())
    {
        match block["type"].as_str() {
            Some("text") => said.push_str(block["text"].as_str().unwrap_or_default()),
            Some("thinking" | "redacted_thinking") => thought(chunk, &mut block),
            Some("tool_use") => {
                let input = block["input"].take();
                calls.push(called(&mut block, json!(index), Some(input)));
            }
            _ => {}
        }
    }
    chunk.text = TextPiece::delta(said);
    chunk.tool_calls = (!calls.is_empty()).then_some(Value::Array(calls));
    ended(chunk, &message);
    chunk.usage = usage(&message["usage"]);
    chunk.last = true;
}

fn ended(chunk: &mut StreamChunk, message: &Value) {
    chunk.end = end(&message["stop_reason"]);
    chunk.filter_reason = message["stop_reason"].as_str().map(str::to_owned);
}

fn text(text: Value) -> Option<TextPiece> {
    match text {
        Value::String(text) => TextPiece::delta(text),
        _ => None,
    }
}

/// `input_tokens` are only those that were neither read from the cache nor written to it.
fn usage(usage: &Value) -> Option<WireUsage> {
    usage.as_object()?;
    let of = |name: &str| count(usage, &[name]);
    let read = of("cache_read_input_tokens");
    let written = of("cache_creation_input_tokens");
    let prompt =
        of("input_tokens").map(|input| input + read.unwrap_or(0.0) + written.unwrap_or(0.0));
    Some(WireUsage {
        prompt,
        cached: read.filter(|_| prompt.is_some()),
        generated: of("output_tokens"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::stream::chunk::End;

    #[test]
    fn reads_the_events_of_a_message() {
        let start = parse(
            r#"{"type":"message_start","message":{"usage":{"input_tokens":10,"cache_read_input_tokens":80,"cache_creation_input_tokens":5,"output_tokens":1}}}"#,
        );
        let usage = WireUsage {
            prompt: Some(95.0),
            cached: Some(80.0),
            generated: Some(1.0),
        };
        assert_eq!(start.unwrap().usage, Some(usage));
        let said = parse(
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}"#,
        );
        assert_eq!(said.unwrap().text, TextPiece::delta("Hi".into()));
        let thought = parse(
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm"}}"#,
        );
        let thought = thought.unwrap();
        assert_eq!(
            (thought.thoughts, thought.text),
            (vec![ThoughtPiece::Delta("Hm".into())], None)
        );
        let redacted = parse(
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"xyz"}}"#,
        );
        assert_eq!(
            redacted.unwrap().thoughts,
            [ThoughtPiece::Redacted("xyz".into())]
        );
        let end = parse(
            r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":9}}"#,
        );
        let end = end.unwrap();
        assert_eq!(
            (end.end, end.usage.unwrap().prompt),
            (Some(End::Length), None)
        );
        assert!(parse(r#"{"type":"message_stop"}"#).unwrap().last);
        let error =
            parse(r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#)
                .unwrap();
        assert_eq!(error.error.unwrap().message, "Overloaded");
        assert!(!parse(r#"{"type":"ping"}"#).unwrap().last);
        assert_eq!(
            parse(r#"{"type":"message_delta","delta":{"stop_reason":"refusal"}}"#)
                .unwrap()
                .end,
            Some(End::Filtered)
        );
    }

    #[test]
    fn reads_a_whole_message() {
        let chunk = parse(
            r#"{"type":"message","content":[{"type":"thinking","thinking":"Hm.","signature":"s"},{"type":"text","text":"Hi."},{"type":"tool_use","id":"a","name":"dice","input":{"n":1}}],"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":2}}"#,
        )
        .unwrap();
        assert_eq!(
            (chunk.text, chunk.end, chunk.last),
            (TextPiece::delta("Hi.".into()), Some(End::Stop), true)
        );
        assert_eq!(
            chunk.tool_calls.unwrap()[0]["function"]["arguments"],
            json!({"n": 1})
        );
        assert_eq!(
            chunk.thoughts,
            [
                ThoughtPiece::Delta("Hm.".into()),
                ThoughtPiece::Signature("s".into())
            ]
        );
    }
}
