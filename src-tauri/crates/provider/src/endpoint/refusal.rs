//! Explains refusals: what the endpoint answered, and what to do.

use std::time::Duration;

use crate::endpoint::api_error::EndpointError;
use crate::endpoint::config::EndpointConfig;
use crate::endpoint::diagnose::{excerpt, has_words, quoted};
use crate::endpoint::retry::{RequestFailure, RetryPolicy};
use crate::{ProviderError, ProviderErrorKind as Kind};

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

/// Explains a response with an error status.
pub(crate) fn refused(config: &EndpointConfig, refusal: EndpointRefusal) -> RequestFailure {
    let (kind, message, hint) = explain(config, &refusal);
    let again = again(refusal.status, kind, &refusal.error, refusal.pause);
    RequestFailure {
        error: ProviderError {
            status: Some(refusal.status),
            ..ProviderError::new(kind, message, hint)
        },
        retry: again,
        reported_by_endpoint: true,
    }
}

/// The class of a refusal, what happened, and what to do.
fn explain(config: &EndpointConfig, refusal: &EndpointRefusal) -> (Kind, String, String) {
    let EndpointRefusal {
        status,
        location,
        pause,
        error,
    } = refusal;
    let address = config.address();
    let quoted = quoted(config, &error.message);
    match status {
        400 | 413 | 422 | 500 if error.is_overflow() || *status == 413 => overflow(config, error),
        400 | 403 | 422 if error.is_filtered() => (
            Kind::Filtered,
            format!("the content filter of {address} refused the request{quoted}"),
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
        401 | 403 => unauthorized(config, *status, &quoted),
        402 => (
            Kind::RateLimited,
            format!("{address} requires payment{quoted}"),
            "Check the credit of your account.".to_owned(),
        ),
        404 | 405 | 410 => not_found(config, *status, error, &quoted),
        408 | 504 => (
            Kind::Timeout,
            format!("{address} reported a timeout (status {status}){quoted}"),
            "Try again.".to_owned(),
        ),
        429 => (
            Kind::RateLimited,
            format!("{address} received too many requests{quoted}"),
            wait_hint(*pause),
        ),
        503 if has_words(&error.message, &["loading model"]) => (
            Kind::Server,
            format!("{address} is still loading its model"),
            "Wait until it is loaded, then try again.".to_owned(),
        ),
        409 | 500..=599 => (
            Kind::Server,
            format!("{address} failed (status {status}){quoted}"),
            "The server failed. Check its log, or try again later.".to_owned(),
        ),
        _ if expects_tls(&error.message) => (
            Kind::Tls,
            format!("{address} is plain HTTP, but the server expects TLS"),
            format!("Try {}.", address.replacen("http:", "https:", 1)),
        ),
        _ => (
            Kind::BadRequest,
            format!("{address} refused the request (status {status}){quoted}"),
            "Check the model's name and the sampler settings.".to_owned(),
        ),
    }
}

fn expects_tls(message: &str) -> bool {
    let phrases = [
        "https port",
        "http request to an https",
        "requires tls",
        "tls required",
    ];
    has_words(message, &phrases)
}

pub(super) fn again(
    status: u16,
    kind: Kind,
    error: &EndpointError,
    pause: Option<Duration>,
) -> RetryPolicy {
    let is_plain =
        matches!(status, 408 | 409 | 429 | 500 | 502..=599) && kind != Kind::ContextOverflow;
    // A used-up quota does not recover within a retry.
    if !is_plain || has_words(&error.class, &["insufficient_quota", "billing"]) {
        return RetryPolicy::Never;
    }
    pause.map_or(RetryPolicy::Later, RetryPolicy::After)
}

pub(super) fn overflow(config: &EndpointConfig, error: &EndpointError) -> (Kind, String, String) {
    let message = match (error.needed, error.limit) {
        (Some(needed), Some(limit)) => {
            format!("the prompt needs {needed} tokens, but the model allows {limit}")
        }
        _ => format!(
            "the prompt is longer than the model's context{}",
            quoted(config, &error.message)
        ),
    };
    (
        Kind::ContextOverflow,
        message,
        "Lower the context size of this model, or raise it on the server.".to_owned(),
    )
}

pub(super) fn unauthorized(
    config: &EndpointConfig,
    status: u16,
    quoted: &str,
) -> (Kind, String, String) {
    let address = config.address();
    if config.has_key() {
        let hint = "Check that the key is complete, still valid, and allowed to use this model."
            .to_owned();
        (
            Kind::Unauthorized,
            format!("{address} refused the key (status {status}){quoted}"),
            hint,
        )
    } else {
        let hint = "Enter the endpoint's key.".to_owned();
        (
            Kind::Unauthorized,
            format!("{address} needs an API key (status {status}){quoted}"),
            hint,
        )
    }
}

pub(super) fn not_found(
    config: &EndpointConfig,
    status: u16,
    error: &EndpointError,
    quoted: &str,
) -> (Kind, String, String) {
    let address = config.address();
    if has_words(&error.message, &["model"]) || has_words(&error.class, &["model"]) {
        let hint = "Test the connection to see which models it has.".to_owned();
        let model = excerpt(&config.model);
        return (
            Kind::NotFound,
            format!("{address} does not know the model \"{model}\"{quoted}"),
            hint,
        );
    }
    let hint = format!("Check the address. {}", suggest_version(config))
        .trim_end()
        .to_owned();
    let replies = config.api().names().replies;
    (
        Kind::NotFound,
        format!("{address} answers, but offers no {replies} (status {status}){quoted}"),
        hint,
    )
}

pub(super) fn suggest_version(config: &EndpointConfig) -> String {
    let Some(version) = config
        .api()
        .names()
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

pub(super) fn wait_hint(pause: Option<Duration>) -> String {
    match pause {
        Some(pause) if pause.as_secs() >= 120 => {
            format!("Try again in {} minutes.", pause.as_secs().div_ceil(60))
        }
        Some(pause) => format!("Try again in {} seconds.", pause.as_secs().max(1)),
        None => "Wait a moment, then try again. Check the limits of your account.".to_owned(),
    }
}
