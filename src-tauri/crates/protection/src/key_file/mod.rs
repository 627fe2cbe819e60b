//! The key file of a protected folder: the data key, wrapped once for each way to unlock it.
//!
//! It is JSON without any secret in plain text. Changing a passphrase replaces one wrapped copy. A
//! damaged copy does not affect the others. Unknown fields are kept.

mod copy;
mod folder_state;
mod hex_bytes;

use std::fmt;

use serde_json::{Map, Value, json};

use crate::keychain_key::KeychainKey;
use crate::keys::{DataKey, DatabaseKey, KEY_BYTES, Secret, derive};
use crate::passphrase::Passphrase;
use crate::passphrase_cost::{CostError, PassphraseCost};
use crate::random::{RandomError, random_bytes};
use crate::recovery_code::RecoveryCode;
use copy::{SALT_BYTES, WrappedCopy};
use hex_bytes::HexBytes;

pub use folder_state::Conversion;

/// Name of the key file in a protected folder.
pub const KEY_FILE_NAME: &str = "protection.json";

const FORMAT: &str = "inglenook key file";
const VERSION: u64 = 1;
/// Larger files are refused before they are read as JSON, in bytes.
const MAX_BYTES: usize = 64 << 10;

/// A way to unlock a folder. Each has a wrapped copy of the data key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeySlot {
    Passphrase,
    RecoveryCode,
    Keychain,
}

/// Why a text is not a key file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyFileError {
    #[error(
        "the key file has {bytes} bytes, and the limit is {MAX_BYTES}; use a copy from a backup"
    )]
    TooLarge { bytes: usize },
    #[error("the key file cannot be read ({problem}); use a copy from a backup")]
    Damaged { problem: String },
    #[error("the key file has the format {found} of a newer Inglenook; update the app")]
    NewerVersion { found: u64 },
}

/// Why a key file gives no data key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnlockError {
    #[error("the key file cannot be unlocked by the {slot}; unlock it in another way")]
    Missing { slot: KeySlot },
    #[error("the {slot} is not the right one; check it and try again")]
    Wrong { slot: KeySlot },
    #[error(
        "the part of the key file for the {slot} is damaged; \
         unlock it in another way, or use a copy from a backup"
    )]
    Damaged { slot: KeySlot },
    #[error(transparent)]
    Cost(#[from] CostError),
}

/// Why the data key was not wrapped. The key file is unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WrapError {
    #[error("the key belongs to another folder; unlock this one first")]
    OtherKey,
    #[error(transparent)]
    Cost(#[from] CostError),
    #[error(transparent)]
    Random(#[from] RandomError),
}

/// A key file. It has no secret in plain text.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyFile {
    document: Map<String, Value>,
}

impl KeyFile {
    /// Makes the key file of a new protected folder.
    ///
    /// # Errors
    /// Memory or random bytes are missing.
    pub fn create(
        key: &DataKey,
        passphrase: &Passphrase,
        cost: PassphraseCost,
        code: &RecoveryCode,
    ) -> Result<Self, WrapError> {
        let mut file = Self {
            document: Map::from_iter([
                ("format".to_owned(), json!(FORMAT)),
                ("version".to_owned(), json!(VERSION)),
                ("check".to_owned(), json!(HexBytes(key.check()))),
            ]),
        };
        file.set_passphrase(key, passphrase, cost)?;
        file.set_recovery_code(key, code)?;
        Ok(file)
    }

    /// Reads a key file. Its wrapped copies are read when they are used.
    ///
    /// # Errors
    /// [`KeyFileError`].
    pub fn parse(json: &[u8]) -> Result<Self, KeyFileError> {
        if json.len() > MAX_BYTES {
            return Err(KeyFileError::TooLarge { bytes: json.len() });
        }
        let damaged = |problem: String| KeyFileError::Damaged { problem };
        let document: Map<String, Value> =
            serde_json::from_slice(json).map_err(|error| damaged(error.to_string()))?;
        if document.get("format") != Some(&json!(FORMAT)) {
            return Err(damaged("it does not name its format".to_owned()));
        }
        match document.get("version").and_then(Value::as_u64) {
            Some(VERSION) => Ok(Self { document }),
            Some(found) if found > VERSION => Err(KeyFileError::NewerVersion { found }),
            _ => Err(damaged("it does not state its version".to_owned())),
        }
    }

    /// The file's text, with the unknown fields of the file that was read.
    #[must_use]
    pub fn to_json(&self) -> String {
        format!("{:#}\n", Value::Object(self.document.clone()))
    }

    /// Whether `key` is the data key of this file's folder. It is false as well if the check value
    /// in the file is damaged.
    #[must_use]
    pub fn belongs_to(&self, key: &DataKey) -> bool {
        self.has_check(key.check())
    }

    /// Like [`Self::belongs_to`], for the key of the folder's database.
    #[must_use]
    pub fn belongs_to_database_key(&self, key: &DatabaseKey) -> bool {
        self.has_check(key.check())
    }

    fn has_check(&self, check: [u8; KEY_BYTES]) -> bool {
        self.document.get("check") == Some(&json!(HexBytes(check)))
    }

