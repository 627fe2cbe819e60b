//! Frames of the chat socket: JSON objects in both directions.

use domain::{ChatId, MessageId};
use engine::api::client::ClientError;
use engine::api::{
    ApiError, CommandOutcome, CommandRefusal, EndReason, Figures, MessageSource, VisionReport,
    VisionState,
};
use serde::{Deserialize, Serialize};

/// Maximum characters of a parser's message, which may quote the input.
const QUOTE: usize = 200;

/// A frame of the client, with exactly one request.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Frame {
    message: Option<String>,
    chat: Option<String>,
    character: Option<String>,
    source: Option<MessageSource>,
    stop: Option<bool>,
    vision: Option<VisionReport>,
    key: Option<String>,
}

/// Request of the client.
#[derive(Debug, PartialEq)]
pub(super) enum ClientRequest {
    /// The text of a message, or a slash command.
    Message {
        text: String,
        to: Addressee,
        source: MessageSource,
    },
    Stop,
    Vision {
        report: VisionReport,
        to: Addressee,
    },
    /// A key of the local API, or the server's token.
    Key(String),
}

/// The chat that a frame is meant for. Without any, the one of the frame before.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Addressee {
    /// Id of a chat.
    pub(super) chat: Option<String>,
    /// Id or name of a character.
    pub(super) character: Option<String>,
}

impl ClientRequest {
    /// # Errors
    /// The reason why the frame is refused, as an error event.
    pub(super) fn read(text: &str) -> Result<Self, ServerEvent> {
        let frame: Frame = serde_json::from_str(text).map_err(|error| {
            let reason: String = error.to_string().chars().take(QUOTE).collect();
            ServerEvent::error(
                "bad_frame",
                format!("The frame is not a request: {reason}."),
                HINT,
            )
        })?;
        let to = Addressee {
            chat: frame.chat,
            character: frame.character,
        };
        let spoken = frame.source.is_some();
        if frame.source == Some(MessageSource::Tool) {
            return Err(ServerEvent::error(
                "bad_frame",
                "A client is no tool.",
                "Use `typed`, `voice` or `api`.",
            ));
        }
        match (frame.message, frame.vision, frame.stop, frame.key) {
            (Some(text), None, None, None) => Ok(Self::Message {
                text,
                to,
                source: frame.source.unwrap_or(MessageSource::Api),
            }),
            (None, Some(report), None, None) if !spoken => Ok(Self::Vision { report, to }),
            (None, None, Some(true), None) if !spoken && to == Addressee::default() => {
                Ok(Self::Stop)
            }
            (None, None, None, Some(key)) if !spoken && to == Addressee::default() => {
                Ok(Self::Key(key))
            }
            _ => Err(ServerEvent::error(
                "bad_frame",
                "The frame has no request, or more than one.",
                HINT,
            )),
        }
    }
}

const HINT: &str = "Send one JSON object, such as {\"message\": \"Hello\"}.";

/// Tokens of a turn, with the names of the OpenAI API.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct TokenUsage {
    prompt_tokens: u32,
    completion_tokens: u32,
    total_tokens: u32,
    /// Prompt tokens that the model did not have to read again.
    cached_tokens: u32,
}

impl From<&Figures> for TokenUsage {
    fn from(figures: &Figures) -> Self {
        let prompt = figures.prompt.unwrap_or(0);
        let generated = figures.generated.unwrap_or(0);
        Self {
            prompt_tokens: prompt,
            completion_tokens: generated,
            total_tokens: prompt.saturating_add(generated),
            cached_tokens: figures.reused.unwrap_or(0),
        }
    }
}

/// A frame of the server.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum ServerEvent {
    /// The key of the first frame is valid.
    Authorized {
        name: String,
    },
    Token {
        text: String,
        message: MessageId,
    },
    /// The tokens of this message so far were reasoning, not text.
    Reset {
        message: MessageId,
    },
    /// At most one in a turn, right before its end.
    Emotion {
        emotion: String,
    },
    /// Exactly one in a turn. `following` more characters of a group answer next.
    End {
        reason: &'static str,
        chat: ChatId,
        message: Option<MessageId>,
        text: String,
        usage: TokenUsage,
        following: u32,
    },
    ModeChanged {
        mode: String,
        chat: ChatId,
    },
    Vision {
        state: Option<VisionState>,
        text: String,
        chat: ChatId,
    },
    /// The result of a slash command other than a new mode or a reply.
    Command {
        outcome: Box<CommandOutcome>,
    },
    Error {
        code: &'static str,
        message: String,
        hint: String,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        near: Vec<String>,
    },
}

