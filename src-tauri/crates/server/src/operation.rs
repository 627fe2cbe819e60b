//! `POST /api/op/<operation>`: dispatches to the engine's operations. The code is generated from the list of
//! operations.

use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use engine::Engine;
use engine::api::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::respond::{ErrorResponse, json_bytes};
use crate::routes::SharedState;
use crate::shares::Holder;

/// Maximum body size: a document of 32 MiB in base64, with its surrounding JSON.
const CAP: usize = 44 * 1024 * 1024;

/// Maximum characters of a parser's message, which may quote the input at length.
const QUOTE: usize = 300;

pub(crate) async fn operation(
    State(shared): State<SharedState>,
    Path(operation): Path<String>,
    body: Body,
) -> Result<Response, ErrorResponse> {
    let args = shared.bodies.read(&Holder::Owner, body, CAP).await?;
    let engine = shared.engine.clone();
    // A separate task: the operation completes if the client disconnects, and a panic does not end the server.
    let work = tokio::spawn(async move { dispatch(&engine, &operation, &args).await });
    let answer = work.await.unwrap_or_else(|error| {
        tracing::error!(panicked = error.is_panic(), "an operation failed to complete");
        Err(ApiError::Internal { message: "the operation failed; the log has the reason".into() })
    });
    Ok(json_bytes(answer?))
}

macro_rules! dispatch {
    ($($(#[doc = $doc:literal])* $layer:ident.$name:ident($($arg:ident: $ty:ty),*) -> $result:ty;)*) => {
        mod args {
            use engine::api::*;
            $(
                #[derive(serde::Deserialize)]
                #[serde(rename_all = "camelCase", deny_unknown_fields)]
                pub(super) struct $name { $(pub(super) $arg: $ty),* }
            )*
        }

        async fn dispatch(engine: &Engine, operation: &str, json: &[u8]) -> Result<Vec<u8>, ApiError> {
            match operation {
                $(stringify!($name) => {
                    let args::$name { $($arg),* } = parse(json)?;
                    let result: $result = engine.$name($($arg),*).await?;
                    write(&result)
                })*
                _ => Err(ApiError::NotFound { message: "this operation does not exist".into() }),
            }
        }
    };
}
engine::operations!(dispatch);

/// Parses the arguments. An operation without arguments may have an empty body.
fn parse<T: DeserializeOwned>(json: &[u8]) -> Result<T, ApiError> {
    let json = if json.is_empty() { b"{}" } else { json };
    let mut reader = serde_json::Deserializer::from_slice(json);
    let args = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let place = if path == "." { "the arguments".to_owned() } else { format!("`{path}`") };
        malformed(&place, error.inner())
    })?;
    reader.end().map_err(|error| malformed("the arguments", &error))?;
    Ok(args)
}

fn malformed(place: &str, error: &serde_json::Error) -> ApiError {
    let reason: String = error.to_string().chars().take(QUOTE).collect();
    let place: String = place.chars().take(QUOTE).collect();
    ApiError::BadInput {
        message: format!("{place} cannot be read: {reason}"),
        hint: "Send one JSON object with exactly the operation's arguments.".into(),
    }
}

fn write(result: &impl Serialize) -> Result<Vec<u8>, ApiError> {
    serde_json::to_vec(result)
        .map_err(|error| ApiError::Internal { message: format!("cannot serialise the result: {error}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal<T: DeserializeOwned>(json: &str) -> String {
        match parse::<T>(json.as_bytes()).err() {
            Some(ApiError::BadInput { message, .. }) => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn empty_body_means_no_arguments() {
        assert!(parse::<args::startup>(b"").is_ok());
    }

    #[test]
    fn refusal_names_the_field() {
        assert!(refusal::<args::rename_chat>(r#"{"id":"a","title":7}"#).starts_with("`title` cannot be read"));
        assert!(
            refusal::<args::set_chat_model>(r#"{"id":"a","model":{"kind":"local","id":-1}}"#).starts_with("`model")
        );
        assert!(refusal::<args::rename_chat>(r#"{"id":"a"}"#).contains("missing field `title`"));
    }

    #[test]
    fn refuses_unknown_fields_and_trailing_text() {
        assert!(refusal::<args::stop>(r#"{"chat":"a","force":true}"#).contains("unknown field `force`"));
        assert!(refusal::<args::stop>(r#"{"chat":"a"} {"chat":"b"}"#).contains("trailing"));
    }

    #[test]
    fn truncates_a_long_quote() {
        let json = format!(r#"{{"id":"a","title":"b","{}":1}}"#, "x".repeat(100_000));
        assert!(refusal::<args::rename_chat>(&json).len() < 2 * QUOTE + 100);
    }

    #[test]
    fn refuses_deep_nesting() {
        let json = format!(r#"{{"change":{}"#, "[".repeat(1_000_000));
        assert!(!refusal::<args::update_settings>(&json).is_empty());
    }
}