    /// Whether the file has a wrapped copy for this way to unlock it.
    #[must_use]
    pub fn has(&self, slot: KeySlot) -> bool {
        self.document.contains_key(slot.field())
    }

    /// Takes as long as the stored cost says: call it on a thread that may block.
    ///
    /// # Errors
    /// [`UnlockError`] tells a wrong passphrase from a damaged file.
    pub fn unlock_with_passphrase(&self, passphrase: &Passphrase) -> Result<DataKey, UnlockError> {
        let slot = KeySlot::Passphrase;
        let copy = self.copy(slot)?;
        let cost = copy.cost().ok_or(UnlockError::Damaged { slot })??;
        copy.open(slot, &cost.derive(passphrase.bytes(), copy.salt())?)
    }

    /// # Errors
    /// [`UnlockError`].
    pub fn unlock_with_recovery_code(&self, code: &RecoveryCode) -> Result<DataKey, UnlockError> {
        self.unlock(KeySlot::RecoveryCode, code.bytes())
    }

    /// # Errors
    /// [`UnlockError`].
    pub fn unlock_with_keychain(&self, key: &KeychainKey) -> Result<DataKey, UnlockError> {
        self.unlock(KeySlot::Keychain, key.bytes())
    }

    /// Wraps the data key for another passphrase. The previous one does not unlock it then.
    ///
    /// # Errors
    /// [`WrapError`]. The file is unchanged then.
    pub fn set_passphrase(
        &mut self,
        key: &DataKey,
        passphrase: &Passphrase,
        cost: PassphraseCost,
    ) -> Result<(), WrapError> {
        let salt = random_bytes()?;
        let secret = cost.derive(passphrase.bytes(), &salt)?;
        let copy = WrappedCopy::wrap(KeySlot::Passphrase, key, &secret, salt, Some(cost))?;
        self.put(KeySlot::Passphrase, key, &copy)
    }

    /// Wraps the data key for another recovery code. The previous one does not unlock it then.
    ///
    /// # Errors
    /// [`WrapError`]. The file is unchanged then.
    pub fn set_recovery_code(
        &mut self,
        key: &DataKey,
        code: &RecoveryCode,
    ) -> Result<(), WrapError> {
        self.set_secret(KeySlot::RecoveryCode, key, code.bytes())
    }

    /// Lets the key in the system's keychain unlock the file.
    ///
    /// # Errors
    /// [`WrapError`]. The file is unchanged then.
    pub fn set_keychain_key(
        &mut self,
        key: &DataKey,
        keychain: &KeychainKey,
    ) -> Result<(), WrapError> {
        self.set_secret(KeySlot::Keychain, key, keychain.bytes())
    }

    /// No key in the keychain unlocks the file then.
    pub fn remove_keychain_key(&mut self) {
        // `remove` would move the last field into its place.
        self.document.shift_remove(KeySlot::Keychain.field());
    }

    fn unlock(&self, slot: KeySlot, secret: &[u8; KEY_BYTES]) -> Result<DataKey, UnlockError> {
        let copy = self.copy(slot)?;
        copy.open(slot, &salted(slot, secret, copy.salt()))
    }

    fn set_secret(
        &mut self,
        slot: KeySlot,
        key: &DataKey,
        secret: &[u8; KEY_BYTES],
    ) -> Result<(), WrapError> {
        let salt = random_bytes()?;
        let copy = WrappedCopy::wrap(slot, key, &salted(slot, secret, &salt), salt, None)?;
        self.put(slot, key, &copy)
    }

    fn put(&mut self, slot: KeySlot, key: &DataKey, copy: &WrappedCopy) -> Result<(), WrapError> {
        if !self.belongs_to(key) {
            return Err(WrapError::OtherKey);
        }
        self.document.insert(slot.field().to_owned(), json!(copy));
        Ok(())
    }

    fn copy(&self, slot: KeySlot) -> Result<WrappedCopy, UnlockError> {
        let stored = self.document.get(slot.field());
        let stored = stored.ok_or(match slot {
            KeySlot::Keychain => UnlockError::Missing { slot },
            // Every folder has both, so its name in the file is damaged.
            KeySlot::Passphrase | KeySlot::RecoveryCode => UnlockError::Damaged { slot },
        })?;
        WrappedCopy::read(slot, stored).ok_or(UnlockError::Damaged { slot })
    }
}

/// The secret that wraps the data key, from a secret that is random already.
fn salted(slot: KeySlot, secret: &[u8; KEY_BYTES], salt: &[u8; SALT_BYTES]) -> Secret {
    derive(secret, salt, slot.field())
}

impl KeySlot {
    /// Its field in the file, which is also the purpose of the keys that are derived for it.
    fn field(self) -> &'static str {
        match self {
            Self::Passphrase => "passphrase",
            Self::RecoveryCode => "recovery_code",
            Self::Keychain => "keychain",
        }
    }
}

impl fmt::Display for KeySlot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Passphrase => "passphrase",
            Self::RecoveryCode => "recovery code",
            Self::Keychain => "key in the keychain",
        })
    }
}
