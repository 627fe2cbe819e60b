use serde_json::json;

use super::*;

fn named(error: &EndpointError) -> Vec<&str> {
    error.refused.iter().map(|one| one.name.as_str()).collect()
}

#[test]
fn reads_known_error_formats() {
    let llama = r#"{"error":{"code":400,"message":"request (3031 tokens) exceeds the available context size (1024
            tokens)","type":"exceed_context_size_error","n_prompt_tokens":3031,"n_ctx":1024}}"#;
    let error = EndpointError::read(&llama.replace('\n', " "));
    assert!(error.is_overflow());
    assert_eq!(
        (error.needed, error.limit, error.status),
        (Some(3031), Some(1024), Some(400))
    );

    let fastapi = EndpointError::read(
        r#"{"detail":[{"loc":["body"],"msg":"Field required","input":{"messages":"a"}}]}"#,
    );
    assert_eq!(
        (fastapi.message.as_str(), named(&fastapi).len()),
        ("Field required", 0)
    );
    assert_eq!(EndpointError::read("<html>Bad gateway</html>").message, "");
    assert_eq!(
        EndpointError::read("upstream gone").message,
        "upstream gone"
    );
    assert!(EndpointError::read(r#"{"error":{"code":"context_length_exceeded"}}"#).is_overflow());
}

#[test]
fn finds_refused_parameters_in_every_format() {
    let extra = |name: &str| json!({"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted", "input": 1});
    let list = json!([extra("top_k"), extra("min_p")]);
    for body in [
        json!({"detail": list}),
        json!({"object": "error", "message": {"detail": list}, "type": "invalid_request_error"}),
        json!({"object": "Error", "detail": list, "message": list, "code": 3001}),
        json!({"object": "error", "message": json!({"detail": list}).to_string()}),
        json!({"error": {"message": "Provider returned error", "metadata": {"raw": json!({"detail": list}).to_string()}}}),
        json!({"errors": {"top_k": ["Unknown field."], "min_p": ["Unknown field."]}}),
        json!({"error": {"message": "unsupported parameters", "fields": ["top_k", "min_p"]}}),
        json!({"message": "Validation failed", "errors": [
                {"field": "top_k", "message": "not allowed"}, {"path": "/min_p", "message": "not allowed"}]}),
        json!([{"instancePath": "", "params": {"additionalProperty": "top_k"}, "message": "must NOT have additional properties"},
                {"instancePath": "/min_p", "message": "must be a string"}]),
    ] {
        let error = EndpointError::of(&body);
        assert_eq!(named(&error), ["top_k", "min_p"], "{body}");
        assert!(error.message.contains("top_k"), "{body}: {}", error.message);
    }
}

#[test]
fn detects_failures_with_a_success_status() {
    for (body, expected) in [
        (json!({"error": "no"}), Some("no")),
        (json!({"error": {"message": "no"}}), Some("no")),
        (
            json!({"error": {"message": {"text": 1}, "code": 500}}),
            Some(""),
        ),
        (
            json!({"object": "error", "message": "no", "code": 400}),
            Some("no"),
        ),
        (
            json!({"choices": null, "error_type": "Bad", "error_message": "no"}),
            Some("no"),
        ),
        (
            json!({"errors": [{"message": "no"}, {"msg": "never"}]}),
            Some("no; never"),
        ),
        (json!({"errors": {"message": "no"}}), Some("no")),
        (json!({"detail": "no"}), Some("no")),
        (json!({"detail": [{"msg": "no"}]}), Some("no")),
        (json!({"status": {"code": 3, "message": "no"}}), Some("no")),
        (
            json!({"status": {"error_code": 3, "error_msg": "no"}, "message": "no"}),
            Some("no"),
        ),
        (json!({"code": 1001, "msg": "no"}), Some("no")),
        (json!({"code": "InvalidKey", "message": "no"}), Some("no")),
        (json!({"success": false, "msg": "no"}), Some("no")),
        (
            json!({"base_resp": {"status_code": 1004, "status_msg": "no"}}),
            Some("no"),
        ),
        (
            json!({"choices": [{"error": {"code": 502, "message": "no"}}]}),
            Some("no"),
        ),
        (
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "no"}}),
            Some("no"),
        ),
        (json!({"error": ""}), None),
        (json!({"error": {}}), None),
        (json!({"error": false}), None),
        (json!({"error": []}), None),
        (json!({"error": "null"}), None),
        (json!({"error": {"message": "", "code": 0}}), None),
        (json!({"error": {"code": 200, "message": "Success"}}), None),
        (json!({"code": 0, "msg": "ok"}), None),
        (json!({"status": "completed"}), None),
        (
            json!({"errors": [], "detail": null, "status": {"code": 0}}),
            None,
        ),
        (
            json!({"base_resp": {"status_code": 0, "status_msg": ""}}),
            None,
        ),
        (json!({"type": "ping"}), None),
        (json!([1]), None),
    ] {
        let found = EndpointError::within(&body, false).map(|error| error.message);
        assert_eq!(found.as_deref(), expected, "{body}");
    }
    let beside = json!({"choices": [{}], "message": "hello", "detail": "x", "code": 7});
    assert_eq!(EndpointError::within(&beside, true), None);
}

#[test]
fn detects_context_overflow_by_message() {
    for (message, expected) in [
        (
            "This request has 9000 input tokens, which is more than the 4096 that this deployment allows.",
            true,
        ),
        ("the prompt has too many tokens", true),
        (
            "max_tokens is too large: 9000 is more than the model's prompt takes",
            false,
        ),
        ("Rate limit: input tokens per minute exceeded", false),
        ("messages must not be empty", false),
    ] {
        let error = EndpointError {
            message: message.to_owned(),
            ..EndpointError::default()
        };
        assert_eq!(error.is_overflow(), expected, "{message}");
    }
}
