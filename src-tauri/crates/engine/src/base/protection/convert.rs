//! Encrypts a closed data folder, decrypts it, and finishes what was interrupted.
//!
//! The key file has the field `converting` from before the first database is converted until after
//! the last one. After a kill it says what to finish.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use protection::{Conversion, KeyFile};
use store::{Converted, Store, StoreError};

use crate::api::{ProtectionFailure, ProtectionReport, SecretText};
use crate::base::clock::rfc3339;
use crate::base::open_store::{OpenError, explain};
use crate::base::options::{CACHE_FOLDER, Options};
use crate::base::protection::blocking;
use crate::base::protection::error::UnlockError;
use crate::base::protection::key_files::KeyFiles;
use crate::base::protection::prepare::PreparedProtection;
use crate::base::protection::protect_error::ProtectError;
use crate::base::protection::unlock::UnlockedFolder;
use crate::base::secrets::{Secret, Secrets};

/// Folders with content that is made again when it is needed: saved KV caches, and the browser
/// profile of the window. They are deleted instead of being encrypted.
const MADE_AGAIN: [&str; 2] = [CACHE_FOLDER, "webview"];

/// An interrupted conversion that is complete now.
struct FinishedConversion {
    conversion: Conversion,
    report: ProtectionReport,
}

/// Encrypts a data folder.
///
/// # Errors
/// `OtherCode` and `AlreadyProtected` change nothing. After any other error, unlocking the folder
/// finishes the work.
pub(crate) fn protect(
    options: &Options,
    prepared: PreparedProtection,
    typed_code: &SecretText,
) -> Result<ProtectionReport, ProtectError> {
    prepared.check_code(typed_code)?;
    let files = KeyFiles::of(&options.data_dir);
    if files.is_protected() {
        return Err(ProtectError::AlreadyProtected {
            dir: options.data_dir.clone(),
        });
    }
    open_once(options)?;
    let PreparedProtection { mut file, keys, .. } = prepared;
    file.set_since(&rfc3339(options.clock.now()));
    file.set_conversion(Some(Conversion::On));
    files.create(&file)?;
    files.write_copies(&file);
    let done = encrypt(&files, &keys);
    // Another program was faster. Nothing is encrypted, and it would not open its folder again.
    if is_in_use(&done) {
        files.remove_copies(&file);
        files.remove()?;
    }
    done
}

/// Decrypts a data folder and removes its key file.
///
/// # Errors
/// [`ProtectError`]. Unlocking the folder finishes the work.
pub(crate) fn unprotect(
    options: &Options,
    unlocked: &UnlockedFolder,
) -> Result<ProtectionReport, ProtectError> {
    let files = KeyFiles::of(&options.data_dir);
    let before = current(&files, unlocked);
    let mut file = before.clone();
    file.set_conversion(Some(Conversion::Off));
    files.write(&file)?;
    let done = decrypt(&files, &file, unlocked);
    // Otherwise a later start would decrypt a folder although the user saw an error.
    if is_in_use(&done) {
        files.write(&before)?;
    }
    done
}

impl UnlockedFolder {
    /// Finishes encrypting or decrypting a folder, if that was interrupted. The engine must be
    /// closed.
    ///
    /// # Errors
    /// [`ProtectError`].
    pub async fn finish_conversion(
        &self,
        options: &Options,
    ) -> Result<Option<ProtectionReport>, ProtectError> {
        let folder = options.clone();
        let unlocked = self.clone();
        let finished = blocking(move || finish(&folder, &unlocked)).await?;
        Ok(finished.map(|finished| finished.report))
    }
}

fn is_in_use(done: &Result<ProtectionReport, ProtectError>) -> bool {
    matches!(done, Err(ProtectError::Open(OpenError::InUse { .. })))
}

/// Finishes what was interrupted, if anything was.
///
/// # Errors
/// [`ProtectError`].
fn finish(
    options: &Options,
    unlocked: &UnlockedFolder,
) -> Result<Option<FinishedConversion>, ProtectError> {
    let files = KeyFiles::of(&options.data_dir);
    let file = current(&files, unlocked);
    let Some(conversion) = file.conversion() else {
        return Ok(None);
    };
    let report = match conversion {
        Conversion::On => encrypt(&files, unlocked)?,
        Conversion::Off => decrypt(&files, &file, unlocked)?,
    };
    Ok(Some(FinishedConversion { conversion, report }))
}

/// Finishes what was interrupted before the store is opened. If the folder is decrypted now, the
/// options lose their keys. Returns a notice for the user.
///
/// # Errors
/// [`OpenError`].
pub(crate) async fn finish_before_opening(
    options: &mut Options,
) -> Result<Option<String>, OpenError> {
    let Some(unlocked) = options.keys.clone() else {
        return Ok(None);
    };
    let folder = options.clone();
    let Some(finished) = blocking(move || finish(&folder, &unlocked)).await? else {
        return Ok(None);
    };
    let what = match finished.conversion {
        Conversion::On => "encryption",
        Conversion::Off => {
            options.keys = None;
            "decryption"
        }
    };
    let left = match finished.report.failed.as_slice() {
        [] => String::new(),
        failed => format!(" {} files could not be changed.", failed.len()),
    };
    Ok(Some(format!(
        "The {what} of your data was interrupted. It is complete now.{left}"
    )))
}

