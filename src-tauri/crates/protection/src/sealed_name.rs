//! Names of sealed files, which reveal nothing about the names that they replace.

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2_11::Sha256;

use crate::keys::NameKey;

const NAME_BYTES: usize = 32;

/// Name of a sealed file on the disk: 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SealedName([u8; NAME_BYTES]);

impl NameKey {
    /// The name on the disk for a file that is called `plain`, such as `assets/lamp.png`. It is
    /// HMAC-SHA256 of the plain name.
    #[must_use]
    pub fn sealed_name(&self, plain: &str) -> SealedName {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(self.expose()).expect("HMAC takes a key of any length");
        mac.update(plain.as_bytes());
        SealedName(mac.finalize().into_bytes().into())
    }
}

impl SealedName {
    /// Reads a name on the disk. Returns `None` if the text is not 64 hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; NAME_BYTES];
        hex::decode_to_slice(text, &mut bytes).ok()?;
        Some(Self(bytes))
    }

    pub(crate) fn bytes(&self) -> &[u8; NAME_BYTES] {
        &self.0
    }
}

impl fmt::Display for SealedName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hex::encode(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::DataKey;

    #[test]
    fn same_name_is_sealed_alike_in_one_folder() {
        let [first, second] = [(); 2].map(|()| DataKey::generate().unwrap().name_key());
        let sealed = first.sealed_name("assets/lamp.png");
        assert_eq!(sealed, first.sealed_name("assets/lamp.png"));
        assert_ne!(sealed, first.sealed_name("assets/lamp.jpg"));
        assert_ne!(sealed, second.sealed_name("assets/lamp.png"));
    }

    #[test]
    fn printed_name_is_read_again() {
        let name = SealedName([0xab; NAME_BYTES]);
        assert_eq!(SealedName::parse(&name.to_string()), Some(name));
        for other in ["", "lamp.png", "ab", &"g".repeat(64), &"a".repeat(66)] {
            assert_eq!(SealedName::parse(other), None, "{other}");
        }
    }
}
