//! Installs the downloaded version, and goes back to the previous one.

use store::BackupKind;
use updates::InstallError;

use crate::api::{UpdatePhase, UpdateStatus};
use crate::base::error::{ApiResult, bad_input, internal};
use crate::library::updates::check::nothing_new;
use crate::library::updates::{UpdateTurn, Updates, failures};

impl Updates {
    /// Backs up the data, unpacks the downloaded version, and lets it start after a restart.
    ///
    /// # Errors
    /// `BadInput` if this installation does not update itself, nothing is downloaded or the archive
    /// is refused; `Busy`; `Storage` if the backup or the installation fails. The same version
    /// starts as before then.
    pub(crate) async fn install_update(&self) -> ApiResult<UpdateStatus> {
        let folders = self.folders()?.clone();
        let turn = self.take_turn(UpdatePhase::Installing)?;
        let newer = self.newer(&self.stored().await?)?.ok_or_else(nothing_new)?;
        if !self.is_downloaded(&newer) {
            return Err(bad_input(
                "The update is not downloaded.",
                "Download it first.",
            ));
        }
        let archive = newer.archive.ok_or_else(nothing_new)?;
        self.announce().await?;
        let backed_up = self.back_up().await;
        if backed_up.is_err() {
            return self.end(turn, backed_up).await;
        }
        let version = newer.manifest.version;
        let install = move || {
            folders.install(&version, &archive, &mut |step| {
                tracing::debug!(?step, "installing an update");
            })
        };
        let (turn, installed) = off_the_runtime(turn, install).await?;
        self.end(turn, installed).await
    }

    /// Lets the previous version start after a restart.
    ///
    /// # Errors
    /// `BadInput` if this installation does not update itself or has no previous version; `Busy`;
    /// `Storage`.
    pub(crate) async fn go_back_to_previous_version(&self) -> ApiResult<UpdateStatus> {
        let folders = self.folders()?.clone();
        let turn = self.take_turn(UpdatePhase::Installing)?;
        let go_back = move || folders.go_back().map(drop);
        let (turn, done) = off_the_runtime(turn, go_back).await?;
        self.end(turn, done).await
    }

    /// Backs up the data, and stores which backup it is.
    async fn back_up(&self) -> ApiResult<()> {
        let backup = self.backups().back_up(BackupKind::Upgrade).await?;
        let file = backup.path.display().to_string();
        self.change_stored(|stored| stored.backup = Some(file))
            .await
    }
}

/// Runs `work` on a thread of its own. The turn lasts until its end, even if nobody waits for it.
async fn off_the_runtime(
    turn: UpdateTurn,
    work: impl FnOnce() -> Result<(), InstallError> + Send + 'static,
) -> ApiResult<(UpdateTurn, ApiResult<()>)> {
    let done = tokio::task::spawn_blocking(move || (turn, work())).await;
    let (turn, done) = done.map_err(|_| internal("an update could not be installed"))?;
    Ok((turn, done.map_err(failures::of_install)))
}
