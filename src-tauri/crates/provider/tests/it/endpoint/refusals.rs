//! Endpoints that refuse part of a request, each with its own error message. They accept the next
//! request, and the first request of each later client that reuses the dialect.

use domain::prompt::{PromptMessage, PromptRole};
use domain::sampling::SamplerOptions;
use provider::{EndpointClient, EndpointConfig, Provider, Request};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::support::*;

fn json_answer(status: &str, body: &Value) -> Play {
    answer(
        status,
        "Content-Type: application/json\r\n",
        &body.to_string(),
    )
}

async fn ask(server: &FaultServer, request: &Request) -> (Seen, EndpointClient) {
    let client = client(&server.url(), timeouts());
    (
        watch(client.stream(request.clone(), CancellationToken::new())).await,
        client,
    )
}

/// Asks twice: with a new client, and with one that reuses the dialect of the first.
async fn learned(server: &FaultServer, request: &Request, most: usize) -> Value {
    let (seen, first) = ask(server, request).await;
    assert_eq!(seen.line, "Hello there.[Stop]", "{:?}", seen.error);
    let asked = server.received().len();
    assert!(asked <= most, "{asked} requests");
    let kept: provider::LearnedDialect =
        serde_json::from_str(&serde_json::to_string(&first.dialect()).unwrap()).unwrap();
    let config = EndpointConfig::new(&server.url(), "tiny", None)
        .unwrap()
        .with_timeouts(timeouts())
        .with_dialect(kept);
    let next = EndpointClient::new(config).unwrap();
    let seen = watch(next.stream(request.clone(), CancellationToken::new())).await;
    assert_eq!(
        (seen.line.as_str(), server.received().len()),
        ("Hello there.[Stop]", asked + 1),
        "the refusal is remembered"
    );
    server.bodies().pop().unwrap()
}

const KNOWN: [&str; 10] = [
    "model",
    "messages",
    "stream",
    "temperature",
    "top_p",
    "max_tokens",
    "stop",
    "presence_penalty",
    "frequency_penalty",
    "response_format",
];

fn complaints(body: &Value) -> Vec<Value> {
    let unknown = body
        .as_object()
        .unwrap()
        .keys()
        .filter(|key| !KNOWN.contains(&key.as_str()));
    unknown
        .map(|key| json!({"type": "extra_forbidden", "loc": ["body", key], "msg": "Extra inputs are not permitted", "input": body[key]}))
        .collect()
}

#[tokio::test]
async fn learns_a_list_of_unknown_fields_at_once() {
    type Shape = fn(Vec<Value>) -> Value;
    let shapes: [(&str, Shape); 8] = [
        ("detail", |list| json!({"detail": list})),
        (
            "message.detail",
            |list| json!({"object": "error", "message": {"detail": list}, "type": "invalid_request_error"}),
        ),
        (
            "both as lists",
            |list| json!({"object": "Error", "detail": list, "message": list, "code": 3001}),
        ),
        (
            "as text",
            |list| json!({"object": "error", "message": json!({"detail": list}).to_string(), "code": "1000"}),
        ),
        ("as a list alone", |list| json!(list)),
        (
            "in error",
            |list| json!({"error": {"message": "invalid", "details": list}}),
        ),
        ("as a map", |list| {
            let fields = list.iter().map(|one| {
                (
                    one["loc"][1].as_str().unwrap().to_owned(),
                    json!(["Unknown field."]),
                )
            });
            json!({"message": "Validation failed", "errors": Value::Object(fields.collect())})
        }),
        ("by field", |list| {
            let fields: Vec<Value> = list
                .iter()
                .map(|one| json!({"field": one["loc"][1], "message": "is not allowed"}))
                .collect();
            json!({"errors": fields})
        }),
    ];
    for (name, shape) in shapes {
        for status in ["422 Unprocessable Entity", "400 Bad Request"] {
            let server = FaultServer::answering(move |body| match complaints(body) {
                list if list.is_empty() => healthy(),
                list => json_answer(status, &shape(list)),
            })
            .await;
            let sent = learned(&server, &request(), 2).await;
            assert!(
                sent.get("top_k").is_none() && sent.get("seed").is_none(),
                "{name}: {sent}"
            );
            assert!(
                sent.get("temperature").is_some(),
                "{name}: accepted parameters are sent"
            );
        }
    }
}

