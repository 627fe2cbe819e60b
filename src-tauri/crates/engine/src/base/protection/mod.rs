//! Encryption at rest of a data folder that no engine has open: its key file, unlocking,
//! encrypting and decrypting.
//!
//! Guarantees
//! - A key file is replaced only by one that was read back and unlocked.
//! - Every database can be opened at any time: the key file is written before the first one is
//!   encrypted, and removed after the last one is decrypted.
//! - A conversion that was interrupted continues when the folder is unlocked. The key file says in
//!   which direction.
//! - Passphrases, codes and keys are in no log, in no `Debug` text and in no error.

pub(crate) mod convert;
pub(crate) mod error;
pub(crate) mod key_files;
pub(crate) mod prepare;
pub(crate) mod protect_error;
pub(crate) mod rewrite;
pub(crate) mod status;
#[cfg(target_os = "linux")]
mod swap;
pub(crate) mod unlock;
pub(crate) mod upkeep;
pub(crate) mod wrong_tries;

use crate::base::protection::error::UnlockError;

/// Runs work that derives keys or reads files, on a thread that may block.
pub(crate) async fn blocking<T, E>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, E>
where
    T: Send + 'static,
    E: From<UnlockError> + Send + 'static,
{
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(UnlockError::failed("the work ended early").into()))
}
