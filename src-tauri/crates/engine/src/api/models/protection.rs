//! Encryption at rest: its status, its reports, and secrets that are not shown.

use std::fmt;

use secrecy::{ExposeSecret as _, SecretString};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use specta::Type;

/// A passphrase or a recovery code as text. It is overwritten when it is dropped, and `Debug` does
/// not show it.
#[derive(Clone, Serialize, Deserialize, Type)]
#[serde(transparent)]
pub struct SecretText(#[specta(type = String)] HiddenText);

#[derive(Clone)]
struct HiddenText(SecretString);

impl SecretText {
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(HiddenText(SecretString::from(text)))
    }

    /// The text. Do not copy it into memory that is not overwritten.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.0.expose_secret()
    }
}

impl From<SecretString> for SecretText {
    fn from(text: SecretString) -> Self {
        Self(HiddenText(text))
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[REDACTED]")
    }
}

impl Serialize for HiddenText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.expose_secret())
    }
}

impl<'de> Deserialize<'de> for HiddenText {
    /// The error does not repeat the value.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)
            .map_err(|_| D::Error::custom("a text is expected"))?;
        Ok(Self(SecretString::from(text)))
    }
}

/// Whether and how a data folder is protected.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ProtectionStatus {
    pub protected: bool,
    /// The key in the system's keychain unlocks the folder without a passphrase.
    pub unlock_at_login: bool,
    /// How a key is derived from the passphrase; `null` without protection, or if the key file is
    /// damaged.
    pub kdf: Option<KeyDerivation>,
    /// When the folder was protected.
    pub since: Option<String>,
    /// The conversion that was interrupted. It is finished when the folder is unlocked.
    pub unfinished: Option<UnfinishedConversion>,
    /// Why the key file is not usable, or not whole; `null` if it is.
    pub key_file_problem: Option<String>,
    /// Files that are not encrypted although they belong to the folder. Known only while it is
    /// open.
    pub plain_leftovers: Vec<String>,
    pub swap: SwapProtection,
}

/// Whether the swap space of this system is encrypted, from the best to the worst.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Type,
)]
#[serde(rename_all = "camelCase")]
pub enum SwapProtection {
    /// The system has no swap space.
    None,
    /// Also if swap is only compressed memory.
    Encrypted,
    #[default]
    Unknown,
    Plain,
}

/// The derivation of a key from the passphrase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct KeyDerivation {
    pub algorithm: String,
    pub memory_kib: u32,
    pub passes: u32,
}

/// A conversion of a data folder that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum UnfinishedConversion {
    Encrypting,
    Decrypting,
}

/// The result of encrypting or decrypting a data folder, with what failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ProtectionReport {
    /// Number of databases that were converted, including backups.
    pub databases: u32,
    /// Number of pictures and other files that were converted, including those of backups.
    pub files: u32,
    /// Files that stay as they were, with the reason.
    pub failed: Vec<ProtectionFailure>,
    /// Files that are still not encrypted.
    pub plain_leftovers: Vec<String>,
    /// The second location for backups is not available, so its backups stay as they are.
    pub second_place_missing: bool,
}

/// A file or folder that could not be converted, copied or deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ProtectionFailure {
    pub file: String,
    pub reason: String,
}

/// A new recovery code. It is shown once.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct NewRecoveryCode {
    pub code: SecretText,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_read_but_never_printed() {
        let secret: SecretText = serde_json::from_str("\"whale oil\"").unwrap();
        assert_eq!(secret.expose(), "whale oil");
        let code = NewRecoveryCode { code: secret };
        assert!(!format!("{code:?}").contains("whale"));
        let refused = serde_json::from_str::<SecretText>("4711").unwrap_err();
        assert!(!refused.to_string().contains("4711"), "{refused}");
    }
}
