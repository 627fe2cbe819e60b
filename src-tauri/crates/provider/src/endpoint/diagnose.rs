//! Maps a failure to an error class and to texts that say what happened, where, why and what to do.
//! Only this module interprets error texts of endpoints and of the HTTP client.

use std::error::Error;
use std::io;
use std::time::Duration;

use super::api_error::EndpointError;
use super::config::EndpointConfig;
use super::decompress::DecompressionError;
use super::retry::{RequestFailure, RetryPolicy};
use crate::{FinishReason, ProviderError, ProviderErrorKind as Kind};

/// Maximum characters quoted from an endpoint's error message.
const EXCERPT: usize = 300;

/// A response with an error status.
#[derive(Debug)]
pub(crate) struct EndpointRefusal {
    pub(crate) status: u16,
    /// Target of a redirect.
    pub(crate) location: Option<String>,
    /// Pause that the endpoint requested.
    pub(crate) pause: Option<Duration>,
    pub(crate) error: EndpointError,
}

/// Explains a connection that failed or broke.
pub(crate) fn transport(config: &EndpointConfig, error: reqwest::Error) -> RequestFailure {
    let (authority, address) = (config.authority(), config.address());
    let error = error.without_url();
    let failure = |again: RetryPolicy, kind, message: String, hint: String| RequestFailure {
        error: ProviderError::new(kind, message, hint),
        retry: again,
        reported_by_endpoint: false,
    };
    let mut failure = if let Some(tls) = tls_cause(&error) {
        let (message, hint) = explain_tls(config, tls);
        failure(RetryPolicy::Never, Kind::Tls, message, hint)
    } else if error.is_connect() && error.is_timeout() {
        failure(
            RetryPolicy::Never,
            Kind::Timeout,
            format!(
                "{authority} did not answer within {} s ({address})",
                config.timeouts.connect.as_secs_f32()
            ),
            "Check the address, the port and the firewall.".to_owned(),
        )
    } else if error.is_dns() {
        failure(
            RetryPolicy::Never,
            Kind::Unreachable,
            format!("the host name in {address} cannot be resolved ({authority})"),
            "Check the spelling and the internet connection.".to_owned(),
        )
    } else if io_cause(&error) == Some(io::ErrorKind::ConnectionRefused) {
        failure(
            RetryPolicy::Later,
            Kind::Unreachable,
            format!("nothing listens on {authority} ({address})"),
            "Start the server, or check the port.".to_owned(),
        )
    } else if error.is_connect() && config.is_https() && hung_up(&error) {
        failure(
            RetryPolicy::Never,
            Kind::Tls,
            format!("{authority} closed the connection during the TLS handshake"),
            format!(
                "If the server has no TLS, try {}.",
                address.replacen("https:", "http:", 1)
            ),
        )
    } else if error.is_connect() {
        failure(
            RetryPolicy::Later,
            Kind::Unreachable,
            format!("{authority} cannot be reached ({address})"),
            "Check the address and the internet connection.".to_owned(),
        )
    } else if is_not_http(&error) {
        failure(
            RetryPolicy::Never,
            Kind::Malformed,
            if config.is_https() {
                format!("the server on {authority} does not speak HTTP")
            } else {
                format!(
                    "the server on {authority} does not speak plain HTTP; perhaps it expects TLS"
                )
            },
            if config.is_https() {
                "Check the port.".to_owned()
            } else {
                format!(
                    "Check the port; if the server uses TLS, try {}.",
                    address.replacen("http:", "https:", 1)
                )
            },
        )
    } else if error.is_request() && !config.is_https() && hung_up(&error) {
        let mut failure = cut(config);
        failure.error.hint = format!(
            "Check the server's log. If the server uses TLS, try {}.",
            address.replacen("http:", "https:", 1)
        );
        failure
    } else {
        cut(config)
    };
    failure.error = failure.error.caused_by(error);
    failure
}

/// The connection ended before the reply did.
pub(crate) fn cut(config: &EndpointConfig) -> RequestFailure {
    RequestFailure::later(ProviderError::new(
        Kind::Cut,
        format!(
            "the connection to {} ended before the reply did",
            config.address()
        ),
        "What has arrived is kept; continue the reply or try again.",
    ))
}

/// The endpoint started a new reply instead of continuing the unfinished one.
pub(crate) fn no_prefill(config: &EndpointConfig) -> RequestFailure {
    RequestFailure::never(ProviderError::new(
        Kind::NoPrefill,
        format!("{} cannot continue an unfinished reply", config.address()),
        "Set \"Continue replies by\" to asking for this model.",
    ))
}

