use super::*;

fn config(url: &str) -> EndpointConfig {
    EndpointConfig::new(url, "m", None).unwrap()
}

#[test]
fn cleans_up_a_pasted_address() {
    for (typed, call) in [
        ("127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1/models"),
        (
            "  http://localhost:1234/v1/ ",
            "http://localhost:1234/v1/models",
        ),
        (
            "https://api.example.com/v1/chat/completions",
            "https://api.example.com/v1/models",
        ),
        (
            "https://api.example.com/v1/models",
            "https://api.example.com/v1/models",
        ),
        (
            "https://api.example.com/v1/v1/",
            "https://api.example.com/v1/models",
        ),
        ("http://h/v1/chat/completions/", "http://h/v1/models"),
        ("http://h//v1//", "http://h/v1/models"),
        ("http://h/v1/completions", "http://h/v1/models"),
        (
            "http://h/nested/prefix/v1/models/",
            "http://h/nested/prefix/v1/models",
        ),
        ("\u{200b}“http://h/v1”", "http://h/v1/models"),
        ("http://box.lan", "http://box.lan/models"),
        (
            "https://host.example/openai?api-version=2",
            "https://host.example/openai/models?api-version=2",
        ),
    ] {
        assert_eq!(config(typed).call(&["models"]).as_str(), call, "{typed}");
    }
}

#[test]
fn each_api_gets_its_address_and_key_header() {
    use EndpointDialect::{Anthropic, Gemini, Ollama, Text};
    for (typed, kind, models) in [
        (
            "https://api.anthropic.com",
            Anthropic,
            "https://api.anthropic.com/v1/models?limit=1000",
        ),
        (
            "https://api.anthropic.com/v1/messages",
            Anthropic,
            "https://api.anthropic.com/v1/models?limit=1000",
        ),
        (
            "https://g.example",
            Gemini,
            "https://g.example/v1beta/models?pageSize=1000",
        ),
        (
            "https://g.example/v1beta/models/x:streamGenerateContent",
            Gemini,
            "https://g.example/v1beta/models?pageSize=1000",
        ),
        (
            "http://127.0.0.1:11434/v1",
            Ollama,
            "http://127.0.0.1:11434/api/tags",
        ),
        (
            "127.0.0.1:11434/api/chat",
            Ollama,
            "http://127.0.0.1:11434/api/tags",
        ),
        ("http://box/ollama/", Ollama, "http://box/ollama/api/tags"),
        ("http://h/v1/completions", Text, "http://h/v1/models"),
    ] {
        let config = config(typed).speaking(kind).unwrap();
        assert_eq!(config.api().models_url(&config).as_str(), models, "{typed}");
    }
    crate::tls::install();
    for (kind, name, value) in [
        (Anthropic, "x-api-key", "sk-1234"),
        (Gemini, "x-goog-api-key", "sk-1234"),
        (Ollama, "authorization", "Bearer sk-1234"),
    ] {
        let config = EndpointConfig::new("http://h/v1", "m", Some("sk-1234".into()))
            .unwrap()
            .speaking(kind)
            .unwrap();
        let request = config
            .authorize(reqwest::Client::new().get("http://h"))
            .build()
            .unwrap();
        assert_eq!(request.headers()[name], value);
        assert!(
            !format!("{config:?}{request:?}").contains("sk-1234"),
            "{kind:?}"
        );
    }
}

#[test]
fn refuses_other_addresses() {
    for typed in [
        "",
        "ftp://example.com",
        "file:///etc/passwd",
        "http://",
        "http://user:hunter2@example.com",
    ] {
        let error = EndpointConfig::new(typed, "m", None).unwrap_err();
        assert_eq!(error.kind, ProviderErrorKind::BadRequest, "{typed}");
        assert!(!format!("{error:?}").contains("hunter2"));
    }
}

#[test]
fn recognises_every_loopback_spelling() {
    for url in [
        "http://127.0.0.1:1",
        "http://localhost",
        "http://[::1]:8080",
        "http://a.localhost",
        "127.1.2.3",
    ] {
        assert!(config(url).is_loopback(), "{url}");
    }
    for url in ["http://192.168.0.2", "https://localhost.example.com"] {
        assert!(!config(url).is_loopback(), "{url}");
    }
}

#[test]
fn calls_outside_the_api_have_no_version() {
    assert_eq!(
        config("http://h:1/v1").outside_api("props").as_str(),
        "http://h:1/props"
    );
    assert_eq!(
        config("http://h:1").outside_api("props").as_str(),
        "http://h:1/props"
    );
    assert_eq!(
        config("http://h:1/llama/v1").outside_api("props").as_str(),
        "http://h:1/llama/props"
    );
}

#[test]
fn debug_and_errors_hide_the_key() {
    let config =
        EndpointConfig::new("http://h/v1?key=sk-1234", "m", Some("sk-1234\n".into())).unwrap();
    assert!(!format!("{config:?} {}", config.address()).contains("sk-1234"));
    let error = EndpointConfig::new("http://h/v1", "m", Some("sk-12\n34".into())).unwrap_err();
    assert!(!format!("{error:?}").contains("sk-12"));
    assert!(
        !EndpointConfig::new("http://h/v1", "m", Some("  ".into()))
            .unwrap()
            .has_key()
    );
}
