use super::*;
use crate::endpoint::stream::chunk::End;

fn text(data: &str) -> Option<String> {
    let chunk = parse(data).unwrap();
    match (chunk.error, chunk.text) {
        (Some(error), _) => Some(format!("error: {}", error.message)),
        (None, said) => said.map(|(TextPiece::Delta(text) | TextPiece::Message(text))| text),
    }
}

#[test]
fn finds_text_and_skips_the_rest() {
    for (data, expected) in [
        (r#"{"choices":[{"delta":{"content":"Hi"}}]}"#, Some("Hi")),
        (
            r#"{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}"#,
            Some("Hi"),
        ),
        (
            r#"{"choices":[{"delta":{"role":"assistant","content":null}}]}"#,
            None,
        ),
        (
            r#"{"choices":[{"delta":{"reasoning_content":"Hm."}}]}"#,
            None,
        ),
        (
            r#"{"choices":[{"delta":{"content":[{"type":"thinking"}]}}]}"#,
            None,
        ),
        (
            r#"{"choices":[{"delta":{"content":[{"type":"text","text":"H"},7,{"type":"text","text":"i"}]}}]}"#,
            Some("Hi"),
        ),
        (
            r#"{"choices":[{"delta":{"content":[{"type":"thinking","text":"Hm."},{"type":"text"}]}}]}"#,
            None,
        ),
        (
            r#"{"choices":[{"delta":{"content":{"type":"text","text":"Hi"}}}]}"#,
            Some("Hi"),
        ),
        (
            r#"{"choices":[{"delta":{"content":["H","i"]}}]}"#,
            Some("Hi"),
        ),
        (r#"{"choices":[{"delta":"Hi"}]}"#, Some("Hi")),
        (r#"{"choices":[{"text":"Hi"}]}"#, Some("Hi")),
        (
            r#"{"choices":[{"delta":null,"message":{"content":"Hi"}}]}"#,
            Some("Hi"),
        ),
        (
            r#"{"choices":[{"delta":[],"logprobs":7,"index":"0"}]}"#,
            None,
        ),
        (
            r#"{"choices":[null,{"delta":{"content":"Hi"}}]}"#,
            Some("Hi"),
        ),
        (
            r#"{"choices":[{"index":1,"delta":{"content":"No"}},{"index":0,"delta":{"content":"Hi"}}]}"#,
            Some("Hi"),
        ),
        (
            r#"{"choices":[{"index":1,"delta":{"content":"Hi"}}]}"#,
            Some("Hi"),
        ),
        (
            r#"{"choices":[],"usage":{"prompt_tokens":12.0},"error":null}"#,
            None,
        ),
        (r#"{"choices":null}"#, None),
        (
            r#"{"choices":[{"delta":{"content":"Hi"},"message":{"content":"Hi"}}]}"#,
            Some("Hi"),
        ),
        (r#"{"message":{"content":"of another API"}}"#, None),
        ("{}", None),
        (r#"{"error":{"message":"no"}}"#, Some("error: no")),
        (r#"{"error":"no"}"#, Some("error: no")),
        (
            r#"{"object":"error","message":"no","code":400}"#,
            Some("error: no"),
        ),
    ] {
        assert_eq!(text(data).as_deref(), expected, "{data}");
    }
    for data in [
        "",
        "42",
        "[1]",
        "{",
        r#"{"choices":7}"#,
        r#"{"choices":[{"delta":{"content":"#,
    ] {
        assert!(parse(data).is_err(), "{data}");
    }
}

#[test]
fn counts_pictures_of_a_reply() {
    for (data, count, whole) in [
        (
            r#"{"choices":[{"delta":{"content":"","images":[{"type":"image_url"},{}]}}]}"#,
            2,
            false,
        ),
        (
            r#"{"choices":[{"message":{"content":"Hi","images":[{}]}}]}"#,
            1,
            true,
        ),
        (
            r#"{"choices":[{"delta":{"content":[{"type":"text","text":"Hi"},{"type":"image_url"}]}}]}"#,
            1,
            false,
        ),
        (
            r#"{"choices":[{"delta":{"content":{"type":"output_image"}}}]}"#,
            1,
            false,
        ),
        (
            r#"{"choices":[{"delta":{"content":"Hi","images":null}}]}"#,
            0,
            false,
        ),
    ] {
        assert_eq!(
            parse(data).unwrap().pictures,
            PictureCount { count, whole },
            "{data}"
        );
    }
}

#[test]
fn odd_side_fields_do_not_end_a_reply() {
    for odd in [
        "null",
        "7",
        "-1e300",
        "\"9\"",
        "\"x\"",
        "true",
        "false",
        "[]",
        "[1]",
        "{}",
        "{\"a\":null}",
        "{\"prompt_tokens\":\"9\"}",
        "{\"prompt_tokens\":{}}",
    ] {
        for field in [
            "usage",
            "timings",
            "prompt_progress",
            "id",
            "created",
            "model",
            "service_tier",
            "system_fingerprint",
        ] {
            let data = format!(
                "{{\"choices\":[{{\"delta\":{{\"role\":{odd},\"content\":\"Hi\"}},\"logprobs\":{odd}}}],\"{field}\":{odd}}}"
            );
            assert_eq!(text(&data).as_deref(), Some("Hi"), "{data}");
            assert_eq!(parse(&data).unwrap().end, None, "{data}");
        }
    }
    let counts = parse(
            r#"{"choices":[],"usage":{"prompt_tokens":"9","completion_tokens":"3","prompt_tokens_details":null}}"#,
        )
        .unwrap();
    assert_eq!(
        counts.usage,
        Some(WireUsage {
            prompt: Some(9.0),
            cached: None,
            generated: Some(3.0)
        })
    );
}

#[test]
fn only_known_reasons_end_a_reply() {
    for (reason, expected) in [
        ("null", None),
        ("\"\"", None),
        ("\"null\"", None),
        ("\" None \"", None),
        ("false", None),
        ("0", None),
        ("[]", None),
        ("{}", None),
        ("\"stop\"", Some(End::Stop)),
        ("\"STOP\"", Some(End::Stop)),
        ("{\"type\":\"eos_token\"}", Some(End::Stop)),
        ("\"MAX_TOKENS\"", Some(End::Length)),
        ("\"content_filter\"", Some(End::Filtered)),
        ("\"error\"", Some(End::Failed)),
        ("\"quokka\"", Some(End::Unknown)),
    ] {
        let data = format!("{{\"choices\":[{{\"delta\":{{}},\"finish_reason\":{reason}}}]}}");
        assert_eq!(parse(&data).unwrap().end, expected, "{reason}");
    }
}