pub(crate) fn no_forced_call(config: &EndpointConfig) -> RequestFailure {
    RequestFailure::never(ProviderError::new(
        Kind::BadRequest,
        format!(
            "the model at {} cannot be made to call a tool",
            config.address()
        ),
        "Let the model choose, or use another model.",
    ))
}

/// The endpoint sent nothing for `silence`.
pub(crate) fn silent(config: &EndpointConfig, silence: Duration) -> RequestFailure {
    RequestFailure::never(ProviderError::new(
        Kind::Timeout,
        format!(
            "{} has sent nothing for {} s",
            config.address(),
            silence.as_secs_f32()
        ),
        "The server may be overloaded or stuck. Check its log, then try again.",
    ))
}

/// The response does not follow the API.
pub(crate) fn malformed(config: &EndpointConfig, why: &str) -> RequestFailure {
    RequestFailure::never(ProviderError::new(
        Kind::Malformed,
        format!(
            "{} sent something that is not {}: {why}",
            config.address(),
            config.api().words().reply
        ),
        format!(
            "Is this the address of {}? {}",
            config.api().words().api,
            suggest_version(config)
        )
        .trim_end(),
    ))
}

/// The endpoint answered with a web page and status 200.
pub(crate) fn web_page(config: &EndpointConfig) -> RequestFailure {
    RequestFailure::never(ProviderError {
        status: Some(200),
        ..ProviderError::new(
            Kind::NotFound,
            format!(
                "{} answers with a web page instead of the API",
                config.address()
            ),
            format!("Check the address. {}", suggest_version(config)).trim_end(),
        )
    })
}

/// The endpoint's content filter ended the reply.
pub(crate) fn filtered(config: &EndpointConfig, reason: Option<&str>) -> RequestFailure {
    let reason = reason
        .map(|reason| format!(" ({})", excerpt(reason)))
        .unwrap_or_default();
    RequestFailure::never(ProviderError::new(
        Kind::Filtered,
        format!(
            "the content filter of {} ended the reply{reason}",
            config.address()
        ),
        "Reword the message, or use another endpoint.",
    ))
}

/// The endpoint ended the reply as failed and gave no message.
pub(crate) fn aborted(config: &EndpointConfig) -> RequestFailure {
    let error = ProviderError::new(
        Kind::Server,
        format!("{} aborted the reply", config.address()),
        "What has arrived is kept; continue the reply or try again.",
    );
    RequestFailure {
        reported_by_endpoint: true,
        ..RequestFailure::never(error)
    }
}

/// The reply contains thoughts, but no answer.
pub(crate) fn only_thoughts(config: &EndpointConfig, reason: FinishReason) -> ProviderError {
    let address = config.address();
    match reason {
        FinishReason::Length => ProviderError::new(
            Kind::Malformed,
            format!(
                "{address} sent only thoughts: the model was still thinking when the limit of the reply was reached"
            ),
            "Raise the length of replies, or turn thinking off for this model.",
        ),
        FinishReason::Stop | FinishReason::Cancelled => ProviderError::new(
            Kind::Malformed,
            format!("{address} sent only thoughts and no reply"),
            "Try again, or turn thinking off for this model.",
        ),
    }
}

/// The body's compression is unknown, or its data is damaged.
pub(crate) fn packed(config: &EndpointConfig, packed: &DecompressionError) -> RequestFailure {
    let address = config.address();
    let message = match packed {
        DecompressionError::Unknown(kind) => {
            format!(
                "{address} sent a reply compressed as \"{kind}\", although no compression was requested"
            )
        }
        DecompressionError::Damaged => {
            format!("{address} sent a compressed reply that cannot be decompressed")
        }
    };
    let hint = "Turn off compression in the server, or in the proxy in front of it.";
    RequestFailure::never(ProviderError::new(Kind::Malformed, message, hint))
}

/// The response to the request for models is not a list of models.
pub(crate) fn no_list(config: &EndpointConfig) -> RequestFailure {
    let mut url = config.api().models_url(config);
    url.set_query(None);
    RequestFailure::never(ProviderError::new(
        Kind::NotFound,
        format!("{url} answers, but not with a list of models"),
        format!("Check the address. {}", suggest_version(config)).trim_end(),
    ))
}

/// This address has no API. `found` is another address that was tried and answers.
pub(crate) fn api_at_other_address(
    config: &EndpointConfig,
    found: &EndpointConfig,
) -> ProviderError {
    ProviderError::new(
        Kind::NotFound,
        format!(
            "there is no API at {}, but there is one at {}",
            config.address(),
            found.address()
        ),
        format!("Use the address {}.", found.address()),
    )
}

