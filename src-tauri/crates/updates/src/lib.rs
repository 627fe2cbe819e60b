//! Updates of the app: the signed manifest of the newest version, downloads, and the folders of
//! versions.
//!
//! Guarantees
//! - Only [`fetch_manifest`] and [`fetch_archive`] contact a server.
//! - A manifest is read only if a known key has signed it. An older manifest, an older version and
//!   another product are refused.
//! - `current` names a complete version at every moment, whatever interrupts the process.
//! - No entry of an archive is written outside the folder of its version, and none is a link.
//!
//! Not in this crate: storage, backups, settings.

mod archive;
mod download;
mod folders;
mod install_kind;
mod manifest;
mod source;

pub use archive::InstallError;
pub use download::{
    ArchiveRequest, FetchError, FreeSpace, SignedManifest, fetch_archive, fetch_manifest,
};
pub use folders::{InstallStep, VersionFolders};
pub use install_kind::{InstallKind, PackageManager};
pub use manifest::{
    CHANNEL, Decision, InstalledVersion, MAX_ARCHIVE, MAX_MANIFEST, ManifestError, PRODUCT,
    Refusal, ReleaseNotes, UpdateArchive, UpdateManifest, platform, verify,
};
pub use semver::Version;
pub use source::{TEST_KEY, UpdateSource};
