//! Replies with pictures. The text must arrive whole, with a note in place of each picture.

use domain::model::EndpointDialect;
use provider::{EndpointClient, EndpointConfig, Provider};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::support::*;

const NOTE: &str = "[Picture left out: replies hold only text]";

fn event(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn delta(delta: &Value) -> String {
    event(&json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]}))
}

/// A picture above the size of usual events.
fn picture() -> String {
    format!("data:image/png;base64,{}", "A".repeat(3 << 20))
}

#[tokio::test]
async fn picture_becomes_a_note_and_the_text_stays() {
    let image = json!({"type": "image_url", "image_url": {"url": picture()}});
    let of_list = delta(&json!({"content": "", "images": [image]}));
    let of_parts = delta(&json!({"content": [image]}));
    for middle in [of_list, of_parts] {
        let body = says("See: ") + &middle + &says(" Nice?") + &ends("stop") + DONE;
        let (seen, requests) = run(vec![stream(body)]).await;
        assert_eq!(
            (seen.line, requests),
            (format!("See: {NOTE} Nice?[Stop]"), 1)
        );
    }
    let message = json!({"content": "See: ", "images": [image]});
    let whole = json!({"choices": [{"message": message, "finish_reason": "stop"}]}).to_string();
    let (seen, _) = run(vec![answer("200 OK", "", &whole)]).await;
    assert_eq!(seen.line, format!("See: {NOTE}[Stop]"));
    let again = delta(&json!({"content": "See: ", "images": [image]}))
        + &event(&serde_json::from_str(&whole).unwrap());
    let (seen, _) = run(vec![stream(again + DONE)]).await;
    assert_eq!(
        seen.line,
        format!("See: {NOTE}[Stop]"),
        "a repeated picture is one picture"
    );
}

#[tokio::test]
async fn gemini_pictures_become_notes() {
    let part = |part: Value| {
        event(&json!({"candidates": [{"content": {"role": "model", "parts": [part]}}]}))
    };
    let data = "A".repeat(3 << 20);
    let body = part(json!({"text": "See: "}))
        + &part(json!({"inlineData": {"mimeType": "image/png", "data": data}}))
        + &part(json!({"text": " Nice?"}))
        + &event(&json!({"candidates": [{"finishReason": "STOP"}]}));
    let server = FaultServer::start(vec![stream(body)]).await;
    let url = format!("http://127.0.0.1:{}/v1beta", server.port);
    let config = EndpointConfig::new(&url, "tiny", Some(KEY.into()))
        .unwrap()
        .speaking(EndpointDialect::Gemini)
        .unwrap();
    let client = EndpointClient::new(config.with_timeouts(timeouts())).unwrap();
    let seen = watch(client.stream(request(), CancellationToken::new())).await;
    assert_eq!(
        seen.line,
        format!("See: {NOTE} Nice?[Stop]"),
        "{:?}",
        seen.error
    );
}

#[tokio::test]
async fn endless_event_ends_the_reply_with_its_text() {
    let endless = format!("data: {}", "x".repeat(33 << 20));
    let (seen, requests) = run(vec![stream(says("Kept.") + &endless)]).await;
    assert_eq!((seen.line.as_str(), requests), ("Kept.[Malformed]", 1));
}