/// An error inside a stream that started well. An error code in it has the meaning of an HTTP
/// status.
pub(crate) fn in_stream(config: &EndpointConfig, error: EndpointError) -> RequestFailure {
    let no_call = [
        "unexpected endpoint",
        "unknown endpoint",
        "no route",
        "cannot post",
        "cannot get",
        "invalid url",
        "not found",
    ];
    let status = error.status.or(error.is_overflow().then_some(400));
    let status = status.or(has_words(&error.message, &no_call).then_some(404));
    if let Some(status) = status {
        return refused(
            config,
            EndpointRefusal {
                status,
                location: None,
                pause: None,
                error,
            },
        );
    }
    let again = if has_words(&error.message, &["overload", "capacity", "busy"]) {
        RetryPolicy::Later
    } else {
        RetryPolicy::Never
    };
    let message = format!(
        "{} aborted the reply with an error{}",
        config.address(),
        said(config, &error.message)
    );
    let hint = "The server failed. Check its log, or try again.";
    RequestFailure {
        error: ProviderError::new(Kind::Server, message, hint),
        retry: again,
        reported_by_endpoint: true,
    }
}

/// Explains a response with an error status.
pub(crate) fn refused(config: &EndpointConfig, refusal: EndpointRefusal) -> RequestFailure {
    let EndpointRefusal {
        status,
        location,
        pause,
        error,
    } = &refusal;
    let address = config.address();
    let said = said(config, &error.message);
    let (kind, message, hint) = match status {
        400 | 413 | 422 | 500 if error.is_overflow() || *status == 413 => overflow(config, error),
        400 | 403 | 422 if error.is_filtered() => (
            Kind::Filtered,
            format!("the content filter of {address} refused the request{said}"),
            "Reword the message, or use another endpoint.".to_owned(),
        ),
        300..=399 => (
            Kind::NotFound,
            format!(
                "{address} redirects to {}",
                location.as_deref().unwrap_or("another address")
            ),
            "Redirects are not followed, to protect the key. Enter the new address.".to_owned(),
        ),
        401 | 403 => unauthorized(config, *status, &said),
        402 => (
            Kind::RateLimited,
            format!("{address} requires payment{said}"),
            "Check the credit of your account.".to_owned(),
        ),
        404 | 405 | 410 => not_found(config, *status, error, &said),
        408 | 504 => (
            Kind::Timeout,
            format!("{address} reported a timeout (status {status}){said}"),
            "Try again.".to_owned(),
        ),
        429 => (
            Kind::RateLimited,
            format!("{address} received too many requests{said}"),
            wait_hint(*pause),
        ),
        503 if has_words(&error.message, &["loading model"]) => (
            Kind::Server,
            format!("{address} is still loading its model"),
            "Wait until it is loaded, then try again.".to_owned(),
        ),
        409 | 500..=599 => (
            Kind::Server,
            format!("{address} failed (status {status}){said}"),
            "The server failed. Check its log, or try again later.".to_owned(),
        ),
        _ if has_words(
            &error.message,
            &[
                "https port",
                "http request to an https",
                "requires tls",
                "tls required",
            ],
        ) =>
        {
            (
                Kind::Tls,
                format!("{address} is plain HTTP, but the server expects TLS"),
                format!("Try {}.", address.replacen("http:", "https:", 1)),
            )
        }
        _ => (
            Kind::BadRequest,
            format!("{address} refused the request (status {status}){said}"),
            "Check the model's name and the sampler settings.".to_owned(),
        ),
    };
    let again = again(*status, kind, error, *pause);
    RequestFailure {
        error: ProviderError {
            status: Some(*status),
            ..ProviderError::new(kind, message, hint)
        },
        retry: again,
        reported_by_endpoint: true,
    }
}

fn again(status: u16, kind: Kind, error: &EndpointError, pause: Option<Duration>) -> RetryPolicy {
    let is_plain =
        matches!(status, 408 | 409 | 429 | 500 | 502..=599) && kind != Kind::ContextOverflow;
    // A used-up quota does not recover within a retry.
    if !is_plain || has_words(&error.class, &["insufficient_quota", "billing"]) {
        return RetryPolicy::Never;
    }
    pause.map_or(RetryPolicy::Later, RetryPolicy::After)
}

fn overflow(config: &EndpointConfig, error: &EndpointError) -> (Kind, String, String) {
    let message = match (error.needed, error.limit) {
        (Some(needed), Some(limit)) => {
            format!("the prompt needs {needed} tokens, but the model allows {limit}")
        }
        _ => format!(
            "the prompt is longer than the model's context{}",
            said(config, &error.message)
        ),
    };
    (
        Kind::ContextOverflow,
        message,
        "Lower the context size of this model, or raise it on the server.".to_owned(),
    )
}

