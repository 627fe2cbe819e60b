//! Why a data folder was not encrypted or decrypted.

use std::path::PathBuf;

use crate::api::ApiError;
use crate::base::error::{bad_input, sentence};
use crate::base::open_store::OpenError;
use crate::base::protection::error::UnlockError;

/// Why a data folder was not encrypted or decrypted.
#[derive(Debug, thiserror::Error)]
pub enum ProtectError {
    #[error("the data folder {} is already protected", dir.display())]
    AlreadyProtected { dir: PathBuf },
    /// The typed recovery code is not the one that was shown.
    #[error("the typed recovery code is not the one that was shown")]
    OtherCode,
    #[error(transparent)]
    Unlock(#[from] UnlockError),
    #[error(transparent)]
    Open(#[from] OpenError),
}

impl From<UnlockError> for OpenError {
    fn from(error: UnlockError) -> Self {
        Self::Storage {
            message: sentence(&error.to_string()),
            hint: error.hint().to_owned(),
        }
    }
}

impl From<ProtectError> for OpenError {
    fn from(error: ProtectError) -> Self {
        match error {
            ProtectError::Open(error) => error,
            ProtectError::Unlock(error) => error.into(),
            ProtectError::AlreadyProtected { .. } | ProtectError::OtherCode => Self::Storage {
                message: sentence(&error.to_string()),
                hint: String::new(),
            },
        }
    }
}

impl From<ProtectError> for ApiError {
    fn from(error: ProtectError) -> Self {
        let message = sentence(&error.to_string());
        match error {
            ProtectError::OtherCode => bad_input(message, "Compare it with the one on the screen."),
            ProtectError::AlreadyProtected { .. } => bad_input(message, "Restart Inglenook."),
            ProtectError::Unlock(error) => error.into(),
            ProtectError::Open(error) => error.into(),
        }
    }
}

impl From<OpenError> for ApiError {
    fn from(error: OpenError) -> Self {
        let message = sentence(&error.to_string());
        match error {
            OpenError::InUse { .. } => Self::Busy {
                message,
                hint: "Close the other program and try again.".to_owned(),
            },
            OpenError::Damaged { .. } => Self::Storage {
                message,
                hint: "Restart Inglenook: it offers to restore a backup.".to_owned(),
            },
            OpenError::Protected { hint, .. } | OpenError::Storage { hint, .. } => {
                Self::Storage { message, hint }
            }
        }
    }
}