/// Opens and closes the plain store: its folder exists then, nobody uses it, its database is whole,
/// and nothing waits to be restored.
fn open_once(options: &Options) -> Result<(), OpenError> {
    let store_options = store::Options {
        now: options.clock.now(),
        keys: None,
    };
    Store::open(&options.data_dir, store_options)
        .map(drop)
        .map_err(explain)
}

/// The key file in the folder, or the one that has unlocked it.
fn current(files: &KeyFiles, unlocked: &UnlockedFolder) -> KeyFile {
    files.main().unwrap_or_else(|_| unlocked.key_file().clone())
}

fn encrypt(files: &KeyFiles, unlocked: &UnlockedFolder) -> Result<ProtectionReport, ProtectError> {
    if files.main().is_err() {
        // A copy has unlocked the folder. The store looks for the key file itself.
        files.write(unlocked.key_file())?;
    }
    let converted = Store::protect(files.dir(), unlocked.keys()).map_err(explained)?;
    let mut report = report(files.dir(), converted);
    let mut file = current(files, unlocked);
    file.set_conversion(None);
    files.write(&file)?;
    report.failed.extend(files.write_copies(&file));
    report.plain_leftovers = plain_leftovers(files.dir(), unlocked);
    Ok(report)
}

fn decrypt(
    files: &KeyFiles,
    file: &KeyFile,
    unlocked: &UnlockedFolder,
) -> Result<ProtectionReport, ProtectError> {
    let converted = Store::unprotect(files.dir(), unlocked.keys()).map_err(explained)?;
    // A second place that is away has encrypted backups, perhaps.
    let is_complete =
        converted.failed.is_empty() && Store::backup_choices(files.dir()).second_is_there();
    let mut report = report(files.dir(), converted);
    if !is_complete {
        report.failed.extend(keep_copies(files, file)?);
    }
    files.remove()?;
    // Backups that are still encrypted need it.
    if is_complete {
        report.failed.extend(files.remove_copies(file));
    }
    forget_keychain_key(file);
    Ok(report)
}

/// Keeps the key file next to backups that are still encrypted.
///
/// # Errors
/// No copy could be written. The key file must stay then.
fn keep_copies(files: &KeyFiles, file: &KeyFile) -> Result<Vec<ProtectionFailure>, ProtectError> {
    let mut kept = file.clone();
    kept.set_conversion(None);
    let failed = files.write_copies(&kept);
    if files.has_copy(&kept) {
        return Ok(failed);
    }
    let reason =
        "no copy of the key file could be written next to backups that are still encrypted";
    Err(UnlockError::failed(reason).into())
}

/// Files of the folder that are not encrypted.
pub(crate) fn plain_leftovers(dir: &Path, unlocked: &UnlockedFolder) -> Vec<String> {
    let left = Store::plain_leftovers(dir, unlocked.keys());
    left.iter().map(|path| path.display().to_string()).collect()
}

fn report(dir: &Path, converted: Converted) -> ProtectionReport {
    let failed = converted
        .failed
        .iter()
        .map(|(path, reason)| ProtectionFailure {
            file: path.display().to_string(),
            reason: reason.clone(),
        });
    ProtectionReport {
        databases: u32::try_from(converted.databases).unwrap_or(u32::MAX),
        files: u32::try_from(converted.files).unwrap_or(u32::MAX),
        failed: failed.chain(delete_made_again(dir)).collect(),
        plain_leftovers: Vec::new(),
        second_place_missing: !Store::backup_choices(dir).second_is_there(),
    }
}

/// Deletes folders whose content is made again. Returns those that remain.
fn delete_made_again(dir: &Path) -> Vec<ProtectionFailure> {
    let remaining = MADE_AGAIN.iter().filter_map(|name| {
        let folder = dir.join(name);
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => Some(ProtectionFailure {
                file: folder.display().to_string(),
                reason: error.to_string(),
            }),
            _ => None,
        }
    });
    remaining.collect()
}

/// Removes the key for the user's log-in from the keychain. A failure harms nothing: the key opens
/// no file.
fn forget_keychain_key(file: &KeyFile) {
    if !file.has(protection::KeySlot::Keychain) {
        return;
    }
    let Some(id) = file.folder_id() else { return };
    if let Err(error) = Secrets::find().remove(Secret::DataFolder(id)) {
        tracing::warn!(%error, "a key that is not needed any more stays in the keychain");
    }
}

fn explained(error: StoreError) -> ProtectError {
    explain(error).into()
}
