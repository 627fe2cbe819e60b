//! Errors in the form that OpenAI's clients read: `{"error": {"message", "type", "param",
//! "code"}}`.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use engine::api::client::{ClientError, is_grammar_refused};
use engine::api::{ApiError, ProviderClass};
use serde_json::{Value, json};

use crate::respond::{ErrorResponse, json as json_response};

/// Maximum characters of a name from a request in a message.
const QUOTE: usize = 100;

/// A request that failed.
#[derive(Debug)]
pub(super) struct Fault {
    status: StatusCode,
    message: String,
    kind: &'static str,
    /// The field of the request that is wrong.
    param: Option<String>,
    code: Option<&'static str>,
}

impl Fault {
    /// A field of the request is wrong.
    pub(super) fn field(param: &str, message: impl Into<String>) -> Self {
        Self {
            param: Some(quoted(param)),
            ..Self::bad(message)
        }
    }

    /// The request is wrong.
    pub(super) fn bad(message: impl Into<String>) -> Self {
        let status = StatusCode::BAD_REQUEST;
        let kind = "invalid_request_error";
        Self {
            status,
            message: message.into(),
            kind,
            param: None,
            code: None,
        }
    }

    /// A feature of OpenAI's API that does not exist here.
    pub(super) fn unsupported(param: &str, message: impl Into<String>) -> Self {
        Self {
            code: Some("unsupported_parameter"),
            ..Self::field(param, message)
        }
    }

    pub(super) fn no_key() -> Self {
        let message = "You did not provide an API key. Make one in Settings, Local API, and send it as \
                       `Authorization: Bearer KEY`.";
        Self {
            status: StatusCode::UNAUTHORIZED,
            ..Self::bad(message)
        }
    }

    pub(super) fn wrong_key() -> Self {
        let message =
            "The API key is unknown or was revoked. Make another one in Settings, Local API.";
        Self {
            status: StatusCode::UNAUTHORIZED,
            code: Some("invalid_api_key"),
            ..Self::bad(message)
        }
    }

    pub(super) fn unknown_url(method: &str, path: &str) -> Self {
        let message = format!("Unknown request URL: {} {}.", quoted(method), quoted(path));
        Self {
            status: StatusCode::NOT_FOUND,
            code: Some("unknown_url"),
            ..Self::bad(message)
        }
    }

    pub(super) fn wrong_method(method: &str, path: &str) -> Self {
        let message = format!(
            "{} does not support the method {}.",
            quoted(path),
            quoted(method)
        );
        Self {
            status: StatusCode::METHOD_NOT_ALLOWED,
            ..Self::bad(message)
        }
    }

    pub(super) fn stopping() -> Self {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        let kind = "server_error";
        Self {
            status,
            message: "The server is stopping.".into(),
            kind,
            param: None,
            code: None,
        }
    }

    /// The body, which is also the last event of a stream that fails.
    pub(super) fn body(&self) -> Value {
        let Self {
            message,
            kind,
            param,
            code,
            ..
        } = self;
        json!({ "error": { "message": message, "type": kind, "param": param, "code": code } })
    }
}

impl From<ApiError> for Fault {
    fn from(error: ApiError) -> Self {
        let (status, code) = class(&error);
        let kind = match status.as_u16() {
            429 => "rate_limit_error",
            status if status < 500 => "invalid_request_error",
            _ => "server_error",
        };
        Self {
            status,
            message: message_of(&error),
            kind,
            param: None,
            code: Some(code),
        }
    }
}

impl Fault {
    /// An error of a reply to a request, which may have a schema of its own.
    pub(super) fn of_reply(error: ApiError, has_schema: bool) -> Self {
        if has_schema && is_grammar_refused(&error) {
            let message = "The JSON Schema in `response_format` cannot be used: it is invalid, or has a part that llama.cpp \
                           cannot turn into a grammar. Use a simpler schema.";
            return Self::field("response_format", message);
        }
        error.into()
    }
}

impl From<ClientError> for Fault {
    fn from(error: ClientError) -> Self {
        let message = error.to_string();
        match error {
            ClientError::Failed(error) => error.into(),
            ClientError::Forbidden(message) => {
                let code = Some("insufficient_permissions");
                Self {
                    status: StatusCode::FORBIDDEN,
                    code,
                    ..Self::bad(message)
                }
            }
            ClientError::Field { param, message } => Self::field(&param, message),
            ClientError::UnknownModel { near, .. } => {
                let near = match &near[..] {
                    [] => "`GET /v1/models` lists the models.".to_owned(),
                    near => format!("Did you mean {}?", list(near)),
                };
                let message = format!("{message} {near}");
                Self {
                    status: StatusCode::NOT_FOUND,
                    code: Some("model_not_found"),
                    ..Self::field("model", message)
                }
            }
        }
    }
}

impl From<ErrorResponse> for Fault {
    fn from(refused: ErrorResponse) -> Self {
        let (status, error) = refused.parts();
        let kind = if status.is_server_error() {
            "server_error"
        } else {
            "invalid_request_error"
        };
        Self {
            status,
            kind,
            ..Self::bad(message_of(&error))
        }
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let mut response = json_response(&self.body());
        *response.status_mut() = self.status;
        response
    }
}

