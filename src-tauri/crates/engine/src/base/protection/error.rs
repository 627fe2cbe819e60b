//! Why a data folder was not unlocked, or its key file not changed.

use std::io;
use std::path::{Path, PathBuf};

use protection::{
    KeyFileError, KeySlot, PassphraseError, RandomError, RecoveryCodeError, WrapError,
};

use crate::api::ApiError;
use crate::base::error::{bad_input, sentence};

/// Why a data folder was not unlocked, or its key file not changed.
#[derive(Debug, thiserror::Error)]
pub enum UnlockError {
    #[error("the data folder {} is not protected", dir.display())]
    NotProtected { dir: PathBuf },
    /// Another passphrase, recovery code or key in the keychain than that of the folder.
    #[error("the {slot} is not the right one")]
    Wrong { slot: KeySlot },
    /// The text cannot be a passphrase or a recovery code.
    #[error("{problem}")]
    Malformed { problem: String },
    #[error("the data folder cannot be unlocked with the {slot}")]
    Missing { slot: KeySlot },
    #[error("the key file {} is damaged ({problem})", path.display())]
    Damaged { path: PathBuf, problem: String },
    #[error("the key file {} cannot be read or written: {source}", path.display())]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{problem}")]
    Keychain { problem: String },
    #[error("{problem}")]
    Failed { problem: String },
}

impl UnlockError {
    pub(crate) fn failed(problem: &str) -> Self {
        Self::Failed {
            problem: problem.to_owned(),
        }
    }

    pub(crate) fn file(path: &Path, source: io::Error) -> Self {
        Self::File {
            path: path.to_owned(),
            source,
        }
    }

    pub(crate) fn damaged(path: &Path, error: &KeyFileError) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            problem: error.to_string(),
        }
    }

    /// The error of `protection` about the key file at `path`.
    pub(crate) fn of(error: protection::UnlockError, path: &Path) -> Self {
        use protection::UnlockError::{Cost, Damaged, Missing, Wrong};
        match error {
            Missing { slot } => Self::Missing { slot },
            Wrong { slot } => Self::Wrong { slot },
            Damaged { .. } => Self::Damaged {
                path: path.to_owned(),
                problem: error.to_string(),
            },
            Cost(cost) => Self::failed(&cost.to_string()),
        }
    }

    /// The way out for the user.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotProtected { .. } => "Open it without a passphrase.",
            Self::Missing { .. }
            | Self::Keychain { .. }
            | Self::Wrong {
                slot: KeySlot::Keychain,
            } => "Use the passphrase or the recovery code.",
            Self::Wrong { .. } => "Check it and try again.",
            Self::Malformed { .. } => "",
            Self::Damaged { .. } => {
                "Use the recovery code, or put back a copy of the key file from the folder of the backups."
            }
            Self::File { .. } => "Make it readable and writable, then try again.",
            Self::Failed { .. } => "Try again.",
        }
    }
}

impl From<PassphraseError> for UnlockError {
    fn from(error: PassphraseError) -> Self {
        Self::Malformed {
            problem: error.to_string(),
        }
    }
}

impl From<RecoveryCodeError> for UnlockError {
    fn from(error: RecoveryCodeError) -> Self {
        Self::Malformed {
            problem: error.to_string(),
        }
    }
}

impl From<WrapError> for UnlockError {
    fn from(error: WrapError) -> Self {
        Self::failed(&error.to_string())
    }
}

impl From<RandomError> for UnlockError {
    fn from(error: RandomError) -> Self {
        Self::failed(&error.to_string())
    }
}

impl From<UnlockError> for ApiError {
    fn from(error: UnlockError) -> Self {
        let message = sentence(&error.to_string());
        let hint = error.hint();
        match error {
            UnlockError::NotProtected { .. }
            | UnlockError::Wrong { .. }
            | UnlockError::Malformed { .. }
            | UnlockError::Missing { .. } => bad_input(message, hint),
            UnlockError::Keychain { .. } => Self::Keychain {
                message,
                hint: hint.to_owned(),
            },
            UnlockError::Damaged { .. } | UnlockError::File { .. } | UnlockError::Failed { .. } => {
                Self::Storage {
                    message,
                    hint: hint.to_owned(),
                }
            }
        }
    }
}
