//! Common parts of the scripted services: the model's rule, and a server that speaks one API.

use std::sync::Arc;

use domain::model::EndpointDialect;
use provider::{EndpointClient, EndpointConfig, conformance};
use serde_json::Value;

use crate::endpoint::support::{FaultServer, KEY, Play, Received, answer, stream, timeouts};

/// A request, as the service understood it.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// The text of the last user message.
    pub(crate) said: String,
    /// Whether the model may call the tool.
    pub(crate) may_call: bool,
    /// Whether the model must call the tool.
    pub(crate) must_call: bool,
    /// The results at the end of the chat.
    pub(crate) results: Vec<String>,
    /// Media types of the pictures in the last user message.
    pub(crate) pictures: Vec<String>,
    /// The chat ends with an unfinished reply.
    pub(crate) continues: bool,
    pub(crate) max_tokens: u64,
}

/// The model's reply.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answer {
    /// Thoughts outside the text.
    pub(crate) thought: &'static str,
    pub(crate) pieces: Vec<String>,
    pub(crate) calls: bool,
    pub(crate) limited: bool,
}

/// The model's rule.
pub(crate) fn answered(asked: &Asked) -> Answer {
    let text = if !asked.results.is_empty() {
        format!("The result is {}.", asked.results.join(", "))
    } else if asked.continues {
        " time, a keeper lived".to_owned()
    } else if !asked.pictures.is_empty() {
        format!("This is {}.", asked.pictures.join(" and "))
    } else {
        format!("You said: {}", asked.said)
    };
    let wants = asked.results.is_empty() && asked.said.contains(conformance::CALLS);
    let calls = asked.must_call || (asked.may_call && wants);
    let limited = asked.max_tokens < 3;
    let pieces = text
        .split_inclusive(' ')
        .map(str::to_owned)
        .take(if limited { 1 } else { usize::MAX });
    Answer {
        thought: "Hm.",
        pieces: pieces.collect(),
        calls,
        limited,
    }
}

/// One service.
pub(crate) trait Service: Send + Sync + 'static {
    fn kind(&self) -> EndpointDialect;

    /// The path of its addresses.
    fn path(&self) -> &'static str;

    /// The start of the request line of a reply.
    fn asks(&self) -> &'static str;

    /// The header that carries the key.
    fn key_header(&self) -> String {
        format!("authorization: Bearer {KEY}")
    }

    /// Reads a request.
    ///
    /// # Errors
    /// Requests that the service refuses.
    fn read(&self, body: &Value) -> Result<Asked, String>;

    /// Writes the whole stream of an answer.
    fn write(&self, answer: &Answer) -> String;

    /// The body of an error with this HTTP status.
    fn error(&self, status: u16, message: &str) -> String;

    /// A stream that begins with "Good " and then fails because the service is overloaded.
    fn fails_midway(&self) -> String;

    /// The list of models, with the model `tiny`.
    fn models(&self) -> String;
}

/// Starts a server of `service`.
pub(crate) async fn serve(service: Arc<dyn Service>) -> FaultServer {
    FaultServer::scripted(move |received, _| respond(service.as_ref(), received)).await
}

fn respond(service: &dyn Service, received: &Received) -> Play {
    let refuse = |status: u16, message: &str| {
        let reason = if status == 401 {
            "401 Unauthorized"
        } else {
            "400 Bad Request"
        };
        answer(
            reason,
            "Content-Type: application/json\r\n",
            &service.error(status, message),
        )
    };
    if !received.head.contains(&service.key_header()) {
        return refuse(401, "invalid key");
    }
    if received.head.starts_with("GET") {
        return answer(
            "200 OK",
            "Content-Type: application/json\r\n",
            &service.models(),
        );
    }
    if !received.head.starts_with(service.asks()) {
        return answer("404 Not Found", "", "{}");
    }
    let Ok(body) = serde_json::from_str::<Value>(&received.body) else {
        return refuse(400, "not JSON");
    };
    match service.read(&body) {
        Ok(asked) => stream(service.write(&answered(&asked))),
        Err(why) => refuse(400, &why),
    }
}

pub(crate) fn config(service: &dyn Service, port: u16) -> EndpointConfig {
    let url = format!("http://127.0.0.1:{port}{}", service.path());
    let config = EndpointConfig::new(&url, "tiny", Some(KEY.into()))
        .unwrap()
        .speaking(service.kind())
        .unwrap();
    config.with_timeouts(timeouts()).with_context(4096)
}

pub(crate) fn client(service: &dyn Service, port: u16) -> EndpointClient {
    EndpointClient::new(config(service, port)).unwrap()
}

/// Every service.
pub(crate) fn services() -> Vec<Arc<dyn Service>> {
    vec![
        Arc::new(super::openai::OpenAi),
        Arc::new(super::text::Text),
        Arc::new(super::anthropic::Anthropic),
        Arc::new(super::gemini::Gemini),
        Arc::new(super::ollama::Ollama),
    ]
}

/// Requires that `roles` alternate and begin with `user`.
pub(crate) fn must_alternate(roles: &[&str]) -> Result<(), String> {
    if roles.first() != Some(&"user") {
        return Err("the first message must have the role user".to_owned());
    }
    match roles.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("two messages of {} in a row", pair[0])),
        None => Ok(()),
    }
}

pub(crate) fn required<'v>(value: &'v Value, key: &str) -> Result<&'v Value, String> {
    value
        .get(key)
        .ok_or_else(|| format!("{key}: field required"))
}

pub(crate) fn array<'v>(value: &'v Value, key: &str) -> Result<&'v [Value], String> {
    required(value, key)?
        .as_array()
        .map(Vec::as_slice)
        .ok_or_else(|| format!("{key}: not a list"))
}

pub(crate) fn text<'v>(value: &'v Value, key: &str) -> Result<&'v str, String> {
    required(value, key)?
        .as_str()
        .ok_or_else(|| format!("{key}: not a text"))
}

/// Refuses fields that the service does not document.
pub(crate) fn only(value: &Value, known: &[&str]) -> Result<(), String> {
    let unknown = value
        .as_object()
        .into_iter()
        .flat_map(|fields| fields.keys());
    match unknown
        .into_iter()
        .find(|key| !known.contains(&key.as_str()))
    {
        Some(key) => Err(format!("{key}: Extra inputs are not permitted")),
        None => Ok(()),
    }
}