fn unauthorized(config: &EndpointConfig, status: u16, said: &str) -> (Kind, String, String) {
    let address = config.address();
    if config.has_key() {
        let hint = "Check that the key is complete, still valid, and allowed to use this model."
            .to_owned();
        (
            Kind::Unauthorized,
            format!("{address} refused the key (status {status}){said}"),
            hint,
        )
    } else {
        let hint = "Enter the endpoint's key.".to_owned();
        (
            Kind::Unauthorized,
            format!("{address} needs an API key (status {status}){said}"),
            hint,
        )
    }
}

fn not_found(
    config: &EndpointConfig,
    status: u16,
    error: &EndpointError,
    said: &str,
) -> (Kind, String, String) {
    let address = config.address();
    if has_words(&error.message, &["model"]) || has_words(&error.class, &["model"]) {
        let hint = "Test the connection to see which models it has.".to_owned();
        let model = excerpt(&config.model);
        return (
            Kind::NotFound,
            format!("{address} does not know the model \"{model}\"{said}"),
            hint,
        );
    }
    let hint = format!("Check the address. {}", suggest_version(config))
        .trim_end()
        .to_owned();
    let replies = config.api().words().replies;
    (
        Kind::NotFound,
        format!("{address} answers, but offers no {replies} (status {status}){said}"),
        hint,
    )
}

fn suggest_version(config: &EndpointConfig) -> String {
    let Some(version) = config
        .api()
        .words()
        .version
        .filter(|_| !config.ends_with_version())
    else {
        return String::new();
    };
    format!(
        "Most addresses end in {version}: try {}.",
        config.with_version(version).address()
    )
}

fn wait_hint(pause: Option<Duration>) -> String {
    match pause {
        Some(pause) if pause.as_secs() >= 120 => {
            format!("Try again in {} minutes.", pause.as_secs().div_ceil(60))
        }
        Some(pause) => format!("Try again in {} seconds.", pause.as_secs().max(1)),
        None => "Wait a moment, then try again. Check the limits of your account.".to_owned(),
    }
}

/// Returns the endpoint's error message as the end of a sentence.
fn said(config: &EndpointConfig, message: &str) -> String {
    let words = excerpt(&config.redact(message));
    if words.is_empty() {
        words
    } else {
        format!(": {words}")
    }
}

fn excerpt(text: &str) -> String {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|w| !w.is_empty())
        .collect();
    let line = words.join(" ");
    match line.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn has_words(text: &str, words: &[&str]) -> bool {
    let text = text.to_lowercase();
    words.iter().any(|word| text.contains(word))
}

fn explain_tls(config: &EndpointConfig, error: &rustls::Error) -> (String, String) {
    let authority = config.authority();
    match error {
        rustls::Error::InvalidCertificate(_) => (
            format!("the certificate of {authority} is not valid: {error}"),
            "Check the address and this computer's clock. The system must trust a self-signed certificate.".to_owned(),
        ),
        rustls::Error::InvalidMessage(_) => (
            format!("{authority} does not speak TLS, although the address begins with https"),
            format!("Try {}.", config.address().replacen("https:", "http:", 1)),
        ),
        _ => (
            format!("no secure connection to {authority}: {error}"),
            format!("If the server has no TLS, try {}.", config.address().replacen("https:", "http:", 1)),
        ),
    }
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |&error| {
        match error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref)
        {
            // `source()` of an `io::Error` skips the error that it wraps.
            Some(wrapped) => Some(wrapped as &(dyn Error + 'static)),
            None => error.source(),
        }
    })
}

fn tls_cause(error: &reqwest::Error) -> Option<&rustls::Error> {
    causes(error).find_map(|cause| cause.downcast_ref())
}

fn io_cause(error: &reqwest::Error) -> Option<io::ErrorKind> {
    causes(error)
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .map(io::Error::kind)
        .last()
}

fn hung_up(error: &reqwest::Error) -> bool {
    let incomplete = causes(error)
        .filter_map(|cause| cause.downcast_ref::<hyper::Error>())
        .any(hyper::Error::is_incomplete_message);
    let closed = matches!(
        io_cause(error),
        Some(
            io::ErrorKind::UnexpectedEof
                | io::ErrorKind::ConnectionReset
                | io::ErrorKind::ConnectionAborted
        )
    );
    incomplete || closed
}

fn is_not_http(error: &reqwest::Error) -> bool {
    causes(error)
        .filter_map(|cause| cause.downcast_ref::<hyper::Error>())
        .any(hyper::Error::is_parse)
}
