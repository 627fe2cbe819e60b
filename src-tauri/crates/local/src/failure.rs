//! Maps errors and deaths of workers to [`ProviderError`].

use std::path::Path;
use std::process::ExitStatus;

use provider::{ProviderError, ProviderErrorKind as Kind};
use worker::protocol::ErrorCode;

use crate::load::DeathDetail;

/// Remedy for a grammar or a JSON schema that llama.cpp refuses.
pub const GRAMMAR_HINT: &str =
    "correct or remove the grammar or JSON schema in the sampler settings, then try again";
const SMALLER: &str = "choose a smaller context size or a smaller model";

/// Converts an error frame.
pub(crate) fn from_worker(code: ErrorCode, message: String) -> ProviderError {
    let (kind, hint) = match code {
        ErrorCode::Missing => (
            Kind::Model,
            "put the file back, or remove the model from the library and import it again",
        ),
        ErrorCode::Load => (
            Kind::Model,
            "the file may be damaged or too new for this version: download it again, or choose another model",
        ),
        ErrorCode::Memory => (Kind::OutOfMemory, SMALLER),
        ErrorCode::Adapter => (
            Kind::BadRequest,
            "choose another adapter in the settings of this model, or remove it",
        ),
        ErrorCode::Projector => (
            Kind::BadRequest,
            "in the settings of this model, choose the mmproj file that was made for it, or no file for pictures",
        ),
        ErrorCode::Picture => (
            Kind::BadRequest,
            "send the message again without the picture, or with another one",
        ),
        ErrorCode::ContextOverflow => (
            Kind::ContextOverflow,
            "raise the context size, or shorten the chat or the card",
        ),
        ErrorCode::Compute => (
            Kind::Server,
            "try again; if it happens again, choose a smaller context size",
        ),
        ErrorCode::Grammar => (Kind::BadRequest, GRAMMAR_HINT),
        ErrorCode::Empty | ErrorCode::NotLoaded | ErrorCode::Malformed => (
            Kind::BadRequest,
            "this is a bug in Inglenook: please report it",
        ),
    };
    ProviderError::new(kind, message, hint)
}

/// The worker binary cannot be started.
pub(crate) fn not_started(path: &Path, error: std::io::Error) -> ProviderError {
    let message = format!(
        "cannot start the inference worker {}: {error}",
        path.display()
    );
    ProviderError::new(
        Kind::WorkerDied,
        message,
        "reinstall Inglenook; in a checkout, run `cargo xtask setup`",
    )
    .caused_by(error)
}

/// The started program does not speak the protocol.
pub(crate) fn no_worker(path: &Path, why: &str) -> ProviderError {
    let message = format!(
        "{} is not an inference worker of this version: {why}",
        path.display()
    );
    ProviderError::new(
        Kind::Malformed,
        message,
        "reinstall Inglenook; in a checkout, build the package `worker` again",
    )
}

/// The host was shut down.
pub(crate) fn shut_down() -> ProviderError {
    ProviderError::new(
        Kind::Cut,
        "local inference was shut down",
        "start Inglenook again",
    )
}

/// The prompt was not rendered by a chat template.
pub(crate) fn no_segments() -> ProviderError {
    let message =
        "the prompt has no text for a local model: it was not rendered by a chat template";
    ProviderError::new(
        Kind::BadRequest,
        message,
        "this is a bug in Inglenook: please report it",
    )
}

/// A picture of the prompt is damaged, or is no picture.
pub(crate) fn unreadable_picture() -> ProviderError {
    let message =
        "a picture of the chat cannot be read: it is damaged, or is no PNG, JPEG or WebP file";
    ProviderError::new(
        Kind::BadRequest,
        message,
        "remove the message with the picture, or send another picture",
    )
}

/// How a worker process ended.
#[derive(Debug)]
pub(crate) struct Death {
    pub(crate) status: Option<ExitStatus>,
    /// The end of its stderr output, without content.
    pub(crate) stderr_tail: String,
    /// Why we ended it, if we did.
    pub(crate) killed_because: Option<String>,
}

impl Death {
    pub(crate) fn describe(&self) -> String {
        let how = match (&self.killed_because, self.status) {
            (Some(why), _) => format!("it was ended: {why}"),
            (None, None) => "its exit status is unknown".to_owned(),
            (None, Some(status)) => exit(status),
        };
        match self.stderr_tail.trim() {
            "" => how,
            words => format!("{how}; its last output: {words}"),
        }
    }

    pub(crate) fn error(&self) -> ProviderError {
        let message = format!("the inference worker died: {}", self.describe());
        ProviderError::new(
            Kind::WorkerDied,
            message,
            format!(
                "try again, which starts a new worker; if it dies again, {}",
                self.advice()
            ),
        )
        .caused_by(DeathDetail(self.technical()))
    }

    /// The signal or code and the last line of output, for those who know llama.cpp.
    fn technical(&self) -> String {
        let how = match (&self.killed_because, self.status) {
            (Some(why), _) => why.clone(),
            (None, None) => String::new(),
            (None, Some(status)) => match (signal(status), status.code()) {
                (Some(number), _) => name(number)
                    .map_or_else(|| format!("signal {number}"), |(name, _)| name.to_owned()),
                (None, code) => format!("exit code {}", code.unwrap_or_default()),
            },
        };
        let line = self
            .stderr_tail
            .lines()
            .map(str::trim)
            .rfind(|line| !line.is_empty());
        [Some(how.as_str()).filter(|how| !how.is_empty()), line]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(": ")
    }

    fn advice(&self) -> &'static str {
        match self.status.and_then(signal) {
            Some(4) => {
                "check that this processor supports the instructions that the worker was built for"
            }
            Some(7) => "check that the model's file was not moved or changed while in use",
            _ => SMALLER,
        }
    }
}

fn exit(status: ExitStatus) -> String {
    match (signal(status), status.code()) {
        (Some(signal), _) => match name(signal) {
            Some((name, meaning)) => format!("{name} ({meaning})"),
            None => format!("signal {signal}"),
        },
        (None, Some(code)) => format!("it exited with code {code}"),
        (None, None) => "it exited".to_owned(),
    }
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_: ExitStatus) -> Option<i32> {
    None
}

/// Signals that end llama.cpp in practice. The numbers are the same on Linux and macOS, except
/// SIGBUS.
fn name(signal: i32) -> Option<(&'static str, &'static str)> {
    Some(match signal {
        4 => ("SIGILL", "an instruction that this processor does not have"),
        6 => ("SIGABRT", "an internal check of llama.cpp failed"),
        7 if cfg!(target_os = "linux") => ("SIGBUS", "the model's file became unreadable"),
        8 => ("SIGFPE", "an arithmetic error"),
        9 => (
            "SIGKILL",
            "killed from outside, often because memory ran out",
        ),
        11 => ("SIGSEGV", "a memory error in llama.cpp"),
        15 => ("SIGTERM", "ended from outside"),
        _ => return None,
    })
}
