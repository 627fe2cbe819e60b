//! Maps a failure to an error class and to texts that say what happened, where, why and what to do.
//! Only this module interprets error texts of endpoints and of the HTTP client.

use std::time::Duration;

use super::api_error::EndpointError;
use super::config::EndpointConfig;
use super::retry::{RequestFailure, RetryPolicy};
use crate::endpoint::refusal::{EndpointRefusal, refused, suggest_version};
use crate::endpoint::stream::decompress::DecompressionError;
use crate::{FinishReason, ProviderError, ProviderErrorKind as Kind};

/// Maximum characters quoted from an endpoint's error message.
const EXCERPT: usize = 300;

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
            config.api().names().reply
        ),
        format!(
            "Is this the address of {}? {}",
            config.api().names().api,
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
        quoted(config, &error.message)
    );
    let hint = "The server failed. Check its log, or try again.";
    RequestFailure {
        error: ProviderError::new(Kind::Server, message, hint),
        retry: again,
        reported_by_endpoint: true,
    }
}

/// Returns the endpoint's error message as the end of a sentence.
pub(super) fn quoted(config: &EndpointConfig, message: &str) -> String {
    let words = excerpt(&config.redact(message));
    if words.is_empty() {
        words
    } else {
        format!(": {words}")
    }
}

pub(super) fn excerpt(text: &str) -> String {
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

pub(super) fn has_words(text: &str, words: &[&str]) -> bool {
    let text = text.to_lowercase();
    words.iter().any(|word| text.contains(word))
}
