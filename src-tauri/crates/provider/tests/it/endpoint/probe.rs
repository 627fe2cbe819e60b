//! Tests of the connection test.

use std::collections::BTreeMap;

use provider::{EndpointConfig, EndpointProbe, ProviderError, ProviderErrorKind, probe};

use super::support::*;

fn json(body: &str) -> Play {
    answer("200 OK", "Content-Type: application/json\r\n", body)
}

async fn probed(plays: Vec<Play>) -> (Result<EndpointProbe, ProviderErrorKind>, Vec<String>) {
    let server = FaultServer::start(plays).await;
    let config = EndpointConfig::new(&server.url(), "tiny", Some(KEY.into()))
        .unwrap()
        .with_timeouts(timeouts());
    let found = probe(&config).await.map_err(|error| {
        assert!(!format!("{error:?}").contains(KEY));
        error.kind
    });
    let asked = |head: &str| {
        head.lines()
            .next()
            .unwrap()
            .trim_end_matches(" HTTP/1.1")
            .to_owned()
    };
    // Another test covers the context lengths in the list.
    let found = found.map(|found| EndpointProbe {
        contexts: BTreeMap::new(),
        ..found
    });
    (
        found,
        server
            .received()
            .iter()
            .map(|received| asked(&received.head))
            .collect(),
    )
}

fn models(names: &[&str], context: Option<u32>) -> Result<EndpointProbe, ProviderErrorKind> {
    Ok(EndpointProbe {
        models: names.iter().map(|&name| name.to_owned()).collect(),
        context,
        ..EndpointProbe::default()
    })
}

#[tokio::test]
async fn lists_models_and_context() {
    let list = r#"{"data":[{"id":"tiny","max_model_len":4096},{"id":"large","max_model_len":9}]}"#;
    assert_eq!(
        probed(vec![json(list)]).await,
        (
            models(&["tiny", "large"], Some(4096)),
            vec!["GET /v1/models".into()]
        )
    );

    let single = r#"{"data":[{"id":"/models/x.gguf","meta":{"n_ctx":1024}}]}"#;
    assert_eq!(
        probed(vec![json(single)]).await.0,
        models(&["/models/x.gguf"], Some(1024))
    );
}

#[tokio::test]
async fn reads_the_context_of_each_listed_model() {
    let list =
        r#"{"data":[{"id":"a","context_length":4096},{"id":"b","max_model_len":9},{"id":"c"}]}"#;
    let server = FaultServer::start(vec![json(list), answer("404 Not Found", "", "")]).await;
    let config = EndpointConfig::new(&server.url(), "", None)
        .unwrap()
        .with_timeouts(timeouts());
    let headers = [("X-Team".to_owned(), "lamps".into())];
    let found = probe(&config.with_headers(headers).unwrap()).await.unwrap();
    assert_eq!(
        found.contexts,
        BTreeMap::from([("a".into(), 4096), ("b".into(), 9)])
    );
    assert!(
        server.received()[0].head.contains("x-team: lamps"),
        "{:?}",
        server.received()[0].head
    );
}

