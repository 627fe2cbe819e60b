//! The key that the system's keychain keeps for "unlock when I log in".

use secrecy::{ExposeSecret as _, ExposeSecretMut as _, SecretString};

use crate::keys::{KEY_BYTES, Secret};
use crate::random::{RandomError, random_secret};

/// A random key in the system's keychain, which unwraps the data key without a passphrase.
#[derive(Debug)]
pub struct KeychainKey(Secret);

impl KeychainKey {
    /// # Errors
    /// The system has no random bytes.
    pub fn generate() -> Result<Self, RandomError> {
        random_secret().map(Self)
    }

    /// Reads the text of a keychain's entry. Returns `None` if it is not 64 hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut secret = Secret::default();
        hex::decode_to_slice(text, secret.expose_secret_mut()).ok()?;
        Some(Self(secret))
    }

    /// The text for the keychain's entry.
    #[must_use]
    pub fn text(&self) -> SecretString {
        SecretString::from(hex::encode(self.0.expose_secret()))
    }

    pub(crate) fn bytes(&self) -> &[u8; KEY_BYTES] {
        self.0.expose_secret()
    }
}
