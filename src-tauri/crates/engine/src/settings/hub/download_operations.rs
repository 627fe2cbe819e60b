//! Operations on downloads: start, pause, resume, cancel. `download_run` does the work.

use uuid::Uuid;

use crate::api::{self, DownloadState};
use crate::base::error::{ApiResult, bad_input, internal, not_found};
use crate::settings::hub::download_job::{DownloadJob, JobStop};
use crate::settings::hub::{Hub, download_run, search};

impl Hub {
    /// Starts to download a file of the hub, with the file that lets it read pictures if
    /// `projector` names one. The same download is not started twice.
    ///
    /// # Errors
    /// `NotFound` without the file; `Provider` if the hub does not answer.
    pub(crate) async fn start_download(
        &self,
        repo: String,
        path: String,
        projector: Option<String>,
        makes_default: bool,
    ) -> ApiResult<api::Download> {
        let (hub, repository) = self.repository(&repo).await?;
        let file = search::file(&repository, &path)?;
        let projector = projector
            .map(|path| search::file(&repository, &path))
            .transpose()?;
        let folder = self.download_folder(&self.stored_hub().await?);
        let key = (Uuid::now_v7(), self.base().now());
        let job = DownloadJob::new(key, hub.address(), &repository, (file, projector), &folder);
        let _turn = self.downloads().turn.lock().await;
        if let Some(known) = self.downloads().same(&job) {
            if !self.downloads().is_running(known.id) {
                self.downloads().replace(DownloadJob {
                    id: known.id,
                    created: known.created,
                    makes_default,
                    ..job
                });
            }
            return self.resume(known.id).await;
        }
        let job = DownloadJob {
            makes_default,
            ..job
        };
        self.keep_job(&job).await?;
        let shown = self.downloads().put(job);
        self.downloads().announce(&shown);
        self.run_download(parse(&shown.id)?);
        Ok(shown)
    }

    /// All downloads that are not complete, the oldest first.
    pub(crate) async fn list_downloads(&self) -> ApiResult<Vec<api::Download>> {
        Ok(self.downloads().list())
    }

    /// Pauses a download. The received bytes stay.
    pub(crate) async fn pause_download(&self, id: String) -> ApiResult<api::Download> {
        let id = parse(&id)?;
        let _turn = self.downloads().turn.lock().await;
        self.wait_for_stop(id).await;
        self.downloads().set_stop(id, JobStop::Paused);
        self.keep_job(
            &self
                .downloads()
                .job(id)
                .ok_or_else(|| not_found("download"))?,
        )
        .await?;
        self.downloads()
            .enter(id, DownloadState::Paused, ("", ""), None);
        self.downloads().shown(id)
    }

    /// Resumes a download that was paused, failed or interrupted.
    pub(crate) async fn resume_download(&self, id: String) -> ApiResult<api::Download> {
        let id = parse(&id)?;
        let _turn = self.downloads().turn.lock().await;
        self.resume(id).await
    }

    async fn resume(&self, id: Uuid) -> ApiResult<api::Download> {
        if self.downloads().is_running(id) {
            return self.downloads().shown(id);
        }
        self.downloads().set_stop(id, JobStop::None);
        self.keep_job(
            &self
                .downloads()
                .job(id)
                .ok_or_else(|| not_found("download"))?,
        )
        .await?;
        self.downloads()
            .enter(id, DownloadState::Queued, ("", ""), None);
        self.run_download(id);
        self.downloads().shown(id)
    }

    /// Cancels a download and deletes what it has received.
    pub(crate) async fn cancel_download(&self, id: String) -> ApiResult<()> {
        let id = parse(&id)?;
        let _turn = self.downloads().turn.lock().await;
        self.wait_for_stop(id).await;
        let job = self
            .downloads()
            .job(id)
            .ok_or_else(|| not_found("download"))?;
        let deleted = tokio::task::spawn_blocking(move || download_run::delete_files(&job)).await;
        deleted.map_err(|_| internal("a download could not be deleted"))?;
        self.base()
            .store()
            .write(move |store| store.downloads_mut().delete(id))
            .await?;
        self.downloads().end(id, None);
        Ok(())
    }

    /// Loads the downloads of earlier sessions. They wait for
    /// [`Self::resume_interrupted_downloads`].
    pub(crate) async fn load_downloads(&self) -> ApiResult<()> {
        for (id, json) in self
            .base()
            .store()
            .read(|store| store.downloads().list())
            .await?
        {
            match serde_json::from_str::<DownloadJob>(&json) {
                Ok(job) if job.id == id => {
                    let runs = job.stop == JobStop::None;
                    self.downloads().put(job);
                    if runs {
                        self.downloads().enter(
                            id,
                            DownloadState::Paused,
                            ("The app was closed.", ""),
                            None,
                        );
                    }
                }
                _ => tracing::warn!(%id, "a stored download cannot be read"),
            }
        }
        Ok(())
    }

    /// Resumes the downloads that ran when the app ended.
    pub(crate) fn resume_interrupted_downloads(&self) {
        self.downloads()
            .interrupted()
            .into_iter()
            .for_each(|id| self.run_download(id));
    }

    pub(crate) async fn keep_job(&self, job: &DownloadJob) -> ApiResult<()> {
        let json =
            serde_json::to_string(job).map_err(|_| internal("a download could not be stored"))?;
        let id = job.id;
        let created = job.created;
        Ok(self
            .base()
            .store()
            .write(move |store| store.downloads_mut().set(id, created, &json))
            .await?)
    }

    fn run_download(&self, id: Uuid) {
        let config = self.downgrade();
        let downloads = self.downloads().clone();
        self.downloads().run(id, |cancel| {
            tokio::spawn(download_run::run(config, downloads, id, cancel))
        });
    }

    async fn wait_for_stop(&self, id: Uuid) {
        if let Some(task) = self.downloads().stop(id)
            && let Err(error) = task.await
        {
            tracing::warn!(%error, "a download did not end cleanly");
        }
    }
}

fn parse(id: &str) -> ApiResult<Uuid> {
    Uuid::parse_str(id).map_err(|_| {
        bad_input(
            "This is not the id of a download.",
            "Use an id from a list.",
        )
    })
}
