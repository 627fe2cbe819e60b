//! Encryption at rest: keys, passphrases, recovery codes, the key file, and sealed files.
//!
//! ```text
//! passphrase ─── Argon2id ─┐
//! recovery code ── HKDF ───┼─ unwraps ─ data key ─ HKDF ─ keys of the database, files and names
//! keychain key ─── HKDF ───┘
//! ```
//!
//! Guarantees
//! - A wrong passphrase and a damaged key file are different errors.
//! - A new passphrase wraps the data key again and changes nothing else.
//! - A key file from outside cannot ask for more memory or time than [`PassphraseCost`] allows.
//! - A sealed file that was changed, cut, reordered, extended or renamed does not open.
//! - Keys and passphrases are overwritten when they are dropped, and [`Debug`](std::fmt::Debug)
//!   does not show them.
//! - Random bytes come from the operating system, so no caller can repeat a nonce.
//!
//! Not in this crate: files and folders, settings, the database, the system's keychain. Callers
//! pass readers and writers.
//!
//! `src-tauri/docs/protection.md` has the layouts.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod key_file;
mod keychain_key;
mod keys;
mod passphrase;
mod passphrase_cost;
mod random;
mod recovery_code;
mod sealed_file;
mod sealed_name;

pub use key_file::{
    Conversion, KEY_FILE_NAME, KeyFile, KeyFileError, KeySlot, UnlockError, WrapError,
};
pub use keychain_key::KeychainKey;
pub use keys::{DataKey, DatabaseKey, FileKey, NameKey};
pub use passphrase::{MAX_PASSPHRASE_CHARACTERS, Passphrase, PassphraseError};
pub use passphrase_cost::{CostError, PassphraseCost};
pub use random::RandomError;
pub use recovery_code::{RecoveryCode, RecoveryCodeError};
pub use sealed_file::{
    SEALED_MAGIC, SealedFileError, SealedReader, SealedWriter, sealed_content_bytes,
};
pub use sealed_name::SealedName;
