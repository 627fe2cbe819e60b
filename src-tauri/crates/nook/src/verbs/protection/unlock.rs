//! Unlocks a protected data folder for one command.

use std::path::{Path, PathBuf};

use engine::api::{ApiError, ProtectionStatus};
use engine::{Engine, Options, UnlockError, UnlockSecret, UnlockedFolder};

use super::secrets;
use crate::cli::UnlockArgs;
use crate::failure::CommandError;

/// The keys of the data folder; `None` if it is not protected.
///
/// # Errors
/// `protected` if nobody gives a passphrase or a code.
pub(crate) async fn unlock(
    options: &Options,
    args: &UnlockArgs,
) -> Result<Option<UnlockedFolder>, CommandError> {
    let status = Engine::protection(options).await;
    if !status.protected {
        return Ok(None);
    }
    let secret = secret(args, &status)?.ok_or_else(|| needed(&options.data_dir))?;
    Ok(Some(Engine::unlock(options, secret).await?))
}

/// The keys for a restore. A data folder without protection takes those of an encrypted backup.
pub(crate) async fn unlock_for_restore(
    options: &Options,
    backup: Option<&Path>,
    args: &UnlockArgs,
) -> Result<Option<UnlockedFolder>, CommandError> {
    if let Some(unlocked) = unlock(options, args).await? {
        return Ok(Some(unlocked));
    }
    let Some(backup) = backup.map(absolute) else {
        return Ok(None);
    };
    let Some(secret) = secrets::given(args)? else {
        return Ok(None);
    };
    match UnlockedFolder::for_backup(backup, secret).await {
        Ok(unlocked) => Ok(Some(unlocked)),
        // The backup may be plain.
        Err(UnlockError::NotProtected { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The keys of a folder that must be protected.
pub(super) async fn required(
    options: &Options,
    args: &UnlockArgs,
) -> Result<UnlockedFolder, CommandError> {
    let unlocked = unlock(options, args).await?;
    unlocked.ok_or_else(|| not_protected(&options.data_dir))
}

/// The passphrase or the code of a folder that must be protected.
pub(super) async fn secret_without_keychain(
    options: &Options,
    args: &UnlockArgs,
) -> Result<UnlockSecret, CommandError> {
    if !Engine::protection(options).await.protected {
        return Err(not_protected(&options.data_dir));
    }
    let secret = given_or_asked(args)?;
    secret.ok_or_else(|| needed(&options.data_dir))
}

pub(super) fn passphrase_needed() -> ApiError {
    ApiError::BadInput {
        message: "The passphrase is needed for this.".to_owned(),
        hint: "Give it with --passphrase-from FILE.".to_owned(),
    }
}

fn secret(
    args: &UnlockArgs,
    status: &ProtectionStatus,
) -> Result<Option<UnlockSecret>, CommandError> {
    let given = secrets::given(args)?;
    // The keychain gives no passphrase, which private characters need.
    if given.is_none() && status.unlock_at_login && !args.with_private {
        return Ok(Some(UnlockSecret::Keychain));
    }
    match given {
        Some(secret) => Ok(Some(secret)),
        None => asked_if_possible(),
    }
}

fn given_or_asked(args: &UnlockArgs) -> Result<Option<UnlockSecret>, CommandError> {
    match secrets::given(args)? {
        Some(secret) => Ok(Some(secret)),
        None => asked_if_possible(),
    }
}

fn asked_if_possible() -> Result<Option<UnlockSecret>, CommandError> {
    secrets::can_ask().then(secrets::asked).transpose()
}

fn needed(dir: &Path) -> CommandError {
    let message = format!(
        "the data folder {} is protected; give its passphrase with --passphrase-from FILE or in the file that \
         INGLENOOK_PASSPHRASE_FILE names, or its recovery code with --code-from FILE",
        dir.display()
    );
    CommandError::because("protected", message)
}

pub(super) fn not_protected(dir: &Path) -> CommandError {
    let message = format!("the data folder {} is not protected", dir.display());
    CommandError::because("notProtected", message)
}

pub(super) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
