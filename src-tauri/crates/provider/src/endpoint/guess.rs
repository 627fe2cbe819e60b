//! Guesses the API of an endpoint from its address.

use domain::model::EndpointDialect;
use url::Url;

/// Port of Ollama.
const OLLAMA_PORT: u16 = 11434;

/// The API that an address as people type or paste it most likely has. OpenAI's if nothing
/// indicates another one.
pub fn guess_dialect(address: &str) -> EndpointDialect {
    let typed = address.trim().to_lowercase();
    let full = if typed.contains("://") {
        typed
    } else {
        format!("http://{typed}")
    };
    let Ok(url) = Url::parse(&full) else {
        return EndpointDialect::OpenAi;
    };
    let host = url.host_str().unwrap_or_default();
    let path = url.path().trim_end_matches('/');
    let is_host = |name: &str| {
        host == name
            || host
                .strip_suffix(name)
                .is_some_and(|rest| rest.ends_with('.'))
    };
    let is_openai = path.ends_with("/openai")
        || path.contains("/openai/")
        || path.ends_with("/chat/completions");
    if is_openai {
        EndpointDialect::OpenAi
    } else if is_host("api.anthropic.com") || path.ends_with("/messages") {
        EndpointDialect::Anthropic
    } else if is_host("generativelanguage.googleapis.com") || path.contains("generatecontent") {
        EndpointDialect::Gemini
    } else if ["/api/chat", "/api/generate", "/api/tags"]
        .iter()
        .any(|call| path.ends_with(call))
        || (url.port() == Some(OLLAMA_PORT) && matches!(path, "" | "/api"))
    {
        EndpointDialect::Ollama
    } else if path.ends_with("/completions") {
        EndpointDialect::Text
    } else {
        EndpointDialect::OpenAi
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses_the_api_from_the_address() {
        use EndpointDialect::{Anthropic, Gemini, Ollama, OpenAi, Text};
        for (address, expected) in [
            ("https://api.anthropic.com/v1", Anthropic),
            ("API.Anthropic.com", Anthropic),
            ("https://proxy.example/claude/v1/messages", Anthropic),
            ("https://generativelanguage.googleapis.com/v1beta", Gemini),
            (
                "https://generativelanguage.googleapis.com/v1beta/openai/",
                OpenAi,
            ),
            (
                "https://proxy.example/v1beta/models/gemini-x:streamGenerateContent",
                Gemini,
            ),
            ("http://127.0.0.1:11434", Ollama),
            ("127.0.0.1:11434/api", Ollama),
            ("http://box.lan/api/chat", Ollama),
            ("http://127.0.0.1:11434/v1", OpenAi),
            ("http://127.0.0.1:8080/v1/completions", Text),
            ("http://127.0.0.1:8080/v1/chat/completions", OpenAi),
            ("http://127.0.0.1:8080/v1", OpenAi),
            ("https://notapi.anthropic.com.example/v1", OpenAi),
            ("", OpenAi),
            ("http://", OpenAi),
        ] {
            assert_eq!(guess_dialect(address), expected, "{address}");
        }
    }
}
