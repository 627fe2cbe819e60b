//! Moves model files to another model folder.
//!
//! A copy gets its name only when it is complete, the library uses it only after its checksum was
//! compared, and the old files are deleted only after that. The stored job says which files belong
//! to the move, so that a later start can go on at any point, and a cancel deletes only its own
//! files.

pub(crate) mod files;
pub(crate) mod job;
pub(crate) mod moves;
pub(crate) mod operations;
pub(crate) mod removal;
pub(crate) mod run;

use std::sync::{Arc, Weak};

use local::LocalHost;

use crate::base::handle::Base;
use crate::settings::app_settings::AppSettings;
use crate::settings::hub::Hub;
use crate::settings::model_handles::ModelHandles;
use crate::settings::model_lookup::ModelLookup;
use crate::settings::model_moves::moves::MoveJobs;
use crate::settings::models::Models;

/// Moves and deletes the files of models. Clones share one state.
#[derive(Clone)]
pub(crate) struct ModelMoves(Arc<ModelMovesState>);

struct ModelMovesState {
    base: Base,
    local: LocalHost,
    app_settings: AppSettings,
    hub: Hub,
    model_handles: ModelHandles,
    model_lookup: ModelLookup,
    models: Models,
    moves: MoveJobs,
}

impl Drop for ModelMovesState {
    fn drop(&mut self) {
        self.moves.stop_all();
    }
}

/// A handle for background tasks, so that dropping the engine releases the data folder.
#[derive(Clone)]
pub(crate) struct WeakModelMoves(Weak<ModelMovesState>);

impl WeakModelMoves {
    /// `None` once the engine is gone.
    fn upgrade(&self) -> Option<ModelMoves> {
        self.0.upgrade().map(ModelMoves)
    }
}

impl ModelMoves {
    pub(super) fn new(
        base: &Base,
        local: &LocalHost,
        app_settings: &AppSettings,
        hub: &Hub,
        model_handles: &ModelHandles,
        model_lookup: &ModelLookup,
        models: &Models,
    ) -> Self {
        Self(Arc::new(ModelMovesState {
            base: base.clone(),
            local: local.clone(),
            app_settings: app_settings.clone(),
            hub: hub.clone(),
            model_handles: model_handles.clone(),
            model_lookup: model_lookup.clone(),
            models: models.clone(),
            moves: MoveJobs::new(base.events().clone()),
        }))
    }

    fn downgrade(&self) -> WeakModelMoves {
        WeakModelMoves(Arc::downgrade(&self.0))
    }

    fn base(&self) -> &Base {
        &self.0.base
    }

    fn local(&self) -> &LocalHost {
        &self.0.local
    }

    fn app_settings(&self) -> &AppSettings {
        &self.0.app_settings
    }

    fn hub(&self) -> &Hub {
        &self.0.hub
    }

    fn model_handles(&self) -> &ModelHandles {
        &self.0.model_handles
    }

    fn model_lookup(&self) -> &ModelLookup {
        &self.0.model_lookup
    }

    fn models(&self) -> &Models {
        &self.0.models
    }

    /// The moves in progress.
    pub(crate) fn jobs(&self) -> &MoveJobs {
        &self.0.moves
    }
}