impl ServerEvent {
    pub(super) fn error(
        code: &'static str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self::Error {
            code,
            message: message.into(),
            hint: hint.into(),
            near: Vec::new(),
        }
    }
}

impl From<ApiError> for ServerEvent {
    fn from(error: ApiError) -> Self {
        let message = error.to_string();
        let (code, hint) = match error {
            ApiError::BadInput { hint, .. } => ("bad_input", hint),
            ApiError::NotFound { .. } => ("not_found", String::new()),
            ApiError::PromptNotKept { hint, .. } => ("prompt_not_kept", hint),
            ApiError::Busy { hint, .. } => ("busy", hint),
            ApiError::ContextOverflow { hint, .. } => ("context_overflow", hint),
            ApiError::Provider { hint, .. } => ("provider", hint),
            ApiError::NoModel { hint, .. } => ("no_model", hint),
            ApiError::Keychain { hint, .. } => ("keychain", hint),
            ApiError::Storage { hint, .. } => ("storage", hint),
            ApiError::ToolServer { hint, .. } => ("tool_server", hint),
            ApiError::Internal { .. } => ("internal", String::new()),
        };
        Self::error(code, message, hint)
    }
}

impl From<ClientError> for ServerEvent {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Failed(error) => error.into(),
            ClientError::Forbidden(message) => Self::error(
                "forbidden",
                message,
                "Send a message, or use a key with the rights for it.",
            ),
            ClientError::Field { message, .. } => Self::error("bad_input", message, ""),
            ClientError::UnknownModel { .. } => Self::error("not_found", error.to_string(), ""),
        }
    }
}

impl From<CommandRefusal> for ServerEvent {
    fn from(refusal: CommandRefusal) -> Self {
        let CommandRefusal { message, near, .. } = refusal;
        Self::Error {
            code: "command_refused",
            message,
            hint: String::new(),
            near,
        }
    }
}

/// The name of the reason in an `end` event.
pub(super) fn reason_name(reason: &EndReason) -> &'static str {
    match reason {
        EndReason::Stop => "stop",
        EndReason::Length => "length",
        EndReason::Cancelled => "cancelled",
        EndReason::Failed { .. } => "failed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> bool {
        matches!(
            ClientRequest::read(text),
            Err(ServerEvent::Error {
                code: "bad_frame",
                ..
            })
        )
    }

    #[test]
    fn message_may_name_its_chat_or_character() {
        let read = ClientRequest::read(r#"{"message":"Hello","character":"Mira"}"#).unwrap();
        let to = Addressee {
            chat: None,
            character: Some("Mira".into()),
        };
        assert_eq!(
            read,
            ClientRequest::Message {
                text: "Hello".into(),
                to,
                source: MessageSource::Api
            }
        );
        let spoken = ClientRequest::read(r#"{"message":"Hello","source":"voice"}"#).unwrap();
        assert!(matches!(
            spoken,
            ClientRequest::Message {
                source: MessageSource::Voice,
                ..
            }
        ));
    }

    #[test]
    fn reads_stop_vision_and_key() {
        assert_eq!(
            ClientRequest::read(r#"{"stop":true}"#).unwrap(),
            ClientRequest::Stop
        );
        assert_eq!(
            ClientRequest::read(r#"{"key":"k"}"#).unwrap(),
            ClientRequest::Key("k".into())
        );
        let vision = ClientRequest::read(r#"{"vision":{"state":"absent"}}"#).unwrap();
        let report = VisionReport {
            state: Some(VisionState::Absent),
            text: String::new(),
        };
        assert_eq!(
            vision,
            ClientRequest::Vision {
                report,
                to: Addressee::default()
            }
        );
    }

    #[test]
    fn refuses_everything_else() {
        let deep = format!("{{\"message\":{}", "[".repeat(100_000));
        for text in [
            "",
            "Hello",
            "[END]",
            "null",
            "7",
            "[]",
            "{}",
            r#""message""#,
            r#"{"message":7}"#,
            r#"{"message":null}"#,
            r#"{"message":"a","stop":true}"#,
            r#"{"message":"a","admin":true}"#,
            r#"{"message":"a","source":"tool"}"#,
            r#"{"stop":false}"#,
            r#"{"stop":true,"chat":"a"}"#,
            r#"{"vision":"present"}"#,
            r#"{"vision":{"state":"asleep"}}"#,
            r#"{"vision":{"picture":"AAAA"}}"#,
            r#"{"message":"a"} {"message":"b"}"#,
            &deep,
        ] {
            assert!(refused(text), "{text}");
        }
    }
}
