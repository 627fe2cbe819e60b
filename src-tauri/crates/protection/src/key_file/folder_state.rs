//! Facts about its folder in a key file, besides keys. None of it is secret, and none of it is
//! needed to unlock the folder.

use serde_json::{Value, json};

use super::{KeyFile, KeySlot};
use crate::passphrase_cost::PassphraseCost;

const SINCE: &str = "since";
const CONVERTING: &str = "converting";
const ON: &str = "on";
const OFF: &str = "off";
/// Hexadecimal digits of the check value that identify a folder.
const ID_DIGITS: usize = 8;

/// A conversion of the folder that began and has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversion {
    /// The folder is being encrypted.
    On,
    /// The folder is being decrypted.
    Off,
}

impl KeyFile {
    /// The time at which the folder was protected, as text.
    #[must_use]
    pub fn since(&self) -> Option<&str> {
        self.document.get(SINCE)?.as_str()
    }

    pub fn set_since(&mut self, since: &str) {
        self.document.insert(SINCE.to_owned(), json!(since));
    }

    /// The conversion that was interrupted, or runs now.
    #[must_use]
    pub fn conversion(&self) -> Option<Conversion> {
        match self.document.get(CONVERTING).and_then(Value::as_str) {
            Some(ON) => Some(Conversion::On),
            Some(OFF) => Some(Conversion::Off),
            _ => None,
        }
    }

    pub fn set_conversion(&mut self, conversion: Option<Conversion>) {
        let text = match conversion {
            Some(Conversion::On) => ON,
            Some(Conversion::Off) => OFF,
            None => {
                // `remove` would move the last field into its place.
                self.document.shift_remove(CONVERTING);
                return;
            }
        };
        self.document.insert(CONVERTING.to_owned(), json!(text));
    }

    /// The cost of a passphrase. `None` if that part of the file is damaged.
    #[must_use]
    pub fn passphrase_cost(&self) -> Option<PassphraseCost> {
        self.copy(KeySlot::Passphrase).ok()?.cost()?.ok()
    }

    /// Whether no way to unlock the folder is missing or damaged.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let slots = [
            KeySlot::Passphrase,
            KeySlot::RecoveryCode,
            KeySlot::Keychain,
        ];
        let expected = slots
            .into_iter()
            .filter(|slot| *slot != KeySlot::Keychain || self.has(*slot));
        let mut found = expected.map(|slot| self.copy(slot));
        self.folder_id().is_some() && found.all(|copy| copy.is_ok())
    }

    /// A public number that tells the key files of several folders apart. `None` if the check value
    /// is damaged.
    #[must_use]
    pub fn folder_id(&self) -> Option<u32> {
        let check = self.document.get("check")?.as_str()?;
        u32::from_str_radix(check.get(..ID_DIGITS)?, 16).ok()
    }
}
