//! Errors of every API: a class, the address, the likely cause and a hint; retries before the first
//! text only.

use std::sync::Arc;

use provider::{EndpointClient, EndpointConfig, Provider, ProviderErrorKind as Kind, probe};
use tokio_util::sync::CancellationToken;

use super::service::{Service, client, config, serve, services};
use crate::endpoint::support::{FaultServer, KEY, Play, answer, request, stream, timeouts, watch};

async fn seen(service: &Arc<dyn Service>, plays: Vec<Play>) -> (String, String, usize) {
    let server = FaultServer::start(plays).await;
    let seen =
        watch(client(service.as_ref(), server.port).stream(request(), CancellationToken::new()))
            .await;
    let said = seen
        .error
        .map(|error| format!("{} {}", error.message, error.hint))
        .unwrap_or_default();
    (seen.line, said, server.received().len())
}

fn refusal(service: &Arc<dyn Service>, status: &str, message: &str) -> Play {
    let code = status.split(' ').next().unwrap().parse().unwrap();
    answer(
        status,
        "Content-Type: application/json\r\n",
        &service.error(code, message),
    )
}

#[tokio::test]
async fn refusals_have_a_class_and_the_services_reason() {
    for service in services() {
        for (status, message, class, tries) in [
            ("401 Unauthorized", "invalid x-api-key", "[Unauthorized]", 1),
            ("403 Forbidden", "no access", "[Unauthorized]", 1),
            (
                "404 Not Found",
                "model: tiny was not found",
                "[NotFound]",
                1,
            ),
            (
                "400 Bad Request",
                "prompt is too long: 9000 tokens > 4096 maximum",
                "[ContextOverflow]",
                1,
            ),
            ("429 Too Many Requests", "slow down", "~~[RateLimited]", 3),
            ("529 Overloaded", "Overloaded", "~~[Server]", 3),
        ] {
            let play = refusal(&service, status, message);
            let (line, said, requests) = seen(&service, vec![play; 3]).await;
            assert_eq!(
                (line.as_str(), requests),
                (class, tries),
                "{:?} {status}: {said}",
                service.kind()
            );
            assert!(!said.contains(KEY));
        }
    }
}

#[tokio::test]
async fn failure_in_mid_stream_keeps_the_text() {
    for service in services() {
        let (line, said, requests) = seen(&service, vec![stream(service.fails_midway())]).await;
        assert_eq!(
            (line.as_str(), requests),
            ("Good [Server]", 1),
            "{:?}: {said}",
            service.kind()
        );
        assert!(
            said.to_lowercase().contains("overloaded"),
            "{:?}: {said}",
            service.kind()
        );
    }
}

#[tokio::test]
async fn stopped_server_is_named_with_its_port() {
    for service in services() {
        let config = config(service.as_ref(), 1);
        for error in [
            probe(&config).await.unwrap_err(),
            watch(
                EndpointClient::new(config.clone())
                    .unwrap()
                    .stream(request(), CancellationToken::new()),
            )
            .await
            .error
            .unwrap(),
        ] {
            assert_eq!(error.kind, Kind::Unreachable, "{:?}", service.kind());
            assert!(
                error.message.contains("nothing listens on 127.0.0.1:1"),
                "{}",
                error.message
            );
            assert!(
                error.message.contains("http://127.0.0.1:1") && error.hint.contains("port"),
                "{error:?}"
            );
        }
    }
}

#[tokio::test]
async fn web_pages_and_other_json_are_explained() {
    for service in services() {
        let page = answer(
            "200 OK",
            "Content-Type: text/html\r\n",
            "<html>router</html>",
        );
        let (line, said, _) = seen(&service, vec![page]).await;
        assert_eq!(line, "[NotFound]", "{:?}: {said}", service.kind());
        let other = answer("200 OK", "", "{\"hello\":1}");
        let (line, said, _) = seen(&service, vec![other; 3]).await;
        assert!(
            line.ends_with("[Malformed]") || line.ends_with("[Cut]"),
            "{:?}: {line} {said}",
            service.kind()
        );
    }
}

#[tokio::test]
async fn safety_filter_is_named() {
    let services = services();
    let gemini = &services[3];
    let blocked = stream("data: {\"promptFeedback\":{\"blockReason\":\"PROHIBITED_CONTENT\"}}\n\n");
    let (line, said, _) = seen(gemini, vec![blocked]).await;
    assert_eq!(line, "[Filtered]");
    assert!(
        said.contains("content filter") && said.contains("(PROHIBITED_CONTENT)"),
        "{said}"
    );
    let refused = "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"refusal\"}}\n\n";
    let (line, said, _) = seen(&services[2], vec![stream(refused)]).await;
    assert_eq!(line, "[Filtered]");
    assert!(said.contains("(refusal)"), "{said}");
}

#[tokio::test]
async fn refused_prefill_is_learned() {
    let services = services();
    let anthropic = &services[2];
    let refusal = refusal(
        anthropic,
        "400 Bad Request",
        "This model does not support assistant message prefill. The conversation must end with a user message.",
    );
    let server = FaultServer::start(vec![refusal, stream("")]).await;
    let client = client(anthropic.as_ref(), server.port);
    let mut request = request();
    let begun = domain::prompt::PromptMessage {
        role: domain::prompt::PromptRole::Character,
        text: "Well,".into(),
    };
    request.prompt.messages.push(begun);
    request.prompt.continues = true;
    for _ in 0..2 {
        let seen = watch(client.stream(request.clone(), CancellationToken::new())).await;
        assert_eq!(seen.line, "[NoPrefill]");
    }
    assert_eq!(server.received().len(), 1);
    let learned = serde_json::to_string(&client.dialect()).unwrap();
    let again = config(anthropic.as_ref(), server.port)
        .with_dialect(serde_json::from_str(&learned).unwrap());
    assert!(again.dialect().no_prefill);
}

#[tokio::test]
async fn continued_reply_has_one_space() {
    let services = services();
    for (service, begun, expected) in [
        (
            &services[2],
            "Once upon a ",
            "(Hm.)time, a keeper lived[Stop]",
        ),
        (
            &services[2],
            "Once upon a",
            "(Hm.) time, a keeper lived[Stop]",
        ),
        (
            &services[0],
            "Once upon a ",
            "(Hm.) time, a keeper lived[Stop]",
        ),
    ] {
        let server = serve(service.clone()).await;
        let mut request = request();
        let begun = domain::prompt::PromptMessage {
            role: domain::prompt::PromptRole::Character,
            text: begun.into(),
        };
        request.prompt.messages.push(begun);
        request.prompt.continues = true;
        let seen =
            watch(client(service.as_ref(), server.port).stream(request, CancellationToken::new()))
                .await;
        assert_eq!(seen.line, expected, "{:?}", service.kind());
    }
}

#[tokio::test]
async fn unreadable_key_is_refused_before_sending() {
    for service in services() {
        let error = EndpointConfig::new("http://127.0.0.1:1", "m", Some("sk-\u{e9}".into()));
        let error = error
            .and_then(|config| config.with_timeouts(timeouts()).speaking(service.kind()))
            .unwrap_err();
        assert_eq!(error.kind, Kind::BadRequest);
    }
}
