//! Bytes as hexadecimal text in JSON.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Exactly `N` bytes. A text of another length is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HexBytes<const N: usize>(pub(super) [u8; N]);

impl<const N: usize> Serialize for HexBytes<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex::encode(self.0))
    }
}

impl<'de, const N: usize> Deserialize<'de> for HexBytes<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut bytes = [0; N];
        hex::decode_to_slice(text, &mut bytes).map_err(D::Error::custom)?;
        Ok(Self(bytes))
    }
}
