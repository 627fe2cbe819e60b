//! Endpoints with odd finish reasons, fields and texts. The text of each reply must arrive complete
//! and without repetition.

use std::io::Write;
use std::time::Duration;

use futures_util::StreamExt;
use provider::{GenerationEvent, ReplyGate, Timeouts};
use serde_json::{Value, json};

use super::support::*;

fn event(value: &Value) -> String {
    format!("data: {value}\n\n")
}

/// A piece of text with a finish reason.
fn piece(text: &str, reason: &Value) -> String {
    event(&json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": reason}]}))
}

fn delta(delta: &Value) -> String {
    event(&json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]}))
}

fn end() -> String {
    ends("stop") + DONE
}

/// Checks the reply to each stream, in the notation of [`Seen`].
async fn check(cases: &[(&str, String, &str)]) {
    for (name, body, line) in cases {
        let (seen, _) = run(vec![stream(body)]).await;
        assert_eq!(seen.line, *line, "{name}: {:?}", seen.error);
    }
}

/// Checks the message of an error and the text that came before it.
async fn check_errors(cases: &[(&str, String, &str, &str)]) {
    for (name, body, line, words) in cases {
        let (seen, _) = run(vec![stream(body); 3]).await;
        assert_eq!(seen.line, *line, "{name}: {:?}", seen.error);
        let message = seen.error.unwrap().message;
        assert!(message.contains(words), "{name}: {message}");
    }
}

/// Plays `before`, waits until the client has noticed the silence, then plays `after`.
async fn paused(before: &str, after: &str) -> String {
    let gate = ReplyGate::new();
    let play = [
        stream(before),
        vec![
            Step::Gate(gate.clone()),
            Step::Bytes(after.as_bytes().to_vec()),
        ],
    ]
    .concat();
    let server = FaultServer::start(vec![play]).await;
    // A client that treats the reply as ended would stop before it notices the silence.
    let timeouts = Timeouts {
        notice: Duration::from_millis(120),
        usage: Duration::from_millis(20),
        ..timeouts()
    };
    let mut events = start(&server.url(), timeouts);
    let mut text = String::new();
    loop {
        match events.next().await.unwrap().unwrap() {
            GenerationEvent::Text(piece) => text += &piece,
            // A slow machine may stall before the first text.
            GenerationEvent::Stalled { .. } if !text.is_empty() => break,
            GenerationEvent::Stalled { .. } => {}
            other => panic!("{text}: {other:?}"),
        }
    }
    gate.open();
    text + watch(events).await.line.trim_start_matches('z')
}

#[tokio::test]
async fn empty_finish_reason_does_not_end_a_reply() {
    for reason in [
        json!(""),
        json!("null"),
        json!("None"),
        json!(false),
        json!(0),
        json!({}),
        json!(" "),
    ] {
        let before = piece("One ", &reason) + &piece("two ", &reason);
        let after = piece("three.", &reason) + &end();
        assert_eq!(
            paused(&before, &after).await,
            "One two three.[Stop]",
            "{reason}"
        );
    }
}

#[tokio::test]
async fn stop_on_every_piece_does_not_end_a_reply() {
    let stop = json!("stop");
    for reason in [stop.clone(), json!("eos"), json!("STOP")] {
        let after = piece("two ", &reason) + &piece("three.", &reason) + DONE;
        assert_eq!(
            paused(&piece("One ", &reason), &after).await,
            "One two three.[Stop]",
            "{reason}"
        );
    }
    let role =
        event(&json!({"choices": [{"delta": {"role": "assistant"}, "finish_reason": "stop"}]}));
    assert_eq!(
        paused(
            &(role + &piece("One ", &stop)),
            &(piece("two.", &stop) + DONE)
        )
        .await,
        "One two.[Stop]"
    );
}