#[tokio::test]
async fn reads_context_from_llama_cpp_props() {
    let props = json(r#"{"default_generation_settings":{"n_ctx":2048}}"#);
    let (found, asked) = probed(vec![json(r#"{"data":[{"id":"a"}]}"#), props]).await;
    assert_eq!(
        (found, asked),
        (
            models(&["a"], Some(2048)),
            vec!["GET /v1/models".into(), "GET /props".into()]
        )
    );

    let without = answer("404 Not Found", "", "");
    assert_eq!(
        probed(vec![json(r#"{"data":[{"id":"a"}]}"#), without])
            .await
            .0,
        models(&["a"], None)
    );
}

#[tokio::test]
async fn requests_one_token_if_there_is_no_list() {
    let missing = answer("404 Not Found", "", "{}");
    let (found, asked) = probed(vec![missing.clone(), healthy()]).await;
    assert_eq!(found, models(&[], None));
    assert_eq!(asked, ["GET /v1/models", "POST /v1/chat/completions"]);
    assert_eq!(
        probed(vec![missing.clone(), missing]).await.0,
        Err(ProviderErrorKind::NotFound)
    );
}

#[tokio::test]
async fn reports_errors_at_once() {
    for (play, kind) in [
        (
            answer("401 Unauthorized", "", "{}"),
            ProviderErrorKind::Unauthorized,
        ),
        (
            answer("200 OK", "", "<html>router</html>"),
            ProviderErrorKind::NotFound,
        ),
        (
            answer("200 OK", "", "It works!"),
            ProviderErrorKind::Malformed,
        ),
        (
            answer("503 Service Unavailable", "", ""),
            ProviderErrorKind::Server,
        ),
        (
            answer("302 Found", "Location: /login\r\n", ""),
            ProviderErrorKind::NotFound,
        ),
        (vec![Step::Reset], ProviderErrorKind::Cut),
    ] {
        let (found, asked) = probed(vec![play]).await;
        assert_eq!((found, asked.len()), (Err(kind), 1));
    }
    let config = EndpointConfig::new("http://127.0.0.1:1/v1", "m", None).unwrap();
    assert_eq!(
        probe(&config).await.unwrap_err().kind,
        ProviderErrorKind::Unreachable
    );
}

/// Returns the error of a probe at `path`. `script` answers each requested path.
async fn refused(
    path: &str,
    script: impl Fn(&str) -> Play + Send + Sync + 'static,
) -> (ProviderError, FaultServer) {
    let server = FaultServer::scripted(move |received, _| {
        script(
            received
                .head
                .lines()
                .next()
                .unwrap()
                .split(' ')
                .nth(1)
                .unwrap(),
        )
    })
    .await;
    let address = format!("http://127.0.0.1:{}{path}", server.port);
    let config = EndpointConfig::new(&address, "tiny", None)
        .unwrap()
        .with_timeouts(timeouts());
    (probe(&config).await.unwrap_err(), server)
}

#[tokio::test]
async fn names_the_address_with_the_missing_version() {
    let elsewhere: [fn() -> Play; 5] = [
        || {
            json(
                r#"{"error":"Unexpected endpoint or method. (GET /models). Returning 200 anyway"}"#,
            )
        },
        || json(r#"{"message":"ok"}"#),
        || answer("404 Not Found", "", r#"{"detail":"Not Found"}"#),
        || answer("200 OK", "", "<html>a page</html>"),
        || json("{}"),
    ];
    for other in elsewhere {
        let (error, server) = refused("", move |path| match path {
            "/v1/models" => json(r#"{"data":[{"id":"tiny"}]}"#),
            _ => other(),
        })
        .await;
        let address = format!("http://127.0.0.1:{}", server.port);
        assert_eq!(error.kind, ProviderErrorKind::NotFound);
        assert_eq!(
            error.message,
            format!("there is no API at {address}, but there is one at {address}/v1")
        );
        assert_eq!(error.hint, format!("Use the address {address}/v1."));
    }
}

#[tokio::test]
async fn refuses_other_json_than_a_model_list() {
    for body in [
        r#"{"error":"Unexpected endpoint"}"#,
        r#"{"data":7}"#,
        r#"{"status":"ok"}"#,
        r#"{"data":[1,2]}"#,
        r#"{"detail":"Not here"}"#,
        "[[]]",
        "7",
    ] {
        let (found, _) = probed(vec![json(body)]).await;
        assert!(found.is_err(), "{body}: {found:?}");
    }
}

#[tokio::test]
async fn accepts_an_empty_list() {
    for body in [
        r#"{"object":"list","data":null}"#,
        r#"{"data":[]}"#,
        r#"{"object":"list"}"#,
        "[]",
        r#"{"models":null}"#,
    ] {
        assert_eq!(
            probed(vec![json(body)]).await.0,
            models(&[], None),
            "{body}"
        );
    }
    assert_eq!(
        probed(vec![json(r#"{"models":[{"model":"a"},{"name":"b"}]}"#)])
            .await
            .0,
        models(&["a", "b"], None)
    );
    assert_eq!(
        probed(vec![json(r#"["a","b"]"#)]).await.0,
        models(&["a", "b"], None)
    );
}

#[tokio::test]
async fn reply_at_a_wrong_path_names_the_right_one() {
    let body = r#"{"error":"Unexpected endpoint or method. (POST /chat/completions). Returning 200 anyway"}"#;
    let server = FaultServer::start(vec![json(body)]).await;
    let address = format!("http://127.0.0.1:{}", server.port);
    let error = watch(start(&address, timeouts())).await.error.unwrap();
    assert_eq!(error.kind, ProviderErrorKind::NotFound);
    assert!(
        error.hint.contains(&format!("{address}/v1")),
        "{}",
        error.hint
    );
}
