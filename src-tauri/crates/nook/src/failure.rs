//! Failure of a verb, for scripts and people.

use engine::api::ApiError;
use engine::{OpenError, ProtectError, UnlockError};
use server::{ServeError, WeakToken};

#[derive(Debug)]
pub(crate) enum CommandError {
    /// stdout is still empty and gets the error.
    Because(ErrorReason),
    /// stdout already contains the result, which is negative.
    Reported(ErrorReason),
    /// The reader of stdout has closed the pipe, which is not an error.
    PipeClosed,
}

#[derive(Debug)]
pub(crate) struct ErrorReason {
    /// Error code for scripts, as in `ApiError`.
    pub(crate) kind: String,
    /// One line: what happened, why, and what to do.
    pub(crate) message: String,
}

impl CommandError {
    pub(crate) fn because(kind: &str, message: impl Into<String>) -> Self {
        Self::Because(ErrorReason::new(kind, message))
    }

    pub(crate) fn reported(kind: &str, message: impl Into<String>) -> Self {
        Self::Reported(ErrorReason::new(kind, message))
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::because("notFound", message)
    }
}

impl ErrorReason {
    pub(crate) fn new(kind: &str, message: impl Into<String>) -> Self {
        Self {
            kind: kind.to_owned(),
            message: message.into(),
        }
    }
}

impl From<&ApiError> for ErrorReason {
    fn from(error: &ApiError) -> Self {
        let (kind, hint) = match error {
            ApiError::ContextOverflow { hint, .. } => ("contextOverflow", hint.as_str()),
            ApiError::Provider { hint, .. } => ("provider", hint.as_str()),
            ApiError::NoModel { hint, .. } => ("noModel", hint.as_str()),
            ApiError::BadInput { hint, .. } => ("badInput", hint.as_str()),
            ApiError::NotFound { .. } => ("notFound", ""),
            ApiError::PromptNotKept { hint, .. } => ("promptNotKept", hint.as_str()),
            ApiError::Busy { hint, .. } => ("busy", hint.as_str()),
            ApiError::Storage { hint, .. } => ("storage", hint.as_str()),
            ApiError::Keychain { hint, .. } => ("keychain", hint.as_str()),
            ApiError::ToolServer { hint, .. } => ("toolServer", hint.as_str()),
            ApiError::Internal { .. } => ("internal", ""),
        };
        Self::new(kind, with_hint(&error.to_string(), hint))
    }
}

impl From<ApiError> for CommandError {
    fn from(error: ApiError) -> Self {
        Self::Because(ErrorReason::from(&error))
    }
}

impl From<OpenError> for CommandError {
    fn from(error: OpenError) -> Self {
        let what = error.to_string();
        match error {
            OpenError::InUse { .. } => Self::because(
                "inUse",
                with_hint(&what, "Close it, or use another --data-dir."),
            ),
            OpenError::Damaged { newest_backup, .. } => {
                let way_out = match newest_backup {
                    Some(backup) => format!(
                        "`nook restore` puts back the newest good backup, {}; `nook restore --fresh` starts without it. The \
                         damaged data is kept either way.",
                        backup.display()
                    ),
                    None => "There is no intact backup. `nook restore --fresh` starts with an empty database and keeps the damaged one."
                        .to_owned(),
                };
                Self::because("damaged", with_hint(&what, &way_out))
            }
            OpenError::Protected { hint, .. } => {
                let way_in =
                    format!("{hint} Use --passphrase-from FILE or --code-from FILE for that.");
                Self::because("protected", with_hint(&what, &way_in))
            }
            OpenError::Storage { hint, .. } => Self::because("storage", with_hint(&what, &hint)),
        }
    }
}

impl From<UnlockError> for CommandError {
    fn from(error: UnlockError) -> Self {
        let kind = match error {
            UnlockError::NotProtected { .. } => "notProtected",
            UnlockError::Wrong { .. } => "wrongPassphrase",
            UnlockError::Malformed { .. } | UnlockError::Missing { .. } => "badInput",
            UnlockError::Damaged { .. } => "keyFileDamaged",
            UnlockError::File { .. } => "io",
            UnlockError::Keychain { .. } => "keychain",
            UnlockError::Failed { .. } => "storage",
        };
        Self::because(kind, with_hint(&error.to_string(), error.hint()))
    }
}

impl From<ProtectError> for CommandError {
    fn from(error: ProtectError) -> Self {
        match error {
            ProtectError::Unlock(error) => error.into(),
            ProtectError::Open(error) => error.into(),
            ProtectError::AlreadyProtected { .. } => {
                Self::because("alreadyProtected", error.to_string())
            }
            ProtectError::OtherCode => Self::because("badInput", error.to_string()),
        }
    }
}

impl From<ServeError> for CommandError {
    fn from(error: ServeError) -> Self {
        let kind = match error {
            ServeError::NotLoopback { .. } => "notLoopback",
            ServeError::Bind { .. } => "bind",
            ServeError::PortInUse { .. } => "portInUse",
            ServeError::NoUi { .. } => "noUi",
        };
        Self::because(kind, error.to_string())
    }
}

impl From<WeakToken> for CommandError {
    fn from(error: WeakToken) -> Self {
        Self::because("weakToken", error.to_string())
    }
}

/// Errors of stdin, stdout and the runtime. Errors of files are created where they are opened, with
/// the file's name.
impl From<std::io::Error> for CommandError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::PipeClosed,
            _ => Self::because("io", error.to_string()),
        }
    }
}

fn with_hint(message: &str, hint: &str) -> String {
    match (message.trim_end_matches('.'), hint) {
        (message, "") => message.to_owned(),
        (message, hint) => format!("{message}. {hint}"),
    }
}
