//! User-defined headers that a gateway or a proxy requires in addition to the key.

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};

use crate::{ProviderError, ProviderErrorKind};

/// Set by the connection or by the request; a duplicate would break the request or the framing of
/// its body.
const OURS: [&str; 17] = [
    "host",
    "content-length",
    "content-type",
    "content-encoding",
    "transfer-encoding",
    "accept",
    "accept-encoding",
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authorization",
    "te",
    "trailer",
    "upgrade",
    "expect",
    "range",
    "origin",
];

/// Validates headers that the user entered.
pub(crate) fn read(
    headers: impl IntoIterator<Item = (String, SecretString)>,
    has_key: bool,
) -> Result<HeaderMap, ProviderError> {
    let mut read = HeaderMap::new();
    for (name, value) in headers {
        let name = name_of(&name, has_key)?;
        // The cause is dropped because it may contain the value.
        let mut value = HeaderValue::from_str(value.expose_secret().trim())
            .ok()
            .filter(|value| !value.is_empty())
            .ok_or_else(|| {
                let why = format!("the value of the header {name} is empty or cannot be sent");
                refused(
                    why,
                    "Enter it again on one line, with plain ASCII characters.",
                )
            })?;
        value.set_sensitive(true);
        read.insert(name, value);
    }
    Ok(read)
}

fn name_of(name: &str, has_key: bool) -> Result<HeaderName, ProviderError> {
    let shown: String = name.trim().chars().take(60).collect();
    let parsed = HeaderName::from_bytes(name.trim().as_bytes()).map_err(|_| {
        refused(
            format!("\"{shown}\" is not the name of a header"),
            "Use letters, digits and hyphens, such as X-Team.",
        )
    })?;
    if OURS.contains(&parsed.as_str()) {
        return Err(refused(
            format!("the header {shown} is set by the connection itself"),
            "Remove it.",
        ));
    }
    if parsed == AUTHORIZATION && has_key {
        return Err(refused(
            "the key is already sent as Authorization",
            "Remove the header, or remove the key.",
        ));
    }
    Ok(parsed)
}

/// Replaces header values in `text` with `[header]`.
pub(crate) fn redact(headers: &HeaderMap, text: String) -> String {
    // Short values, such as "1", would also match ordinary text.
    let long = headers
        .values()
        .filter_map(|value| value.to_str().ok())
        .filter(|value| value.len() >= 8);
    long.fold(text, |text, value| text.replace(value, "[header]"))
}

fn refused(why: impl Into<String>, hint: &str) -> ProviderError {
    ProviderError::new(ProviderErrorKind::BadRequest, why.into(), hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::EndpointConfig;

    fn with(name: &str, value: &str, key: Option<&str>) -> Result<EndpointConfig, ProviderError> {
        let config = EndpointConfig::new("http://h/v1", "m", key.map(SecretString::from)).unwrap();
        config.with_headers([(name.to_owned(), SecretString::from(value))])
    }

    #[test]
    fn refuses_headers_of_the_connection() {
        for name in [
            "Host",
            "content-length",
            "Transfer-Encoding",
            "Connection",
            "Content-Type",
            "Upgrade",
        ] {
            assert_eq!(
                with(name, "x", None).unwrap_err().kind,
                ProviderErrorKind::BadRequest,
                "{name}"
            );
        }
        for (name, value) in [
            ("", "x"),
            ("x y", "x"),
            ("x\r\nhost", "x"),
            ("x-a", "a\nb"),
            ("x-a", " "),
            ("ü", "x"),
        ] {
            assert!(with(name, value, None).is_err(), "{name:?}: {value:?}");
        }
        assert!(with("HTTP-Referer", "https://example.org", Some("sk")).is_ok());
    }

    #[test]
    fn allows_authorization_without_a_key() {
        assert!(with("Authorization", "Basic abc", None).is_ok());
        assert!(with("Authorization", "Basic abc", Some("sk")).is_err());
    }

    #[test]
    fn debug_and_errors_hide_values() {
        let config = with("x-team", "canary-1", None).unwrap();
        assert!(!format!("{config:?}").contains("canary"));
        assert_eq!(config.redact("bad header canary-1"), "bad header [header]");
        assert!(
            !format!("{:?}", with("x-team", "canary\u{7f}", None).unwrap_err()).contains("canary")
        );
    }
}
