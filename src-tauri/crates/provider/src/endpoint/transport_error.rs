//! Explains failures of the connection.

use std::error::Error;
use std::io;

use crate::endpoint::config::EndpointConfig;
use crate::endpoint::retry::{RequestFailure, RetryPolicy};
use crate::{ProviderError, ProviderErrorKind as Kind};

/// Explains a connection that failed or broke.
pub(crate) fn transport(config: &EndpointConfig, error: reqwest::Error) -> RequestFailure {
    let authority = config.authority();
    let address = config.address();
    let error = error.without_url();
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
        not_http(config)
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

fn failure(retry: RetryPolicy, kind: Kind, message: String, hint: String) -> RequestFailure {
    RequestFailure {
        error: ProviderError::new(kind, message, hint),
        retry,
        reported_by_endpoint: false,
    }
}

fn not_http(config: &EndpointConfig) -> RequestFailure {
    let authority = config.authority();
    let (message, hint) = if config.is_https() {
        (
            format!("the server on {authority} does not speak HTTP"),
            "Check the port.".to_owned(),
        )
    } else {
        (
            format!("the server on {authority} does not speak plain HTTP; perhaps it expects TLS"),
            format!(
                "Check the port; if the server uses TLS, try {}.",
                config.address().replacen("http:", "https:", 1)
            ),
        )
    };
    failure(RetryPolicy::Never, Kind::Malformed, message, hint)
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

pub(super) fn explain_tls(config: &EndpointConfig, error: &rustls::Error) -> (String, String) {
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

pub(super) fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
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

pub(super) fn tls_cause(error: &reqwest::Error) -> Option<&rustls::Error> {
    causes(error).find_map(|cause| cause.downcast_ref())
}

pub(super) fn io_cause(error: &reqwest::Error) -> Option<io::ErrorKind> {
    causes(error)
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .map(io::Error::kind)
        .last()
}

pub(super) fn hung_up(error: &reqwest::Error) -> bool {
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

pub(super) fn is_not_http(error: &reqwest::Error) -> bool {
    causes(error)
        .filter_map(|cause| cause.downcast_ref::<hyper::Error>())
        .any(hyper::Error::is_parse)
}
