//! Parses the pieces of a reply (`GenerateContentResponse`).

use serde_json::{Value, json};

use crate::endpoint::api_error::EndpointError;
use crate::endpoint::stream::chunk::{
    End, StreamChunk, TextPiece, ThoughtPiece, Unreadable, WireUsage, count, end,
};
use crate::endpoint::stream::lenient;

/// Parses one piece. A reply that was not streamed as events is a list of pieces.
pub(crate) fn parse(data: &str) -> Result<StreamChunk, Unreadable> {
    let parsed = lenient::parse(data)?;
    let pieces = match parsed.value {
        Value::Array(pieces) => pieces,
        piece @ Value::Object(_) => vec![piece],
        _ => return Err(Unreadable::Shape("it is JSON, but not an object")),
    };
    let mut chunk = StreamChunk {
        has_surrogates: parsed.has_surrogates,
        ..StreamChunk::default()
    };
    let mut said = String::new();
    let mut calls = Vec::new();
    for piece in pieces.into_iter().filter(Value::is_object) {
        take(&mut chunk, piece, &mut said, &mut calls);
    }
    chunk.text = TextPiece::delta(said);
    chunk.tool_calls = (!calls.is_empty()).then_some(Value::Array(calls));
    if let Some(calls) = chunk.tool_calls.as_mut().filter(|_| chunk.has_surrogates) {
        lenient::replace_lone_surrogates(calls);
    }
    Ok(chunk)
}

fn take(chunk: &mut StreamChunk, mut piece: Value, text: &mut String, calls: &mut Vec<Value>) {
    let replies = piece["candidates"].is_array() || piece["promptFeedback"].is_object();
    chunk.replies |= replies || piece["usageMetadata"].is_object();
    chunk.error = EndpointError::within(&piece, replies).or(chunk.error.take());
    chunk.usage = usage(&piece["usageMetadata"]).or(chunk.usage.take());
    if let Some(reason) = piece["promptFeedback"]["blockReason"].as_str() {
        chunk.end = Some(End::Filtered);
        chunk.filter_reason = Some(reason.to_owned());
    }
    let Some(candidate) = piece["candidates"]
        .get_mut(0)
        .filter(|candidate| candidate.is_object())
    else {
        return;
    };
    if let Some(reason) = end(&candidate["finishReason"]) {
        chunk.end = Some(reason);
        chunk.filter_reason = candidate["finishReason"].as_str().map(str::to_owned);
    }
    let Some(Value::Array(parts)) = candidate
        .get_mut("content")
        .and_then(|content| content.get_mut("parts"))
    else {
        return;
    };
    for part in parts.iter_mut().filter(|part| part.is_object()) {
        take_part(chunk, part, text, calls);
    }
}

fn take_part(
    chunk: &mut StreamChunk,
    part: &mut Value,
    reply: &mut String,
    calls: &mut Vec<Value>,
) {
    if part["thought"] == true {
        if let Value::String(text) = part["text"].take() {
            chunk.thoughts.extend(ThoughtPiece::delta(text));
        }
    } else if let Some(text) = part["text"].as_str() {
        reply.push_str(text);
    } else if is_picture(part) {
        chunk.pictures.count += 1;
    } else if part["functionCall"].is_object() {
        let signature = part["thoughtSignature"].take();
        let call = &mut part["functionCall"];
        let function = json!({ "name": call["name"].take(), "arguments": call["args"].take() });
        calls
            .push(json!({ "id": call["id"].take(), "function": function, "signature": signature }));
    }
}

/// Whether a part is a picture. Gemini writes camel case, its older clients and proxies snake case.
fn is_picture(part: &Value) -> bool {
    let of_kind = |field: &str, kind: &str| {
        part[field][kind]
            .as_str()
            .is_some_and(|kind| kind.starts_with("image/"))
    };
    ["inlineData", "fileData"]
        .iter()
        .any(|field| of_kind(field, "mimeType"))
        || ["inline_data", "file_data"]
            .iter()
            .any(|field| of_kind(field, "mime_type"))
}

/// `promptTokenCount` includes the reused tokens. Thoughts are generated, but not part of the
/// candidates' count.
fn usage(usage: &Value) -> Option<WireUsage> {
    usage.as_object()?;
    let of = |name: &str| count(usage, &[name]);
    let thoughts = of("thoughtsTokenCount").unwrap_or(0.0);
    Some(WireUsage {
        prompt: of("promptTokenCount"),
        cached: of("cachedContentTokenCount"),
        generated: of("candidatesTokenCount").map(|count| count + thoughts),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_pieces_of_a_reply() {
        let chunk = parse(
            r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"Hm","thought":true},{"text":"Hi"},{"thoughtSignature":"x"},{"functionCall":{"name":"dice","args":{"n":1}},"thoughtSignature":"c2ln"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":90,"cachedContentTokenCount":60,"candidatesTokenCount":5,"thoughtsTokenCount":7}}"#,
        )
        .unwrap();
        assert_eq!(chunk.thoughts, [ThoughtPiece::Delta("Hm".into())]);
        assert_eq!(
            (chunk.text, chunk.end),
            (TextPiece::delta("Hi".into()), Some(End::Stop))
        );
        assert_eq!(
            chunk.usage,
            Some(WireUsage {
                prompt: Some(90.0),
                cached: Some(60.0),
                generated: Some(12.0)
            })
        );
        let call = &chunk.tool_calls.unwrap()[0];
        assert_eq!(
            call["function"],
            json!({"name": "dice", "arguments": {"n": 1}})
        );
        assert_eq!(call["signature"], "c2ln");
    }

    #[test]
    fn counts_pictures_beside_the_text() {
        let data = r#"{"candidates":[{"content":{"parts":[{"text":"See: "},{"inlineData":{"mimeType":"image/png","data":"aGk="}},{"inline_data":{"mime_type":"image/jpeg"}},{"inlineData":{"mimeType":"audio/wav"}}]}}]}"#;
        let chunk = parse(data).unwrap();
        assert_eq!(
            (chunk.text, chunk.pictures.count),
            (TextPiece::delta("See: ".into()), 2)
        );
    }

    #[test]
    fn names_the_reason_of_a_block() {
        for (data, reason) in [
            (
                r#"{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}"#,
                "PROHIBITED_CONTENT",
            ),
            (r#"{"candidates":[{"finishReason":"SAFETY"}]}"#, "SAFETY"),
            (r#"{"candidates":[{"finishReason":"SPII"}]}"#, "SPII"),
        ] {
            let chunk = parse(data).unwrap();
            assert_eq!(
                (chunk.end, chunk.filter_reason.as_deref()),
                (Some(End::Filtered), Some(reason)),
                "{data}"
            );
        }
    }

    #[test]
    fn joins_a_list_of_pieces() {
        let piece = |text: &str| json!({"candidates": [{"content": {"parts": [{"text": text}]}}]});
        let chunk = parse(&json!([piece("Hi "), piece("there."), 7]).to_string()).unwrap();
        assert_eq!(chunk.text, TextPiece::delta("Hi there.".into()));
        let error = parse(
            r#"[{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}]"#,
        )
        .unwrap();
        assert_eq!(error.error.unwrap().status, Some(429));
        assert!(parse("7").is_err());
    }
}
