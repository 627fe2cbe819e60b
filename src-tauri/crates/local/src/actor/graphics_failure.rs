//! A graphics device that ends the worker during a reply: from then on, the processor computes the
//! model.
//!
//! The driver or the backend may fail with one model only, so other models keep their devices.

use std::path::{Path, PathBuf};

use provider::ProviderError;

use super::{Actor, WorkerReplyJob};
use crate::load::{LoadOptions, LoadReason};

/// A way to load a model that failed on graphics devices.
#[derive(Debug)]
pub(super) struct GraphicsFailure {
    path: PathBuf,
    options: LoadOptions,
    reason: LoadReason,
}

impl Actor {
    /// Whether graphics devices compute layers of the loaded model.
    pub(super) fn computes_on_graphics(&self) -> bool {
        let loaded = self
            .worker
            .as_ref()
            .and_then(|worker| worker.loaded.as_ref());
        loaded.is_some_and(|loaded| loaded.load.gpu_layers > 0)
    }

    /// Notes that graphics devices ended the worker with `error` in a reply.
    pub(super) fn blame_graphics(&mut self, job: &WorkerReplyJob, error: &ProviderError) {
        let (path, options) = (job.path.clone(), job.options.without_projector());
        self.graphics_failure = Some(GraphicsFailure {
            path,
            options,
            reason: LoadReason::from(error),
        });
        // It was not the model's fault.
        self.health.forgive();
    }

    /// The reason why the processor computes this model with these options. Other options are tried
    /// on the devices again.
    pub(super) fn failure_on_graphics(
        &self,
        path: &Path,
        options: &LoadOptions,
    ) -> Option<LoadReason> {
        let failure = self.graphics_failure.as_ref()?;
        let same = failure.path == path && failure.options == options.without_projector();
        same.then(|| failure.reason.clone())
    }
}
