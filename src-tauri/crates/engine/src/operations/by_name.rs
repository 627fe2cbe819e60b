//! Calls an operation by its name, with its arguments as JSON, for the window, HTTP and `nook`.
//! Generated from the list of operations.

use std::future::ready;

use futures_util::future::BoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::api::*;
use crate::operations::engine::Engine;

/// Maximum characters of a parser's message, which may quote the input at length.
const QUOTE: usize = 300;

macro_rules! by_name {
    ($($(#[doc = $doc:literal])* $($room:ident).+: $name:ident($($arg:ident: $ty:ty),*) -> $result:ty;)*) => {
        /// The arguments of each operation.
        #[allow(non_camel_case_types, reason = "they have the names of their operations")]
        mod args {
            use crate::api::*;
            $(
                #[derive(serde::Deserialize)]
                #[serde(rename_all = "camelCase", deny_unknown_fields)]
                pub(super) struct $name { $(pub(super) $arg: $ty),* }
            )*
        }

        impl Engine {
            /// Calls an operation of [`operations!`](crate::operations) by its name. `arguments` is
            /// one JSON object with the names of the list in camel case; an operation without
            /// arguments may have none. The result is JSON.
            ///
            /// # Errors
            /// `NotFound` if there is no such operation, `BadInput` if the arguments are not those
            /// of the operation, and the errors of the operation.
            pub fn call<'a>(&'a self, operation: &str, arguments: &'a [u8]) -> BoxFuture<'a, Result<String, ApiError>> {
                match operation {
                    $(stringify!($name) => Box::pin(async {
                        let args::$name { $($arg),* } = parse(arguments)?;
                        let result: $result = self.$name($($arg),*).await?;
                        written(&result)
                    }),)*
                    _ => Box::pin(ready(Err(ApiError::NotFound { message: "this operation does not exist".into() }))),
                }
            }
        }
    };
}
crate::operations!(by_name);

/// Parses the arguments. An operation without arguments may have an empty body.
fn parse<T: DeserializeOwned>(json: &[u8]) -> Result<T, ApiError> {
    let json = if json.is_empty() { b"{}" } else { json };
    let mut reader = serde_json::Deserializer::from_slice(json);
    let args = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let place = if path == "." {
            "the arguments".to_owned()
        } else {
            format!("`{path}`")
        };
        malformed(&place, error.inner())
    })?;
    reader
        .end()
        .map_err(|error| malformed("the arguments", &error))?;
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

fn written(result: &impl Serialize) -> Result<String, ApiError> {
    serde_json::to_string(result).map_err(|error| ApiError::Internal {
        message: format!("cannot serialise the result: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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

    const ID: &str = "0190a0a0-0000-7000-8000-000000000000";

    #[test]
    fn refusal_names_the_field() {
        let json = format!(r#"{{"id":"{ID}","title":7}}"#);
        assert!(refusal::<args::rename_chat>(&json).starts_with("`title` cannot be read"));
        let json = format!(r#"{{"id":"{ID}","model":{{"kind":"local","id":-1}}}}"#);
        assert!(refusal::<args::set_chat_model>(&json).starts_with("`model"));
        let json = format!(r#"{{"id":"{ID}"}}"#);
        assert!(refusal::<args::rename_chat>(&json).contains("missing field `title`"));
    }

    #[test]
    fn text_in_the_place_of_an_id_is_refused() {
        for odd in [
            "",
            "a",
            "../../etc/passwd",
            "0190a0a0-0000-7000-8000-00000000000g",
        ] {
            let refused = refusal::<args::open_chat>(&json!({ "id": odd }).to_string());
            assert!(refused.starts_with("`id` cannot be read"), "{refused}");
        }
    }

    #[test]
    fn refuses_unknown_fields_and_trailing_text() {
        assert!(
            refusal::<args::stop>(&format!(r#"{{"chat":"{ID}","force":true}}"#))
                .contains("unknown field `force`")
        );
        let twice = format!(r#"{{"chat":"{ID}"}} {{"chat":"{ID}"}}"#);
        assert!(refusal::<args::stop>(&twice).contains("trailing"));
    }

    #[test]
    fn truncates_a_long_quote() {
        let json = format!(r#"{{"id":"{ID}","title":"b","{}":1}}"#, "x".repeat(100_000));
        assert!(refusal::<args::rename_chat>(&json).len() < 2 * QUOTE + 100);
    }

    #[test]
    fn refuses_deep_nesting() {
        let json = format!(r#"{{"change":{}"#, "[".repeat(1_000_000));
        assert!(!refusal::<args::update_settings>(&json).is_empty());
    }
}
