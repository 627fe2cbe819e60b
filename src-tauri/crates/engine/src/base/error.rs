//! Maps errors of lower crates to API errors. The cause chain goes to the log.

use std::error::Error;

use context::TemplateError;
use domain::card::CardError;
use domain::id::NotAnId;
use provider::ProviderError;
use store::StoreError;

use crate::api::ApiError;

/// Result of every operation.
pub(crate) type ApiResult<T> = Result<T, ApiError>;

pub(crate) fn bad_input(message: impl Into<String>, hint: impl Into<String>) -> ApiError {
    ApiError::BadInput {
        message: message.into(),
        hint: hint.into(),
    }
}

pub(crate) fn not_found(what: &str) -> ApiError {
    ApiError::NotFound {
        message: format!("This {what} no longer exists."),
    }
}

/// `which` names the prompt, at the beginning of a sentence.
pub(crate) fn prompt_not_kept(which: &str) -> ApiError {
    ApiError::PromptNotKept {
        message: format!("{which} was not kept."),
        hint: "The settings, in Privacy, decide which prompts of past turns are kept.".to_owned(),
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        log(&error);
        let message = match &error {
            // The hint says what to do.
            StoreError::Full { dir } => {
                format!(
                    "The disk with the data folder {} is full. Nothing that was saved is lost.",
                    dir.display()
                )
            }
            error => sentence(&error.to_string()),
        };
        let hint = match &error {
            StoreError::NotFound { .. } => return Self::NotFound { message },
            StoreError::BackupRunning => return backup_running(),
            StoreError::BadBackup { .. } => {
                return bad_input(
                    message,
                    "Choose another backup, or the original archive file.",
                );
            }
            StoreError::Full { .. } => "Free some space on the disk, then try again.",
            StoreError::ReadOnly { .. } => {
                "Make the folder writable, or start Inglenook with another data folder."
            }
            StoreError::Damaged { .. } => "Restart Inglenook: it offers to restore a backup.",
            StoreError::TooNew { .. } => "Update Inglenook.",
            StoreError::Protected { .. } | StoreError::WrongKey { .. } => {
                "Start Inglenook with the passphrase or the recovery code of this data folder."
            }
            StoreError::Unprotected { .. } => "Turn the protection of the data folder on again.",
            StoreError::Closed | StoreError::InUse { .. } => "Restart Inglenook.",
            StoreError::Io { .. }
            | StoreError::OldSqlite { .. }
            | StoreError::Migration { .. }
            | StoreError::Conflict { .. }
            | StoreError::Sqlite(_) => {
                "Try again. If it fails again, see the log in the data folder."
            }
        };
        Self::Storage {
            message,
            hint: hint.to_owned(),
        }
    }
}

fn backup_running() -> ApiError {
    ApiError::Busy {
        message: "A backup is being written.".to_owned(),
        hint: "Try again when it is finished.".to_owned(),
    }
}

impl From<ProviderError> for ApiError {
    fn from(error: ProviderError) -> Self {
        // Do not log the message, because endpoints quote the prompt in it.
        tracing::warn!(kind = ?error.kind, status = error.status, "a provider failed");
        Self::Provider {
            message: sentence(&error.message),
            hint: sentence(&error.hint),
            class: error.kind.into(),
        }
    }
}

impl From<CardError> for ApiError {
    fn from(error: CardError) -> Self {
        bad_input(error.to_string(), "Correct the card and try again.")
    }
}

impl From<NotAnId> for ApiError {
    fn from(error: NotAnId) -> Self {
        bad_input(error.to_string(), "Use an id from a list.")
    }
}

impl From<TemplateError> for ApiError {
    fn from(error: TemplateError) -> Self {
        log(&error);
        Self::Provider {
            message: sentence(&error.to_string()),
            hint: "Choose another model, or another build of this one.".into(),
            class: crate::api::ProviderClass::Model,
        }
    }
}

/// Turns the clause of a lower error into a sentence for the screen, with a capital letter and a
/// full stop.
pub(crate) fn sentence(clause: &str) -> String {
    let mut letters = clause.chars();
    let first: String = match letters.next() {
        Some(first) if is_word(clause) => first.to_uppercase().collect(),
        first => first.into_iter().collect(),
    };
    let end = if clause.ends_with(['.', '!', '?', '…']) || clause.is_empty() {
        ""
    } else {
        "."
    };
    first + letters.as_str() + end
}

/// Whether the clause starts with an ordinary word. Addresses, paths, files and names keep their
/// case.
fn is_word(clause: &str) -> bool {
    let first = clause
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .trim_end_matches([',', ':', ';', '.']);
    first
        .chars()
        .all(|letter| letter.is_alphabetic() || matches!(letter, '\'' | '’'))
}

/// Error for a bug in the app.
pub(crate) fn internal(what: &str) -> ApiError {
    tracing::error!(what, "internal error");
    ApiError::Internal {
        message: format!("Something went wrong inside Inglenook: {what}. The log has the details."),
    }
}

/// The text of an error for the log. It holds no content: an endpoint or a tool server may quote the
/// chat in its message, and other messages quote what people wrote.
pub(crate) fn without_content(error: &ApiError) -> String {
    match error {
        ApiError::Provider { class, .. } => format!("a provider failed: {class:?}"),
        ApiError::ToolServer { .. } => "a tool server failed".to_owned(),
        ApiError::ContextOverflow { .. } => "the prompt does not fit".to_owned(),
        ApiError::BadInput { .. } => "the input was refused".to_owned(),
        error => error.to_string(),
    }
}

/// Logs the whole cause chain.
fn log(error: &dyn Error) {
    let chain = std::iter::successors(Some(error), |&error| error.source());
    let chain = chain
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ");
    tracing::warn!(%chain, "an operation failed");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ProviderClass;

    #[test]
    fn log_does_not_quote_an_endpoint() {
        let error = ApiError::Provider {
            message: "The endpoint says: \"Anna is ill\" is too long.".into(),
            hint: String::new(),
            class: ProviderClass::BadRequest,
        };
        assert_eq!(without_content(&error), "a provider failed: BadRequest");
        let full = ApiError::Storage {
            message: "The disk is full.".into(),
            hint: String::new(),
        };
        assert_eq!(without_content(&full), "The disk is full.");
    }

    #[test]
    fn a_clause_becomes_a_sentence() {
        assert_eq!(
            sentence("nothing listens on 127.0.0.1:1; is it started?"),
            "Nothing listens on 127.0.0.1:1; is it started?"
        );
        assert_eq!(sentence("the worker died"), "The worker died.");
        assert_eq!(sentence(""), "");
    }

    #[test]
    fn an_address_or_path_keeps_its_case() {
        for clause in [
            "http://127.0.0.1:8099/v1 needs an API key (status 401).",
            "localhost:8080 needs an API key.",
            "example.org does not answer.",
            "mira.png is no picture.",
            "models/tiny.gguf is gone.",
            "c:\\users\\sam is no folder.",
            "`temperature` is unknown.",
            "llama-3.gguf is damaged.",
        ] {
            assert_eq!(sentence(clause), clause);
        }
    }
}