#[tokio::test]
async fn learns_unknown_fields_one_by_one() {
    for words in [
        "Unrecognized request argument supplied: ",
        "Unknown parameter: ",
        "unexpected keyword argument ",
    ] {
        let server = FaultServer::answering(move |body| match complaints(body).first() {
            None => healthy(),
            Some(one) => {
                let message = format!("{words}'{}'", one["loc"][1].as_str().unwrap());
                json_answer(
                    "400 Bad Request",
                    &json!({"error": {"message": message, "type": "invalid_request_error"}}),
                )
            }
        })
        .await;
        learned(&server, &request(), 6).await;
    }
}

#[tokio::test]
async fn omits_only_the_refused_value() {
    let server = FaultServer::answering(|body| match body.get("top_k") {
        None => healthy(),
        Some(_) => json_answer(
            "400 Bad Request",
            &json!({"object": "error", "message": "top_k must be -1 (disable), or at least 1, got 0.", "type": "BadRequestError", "code": 400}),
        ),
    })
    .await;
    let sent = learned(&server, &request(), 2).await;
    assert!(sent.get("min_p").is_some());
    let mut off = request();
    off.sampling = SamplerOptions {
        top_k: Some(0),
        ..SamplerOptions::default()
    }
    .resolve(1);
    let (seen, _) = ask(&server, &off).await;
    assert_eq!(
        (seen.line.as_str(), server.received().len()),
        ("Hello there.[Stop]", 4),
        "off is not sent in the first place"
    );
}

#[tokio::test]
async fn learns_from_a_refusal_with_status_200() {
    let server = FaultServer::answering(|body| match body.get("top_k") {
        None => healthy(),
        Some(_) => json_answer(
            "200 OK",
            &json!({"error": {"message": "unsupported parameter: top_k", "code": 400}}),
        ),
    })
    .await;
    learned(&server, &request(), 2).await;
}

#[tokio::test]
async fn final_refusal_names_the_field() {
    let body = json!({"detail": [{"type": "less_than", "loc": ["body", "temperature"], "msg": "Input should be less than 1"}]});
    let (seen, requests) = run(vec![json_answer("422 Unprocessable Entity", &body)]).await;
    assert_eq!((seen.line.as_str(), requests), ("[BadRequest]", 1));
    assert!(
        seen.error
            .unwrap()
            .message
            .contains("temperature: Input should be less than 1")
    );
}

/// A chat with a greeting, a late system message and adjacent messages of one role.
fn roleplay() -> Request {
    use PromptRole::{Character, System, User};
    let said = [
        (System, "Card."),
        (Character, "Evening."),
        (User, "Hi."),
        (User, "You?"),
        (Character, "I."),
        (User, "Oh."),
        (System, "Brief."),
    ];
    let mut request = request();
    request.prompt.messages = said
        .iter()
        .map(|&(role, text)| PromptMessage {
            role,
            text: text.to_owned(),
        })
        .collect();
    request
}

/// Returns the error that a chat template reports for the order of `body`'s messages.
fn order_error(body: &Value) -> Option<&'static str> {
    let roles: Vec<&str> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["role"].as_str().unwrap())
        .collect();
    let rest = roles.strip_prefix(&["system"]).unwrap_or(&roles);
    if rest.contains(&"system") {
        return Some("System message must be at the beginning.");
    }
    if rest.first() != Some(&"user") {
        return Some(
            "After the optional system message, conversation roles must alternate user/assistant/user/assistant/...",
        );
    }
    rest.windows(2)
        .any(|pair| pair[0] == pair[1])
        .then_some("Conversation roles must alternate user/assistant/...")
}

#[tokio::test]
async fn adapts_to_strict_roles_after_one_refusal() {
    for status in ["400 Bad Request", "500 Internal Server Error"] {
        let server = FaultServer::answering(move |body| match order_error(body) {
            None => healthy(),
            Some(message) => json_answer(status, &json!({"error": {"message": message}})),
        })
        .await;
        let sent = learned(&server, &roleplay(), 2).await;
        assert_eq!(
            sent["messages"][0],
            json!({"role": "system", "content": "Card."})
        );
        assert_eq!(
            sent["messages"].as_array().unwrap().last().unwrap()["content"],
            "Oh.\n\nBrief."
        );
    }
}

