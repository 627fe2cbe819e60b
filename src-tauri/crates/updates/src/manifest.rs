//! The signed manifest of the newest version of a channel.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use minisign_verify::{PublicKey, Signature};
use semver::Version;
use serde::{Deserialize, Serialize};

/// Name of the product in its manifests.
pub const PRODUCT: &str = "inglenook";
/// Channel of this build.
pub const CHANNEL: &str = "stable";
/// Maximum size of a manifest, in bytes.
pub const MAX_MANIFEST: usize = 1 << 20;
/// Maximum size of a signature, in bytes.
pub(crate) const MAX_SIGNATURE: usize = 4 << 10;
/// Maximum size of an archive, in bytes.
pub const MAX_ARCHIVE: u64 = 4 << 30;
/// Maximum length of a version, which becomes the name of a folder.
pub(crate) const MAX_VERSION: usize = 64;

/// The newest version of a channel. Unknown fields are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdateManifest {
    pub product: String,
    pub channel: String,
    /// Larger than in every earlier manifest of the channel.
    pub serial: u64,
    pub version: Version,
    /// RFC 3339.
    pub published: String,
    pub notes: ReleaseNotes,
    /// By platform, see [`platform`].
    pub archives: BTreeMap<String, UpdateArchive>,
}

/// Release notes in Markdown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReleaseNotes {
    pub en: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub de: Option<String>,
}

/// The tree of one version as an archive: `bin` and `lib` are at its root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdateArchive {
    pub url: String,
    /// Bytes.
    pub size: u64,
    /// 64 hexadecimal digits.
    pub sha256: String,
}

/// Why a manifest is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    #[error("the manifest has {bytes} bytes, and the limit is {limit}")]
    TooLarge { bytes: usize, limit: usize },
    #[error("the signature of the manifest is not valid for the key of this build")]
    Signature,
    #[error("the manifest cannot be read: {problem}")]
    Damaged { problem: String },
}

/// Why the version that a valid manifest offers is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the manifest is of another product, {product:?}")]
    OtherProduct { product: String },
    #[error("the manifest is of another channel, {channel:?}")]
    OtherChannel { channel: String },
    #[error("the server sent an older manifest ({serial}) than before ({last})")]
    Replay { serial: u64, last: u64 },
    #[error("the server offers version {offered}, which is older than this one, {installed}")]
    Downgrade {
        offered: Version,
        installed: Version,
    },
    #[error("version {version} has no archive for {platform}")]
    NoArchiveForPlatform { version: Version, platform: String },
    #[error("the manifest has no usable archive for {platform}: {why}")]
    BadArchive { platform: String, why: &'static str },
}

/// The installed version, and the last manifest that it accepted.
#[derive(Debug, Clone, Copy)]
pub struct InstalledVersion<'a> {
    pub version: &'a Version,
    /// Serial of the newest manifest that was accepted.
    pub last_serial: Option<u64>,
    pub channel: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    UpToDate,
    Available,
}

/// Reads a manifest if one of `keys` has signed exactly these bytes.
///
/// # Errors
/// [`ManifestError`].
pub fn verify(
    manifest: &[u8],
    signature: &str,
    keys: &[PublicKey],
) -> Result<UpdateManifest, ManifestError> {
    if manifest.len() > MAX_MANIFEST {
        return Err(ManifestError::TooLarge {
            bytes: manifest.len(),
            limit: MAX_MANIFEST,
        });
    }
    let signature = Signature::decode(signature).map_err(|_| ManifestError::Signature)?;
    // Legacy signatures do not hash first; the release workflow makes none.
    let is_signed = |key: &PublicKey| key.verify(manifest, &signature, false).is_ok();
    if !keys.iter().any(is_signed) {
        return Err(ManifestError::Signature);
    }
    let read: UpdateManifest =
        serde_json::from_slice(manifest).map_err(|error| ManifestError::Damaged {
            problem: error.to_string(),
        })?;
    if read.version.to_string().len() > MAX_VERSION {
        return Err(ManifestError::Damaged {
            problem: "its version is too long".to_owned(),
        });
    }
    Ok(read)
}

/// Key of this platform in a manifest, such as `linux-x86_64`.
#[must_use]
pub fn platform() -> String {
    format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH)
}

impl UpdateManifest {
    /// Compares the offered version with the installed one.
    ///
    /// # Errors
    /// [`Refusal`] for another product or channel, an older manifest and an older version.
    pub fn decide(&self, installed: &InstalledVersion<'_>) -> Result<Decision, Refusal> {
        if self.product != PRODUCT {
            return Err(Refusal::OtherProduct {
                product: self.product.clone(),
            });
        }
        if self.channel != installed.channel {
            return Err(Refusal::OtherChannel {
                channel: self.channel.clone(),
            });
        }
        if let Some(last) = installed.last_serial.filter(|last| self.serial < *last) {
            return Err(Refusal::Replay {
                serial: self.serial,
                last,
            });
        }
        match self.version.cmp_precedence(installed.version) {
            Ordering::Equal => Ok(Decision::UpToDate),
            Ordering::Greater => Ok(Decision::Available),
            Ordering::Less => Err(Refusal::Downgrade {
                offered: self.version.clone(),
                installed: installed.version.clone(),
            }),
        }
    }

    /// Returns the archive for `platform`.
    ///
    /// # Errors
    /// [`Refusal::NoArchiveForPlatform`], or [`Refusal::BadArchive`] if its size or its checksum
    /// cannot be right.
    pub fn archive(&self, platform: &str) -> Result<&UpdateArchive, Refusal> {
        let archive = self
            .archives
            .get(platform)
            .ok_or_else(|| Refusal::NoArchiveForPlatform {
                version: self.version.clone(),
                platform: platform.to_owned(),
            })?;
        match archive.problem() {
            None => Ok(archive),
            Some(why) => Err(Refusal::BadArchive {
                platform: platform.to_owned(),
                why,
            }),
        }
    }
}

impl UpdateArchive {
    fn problem(&self) -> Option<&'static str> {
        let is_hash =
            self.sha256.len() == 64 && self.sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
        if self.size == 0 || self.size > MAX_ARCHIVE {
            Some("its size is out of range")
        } else if !is_hash {
            Some("its checksum is not a SHA-256")
        } else {
            None
        }
    }
}
