//! Operations on moves: start, list, cancel. `run` does the work.

use std::path::{Path, PathBuf};

use domain::ModelId;
use domain::model::LocalModel;

use super::job::MoveJob;
use super::{files, run};
use crate::api::{self, ApiError, MoveState};
use crate::base::error::{ApiResult, bad_input, internal, not_found};
use crate::settings::model_moves::ModelMoves;

impl ModelMoves {
    /// Starts to move the files of a model into a model folder; an empty text names the folder
    /// inside the data folder. A move that has failed starts again.
    ///
    /// # Errors
    /// `NotFound`; `BadInput` if it is not a model folder, or if a file is missing or occupies the
    /// place.
    pub(crate) async fn move_model(
        &self,
        id: ModelId,
        folder: String,
    ) -> ApiResult<api::ModelMove> {
        let model = self.model_lookup().local_model(id).await?;
        let (roots, target) = self.folders_of_move(&folder).await?;
        let _turn = self.jobs().turn.lock().await;
        self.start_move(model, &roots, &target).await
    }

    /// Starts to move every model below `from` into another model folder. A model that cannot be
    /// moved is listed with the reason.
    ///
    /// # Errors
    /// `BadInput` if one of them is not a model folder; `NotFound` without a model.
    pub(crate) async fn move_models_of_folder(
        &self,
        from: String,
        folder: String,
    ) -> ApiResult<Vec<api::ModelMove>> {
        let (_, from) = self.folders_of_move(&from).await?;
        let (roots, target) = self.folders_of_move(&folder).await?;
        if from == target {
            return Err(bad_input(
                "Both are the same folder.",
                "Choose another folder.",
            ));
        }
        let models = self
            .base()
            .store()
            .read(|store| store.models().list())
            .await?;
        let inside: Vec<_> = models
            .into_iter()
            .filter(|model| Path::new(&model.path).starts_with(&from))
            .collect();
        if inside.is_empty() {
            return Err(not_found("model in this folder"));
        }
        let _turn = self.jobs().turn.lock().await;
        let mut moves = Vec::with_capacity(inside.len());
        for model in inside {
            moves.push(
                match self.start_move(model.clone(), &roots, &target).await {
                    Ok(started) => started,
                    Err(ApiError::BadInput { message, hint }) => {
                        refused(&model, &target, message, hint)
                    }
                    Err(other) => return Err(other),
                },
            );
        }
        Ok(moves)
    }

    /// All moves that have not ended, in the order in which the models were added.
    pub(crate) async fn list_model_moves(&self) -> ApiResult<Vec<api::ModelMove>> {
        Ok(self.jobs().list())
    }

    /// Cancels a move, and deletes what it has copied. Once the model uses its new file, the old
    /// one is deleted instead, as far as that works.
    ///
    /// # Errors
    /// `NotFound`; `BadInput` while the old files are being deleted.
    pub(crate) async fn cancel_model_move(&self, id: ModelId) -> ApiResult<()> {
        let _turn = self.jobs().turn.lock().await;
        let shown = self.jobs().shown(id)?;
        if shown.state == MoveState::Finishing && self.jobs().is_running(id) {
            let hint = "Wait until its reply has ended. The old file is deleted then.";
            return Err(bad_input(
                format!("{} has already moved.", shown.name),
                hint,
            ));
        }
        self.end_move(id).await
    }

    /// Stops a move and removes what it has left, for example because its model is removed.
    pub(crate) async fn end_move(&self, id: ModelId) -> ApiResult<()> {
        if let Some(task) = self.jobs().stop(id)
            && let Err(error) = task.await
        {
            tracing::warn!(%error, "a move did not end cleanly");
        }
        // It may have been completed meanwhile.
        let Some(job) = self.jobs().job(id) else {
            return Ok(());
        };
        let moved = self.clear_move(&job).await?;
        self.jobs().end(id, moved);
        Ok(())
    }

    /// Removes the files and the row of a move that does not run. Returns whether the library uses
    /// the new file.
    async fn clear_move(&self, job: &MoveJob) -> ApiResult<bool> {
        let moved = self.uses_new_file(job).await.unwrap_or(false);
        if let Err(error) = self.tidy_move(job).await {
            // An old file that cannot be deleted must not keep the note of it for ever.
            if !moved {
                return Err(error);
            }
            tracing::warn!(%error, "an old model file could not be deleted");
        }
        self.forget_move(job.model()).await?;
        Ok(moved)
    }

    /// Loads the moves of earlier sessions. They wait for [`Self::resume_interrupted_moves`].
    pub(crate) async fn load_moves(&self) -> ApiResult<()> {
        for (model, json) in self
            .base()
            .store()
            .read(|store| store.model_moves().list())
            .await?
        {
            match serde_json::from_str::<MoveJob>(&json) {
                Ok(job) if job.model() == model => {
                    self.jobs().put(job, MoveState::Queued, ("", ""));
                }
                _ => tracing::warn!(%model, "a stored move cannot be read"),
            }
        }
        Ok(())
    }

    /// Goes on with the moves that ran when the app ended.
    pub(crate) fn resume_interrupted_moves(&self) {
        self.jobs()
            .interrupted()
            .into_iter()
            .for_each(|model| self.run_move(model));
    }