#[tokio::test]
async fn accepts_text_and_errors_after_the_end() {
    let said = says("One ") + &ends("stop");
    check(&[
        (
            "text",
            said.clone() + &says("two.") + &end(),
            "One two.[Stop]",
        ),
        (
            "text and no end",
            said.clone() + &says("two."),
            "One two.[Cut]",
        ),
        ("nothing", said.clone(), "One [Stop]"),
    ])
    .await;
    check_errors(&[
        (
            "an error",
            said.clone() + &event(&json!({"error": {"message": "engine died", "code": 500}})),
            "One [Server]",
            "engine died",
        ),
        (
            "an error event",
            said + "event: error\ndata: engine died\n\n",
            "One [Server]",
            "engine died",
        ),
    ])
    .await;
}

#[tokio::test]
async fn reports_a_failure_after_an_empty_reason() {
    let body = piece("One ", &json!(""))
        + &event(&json!({"error": {"message": "engine died", "code": 500}}));
    check_errors(&[("", body, "One [Server]", "engine died")]).await;
}

#[tokio::test]
async fn drops_a_repeated_whole_reply() {
    let text = says("Come in, ") + &says("it is cold.");
    let message = |text: &str| json!({"role": "assistant", "content": text});
    let whole = |delta: Value, text: &str| {
        event(
            &json!({"object": "chat.completion", "choices": [{"delta": delta, "message": message(text), "finish_reason": "stop"}]}),
        )
    };
    let usage = event(
        &json!({"choices": [{"index": 0, "message": message("Come in, it is cold."), "finish_reason": "length"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 6}}),
    );
    check(&[
        (
            "as a message",
            text.clone() + &whole(Value::Null, "Come in, it is cold.") + DONE,
            "Come in, it is cold.[Stop]",
        ),
        (
            "with an empty delta",
            text.clone() + &whole(json!({}), "Come in, it is cold.") + DONE,
            "Come in, it is cold.[Stop]",
        ),
        (
            "with a reason of its own",
            text.clone() + &usage + DONE,
            "Come in, it is cold.[Length]",
        ),
        (
            "with more",
            says("Come in, ") + &whole(Value::Null, "Come in, it is cold.") + DONE,
            "Come in, it is cold.[Stop]",
        ),
        (
            "trimmed",
            says("\nCome in, ")
                + &says("it is cold. ")
                + &whole(Value::Null, "Come in, it is cold.")
                + DONE,
            "\nCome in, it is cold. [Stop]",
        ),
        (
            "as a delta",
            text.clone() + &piece("Come in, it is cold.", &json!("stop")) + DONE,
            "Come in, it is cold.[Stop]",
        ),
        (
            "as a delta before the end",
            text + &says("Come in, it is cold.") + &end(),
            "Come in, it is cold.[Stop]",
        ),
        (
            "alone",
            whole(Value::Null, "Come in.") + DONE,
            "Come in.[Stop]",
        ),
    ])
    .await;
}

#[tokio::test]
async fn joins_cumulative_pieces() {
    let growing = |texts: &[&str]| texts.iter().map(|text| says(text)).collect::<String>() + &end();
    let messages: String = ["Come", "Come in, it", "Come in, it is cold."]
        .iter()
        .map(|text| event(&json!({"choices": [{"message": {"content": text}}]})))
        .collect();
    check(&[
        (
            "deltas",
            growing(&["Come", "Come in,", "Come in, it", "Come in, it is cold."]),
            "Come in, it is cold.[Stop]",
        ),
        (
            "by letters",
            growing(&["C", "Co", "Com", "Come", "Come ", "Come in"]),
            "Come in[Stop]",
        ),
        ("messages", messages + &end(), "Come in, it is cold.[Stop]"),
        (
            "a laugh",
            growing(&["ha", "ha", "ha", "!"]),
            "hahaha![Stop]",
        ),
        (
            "a refrain",
            growing(&["Row, ", "row, ", "row, ", "Row, row, ", "row, "]),
            "Row, row, row, Row, row, row, [Stop]",
        ),
    ])
    .await;
}

#[tokio::test]
async fn joins_split_surrogates() {
    let raw = |text: &str| {
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
    };
    check(&[
        (
            "in two events",
            raw("Hi \\ud83d") + &raw("\\ude00 there.") + &end(),
            "Hi 😀 there.[Stop]",
        ),
        (
            "with a comment between",
            raw("\\uD83D") + ": ping\n\n" + &raw("") + &raw("\\uDE00") + &end(),
            "😀[Stop]",
        ),
        (
            "alone",
            says("Before ") + &raw("\\ud83d") + &says(" after.") + &end(),
            "Before \u{FFFD} after.[Stop]",
        ),
        (
            "the second alone",
            raw("\\ude00 after.") + &end(),
            "\u{FFFD} after.[Stop]",
        ),
        (
            "alone at the end",
            raw("Hi \\ud83d") + &end(),
            "Hi \u{FFFD}[Stop]",
        ),
        (
            "in a name",
            raw("Hi.").replace("\"index\":0", "\"index\":0,\"logprobs\":\"\\ud83d\"") + &end(),
            "Hi.[Stop]",
        ),
    ])
    .await;
    let bytes = [
        raw("a\u{0}b").replace("\u{0}", "\u{1}").as_bytes(),
        end().as_bytes(),
    ]
    .concat();
    let at = bytes.iter().position(|byte| *byte == 1).unwrap();
    let bytes = [
        &bytes[..at],
        &[0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80],
        &bytes[at + 1..],
    ]
    .concat();
    assert_eq!(run(vec![stream(bytes)]).await.0.line, "a😀b[Stop]");
}

#[tokio::test]
async fn skips_side_fields_of_any_type() {
    for odd in [
        json!(null),
        json!("9"),
        json!([1]),
        json!({"prompt_tokens": "9", "total": null}),
        json!(true),
        json!(-1e300),
    ] {
        let chunk = |text: &str| {
            event(
                &json!({"choices": [{"index": 0, "delta": {"role": odd, "content": text}, "logprobs": odd}], "usage": odd,
                "timings": odd, "prompt_progress": odd, "id": odd, "created": odd, "error": null}),
            )
        };
        let (seen, _) = run(vec![stream(chunk("Come ") + &chunk("in.") + &end())]).await;
        assert_eq!(seen.line, "Come in.[Stop]", "{odd}: {:?}", seen.error);
    }
    let body = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi.\"},\"logprobs\":NaN}]}\n\n"
        .to_owned()
        + &end();
    check(&[("not a number", body, "Hi.[Stop]")]).await;
}

#[tokio::test]
async fn ignores_empty_error_fields() {
    for error in [
        json!(""),
        json!({}),
        json!(false),
        json!([]),
        json!(0),
        json!("null"),
        json!({"code": 0, "message": ""}),
        json!({"message": null}),
    ] {
        let mut chunk = json!({"choices": [{"delta": {"content": "Come in."}}]});
        chunk["error"] = error.clone();
        check(&[(&error.to_string(), event(&chunk) + &end(), "Come in.[Stop]")]).await;
    }
}

#[tokio::test]
async fn keeps_messages_of_errors_with_status_200() {
    let mut cases = Vec::new();
    for body in [
        json!({"error": "the pump broke"}),
        json!({"error": {"message": "the pump broke"}}),
        json!({"error": ["the pump broke"]}),
        json!({"errors": [{"message": "the pump broke"}]}),
        json!({"choices": null, "error_type": "Pump", "error_message": "the pump broke"}),
        json!({"detail": "the pump broke"}),
        json!({"detail": [{"msg": "the pump broke"}]}),
        json!({"status": {"code": 7, "message": "the pump broke"}}),
        json!({"code": 1302, "msg": "the pump broke"}),
        json!({"success": false, "message": "the pump broke"}),
        json!({"base_resp": {"status_code": 1004, "status_msg": "the pump broke"}}),
        json!({"type": "error", "error": {"type": "pump", "message": "the pump broke"}}),
        json!({"choices": [{"delta": {}, "finish_reason": "error", "error": {"message": "the pump broke"}}]}),
    ] {
        cases.push((body.to_string(), event(&body) + DONE));
    }
    cases.push((
        "an event".to_owned(),
        "event: error\ndata: {\"message\":\"the pump broke\",\"type\":\"pump\"}\n\n".to_owned(),
    ));
    cases.push((
        "an event in plain text".to_owned(),
        "event: error\ndata: the pump broke\n\n".to_owned(),
    ));
    for (name, body) in cases {
        for (before, line) in [("", "[Server]"), ("Come ", "Come [Server]")] {
            let text = if before.is_empty() {
                String::new()
            } else {
                says(before)
            };
            check_errors(&[(&name, text + &body, line, "the pump broke")]).await;
        }
    }
    let body = json!({"error": {"message": "the pump broke", "code": 503}}).to_string();
    let (seen, _) = run(vec![answer("200 OK", "", &body); 3]).await;
    assert_eq!(seen.line, "~~[Server]");
}

#[tokio::test]
async fn keeps_text_next_to_an_error() {
    let body = event(
        &json!({"choices": [{"delta": {"content": "Come "}}], "error": {"message": "the pump broke"}}),
    );
    check_errors(&[("", body, "Come [Server]", "the pump broke")]).await;
}

#[tokio::test]
async fn skips_heartbeats_and_odd_pieces() {
    let beats = ": ping\n\n:\n\ndata:\n\ndata: {\"choices\":[]}\n\ndata: {\"type\":\"ping\"}\n\nevent: ping\ndata: {}\n\n";
    let odd = "data: {\"choices\":[{\"index\":0}]}\n\ndata: {\"choices\":[{\"delta\":null}]}\n\ndata: {\"choices\":[{\"delta\":[]}]}\n\n\
               data: {\"choices\":[null]}\n\n";
    check(&[
        (
            "beats",
            beats.to_owned() + &says("Come ") + beats + &says("in.") + &end(),
            "Come in.[Stop]",
        ),
        (
            "odd",
            odd.to_owned() + &says("Come ") + odd + &says("in.") + &end(),
            "Come in.[Stop]",
        ),
        (
            "a stream in a stream",
            format!("data: {}data: [DONE]\n\n", says("Come in.")),
            "Come in.[Stop]",
        ),
        (
            "no blank behind the colon",
            (says("Come in.") + &end()).replace("data: ", "data:"),
            "Come in.[Stop]",
        ),
        (
            "old completions",
            event(&json!({"choices": [{"text": "Come in.", "finish_reason": null}]})) + &end(),
            "Come in.[Stop]",
        ),
        (
            "numbered from one",
            event(&json!({"choices": [{"index": 1, "delta": {"content": "Come in."}}]})) + &end(),
            "Come in.[Stop]",
        ),
        (
            "a null first",
            delta(&json!({"role": "assistant", "content": null, "refusal": null}))
                + &says("Come in.")
                + &end(),
            "Come in.[Stop]",
        ),
        (
            "an empty role",
            delta(&json!({"role": "", "content": ""})) + &says("Come in.") + &end(),
            "Come in.[Stop]",
        ),
        (
            "controls",
            says("a\u{0}b\u{1b}[31m \u{202e}c") + &end(),
            "a\u{0}b\u{1b}[31m \u{202e}c[Stop]",
        ),
    ])
    .await;
}

#[tokio::test]
async fn reads_json_lines_as_a_reply() {
    let line = |text: &str, reason: Value| {
        json!({"choices": [{"delta": {"content": text}, "finish_reason": reason}]}).to_string()
            + "\n"
    };
    check(&[
        (
            "two lines",
            line("Come ", Value::Null) + &line("in.", json!("stop")),
            "Come in.[Stop]",
        ),
        (
            "blank lines",
            line("Come ", Value::Null) + "\n\r\n" + &line("in.", json!("length")),
            "Come in.[Length]",
        ),
        (
            "an error in the second",
            line("Come ", Value::Null) + "{\"error\":\"broken\"}\n",
            "Come [Server]",
        ),
    ])
    .await;
}

#[tokio::test]
async fn reports_a_reply_of_thoughts_only() {
    let thinks = |field: &str, value: Value| delta(&json!({field: value, "content": ""}));
    for (body, hint) in [
        (
            thinks("reasoning_content", json!("Hm.")) + &end(),
            "Try again",
        ),
        (
            thinks("reasoning", json!({"text": "Hm."})) + &end(),
            "Try again",
        ),
        (
            thinks(
                "reasoning_content",
                json!([{"type": "thinking", "content": "Hm."}]),
            ) + &ends("length")
                + DONE,
            "Raise the length",
        ),
        (
            delta(&json!({"content": [{"type": "thinking", "thinking": []}]})) + &ends("length"),
            "Raise the length",
        ),
    ] {
        let (seen, requests) = run(vec![stream(&body)]).await;
        let error = seen.error.unwrap();
        let words = seen.line.trim_start_matches("(Hm.)");
        assert_eq!((words, requests), ("[Malformed]", 1), "{body}");
        assert!(
            error.message.contains("only thoughts") && error.hint.contains(hint),
            "{error}: {}",
            error.hint
        );
    }
    let whole = json!({"choices": [{"message": {"content": "Come in.", "reasoning_content": "Hm."}, "finish_reason": "stop"}]});
    assert_eq!(
        run(vec![answer("200 OK", "", &whole.to_string())])
            .await
            .0
            .line,
        "(Hm.)Come in.[Stop]"
    );
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn encoded(encoding: &str, body: &[u8]) -> Play {
    let named = if encoding.is_empty() {
        String::new()
    } else {
        format!("Content-Encoding: {encoding}\r\n")
    };
    let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\n{named}\r\n");
    vec![Step::Bytes([head.as_bytes(), body].concat())]
}

#[tokio::test]
async fn decompresses_or_reports_compressed_replies() {
    let text = says("Come ") + &says("in.") + &end();
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    zlib.write_all(text.as_bytes()).unwrap();
    let mut deflate =
        flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    deflate.write_all(text.as_bytes()).unwrap();
    for (encoding, body) in [
        ("gzip", gzip(&text)),
        ("X-GZIP", gzip(&text)),
        ("", gzip(&text)),
        ("deflate", zlib.finish().unwrap()),
        ("deflate", deflate.finish().unwrap()),
        ("identity", text.clone().into_bytes()),
    ] {
        let (seen, _) = run(vec![encoded(encoding, &body)]).await;
        assert_eq!(seen.line, "Come in.[Stop]", "{encoding}: {:?}", seen.error);
    }
    for (encoding, body, words) in [
        ("br", text.as_bytes(), "compressed as \"br\""),
        ("zstd", b"x", "\"zstd\""),
        ("gzip", b"no gzip at all", "decompressed"),
    ] {
        let (seen, requests) = run(vec![encoded(encoding, body)]).await;
        let error = seen.error.unwrap();
        assert_eq!(
            (seen.line.as_str(), requests),
            ("[Malformed]", 1),
            "{encoding}"
        );
        assert!(
            error.message.contains(words) && error.hint.contains("compression"),
            "{error}"
        );
    }
    // The client stops a decompression bomb long before it fills the memory.
    let bomb = gzip(&format!("data: {}", "x".repeat(64 << 20)));
    assert_eq!(
        run(vec![encoded("gzip", &bomb)]).await.0.line,
        "[Malformed]"
    );
}
