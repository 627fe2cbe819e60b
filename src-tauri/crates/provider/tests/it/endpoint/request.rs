//! Request contents, and how the client learns refusals.

use domain::prompt::{PromptMessage, PromptRole};
use provider::{FinishReason, GenerationEvent, Provider, Usage, conformance};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::support::*;

#[tokio::test]
async fn sends_key_and_prompt() {
    let server = FaultServer::start(vec![healthy()]).await;
    let mut request = request();
    let said = |role, text: &str| PromptMessage {
        role,
        text: text.to_owned(),
    };
    request
        .prompt
        .messages
        .insert(0, said(PromptRole::System, "You are Mira."));
    request
        .prompt
        .messages
        .push(said(PromptRole::Character, "Well, I"));
    request.prompt.continues = true;
    request.prompt.stop = vec!["\nUser:".to_owned()];
    watch(client(&server.url(), timeouts()).stream(request, CancellationToken::new())).await;

    let received = server.received().remove(0);
    assert!(
        received
            .head
            .starts_with("POST /v1/chat/completions HTTP/1.1\r\n"),
        "{}",
        received.head
    );
    assert!(
        received
            .head
            .contains(&format!("authorization: Bearer {KEY}")),
        "{}",
        received.head
    );
    let body: Value = serde_json::from_str(&received.body).unwrap();
    assert_eq!(
        body["messages"],
        json!([
            {"role": "system", "content": "You are Mira."},
            {"role": "user", "content": "Good evening."},
            {"role": "assistant", "content": "Well, I"},
        ])
    );
    assert_eq!(
        (&body["model"], &body["stream"], &body["stop"]),
        (&json!("tiny"), &json!(true), &json!(["\nUser:"]))
    );
    assert_eq!(body["continue_final_message"], json!(true));
}

#[tokio::test]
async fn omits_refused_parameters_from_then_on() {
    let refusal = |message: &str| {
        let body =
            json!({"error": {"message": message, "type": "invalid_request_error"}}).to_string();
        answer("400 Bad Request", "", &body)
    };
    let server = FaultServer::start(vec![
        refusal("Unrecognized request argument supplied: min_p"),
        refusal("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        healthy(),
        healthy(),
    ])
    .await;
    let client = client(&server.url(), timeouts());
    for _ in 0..2 {
        let seen = watch(client.stream(request(), CancellationToken::new())).await;
        assert_eq!(
            seen.line, "Hello there.[Stop]",
            "adapting does not use up a retry"
        );
    }
    let sent: Vec<Value> = server
        .received()
        .iter()
        .map(|received| serde_json::from_str(&received.body).unwrap())
        .collect();
    let has = |name: &str| {
        sent.iter()
            .map(|body| body.get(name).is_some())
            .collect::<Vec<_>>()
    };
    assert_eq!(has("min_p"), [true, false, false, false]);
    assert_eq!(
        has("top_k"),
        [true, true, true, true],
        "a refusal concerns only its parameter"
    );
    assert_eq!(has("max_tokens"), [true, true, false, false]);
    assert_eq!(has("max_completion_tokens"), [false, false, true, true]);
}

#[tokio::test]
async fn reports_missing_prefill_support_before_sending() {
    for refusal in [
        "This model does not support assistant message prefill. The conversation must end with a user message.",
        "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
        "Unrecognized request argument supplied: top_k",
    ] {
        let body = json!({"error": {"message": refusal}}).to_string();
        let server =
            FaultServer::start(vec![answer("400 Bad Request", "", &body), healthy()]).await;
        let client = client(&server.url(), timeouts());
        let mut request = request();
        request.prompt.messages.push(PromptMessage {
            role: PromptRole::Character,
            text: "Well, I".to_owned(),
        });
        request.prompt.continues = true;
        for _ in 0..2 {
            let seen = watch(client.stream(request.clone(), CancellationToken::new())).await;
            assert_eq!(seen.line, "[NoPrefill]", "{refusal}");
        }
        assert_eq!(server.received().len(), 1, "{refusal}");
    }
}

#[tokio::test]
async fn gives_up_if_a_refusal_repeats() {
    let body = json!({"error": {"message": "unknown parameter: top_k"}}).to_string();
    let stubborn = answer("400 Bad Request", "", &body);
    let (seen, requests) = run(vec![stubborn; 5]).await;
    assert_eq!((seen.line.as_str(), requests), ("[BadRequest]", 2));
}

#[tokio::test]
async fn client_conforms() {
    let usage = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2,\
                 \"prompt_tokens_details\":{\"cached_tokens\":4}}}\n\n";
    let play = stream(says("Hello ") + &says("there.") + &ends("stop") + usage + DONE);
    let server = FaultServer::start(vec![play; 4]).await;
    conformance::check(&client(&server.url(), timeouts()), &request())
        .await
        .unwrap();
    assert_eq!(
        server.received().len(),
        3,
        "a request cancelled before its start is not sent"
    );
}

async fn usage(tail: &str) -> (Usage, f64, f64) {
    let (seen, _) = run(vec![stream(says("Hi.") + &ends("stop") + tail + DONE)]).await;
    let Some(GenerationEvent::Finished {
        usage,
        timings,
        reason: FinishReason::Stop,
    }) = seen.last
    else {
        panic!("{:?}", seen.last)
    };
    (usage, timings.prefill_ms, timings.decode_ms)
}

#[tokio::test]
async fn reports_the_usage_of_the_endpoint() {
    let openai = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":5,\
                  \"prompt_tokens_details\":{\"cached_tokens\":90}}}\n\n";
    let expected = Usage {
        prompt: Some(100),
        reused: Some(90),
        evaluated: Some(10),
        generated: Some(5),
    };
    assert_eq!(usage(openai).await.0, expected);

    let bare =
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":5}}\n\n";
    let expected = Usage {
        prompt: Some(100),
        reused: None,
        evaluated: None,
        generated: Some(5),
    };
    assert_eq!(usage(bare).await.0, expected);

    let llama = "data: {\"choices\":[],\"timings\":{\"cache_n\":236,\"prompt_n\":1,\"prompt_ms\":30.9,\
                 \"predicted_n\":35,\"predicted_ms\":661.1}}\n\n";
    let expected = Usage {
        prompt: Some(237),
        reused: Some(236),
        evaluated: Some(1),
        generated: Some(35),
    };
    assert_eq!(usage(llama).await, (expected, 30.9, 661.1));

    let wild = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":-1e300,\"completion_tokens\":1e300}}\n\n";
    let expected = Usage {
        prompt: Some(0),
        reused: None,
        evaluated: None,
        generated: Some(u32::MAX),
    };
    assert_eq!(usage(wild).await.0, expected);

    assert_eq!(usage("").await.0, Usage::default());
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let thief = FaultServer::start(vec![healthy()]).await;
    let location = format!("Location: {}/chat/completions\r\n", thief.url());
    for status in [
        "301 Moved Permanently",
        "302 Found",
        "307 Temporary Redirect",
        "308 Permanent Redirect",
    ] {
        let (seen, requests) = run(vec![answer(status, &location, "")]).await;
        assert_eq!(
            (seen.line.as_str(), requests),
            ("[NotFound]", 1),
            "{status}"
        );
        assert!(seen.error.unwrap().message.contains(&thief.url()));
    }
    assert_eq!(thief.received().len(), 0);
}
