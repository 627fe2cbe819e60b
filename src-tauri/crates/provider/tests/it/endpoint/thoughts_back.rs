//! Services that want the thoughts of the model back with its replies.

use domain::prompt::{PromptMessage, PromptRole, PromptToolRound};
use domain::{SignedThought, ToolArguments, ToolCall, ToolResult, ToolRound};
use provider::endpoint::ThoughtsBack;
use provider::{GenerationEvent, Provider, Request};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::support::*;

const REFUSAL: &str = r#"{"error":{"message":"The `reasoning_content` in the thinking mode must be passed back to the API.","type":"invalid_request_error"}}"#;

/// A service that refuses replies of the model without thoughts: those with calls, or `all`.
async fn service(all: bool) -> FaultServer {
    FaultServer::answering(move |body| {
        let lacks = |message: &Value| {
            let calls = message["tool_calls"]
                .as_array()
                .is_some_and(|calls| !calls.is_empty());
            let thoughts = message["reasoning_content"].as_str().unwrap_or_default();
            message["role"] == "assistant" && (all || calls) && thoughts.trim().is_empty()
        };
        if body["messages"].as_array().unwrap().iter().any(lacks) {
            return answer(
                "400 Bad Request",
                "Content-Type: application/json\r\n",
                REFUSAL,
            );
        }
        healthy()
    })
    .await
}

fn round(before: usize, thoughts: Vec<SignedThought>) -> PromptToolRound {
    let call = ToolCall {
        id: Some("c".into()),
        name: "dice".into(),
        arguments: ToolArguments::read("{}"),
    };
    let result = ToolResult {
        call_id: "c".into(),
        text: "7".into(),
        error: false,
    };
    PromptToolRound {
        before,
        round: ToolRound {
            text: String::new(),
            calls: vec![call],
            results: vec![result],
            thoughts,
        },
    }
}

fn chat() -> Request {
    let mut request = request();
    let message = |role, text: &str| PromptMessage {
        role,
        text: text.to_owned(),
    };
    request
        .prompt
        .messages
        .push(message(PromptRole::Character, "You rolled 7."));
    request
        .prompt
        .messages
        .push(message(PromptRole::User, "Again."));
    let thoughts = vec![SignedThought::Plain {
        text: "I should roll.".into(),
    }];
    request.prompt.tools.rounds = vec![round(1, Vec::new()), round(3, thoughts)];
    request
}

/// The thoughts that were sent with each reply of the model.
fn sent(body: &Value) -> Vec<Option<&str>> {
    let messages = body["messages"].as_array().unwrap().iter();
    messages
        .filter(|one| one["role"] == "assistant")
        .map(|one| one["reasoning_content"].as_str())
        .collect()
}

#[tokio::test]
async fn thoughts_go_back_with_their_calls_after_a_refusal() {
    let server = service(false).await;
    let client = client(&server.url(), timeouts());
    for requests in [2, 3] {
        let seen = watch(client.stream(chat(), CancellationToken::new())).await;
        assert_eq!(
            (seen.line.as_str(), server.bodies().len()),
            ("Hello there.[Stop]", requests)
        );
    }
    let bodies = server.bodies();
    assert_eq!(sent(&bodies[0]), [None, None, None]);
    let back = [Some("(not recorded)"), None, Some("I should roll.")];
    assert_eq!(
        (sent(&bodies[1]), sent(&bodies[2])),
        (back.to_vec(), back.to_vec())
    );
    assert_eq!(client.dialect().thoughts_back, ThoughtsBack::WithCalls);
}

#[tokio::test]
async fn every_reply_has_thoughts_after_a_second_refusal() {
    let server = service(true).await;
    let client = client(&server.url(), timeouts());
    let seen = watch(client.stream(chat(), CancellationToken::new())).await;
    assert_eq!(
        (seen.line.as_str(), server.bodies().len()),
        ("Hello there.[Stop]", 3)
    );
    let plain = Some("(not recorded)");
    assert_eq!(
        sent(&server.bodies()[2]),
        [plain, plain, Some("I should roll.")]
    );
    assert_eq!(client.dialect().thoughts_back, ThoughtsBack::Always);
}

#[tokio::test]
async fn thoughts_of_a_reply_with_calls_are_kept() {
    let delta = |delta: Value| {
        format!(
            "data: {}\n\n",
            json!({"choices": [{"index": 0, "delta": delta}]})
        )
    };
    let call = json!([{"index": 0, "id": "d", "function": {"name": "dice", "arguments": "{}"}}]);
    let body = delta(json!({"reasoning_content": "I should "}))
        + &delta(json!({"reasoning_content": "roll."}))
        + &delta(json!({"tool_calls": call}))
        + &ends("tool_calls")
        + DONE;
    let server = FaultServer::start(vec![stream(body)]).await;
    let mut events = client(&server.url(), timeouts()).stream(request(), CancellationToken::new());
    let mut kept = Vec::new();
    while let Some(event) = futures_util::StreamExt::next(&mut events).await {
        if let Ok(GenerationEvent::SignedThought(thought)) = event {
            kept.push(thought);
        }
    }
    assert_eq!(
        kept,
        [SignedThought::Plain {
            text: "I should roll.".into()
        }]
    );
}
