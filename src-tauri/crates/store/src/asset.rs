//! The name of an asset: the hash of its bytes.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// SHA-256 of an asset's bytes, 64 lower-case hexadecimal digits in text. The only thing that ever names a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AssetHash([u8; 32]);

/// Text that is not 64 hexadecimal digits where the hash of an asset was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this is not the hash of an asset: 64 hexadecimal digits were expected")]
pub struct NotAHash;

impl AssetHash {
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    pub(crate) fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub(crate) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// `ab/abcd...` below `assets`: 256 folders keep each of them short.
    pub(crate) fn path_in(&self, assets: &Path) -> PathBuf {
        let name = self.to_string();
        assets.join(&name[..2]).join(name)
    }
}

impl fmt::Display for AssetHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl FromStr for AssetHash {
    type Err = NotAHash;

    fn from_str(text: &str) -> Result<Self, NotAHash> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| NotAHash)?;
        Ok(Self(bytes))
    }
}

impl TryFrom<String> for AssetHash {
    type Error = NotAHash;

    fn try_from(text: String) -> Result<Self, NotAHash> {
        text.parse()
    }
}

impl From<AssetHash> for String {
    fn from(hash: AssetHash) -> Self {
        hash.to_string()
    }
}