    /// Whether the library uses the new file of a move.
    ///
    /// # Errors
    /// `NotFound` without the model; `BadInput` if it uses a third file.
    pub(crate) async fn uses_new_file(&self, job: &MoveJob) -> ApiResult<bool> {
        let model = self.model_lookup().local_model(job.model()).await?;
        match job.paths() {
            Some((_, to)) if to == Path::new(&model.path) => Ok(true),
            Some((from, _)) if from == Path::new(&model.path) => Ok(false),
            _ => Err(bad_input(
                format!("{} was added from another place meanwhile.", model.name),
                "Cancel the move, and start it again.",
            )),
        }
    }

    /// Deletes what a move leaves: its copies, or the old files once the library uses the copies.
    pub(crate) async fn tidy_move(&self, job: &MoveJob) -> ApiResult<()> {
        let has_moved = match self.uses_new_file(job).await {
            Ok(has_moved) => has_moved,
            Err(ApiError::BadInput { .. }) => false,
            Err(other) => return Err(other),
        };
        let job = job.clone();
        let delete = move || {
            if has_moved {
                files::delete_originals(&job)
            } else {
                files::delete_copies(&job)
            }
        };
        let deleted = tokio::task::spawn_blocking(delete).await;
        deleted
            .map_err(|_| internal("copies could not be deleted"))?
            .map_err(|error| ApiError::Storage {
                message: crate::base::error::sentence(&error.to_string()),
                hint: "Delete the file yourself.".into(),
            })
    }

    pub(crate) async fn forget_move(&self, model: ModelId) -> ApiResult<()> {
        Ok(self
            .base()
            .store()
            .write(move |store| store.model_moves_mut().delete(model))
            .await?)
    }

    async fn start_move(
        &self,
        model: LocalModel,
        roots: &[PathBuf],
        target: &Path,
    ) -> ApiResult<api::ModelMove> {
        let id = model.id;
        let state = self.jobs().shown(id).ok().map(|shown| shown.state);
        if state != Some(MoveState::Failed) && self.jobs().is_running(id) {
            return self.jobs().shown(id);
        }
        let job = match self.jobs().job(id).zip(state) {
            Some((job, state)) if job.folder == target && self.goes_on(&job, state).await => job,
            known => {
                if let Some((job, _)) = known {
                    self.clear_move(&job).await?;
                }
                self.refuse_foreign(&model).await?;
                let roots = roots.to_vec();
                let target = target.to_owned();
                let planned =
                    tokio::task::spawn_blocking(move || MoveJob::plan(&model, &roots, &target))
                        .await;
                planned.map_err(|_| internal("a model file could not be read"))??
            }
        };
        let json =
            serde_json::to_string(&job).map_err(|_| internal("a move could not be stored"))?;
        self.base()
            .store()
            .write(move |store| store.model_moves_mut().set(id, &json))
            .await?;
        let shown = self.jobs().put(job, MoveState::Queued, ("", ""));
        self.run_move(id);
        Ok(shown)
    }

    /// Whether a known move to the same folder goes on, instead of beginning anew: after the end of
    /// the app, or if it has only left its old files.
    async fn goes_on(&self, job: &MoveJob, state: MoveState) -> bool {
        state == MoveState::Queued || self.uses_new_file(job).await.unwrap_or(false)
    }

    fn run_move(&self, model: ModelId) {
        let room = self.downgrade();
        let moves = self.jobs().clone();
        self.jobs().run(model, |cancel| {
            tokio::spawn(run::run(room, moves, model, cancel))
        });
    }

    /// The model folders, and the one that `name` means.
    async fn folders_of_move(&self, name: &str) -> ApiResult<(Vec<PathBuf>, PathBuf)> {
        let stored = self.hub().stored_hub().await?;
        let own = self.hub().own_model_folder();
        let mut roots: Vec<_> = stored.folders.iter().map(PathBuf::from).collect();
        roots.push(own.clone());
        let wanted = if name.is_empty() {
            own
        } else {
            PathBuf::from(name)
        };
        if !roots.contains(&wanted) {
            let message = format!("{} is not one of the model folders.", wanted.display());
            return Err(bad_input(message, "Add the folder first."));
        }
        Ok((roots, wanted))
    }

    /// Refuses to take files away from the app's own package and from other apps.
    async fn refuse_foreign(&self, model: &LocalModel) -> ApiResult<()> {
        let path = Path::new(&model.path);
        if self
            .base()
            .shipped_models()
            .iter()
            .any(|folder| path.starts_with(folder))
        {
            let message = format!(
                "{} came with the app, which needs it in its place.",
                model.name
            );
            return Err(bad_input(message, "Move another model."));
        }
        if let Some(app) = self.hub().app_of_file(path).await? {
            let message = format!(
                "{} belongs to {app}, which would no longer find it.",
                model.name
            );
            return Err(bad_input(
                message,
                format!("Move it in {app}, or download it here."),
            ));
        }
        Ok(())
    }
}

/// A model that cannot be moved, as it is shown with the others.
fn refused(model: &LocalModel, target: &Path, reason: String, hint: String) -> api::ModelMove {
    api::ModelMove {
        model: model.id,
        name: model.name.clone(),
        folder: target.display().to_string(),
        state: MoveState::Failed,
        done: 0,
        total: model.bytes,
        reason,
        hint,
    }
}
