//! The conformance suite over every API, and what each service receives and lists.

use domain::model::EndpointDialect;
use provider::conformance::{self, Abilities, check, check_abilities};
use provider::{FinishReason, GenerationEvent, ModelPrice, Provider, Usage, probe};
use tokio_util::sync::CancellationToken;

use super::service::{Service, client, config, serve, services};
use crate::endpoint::support::{request, watch};

fn abilities(service: &dyn Service) -> Abilities {
    match service.kind() {
        EndpointDialect::Text => Abilities {
            prefill: true,
            ..Abilities::default()
        },
        EndpointDialect::Gemini => Abilities {
            tools: true,
            pictures: true,
            prefill: false,
            forced_calls: true,
            thoughts: true,
        },
        EndpointDialect::Ollama => Abilities {
            tools: true,
            pictures: true,
            prefill: true,
            forced_calls: false,
            thoughts: true,
        },
        _ => Abilities {
            tools: true,
            pictures: true,
            prefill: true,
            forced_calls: true,
            thoughts: true,
        },
    }
}

#[tokio::test]
async fn every_api_conforms() {
    for service in services() {
        let server = serve(service.clone()).await;
        let client = client(service.as_ref(), server.port);
        check(&client, &request())
            .await
            .unwrap_or_else(|error| panic!("{:?}: {error}", service.kind()));
        let seen = check_abilities(&client, &request(), abilities(service.as_ref())).await;
        seen.unwrap_or_else(|error| panic!("{:?}: {error}", service.kind()));
        if service.kind() == EndpointDialect::Text {
            conformance::forced(&client, &request(), false)
                .await
                .unwrap_or_else(|error| panic!("{error}"));
        }
        assert!(
            server
                .received()
                .iter()
                .all(|received| received.head.contains(&service.key_header()))
        );
        let signature = match service.kind() {
            EndpointDialect::Anthropic => r#""signature":"c2ln""#,
            EndpointDialect::Gemini => r#""thoughtSignature":"c2ln""#,
            _ => continue,
        };
        let sent_back = server
            .received()
            .iter()
            .any(|received| received.body.contains(signature));
        assert!(sent_back, "{:?} gets its thoughts back", service.kind());
    }
}

#[tokio::test]
async fn every_api_reports_its_usage() {
    for service in services() {
        let server = serve(service.clone()).await;
        let seen = watch(
            client(service.as_ref(), server.port).stream(request(), CancellationToken::new()),
        )
        .await;
        let Some(GenerationEvent::Finished {
            usage,
            reason: FinishReason::Stop,
            ..
        }) = seen.last
        else {
            panic!("{:?}: {}", service.kind(), seen.line)
        };
        let (reused, generated) = match service.kind() {
            EndpointDialect::Text | EndpointDialect::Ollama => (None, 5),
            // Thoughts are generated too.
            EndpointDialect::Gemini => (Some(8), 7),
            EndpointDialect::OpenAi | EndpointDialect::Anthropic => (Some(8), 5),
        };
        let evaluated = reused.map(|reused| 20 - reused);
        let expected = Usage {
            prompt: Some(20),
            reused,
            evaluated,
            generated: Some(generated),
        };
        assert_eq!(usage, expected, "{:?}", service.kind());
        let thoughts = if service.kind() == EndpointDialect::Text {
            ""
        } else {
            "(Hm.)"
        };
        assert_eq!(
            seen.line,
            format!("{thoughts}You said: Good evening.[Stop]"),
            "{:?}",
            service.kind()
        );
    }
}

#[tokio::test]
async fn every_api_lists_models_and_context() {
    for service in services() {
        let server = serve(service.clone()).await;
        let found = probe(&config(service.as_ref(), server.port)).await.unwrap();
        let (context, price) = match service.kind() {
            EndpointDialect::Ollama => (None, None),
            EndpointDialect::OpenAi | EndpointDialect::Text => (
                Some(8192),
                Some(ModelPrice {
                    input: 2.0,
                    output: 10.0,
                }),
            ),
            EndpointDialect::Anthropic | EndpointDialect::Gemini => (Some(8192), None),
        };
        assert_eq!(found.models, ["tiny"], "{:?}", service.kind());
        assert_eq!(
            (found.context, found.prices.get("tiny").copied()),
            (context, price),
            "{:?}",
            service.kind()
        );
    }
}

#[tokio::test]
async fn suite_finds_a_missing_ability() {
    let services = services();
    let ollama = services.last().unwrap();
    let server = serve(ollama.clone()).await;
    let client = client(ollama.as_ref(), server.port);
    let wrong = Abilities {
        prefill: false,
        ..Abilities::default()
    };
    let error = check_abilities(&client, &request(), wrong)
        .await
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("expected an unfinished reply"), "{error}");
    let mut silent = request();
    silent.prompt.messages.clear();
    assert!(
        conformance::calls(&provider::FakeProvider::new(), &silent)
            .await
            .is_err()
    );
}