#[tokio::test]
async fn adapts_to_endpoints_without_system_messages() {
    for message in [
        "Only user and assistant roles are supported!",
        "System role not supported",
        "roles must alternate",
    ] {
        let server = FaultServer::answering(move |body| {
            let system = body["messages"]
                .as_array()
                .unwrap()
                .iter()
                .any(|one| one["role"] == "system");
            match (system, order_error(body)) {
                (false, None) => healthy(),
                (true, _) => {
                    json_answer("400 Bad Request", &json!({"error": {"message": message}}))
                }
                (false, Some(message)) => {
                    json_answer("400 Bad Request", &json!({"error": {"message": message}}))
                }
            }
        })
        .await;
        let sent = learned(&server, &roleplay(), 3).await;
        assert_eq!(
            sent["messages"][0],
            json!({"role": "user", "content": "Card."}),
            "{message}"
        );
    }
}

#[tokio::test]
async fn never_sends_blank_messages() {
    let server = FaultServer::start(vec![healthy()]).await;
    let mut request = roleplay();
    request.prompt.messages.insert(
        3,
        PromptMessage {
            role: PromptRole::Character,
            text: " \n".to_owned(),
        },
    );
    ask(&server, &request).await;
    let sent = server.bodies().remove(0);
    assert!(
        sent["messages"]
            .as_array()
            .unwrap()
            .iter()
            .all(|one| !one["content"].as_str().unwrap().trim().is_empty())
    );
}

#[tokio::test]
async fn applies_stop_texts_that_the_endpoint_ignores() {
    let mut request = request();
    request.prompt.stop = vec!["\nTom:".to_owned()];
    for (pieces, line) in [
        (&["Come in.\nTom: ", "Thanks!"][..], "Come in.[Stop]"),
        (&["Come in.\n", "To", "m: Thanks", "!"], "Come in.[Stop]"),
        (
            &["Come in.<|im_", "end|>\n<|im_start|>user\nThanks"],
            "Come in.[Stop]",
        ),
        (&["Come in.", "</s>"], "Come in.[Stop]"),
        (&["Come in.\nTo", "morrow."], "Come in.\nTomorrow.[Stop]"),
        (&["Come in.\nTo"], "Come in.\nTo[Stop]"),
    ] {
        let text: String = pieces.iter().map(|piece| says(piece)).collect();
        let server = FaultServer::start(vec![stream(text + &ends("stop") + DONE)]).await;
        assert_eq!(ask(&server, &request).await.0.line, line, "{pieces:?}");
    }
}

#[tokio::test]
async fn disconnects_an_endless_reply_at_a_stop_text() {
    let endless = [
        stream(says("Come in.") + &says("\nTom: a")),
        vec![Step::UntilHungUp],
    ]
    .concat();
    let server = FaultServer::start(vec![endless]).await;
    let mut request = request();
    request.prompt.stop = vec!["\nTom:".to_owned()];
    assert_eq!(ask(&server, &request).await.0.line, "Come in.[Stop]");
    server.client_hung_up().await;
}

#[tokio::test]
async fn drops_an_echoed_beginning() {
    let mut request = request();
    request.prompt.messages.push(PromptMessage {
        role: PromptRole::Character,
        text: "Come in. ".to_owned(),
    });
    request.prompt.continues = true;
    for (pieces, line) in [
        (&["Come in. and went on."][..], " and went on.[Stop]"),
        (
            &["Co", "me in", ".", " and went on."],
            " and went on.[Stop]",
        ),
        (&["Come in.Come in. and went on."], " and went on.[Stop]"),
        (&[" and went on."], " and went on.[Stop]"),
        (&["Come", " back."], "Come back.[Stop]"),
    ] {
        let text: String = pieces.iter().map(|piece| says(piece)).collect();
        let server = FaultServer::start(vec![stream(text + &ends("stop") + DONE)]).await;
        assert_eq!(ask(&server, &request).await.0.line, line, "{pieces:?}");
    }
}