fn list(names: &[String]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn quoted(text: &str) -> String {
    text.chars().take(QUOTE).collect()
}

/// The message, and what to do.
fn message_of(error: &ApiError) -> String {
    match error {
        ApiError::ContextOverflow { message, hint, .. }
        | ApiError::Provider { message, hint, .. }
        | ApiError::NoModel { message, hint }
        | ApiError::BadInput { message, hint }
        | ApiError::PromptNotKept { message, hint }
        | ApiError::Busy { message, hint }
        | ApiError::Storage { message, hint }
        | ApiError::ToolServer { message, hint }
        | ApiError::Keychain { message, hint } => {
            format!("{} {hint}", closed(message)).trim_end().to_owned()
        }
        ApiError::NotFound { message } | ApiError::Internal { message } => closed(message),
    }
}

/// The text with a full stop, before another sentence follows.
fn closed(text: &str) -> String {
    let end = if text.is_empty() || text.ends_with(['.', '!', '?', ':', '\u{2026}']) {
        ""
    } else {
        "."
    };
    format!("{text}{end}")
}

fn class(error: &ApiError) -> (StatusCode, &'static str) {
    match error {
        ApiError::ContextOverflow { .. } => (StatusCode::BAD_REQUEST, "context_length_exceeded"),
        ApiError::BadInput { .. } => (StatusCode::BAD_REQUEST, "bad_input"),
        ApiError::NotFound { .. } => (StatusCode::NOT_FOUND, "not_found"),
        ApiError::PromptNotKept { .. } => (StatusCode::NOT_FOUND, "prompt_not_kept"),
        ApiError::Busy { .. } => (StatusCode::CONFLICT, "chat_busy"),
        ApiError::NoModel { .. } => (StatusCode::SERVICE_UNAVAILABLE, "no_model"),
        ApiError::Keychain { .. } => (StatusCode::SERVICE_UNAVAILABLE, "keychain"),
        ApiError::Storage { .. } => (StatusCode::INSUFFICIENT_STORAGE, "storage"),
        ApiError::ToolServer { .. } => (StatusCode::BAD_GATEWAY, "tool_server"),
        ApiError::Internal { .. } => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
        ApiError::Provider { class, .. } => provider(*class),
    }
}

/// Errors of the model behind the API. The key of the client is fine if an endpoint refuses the
/// user's own.
fn provider(class: ProviderClass) -> (StatusCode, &'static str) {
    match class {
        ProviderClass::ContextOverflow => (StatusCode::BAD_REQUEST, "context_length_exceeded"),
        ProviderClass::BadRequest => (StatusCode::BAD_REQUEST, "upstream_bad_request"),
        ProviderClass::Filtered => (StatusCode::BAD_REQUEST, "content_filter"),
        ProviderClass::RateLimited => (StatusCode::TOO_MANY_REQUESTS, "rate_limit_exceeded"),
        ProviderClass::Timeout => (StatusCode::GATEWAY_TIMEOUT, "upstream_timeout"),
        ProviderClass::Unreachable => (StatusCode::BAD_GATEWAY, "upstream_unreachable"),
        ProviderClass::Unauthorized => (StatusCode::BAD_GATEWAY, "upstream_unauthorized"),
        ProviderClass::NotFound => (StatusCode::BAD_GATEWAY, "upstream_not_found"),
        ProviderClass::Server
        | ProviderClass::Malformed
        | ProviderClass::Cut
        | ProviderClass::Tls => (StatusCode::BAD_GATEWAY, "upstream_error"),
        ProviderClass::Model | ProviderClass::WorkerDied | ProviderClass::OutOfMemory => {
            (StatusCode::SERVICE_UNAVAILABLE, "model_failed")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(message: &str, hint: &str) -> ApiError {
        ApiError::Provider {
            message: message.into(),
            hint: hint.into(),
            class: ProviderClass::BadRequest,
        }
    }

    #[test]
    fn message_and_hint_are_sentences() {
        assert_eq!(
            message_of(&failed("the template changed a message", "Choose another.")),
            "the template changed a message. Choose another."
        );
        assert_eq!(message_of(&failed("Why?", "")), "Why?");
    }

    #[test]
    fn schema_of_the_client_is_named() {
        let hint =
            "Correct or remove the grammar or JSON schema in the sampler settings, then try again.";
        let error = failed("The JSON schema is invalid.", hint);
        let body = Fault::of_reply(error.clone(), true).body();
        assert_eq!(
            (&body["error"]["param"], &body["error"]["code"]),
            (&json!("response_format"), &Value::Null)
        );
        assert!(!body.to_string().contains("sampler settings"));
        assert_eq!(
            Fault::of_reply(error, false).body()["error"]["code"],
            "upstream_bad_request"
        );
        assert_eq!(
            Fault::of_reply(failed("No.", "x"), true).body()["error"]["code"],
            "upstream_bad_request"
        );
    }
}
