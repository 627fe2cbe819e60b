//! Whether a data folder is protected, as its key file says.

use std::path::Path;

use protection::{Conversion, KeyFile, KeySlot};

use crate::api::{KeyDerivation, ProtectionStatus, SwapProtection, UnfinishedConversion};
use crate::base::error::sentence;
use crate::base::protection::key_files::KeyFiles;
#[cfg(target_os = "linux")]
use crate::base::protection::swap;

/// Whether a data folder is protected. Needs no passphrase, and changes nothing.
#[must_use]
pub fn is_protected(data_dir: &Path) -> bool {
    KeyFiles::of(data_dir).is_protected()
}

/// The status of a folder, open or not. Plain leftovers are not known without the keys.
pub(crate) fn status(dir: &Path) -> ProtectionStatus {
    let files = KeyFiles::of(dir);
    if !files.is_protected() {
        return ProtectionStatus {
            swap: swap_protection(),
            ..ProtectionStatus::default()
        };
    }
    let main = files.main();
    let problem = main
        .as_ref()
        .err()
        .map(|error| sentence(&error.to_string()));
    let usable = files.all().into_iter().next().map(|found| found.file);
    let file = usable.as_ref();
    ProtectionStatus {
        protected: true,
        unlock_at_login: file.is_some_and(|file| file.has(KeySlot::Keychain)),
        kdf: file.and_then(derivation),
        since: file.and_then(KeyFile::since).map(str::to_owned),
        unfinished: file.and_then(KeyFile::conversion).map(unfinished),
        key_file_problem: problem.or_else(|| damaged_part(file?)),
        plain_leftovers: Vec::new(),
        swap: swap_protection(),
    }
}

#[cfg(target_os = "linux")]
fn swap_protection() -> SwapProtection {
    swap::swap_protection()
}

#[cfg(not(target_os = "linux"))]
fn swap_protection() -> SwapProtection {
    SwapProtection::Unknown
}

fn derivation(file: &KeyFile) -> Option<KeyDerivation> {
    let cost = file.passphrase_cost()?;
    Some(KeyDerivation {
        algorithm: "argon2id".to_owned(),
        memory_kib: cost.memory_kib(),
        passes: cost.passes(),
    })
}

fn unfinished(conversion: Conversion) -> UnfinishedConversion {
    match conversion {
        Conversion::On => UnfinishedConversion::Encrypting,
        Conversion::Off => UnfinishedConversion::Decrypting,
    }
}

fn damaged_part(file: &KeyFile) -> Option<String> {
    (!file.is_whole()).then(|| "A part of the key file is damaged.".to_owned())
}
