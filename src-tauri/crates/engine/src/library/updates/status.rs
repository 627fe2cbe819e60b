//! The status of updates, as the user sees it.

use std::path::Path;

use domain::Timestamp;
use updates::{
    CHANNEL, Decision, InstallKind, InstalledVersion, PackageManager, Refusal, UpdateArchive,
    UpdateManifest, Version, platform,
};

use crate::api::{
    AvailableUpdate, Backup, Event, PreviousVersion, UpdateMethod, UpdateNotes, UpdatePhase,
    UpdateStatus,
};
use crate::base::clock::rfc3339;
use crate::base::error::{ApiResult, internal};
use crate::library::updates::Updates;
use crate::library::updates::stored::StoredUpdates;

/// A newer version and its archive; a package manager needs none.
pub(super) struct NewerVersion {
    pub(super) manifest: UpdateManifest,
    pub(super) archive: Option<UpdateArchive>,
}

impl Updates {
    /// Returns the stored status. Contacts no server.
    pub(crate) async fn updates_status(&self) -> ApiResult<UpdateStatus> {
        let stored = self.stored().await?;
        let newer = self.newer(&stored)?;
        let next_version = self.next_version();
        let work = self.work().clone();
        let phase = match work.phase {
            UpdatePhase::Idle => self.next_phase(newer.as_ref(), next_version.as_deref()),
            busy => busy,
        };
        Ok(UpdateStatus {
            version: self.source().version.clone(),
            method: self.method(),
            has_address: self.source().address.is_some(),
            last_check: stored.last_check.map(rfc3339),
            phase,
            downloaded: self.downloaded(newer.as_ref()),
            available: newer.map(|newer| self.described(newer)),
            failure: work.failure,
            next_version,
            previous: self.previous(stored.backup.as_deref()).await?,
        })
    }

    /// Sends the status to all listeners, and returns it.
    pub(super) async fn announce(&self) -> ApiResult<UpdateStatus> {
        let status = self.updates_status().await?;
        self.base().events().announce(Event::UpdateChanged {
            status: Box::new(status.clone()),
        });
        Ok(status)
    }

    /// Version of this program.
    pub(super) fn version(&self) -> ApiResult<Version> {
        Version::parse(&self.source().version)
            .map_err(|_| internal("this program has no valid version"))
    }

    /// The newer version that the stored manifest offers, if it may be used.
    pub(super) fn newer(&self, stored: &StoredUpdates) -> ApiResult<Option<NewerVersion>> {
        let Some(manifest) = self.verified(stored) else {
            return Ok(None);
        };
        let decision = self.decide(&manifest, None, &self.version()?);
        Ok(match decision {
            Ok(Decision::Available) => {
                let archive = self.archive(&manifest).ok().flatten();
                Some(NewerVersion { manifest, archive })
            }
            // It was refused when it came, or it is the version that runs now.
            Ok(Decision::UpToDate) | Err(_) => None,
        })
    }

    pub(super) fn decide(
        &self,
        manifest: &UpdateManifest,
        last_serial: Option<u64>,
        version: &Version,
    ) -> Result<Decision, Refusal> {
        manifest.decide(&InstalledVersion {
            version,
            last_serial,
            channel: CHANNEL,
        })
    }

    /// The archive that this installation needs; `None` if a package manager brings it.
    pub(super) fn archive(
        &self,
        manifest: &UpdateManifest,
    ) -> Result<Option<UpdateArchive>, Refusal> {
        match self.kind() {
            InstallKind::Versions(_) => manifest.archive(&platform()).cloned().map(Some),
            InstallKind::Package(_) | InstallKind::Source => Ok(None),
        }
    }

    fn method(&self) -> UpdateMethod {
        match self.kind() {
            InstallKind::Versions(_) => UpdateMethod::App,
            InstallKind::Package(PackageManager::Deb) => UpdateMethod::Deb,
            InstallKind::Package(PackageManager::Rpm) => UpdateMethod::Rpm,
            InstallKind::Package(PackageManager::Flatpak) => UpdateMethod::Flatpak,
            InstallKind::Source => UpdateMethod::Source,
        }
    }

    /// The version that starts after a restart, if it is another one.
    fn next_version(&self) -> Option<String> {
        let folders = self.folders().ok()?;
        Some(folders.next_version()).filter(|version| version != folders.running())
    }

    fn next_phase(&self, newer: Option<&NewerVersion>, next_version: Option<&str>) -> UpdatePhase {
        let Some(newer) = newer else {
            return next_version.map_or(UpdatePhase::Idle, |_| UpdatePhase::Restart);
        };
        if next_version == Some(newer.manifest.version.to_string().as_str()) {
            UpdatePhase::Restart
        } else if self.is_downloaded(newer) {
            UpdatePhase::Ready
        } else {
            UpdatePhase::Available
        }
    }

    /// Whether the archive is here. It got its name after it was verified, and is verified again
    /// before it is unpacked.
    pub(super) fn is_downloaded(&self, newer: &NewerVersion) -> bool {
        self.folders().is_ok_and(|folders| {
            let bytes = length(&folders.archive(&newer.manifest.version));
            newer
                .archive
                .as_ref()
                .is_some_and(|archive| archive.size == bytes)
        })
    }

    /// Bytes of the archive or its part that are here.
    fn downloaded(&self, newer: Option<&NewerVersion>) -> u64 {
        let Some(newer) = newer else {
            return 0;
        };
        let version = &newer.manifest.version;
        self.folders().map_or(0, |folders| {
            length(&folders.archive(version)).max(length(&folders.part(version)))
        })
    }

    fn described(&self, newer: NewerVersion) -> AvailableUpdate {
        let NewerVersion { manifest, archive } = newer;
        let version = manifest.version.to_string();
        let command = match self.kind() {
            InstallKind::Package(manager) => Some(manager.command(&version)),
            InstallKind::Versions(_) | InstallKind::Source => None,
        };
        AvailableUpdate {
            version,
            published: published(&manifest.published),
            notes: UpdateNotes {
                en: manifest.notes.en,
                de: manifest.notes.de,
            },
            bytes: archive.map(|archive| archive.size),
            command,
        }
    }

    async fn previous(&self, backup: Option<&str>) -> ApiResult<Option<PreviousVersion>> {
        let Some(version) = self.folders().ok().and_then(|folders| folders.previous()) else {
            return Ok(None);
        };
        let backup = match backup {
            Some(file) => self.known_backup(file).await?,
            None => None,
        };
        Ok(Some(PreviousVersion { version, backup }))
    }

    async fn known_backup(&self, file: &str) -> ApiResult<Option<Backup>> {
        let mut backups = self.backups().list_backups().await?.into_iter();
        Ok(backups.find(|backup| backup.file == file))
    }
}

/// The time as the API writes it; an unreadable one is left out.
fn published(text: &str) -> Option<String> {
    let at: jiff::Timestamp = text.parse().ok()?;
    Some(rfc3339(Timestamp(at.as_millisecond())))
}

fn length(file: &Path) -> u64 {
    std::fs::metadata(file).map_or(0, |about| about.len())
}
