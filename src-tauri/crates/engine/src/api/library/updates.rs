//! Updates of the app, for the user interfaces.

use serde::{Deserialize, Serialize};
use specta::Type;

use crate::api::{ApiError, Backup};

/// How this installation gets a new version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum UpdateMethod {
    /// The app downloads and installs it.
    App,
    /// The user installs a package.
    Deb,
    Rpm,
    Flatpak,
    /// The user builds it from source.
    Source,
}

/// The work in progress, or the next step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum UpdatePhase {
    /// No newer version is known.
    #[default]
    Idle,
    Checking,
    /// A newer version is known.
    Available,
    Downloading,
    /// The newer version is downloaded and verified.
    Ready,
    Installing,
    /// Another version starts after a restart.
    Restart,
}

/// Everything about updates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct UpdateStatus {
    /// Version of this program.
    pub version: String,
    pub method: UpdateMethod,
    /// Whether this build knows where to look for updates.
    pub has_address: bool,
    /// The last check with a valid answer.
    pub last_check: Option<String>,
    pub phase: UpdatePhase,
    pub available: Option<AvailableUpdate>,
    /// Bytes of the archive that are downloaded.
    #[specta(type = f64)]
    pub downloaded: u64,
    /// Why the last check, download or installation failed.
    pub failure: Option<ApiError>,
    /// The version that starts after a restart, if it is another one.
    pub next_version: Option<String>,
    pub previous: Option<PreviousVersion>,
}

/// A newer version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct AvailableUpdate {
    pub version: String,
    pub published: Option<String>,
    pub notes: UpdateNotes,
    /// Bytes of the archive; `null` if the app does not download it.
    #[specta(type = Option<f64>)]
    pub bytes: Option<u64>,
    /// The command that installs the package; `null` if the app installs the update.
    pub command: Option<String>,
}

/// Release notes in Markdown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct UpdateNotes {
    pub en: String,
    pub de: Option<String>,
}

/// The version to go back to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PreviousVersion {
    pub version: String,
    /// The backup from before the update. The earlier version may refuse data that this version has
    /// saved.
    pub backup: Option<Backup>,
}
