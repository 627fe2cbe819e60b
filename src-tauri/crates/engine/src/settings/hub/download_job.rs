//! A download as it is stored, so that it survives the end of the app.

use std::path::{Path, PathBuf};

use domain::Timestamp;
use provider::hub::names::{RepoId, safe_name, safe_name_with_folder};
use provider::hub::{HubFile, RemoteFile, Repository};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// One file of a download.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JobFile {
    /// Path inside the repository.
    pub(crate) path: String,
    pub(crate) bytes: Option<u64>,
    /// SHA-256 in lower-case hexadecimal, as the hub states it.
    pub(crate) sha256: Option<String>,
    /// Another file of the repository has the same name, so the name on this machine begins with
    /// the folder.
    #[serde(default)]
    pub(crate) with_folder: bool,
    /// This download has put the complete file in its place.
    #[serde(default)]
    pub(crate) done: bool,
}

/// Why a download does not run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum JobStop {
    /// It runs, or ran when the app ended.
    #[default]
    None,
    Paused,
    Failed {
        reason: String,
        hint: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DownloadJob {
    pub(crate) id: Uuid,
    pub(crate) created: Timestamp,
    /// Address of the hub that listed the files. The job never goes to another one.
    pub(crate) hub: String,
    pub(crate) repo: String,
    pub(crate) revision: String,
    pub(crate) licence: Option<String>,
    /// The model file or its parts, then the file that reads pictures, if it is wanted.
    pub(crate) files: Vec<JobFile>,
    /// The first file that is not a part of the model.
    pub(crate) model_files: usize,
    pub(crate) folder: String,
    pub(crate) makes_default: bool,
    #[serde(default)]
    pub(crate) stop: JobStop,
}

impl JobFile {
    fn new(part: &RemoteFile, repository: &Repository) -> Self {
        let mut all = repository.files.iter().flat_map(|file| &file.parts);
        Self {
            with_folder: all.any(|other| {
                other.path != part.path && safe_name(&other.path) == safe_name(&part.path)
            }),
            path: part.path.clone(),
            bytes: part.bytes,
            sha256: part.sha256.clone(),
            done: false,
        }
    }

    /// Its name on this machine. Its name on the hub is only a hint.
    fn name(&self) -> String {
        if self.with_folder {
            safe_name_with_folder(&self.path)
        } else {
            safe_name(&self.path)
        }
    }
}

impl DownloadJob {
    pub(crate) fn new(
        (id, created): (Uuid, Timestamp),
        hub: String,
        repository: &Repository,
        (file, projector): (&HubFile, Option<&HubFile>),
        folder: &Path,
    ) -> Self {
        let folder = folder
            .join(safe_name(repository.model.repo.owner()))
            .join(safe_name(repository.model.repo.name()));
        let parts = file
            .parts
            .iter()
            .chain(projector.into_iter().flat_map(|file| &file.parts));
        Self {
            id,
            created,
            hub,
            repo: repository.model.repo.to_string(),
            revision: repository.revision.clone(),
            licence: repository.model.licence.clone(),
            files: parts.map(|part| JobFile::new(part, repository)).collect(),
            model_files: file.parts.len(),
            folder: folder.to_string_lossy().into_owned(),
            makes_default: false,
            stop: JobStop::None,
        }
    }

    pub(crate) fn repo_id(&self) -> Option<RepoId> {
        RepoId::parse(&self.repo)
    }

    /// The path of the complete file.
    pub(crate) fn place(&self, file: &JobFile) -> PathBuf {
        Path::new(&self.folder).join(file.name())
    }

    /// The path of a file until it is complete.
    pub(crate) fn part(&self, file: &JobFile) -> PathBuf {
        Path::new(&self.folder).join(format!("{}.part", file.name()))
    }

    /// Name of the model file on this machine.
    pub(crate) fn name(&self) -> String {
        self.files.first().map(JobFile::name).unwrap_or_default()
    }

    /// Size of all files; `None` if one is unknown.
    pub(crate) fn total(&self) -> Option<u64> {
        self.files
            .iter()
            .try_fold(0u64, |sum, file| sum.checked_add(file.bytes?))
    }

    /// Bytes of `file` that are on this machine.
    pub(crate) fn here(&self, file: &JobFile) -> u64 {
        let length = |path: PathBuf| std::fs::metadata(path).map_or(0, |about| about.len());
        length(self.place(file)).max(length(self.part(file)))
    }

    /// Whether both load the same file.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let first = |job: &Self| job.files.first().map(|file| file.path.clone());
        (&self.hub, &self.repo, first(self)) == (&other.hub, &other.repo, first(other))
    }
}
