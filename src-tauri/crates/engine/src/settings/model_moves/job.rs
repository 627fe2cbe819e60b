//! A move as it is stored, so that it survives the end of the app.

use std::fs;
use std::path::{Component, Path, PathBuf};

use domain::ModelId;
use domain::model::LocalModel;
use local::gguf;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::api::{self, ApiError, MoveState};
use crate::base::error::{ApiResult, bad_input};
use crate::settings::hub::hub_settings::text_of;

/// One file of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MovedFile {
    pub(crate) from: PathBuf,
    pub(crate) to: PathBuf,
    pub(crate) bytes: u64,
}

impl MovedFile {
    /// The copy until it is complete.
    pub(crate) fn partial(&self) -> PathBuf {
        let mut name = self.to.file_name().unwrap_or_default().to_owned();
        name.push(".moving");
        self.to.with_file_name(name)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MoveJob {
    model: Uuid,
    pub(crate) name: String,
    /// The model folder that the files go to.
    pub(crate) folder: PathBuf,
    /// The file of the model, or its parts in order.
    pub(crate) files: Vec<MovedFile>,
    /// SHA-256 of all files, as the library has it.
    pub(crate) sha256: String,
}

impl MoveJob {
    /// Plans the move of `model` into `target`. Below `roots`, the model folders, it keeps its
    /// subfolders.
    ///
    /// # Errors
    /// `BadInput` if a file is missing, already there, or would replace another one.
    pub(crate) fn plan(model: &LocalModel, roots: &[PathBuf], target: &Path) -> ApiResult<Self> {
        let path = Path::new(&model.path);
        let inside = roots
            .iter()
            .filter_map(|root| path.strip_prefix(root).ok())
            .min_by_key(|rest| rest.as_os_str().len());
        let place = inside
            .filter(|rest| is_plain(rest))
            .map_or_else(|| file_name(path), Path::to_owned);
        let to = target.join(place);
        let mut files = Vec::new();
        for part in gguf::parts_of(path) {
            let bytes = fs::metadata(&part)
                .map_err(|source| unreadable(&part, &source))?
                .len();
            let to = to.with_file_name(part.file_name().unwrap_or_default());
            refuse_occupied(&part, &to)?;
            files.push(MovedFile {
                from: part,
                to,
                bytes,
            });
        }
        text_of(&to)?;
        let name = model.name.clone();
        let sha256 = model.sha256.clone();
        Ok(Self {
            model: model.id.0,
            name,
            folder: target.to_owned(),
            files,
            sha256,
        })
    }

    pub(crate) fn model(&self) -> ModelId {
        ModelId(self.model)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// The old and the new path of the file that the library names.
    pub(crate) fn paths(&self) -> Option<(&Path, &Path)> {
        self.files
            .first()
            .map(|file| (file.from.as_path(), file.to.as_path()))
    }

    /// Number of subfolders between the model folder and the file.
    pub(crate) fn depth(&self) -> usize {
        let below = self
            .paths()
            .and_then(|(_, to)| to.strip_prefix(&self.folder).ok());
        below.map_or(0, |rest| rest.components().count().saturating_sub(1))
    }

    pub(crate) fn shown(&self, state: MoveState) -> api::ModelMove {
        api::ModelMove {
            model: self.model(),
            name: self.name.clone(),
            folder: self.folder.display().to_string(),
            state,
            done: 0,
            total: self.bytes(),
            reason: String::new(),
            hint: String::new(),
        }
    }
}

fn file_name(path: &Path) -> PathBuf {
    PathBuf::from(path.file_name().unwrap_or_default())
}

fn is_plain(path: &Path) -> bool {
    path.components()
        .all(|component| matches!(component, Component::Normal(_)))
}

fn refuse_occupied(from: &Path, to: &Path) -> ApiResult<()> {
    if fs::symlink_metadata(to).is_err() {
        return Ok(());
    }
    let is_same =
        matches!((from.canonicalize(), to.canonicalize()), (Ok(from), Ok(to)) if from == to);
    let message = if is_same {
        format!("{} is already in that folder.", from.display())
    } else {
        format!("{} already exists.", to.display())
    };
    let hint = if is_same {
        "Choose another folder."
    } else {
        "Move or delete that file, then try again."
    };
    Err(bad_input(message, hint))
}

fn unreadable(path: &Path, source: &std::io::Error) -> ApiError {
    let message = format!("{} cannot be read: {source}.", path.display());
    bad_input(
        message,
        "Connect the disk of this model, or remove the model and add it from its new place.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(path: &Path) -> LocalModel {
        LocalModel {
            id: ModelId(Uuid::nil()),
            name: "Tiny".into(),
            path: path.display().to_string(),
            bytes: 4,
            sha256: "ab".into(),
            architecture: "llama".into(),
            context: 64,
        }
    }

    fn put(path: &Path) -> &Path {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "GGUF").unwrap();
        path
    }

    #[test]
    fn a_split_model_keeps_its_subfolders() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("here");
        let target = dir.path().join("there");
        let first = root.join("Qwen/Big/m-00001-of-00002.gguf");
        put(&first);
        put(&root.join("Qwen/Big/m-00002-of-00002.gguf"));
        let job = MoveJob::plan(&model(&first), &[dir.path().to_owned(), root], &target).unwrap();
        let to: Vec<_> = job.files.iter().map(|file| file.to.clone()).collect();
        let there = target.join("Qwen/Big");
        assert_eq!(
            to,
            [
                there.join("m-00001-of-00002.gguf"),
                there.join("m-00002-of-00002.gguf")
            ]
        );
        assert_eq!((job.bytes(), job.depth()), (8, 2));
    }

    #[test]
    fn an_occupied_place_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let from = dir.path().join("a/m.gguf");
        let target = dir.path().join("b");
        put(&from);
        put(&target.join("m.gguf"));
        let refused = |target: &Path| {
            MoveJob::plan(&model(&from), &[], target)
                .unwrap_err()
                .to_string()
        };
        assert!(
            refused(&target).contains("already exists"),
            "{}",
            refused(&target)
        );
        let own = from.parent().unwrap();
        assert!(
            refused(own).contains("already in that folder"),
            "{}",
            refused(own)
        );
        fs::remove_file(&from).unwrap();
        assert!(refused(&dir.path().join("c")).contains("cannot be read"));
    }

    #[test]
    fn a_model_of_no_folder_goes_to_the_top() {
        let dir = tempfile::tempdir().unwrap();
        let from = dir.path().join("elsewhere/deep/m.gguf");
        put(&from);
        let job = MoveJob::plan(
            &model(&from),
            &[dir.path().join("models")],
            &dir.path().join("b"),
        )
        .unwrap();
        assert_eq!(job.files[0].to, dir.path().join("b/m.gguf"));
        assert_eq!(job.depth(), 0);
    }
}
