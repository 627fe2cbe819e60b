//! Parses the lines of a reply (<https://docs.ollama.com/api/chat>).

use serde_json::Value;

use crate::endpoint::api_error::EndpointError;
use crate::endpoint::stream::chunk::{
    End, StreamChunk, TextPiece, ThoughtPiece, Unreadable, WireTimings, WireUsage, count, end,
    object,
};
use crate::endpoint::stream::lenient;

const NANOSECONDS_PER_MILLISECOND: f64 = 1e6;

/// Parses one line.
pub(crate) fn parse(data: &str) -> Result<StreamChunk, Unreadable> {
    let parsed = object(data)?;
    let mut line = parsed.value;
    let has_surrogates = parsed.has_surrogates;
    let mut message = line["message"].take();
    let last = line["done"] == true;
    let replies = message.is_object() || last;
    let mut chunk = StreamChunk {
        replies,
        has_surrogates,
        last,
        error: EndpointError::within(&line, replies),
        ..StreamChunk::default()
    };
    if message.is_object() {
        if let Value::String(text) = message["thinking"].take() {
            chunk.thoughts.extend(ThoughtPiece::delta(text));
        }
        if let Value::String(text) = message["content"].take() {
            chunk.text = TextPiece::delta(text);
        }
        chunk.tool_calls = calls(message["tool_calls"].take());
    }
    if let Some(calls) = chunk.tool_calls.as_mut().filter(|_| has_surrogates) {
        lenient::replace_lone_surrogates(calls);
    }
    if last {
        chunk.end = end(&line["done_reason"])
            .filter(|end| *end != End::Unknown)
            .or(Some(End::Stop));
        chunk.usage = Some(WireUsage {
            prompt: count(&line, &["prompt_eval_count"]),
            cached: None,
            generated: count(&line, &["eval_count"]),
        });
        let ms = |name: &str| count(&line, &[name]).map(|time| time / NANOSECONDS_PER_MILLISECOND);
        chunk.timings = Some(WireTimings {
            prompt_ms: ms("prompt_eval_duration"),
            predicted_ms: ms("eval_duration"),
            ..WireTimings::default()
        });
    }
    Ok(chunk)
}

/// Each call is complete, so its index within the reply is dropped: several lines may use the same
/// one.
fn calls(mut calls: Value) -> Option<Value> {
    for call in calls
        .as_array_mut()?
        .iter_mut()
        .filter_map(Value::as_object_mut)
    {
        call.remove("index");
    }
    Some(calls)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_lines_of_a_reply() {
        let said =
            parse(r#"{"message":{"role":"assistant","content":"Hi","thinking":""},"done":false}"#)
                .unwrap();
        assert_eq!(
            (said.text, said.thoughts, said.last),
            (TextPiece::delta("Hi".into()), Vec::new(), false)
        );
        let thought = parse(r#"{"message":{"content":"","thinking":"Hm"}}"#)
            .unwrap()
            .thoughts;
        assert_eq!(thought, [ThoughtPiece::Delta("Hm".into())]);
        let call = parse(
            r#"{"message":{"tool_calls":[{"index":0,"function":{"name":"dice","arguments":{"n":1}}}]}}"#,
        );
        assert_eq!(
            call.unwrap().tool_calls.unwrap()[0]["function"]["name"],
            "dice"
        );
        let last = parse(
            r#"{"message":{"content":""},"done":true,"done_reason":"length","prompt_eval_count":26,"eval_count":9,"eval_duration":5000000}"#,
        )
        .unwrap();
        assert_eq!((last.end, last.last), (Some(End::Length), true));
        assert_eq!(last.usage.unwrap().prompt, Some(26.0));
        assert_eq!(last.timings.unwrap().predicted_ms, Some(5.0));
        assert_eq!(
            parse(r#"{"error":"model not found"}"#)
                .unwrap()
                .error
                .unwrap()
                .message,
            "model not found"
        );
        for odd in [
            "{}",
            r#"{"message":7,"done":"x"}"#,
            r#"{"message":{"content":7,"tool_calls":7}}"#,
        ] {
            assert!(parse(odd).unwrap().text.is_none(), "{odd}");
        }
    }
}
