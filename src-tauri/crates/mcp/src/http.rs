//! Servers at an address.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use rmcp::model::ErrorData;
use rmcp::service::ServiceError;
use rmcp::transport::common::client_side_sse::FixedInterval;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransportConfig, StreamableHttpError,
};
use rmcp::transport::{DynamicTransportError, StreamableHttpClientTransport};
use secrecy::{ExposeSecret as _, SecretString};
use url::{Host, Url};

use crate::http_client::{Shortening, is_too_deep};
use crate::text::clean_line;
use crate::{Limits, McpError};

/// Time to open a connection.
const CONNECT: Duration = Duration::from_secs(15);

/// Times that a broken event stream is opened again.
const RECONNECTIONS: usize = 3;

pub(crate) type HttpTransport = StreamableHttpClientTransport<Shortening>;

/// Parses an address. Secrets may be sent without encryption only on this machine and in the
/// private network.
///
/// # Errors
/// `BadAddress`.
pub(crate) fn address(text: &str) -> Result<Url, McpError> {
    let bad = |reason| McpError::BadAddress {
        url: clean_line(text, 200),
        reason,
    };
    let url = Url::parse(text.trim()).map_err(|_| bad("it is not a web address"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(bad("it contains a user name or a password"));
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_near(&url) => Ok(url),
        "http" => Err(bad("it is not encrypted")),
        _ => Err(bad("it does not begin with https:// or http://")),
    }
}

/// Checks the address of a server.
///
/// # Errors
/// `BadAddress`.
pub fn check_address(text: &str) -> Result<(), McpError> {
    address(text).map(drop)
}

/// Whether both addresses lead to the same scheme, host and port.
pub fn same_origin(one: &str, other: &str) -> bool {
    matches!((address(one), address(other)), (Ok(one), Ok(other)) if one.origin() == other.origin())
}

/// Host and port for messages, without the path and the query, which may contain a secret.
pub(crate) fn host(url: &Url) -> String {
    let name = url.host_str().unwrap_or_default();
    url.port()
        .map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"))
}

/// Creates the transport without connecting.
///
/// # Errors
/// `BadAddress`, `BadHeader`, `Unreachable` if this machine has no usable certificates.
pub(crate) fn transport(
    url: &Url,
    headers: &[(String, SecretString)],
    limits: &Limits,
) -> Result<HttpTransport, McpError> {
    provider::tls::install();
    let mut builder = reqwest::Client::builder()
        .connect_timeout(CONNECT)
        // A redirect would carry the headers to another place.
        .redirect(Policy::none())
        .user_agent(concat!("inglenook/", env!("CARGO_PKG_VERSION")));
    if is_loopback(url) {
        builder = builder.no_proxy();
        if url.scheme() == "http" {
            // A plain address needs no certificates, so they are not loaded.
            builder = builder.tls_certs_only([]);
        }
    }
    let client = builder.build().map_err(|_| McpError::Unreachable {
        host: host(url),
        reason: "secure connections cannot be set up".into(),
    })?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
        .custom_headers(parsed(headers)?)
        .max_sse_event_size(limits.message_bytes)
        .max_json_response_size(limits.message_bytes)
        .max_error_response_size(2_000);
    let mut retries = FixedInterval::default();
    retries.max_times = Some(RECONNECTIONS);
    config.retry_config = Arc::new(retries);
    Ok(StreamableHttpClientTransport::with_client(
        Shortening(client),
        config,
    ))
}

fn parsed(
    headers: &[(String, SecretString)],
) -> Result<HashMap<HeaderName, HeaderValue>, McpError> {
    let header = |(name, value): &(String, SecretString)| {
        let bad = || McpError::BadHeader {
            name: clean_line(name, 100),
        };
        let name = HeaderName::try_from(name.as_str()).map_err(|_| bad())?;
        let mut value = HeaderValue::try_from(value.expose_secret()).map_err(|_| bad())?;
        value.set_sensitive(true);
        Ok((name, value))
    };
    headers.iter().map(header).collect()
}

/// Explains an error of the transport.
pub(crate) fn explain(url: &Url, error: &DynamicTransportError) -> McpError {
    let host = host(url);
    let Some(error) = error
        .error
        .downcast_ref::<StreamableHttpError<reqwest::Error>>()
    else {
        return McpError::Unreachable {
            host,
            reason: "the connection broke".into(),
        };
    };
    match error {
        StreamableHttpError::AuthRequired(required)
            if asks_for_sign_in(&required.www_authenticate_header) =>
        {
            McpError::SignIn { host }
        }
        StreamableHttpError::AuthRequired(_) | StreamableHttpError::InsufficientScope(_) => {
            McpError::Unauthorized { host }
        }
        StreamableHttpError::HttpStatus(status) if matches!(status.status, 401 | 403) => {
            McpError::Unauthorized { host }
        }
        StreamableHttpError::HttpStatus(status) => McpError::Status {
            host,
            status: status.status,
        },
        StreamableHttpError::Client(error) => explain_client(host, error),
        StreamableHttpError::ReservedHeaderConflict(name) => {
            McpError::BadHeader { name: name.clone() }
        }
        StreamableHttpError::ResponseBodyTooLarge { max_size } => McpError::TooMuch {
            megabytes: max_size >> 20,
            one_message: true,
        },
        StreamableHttpError::UnexpectedServerResponse(text) => explain_response(host, text),
        // The text may quote the server's page; the protocol error says enough.
        StreamableHttpError::UnexpectedContentType(_) | StreamableHttpError::Deserialize(_) => {
            McpError::Protocol {
                detail: format!("{host} is not a tool server"),
            }
        }
        _ => McpError::Unreachable {
            host,
            reason: "the connection broke".into(),
        },
    }
}

fn explain_client(host: String, error: &reqwest::Error) -> McpError {
    let reason = match error.status() {
        Some(status) if matches!(status.as_u16(), 401 | 403) => {
            return McpError::Unauthorized { host };
        }
        Some(status) => {
            return McpError::Status {
                host,
                status: status.as_u16(),
            };
        }
        None if error.is_connect() => "nothing answers there",
        None if error.is_timeout() => "it does not answer",
        None => "the connection broke",
    };
    McpError::Unreachable {
        host,
        reason: reason.into(),
    }
}

fn explain_response(host: String, text: &str) -> McpError {
    if is_too_deep(text) {
        return McpError::Protocol {
            detail: format!("the answer of {host} is nested too deeply"),
        };
    }
    match status_in(text) {
        Some(401 | 403) => McpError::Unauthorized { host },
        Some(status) => McpError::Status { host, status },
        None => McpError::Protocol {
            detail: format!("{host} is not a tool server"),
        },
    }
}

/// The status of a refusal whose body is no JSON-RPC. The library has it only in the beginning of
/// its text.
fn status_in(text: &str) -> Option<u16> {
    text.strip_prefix("HTTP ")?
        .split([' ', ':'])
        .next()?
        .parse()
        .ok()
}

/// Whether a challenge asks for a sign-in by OAuth (RFC 9728) and does not refuse a token that was
/// sent (RFC 6750).
fn asks_for_sign_in(challenge: &str) -> bool {
    let challenge = challenge.to_ascii_lowercase();
    let is_bearer = challenge.split([',', ' ']).any(|word| word == "bearer");
    is_bearer && challenge.contains("resource_metadata") && !challenge.contains("invalid_token")
}

/// JSON-RPC codes with which servers report a session that they no longer know. Tools fail with
/// other codes.
const SESSION_CODES: [i32; 3] = [-32000, -32001, -32600];

/// Whether an answer says that the server no longer knows the session.
pub(crate) fn names_lost_session(refusal: &ErrorData) -> bool {
    let message = refusal.message.to_lowercase();
    SESSION_CODES.contains(&refusal.code.0)
        && (message.contains("session") || message.contains("not initialized"))
}

/// Finds the transport's error in an error of the service.
pub(crate) fn transport_error(error: &ServiceError) -> Option<&DynamicTransportError> {
    match error {
        ServiceError::TransportSend(error) => Some(error),
        _ => None,
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

/// This machine or the private network (RFC 1918, RFC 4193, `.local`).
fn is_near(url: &Url) -> bool {
    let private = match url.host() {
        Some(Host::Ipv4(address)) => address.is_private() || address.is_link_local(),
        Some(Host::Ipv6(address)) => address.is_unique_local() || address.is_unicast_link_local(),
        Some(Host::Domain(name)) => name.ends_with(".local"),
        None => false,
    };
    private || is_loopback(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_is_only_for_the_own_network() {
        for good in [
            "https://example.org/mcp",
            "http://localhost:3001/mcp",
            "http://192.168.1.5/mcp",
            "http://[::1]/",
        ] {
            assert!(address(good).is_ok(), "{good}");
        }
        for bad in [
            "http://example.org/mcp",
            "ftp://localhost",
            "localhost:3001",
            "",
            "https://me:key@example.org",
        ] {
            assert!(
                matches!(address(bad), Err(McpError::BadAddress { .. })),
                "{bad}"
            );
        }
    }

    #[test]
    fn only_an_oauth_challenge_asks_for_a_sign_in() {
        let metadata =
            "resource_metadata=\"https://example.org/.well-known/oauth-protected-resource\"";
        for (challenge, expected) in [
            (format!("Bearer {metadata}"), true),
            (
                format!("Basic realm=\"x\", bearer realm=\"y\", {metadata}"),
                true,
            ),
            (format!("Bearer error=\"invalid_token\", {metadata}"), false),
            ("Bearer realm=\"keys\"".to_owned(), false),
            ("Basic realm=\"x\"".to_owned(), false),
            (String::new(), false),
        ] {
            assert_eq!(asks_for_sign_in(&challenge), expected, "{challenge}");
        }
    }

    #[test]
    fn message_names_no_query() {
        let url = address("https://example.org:8443/mcp?key=secret").unwrap();
        assert_eq!(host(&url), "example.org:8443");
    }
}
