//! Failures of a model hub, each with a way to go on.

use std::fmt;
use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::{Response, StatusCode};

use crate::endpoint::asked_pause;

/// Kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HubFault {
    Unreachable,
    Timeout,
    /// The hub refuses the token, or asks for one.
    Unauthorized,
    /// The authors ask users to accept their terms on the model's page first.
    Gated,
    NotFound,
    /// Too many requests; the pause that the hub asks for, if it does.
    RateLimited(Option<Duration>),
    /// The hub has a problem of its own, with this status.
    Server(u16),
    Refused(u16),
    /// The answer is not one of a model hub, such as the web page of a proxy.
    NotAHub,
    TooLarge,
}

/// A failed request to a hub. `Display` says what happened, [`HubError::hint`] what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct HubError {
    pub host: String,
    pub fault: HubFault,
}

impl fmt::Display for HubError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = &self.host;
        match self.fault {
            HubFault::Unreachable => write!(out, "{host} cannot be reached"),
            HubFault::Timeout => write!(out, "{host} does not answer"),
            HubFault::Unauthorized => write!(out, "{host} asks for a valid access token"),
            HubFault::Gated => write!(
                out,
                "the authors of this model ask you to accept their terms on {host} first"
            ),
            HubFault::NotFound => write!(out, "{host} has no such model or file"),
            HubFault::RateLimited(None) => write!(out, "{host} got too many requests"),
            HubFault::RateLimited(Some(pause)) => {
                write!(
                    out,
                    "{host} got too many requests and asks for a pause of {} s",
                    pause.as_secs().max(1)
                )
            }
            HubFault::Server(status) => {
                write!(out, "{host} has a problem of its own (status {status})")
            }
            HubFault::Refused(status) => {
                write!(out, "{host} refused the request (status {status})")
            }
            HubFault::NotAHub => write!(out, "{host} did not answer like a model hub"),
            HubFault::TooLarge => write!(out, "the answer of {host} is too large"),
        }
    }
}

impl HubError {
    pub fn hint(&self) -> &'static str {
        match self.fault {
            HubFault::Unreachable => "Check the network, and the hub's address on the Models page.",
            HubFault::Timeout | HubFault::Server(_) => "Try again in a few minutes.",
            HubFault::Unauthorized => "Enter an access token of the hub on the Models page.",
            HubFault::Gated => {
                "Open the model's page in a browser, accept the terms, then enter an access token of the hub on the \
                 Models page. Or choose another model."
            }
            HubFault::NotFound => "Check the name. The model may have been renamed or removed.",
            HubFault::RateLimited(_) => {
                "Wait a little, then try again. An access token raises the limit."
            }
            HubFault::Refused(_) => "Open the model's page in a browser to see why.",
            HubFault::NotAHub => {
                "Check the hub's address on the Models page, and whether a proxy asks for a login."
            }
            HubFault::TooLarge => "Search with more words.",
        }
    }

    pub(super) fn new(host: &str, fault: HubFault) -> Self {
        Self {
            host: host.to_owned(),
            fault,
        }
    }

    pub(super) fn of_request(host: &str, error: &reqwest::Error) -> Self {
        let fault = if error.is_timeout() {
            HubFault::Timeout
        } else {
            HubFault::Unreachable
        };
        tracing::warn!(host, %error, "a request to a hub failed");
        Self::new(host, fault)
    }
}

/// Passes a successful response on.
///
/// # Errors
/// [`HubError`] by status, and by the code that Hugging Face sends in `X-Error-Code`.
pub(super) fn accepted(host: &str, response: Response) -> Result<Response, HubError> {
    if response.status().is_success() {
        return Ok(response);
    }
    Err(HubError::new(
        host,
        fault(response.status(), response.headers()),
    ))
}

/// Header with the code of a refusal.
pub(crate) const ERROR_CODE: &str = "x-error-code";

/// Hugging Face answers 401 for unknown models as well, to hide private ones.
pub(crate) fn fault(status: StatusCode, headers: &HeaderMap) -> HubFault {
    let code = headers
        .get(ERROR_CODE)
        .and_then(|code| code.to_str().ok())
        .unwrap_or_default();
    match (status.as_u16(), code) {
        (_, "GatedRepo") => HubFault::Gated,
        (_, "RepoNotFound" | "EntryNotFound" | "RevisionNotFound") => HubFault::NotFound,
        (401, _) => HubFault::Unauthorized,
        (403, _) => HubFault::Gated,
        (404 | 410, _) => HubFault::NotFound,
        (429, _) => HubFault::RateLimited(asked_pause(headers, std::time::SystemTime::now())),
        (500.., _) => HubFault::Server(status.as_u16()),
        // A redirect that was not followed leads to a login page or to another network.
        (300..=399, _) => HubFault::NotAHub,
        _ => HubFault::Refused(status.as_u16()),
    }
}
