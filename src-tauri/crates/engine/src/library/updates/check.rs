//! Asks the server for the newest version.

use updates::{Decision, UpdateManifest, fetch_manifest};

use crate::api::{ApiError, UpdatePhase, UpdateStatus};
use crate::base::error::{ApiResult, bad_input};
use crate::library::updates::{Updates, failures};

impl Updates {
    /// Downloads the manifest and stores it, if it is signed and not older than the last one.
    ///
    /// # Errors
    /// `BadInput` if this build has no address, or the manifest is refused; `Busy`; `Provider` if
    /// the server does not answer.
    pub(crate) async fn check_for_updates(&self) -> ApiResult<UpdateStatus> {
        let address = self.address()?;
        let turn = self.take_turn(UpdatePhase::Checking)?;
        self.announce().await?;
        let checked = self.check(&address).await;
        self.end(turn, checked).await
    }

    fn address(&self) -> ApiResult<String> {
        let address = self.source().address.clone();
        address.ok_or_else(|| {
            bad_input(
                "This build has no update address.",
                "Look for a new version where you got this one.",
            )
        })
    }

    async fn check(&self, address: &str) -> ApiResult<()> {
        let fetched = tokio::select! {
            fetched = fetch_manifest(address) => fetched.map_err(failures::of_fetch)?,
            () = self.0.closing.cancelled() => return Err(failures::closing()),
        };
        let manifest = fetched
            .verify(self.source())
            .map_err(failures::of_manifest)?;
        self.accept(&manifest).await?;
        let now = self.base().now();
        self.change_stored(|stored| {
            stored.last_check = Some(now);
            stored.manifest = Some(fetched);
        })
        .await
    }

    /// # Errors
    /// `BadInput` if this installation must not use the manifest.
    async fn accept(&self, manifest: &UpdateManifest) -> ApiResult<()> {
        let stored = self.stored().await?;
        let last_serial = self.verified(&stored).map(|last| last.serial);
        let version = self.version()?;
        let decision = self
            .decide(manifest, last_serial, &version)
            .map_err(failures::of_refusal)?;
        if decision == Decision::Available {
            self.archive(manifest).map_err(failures::of_refusal)?;
        }
        Ok(())
    }
}

/// The error if there is nothing to download or to install.
pub(super) fn nothing_new() -> ApiError {
    bad_input("No newer version is known.", "Check for updates first.")
}
