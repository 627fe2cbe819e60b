//! Files that read pictures for local models (mmproj): which one belongs to a model, and what a
//! picture costs.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use domain::ModelId;
use domain::model::LocalModel;
use local::gguf;
use store::{ProjectorChoice, TextHash};

use crate::api::{self, Changed};
use crate::base::error::{ApiResult, bad_input, internal};
use crate::settings::counting::count_cache::CachedCount;
use crate::settings::counting::token_counter;
use crate::settings::model_handles::handle::LocalSight;
use crate::settings::models::Models;

impl Models {
    /// The file that reads pictures for `model`; `None` if it reads none.
    pub(crate) async fn projector(&self, model: &LocalModel) -> ApiResult<Option<PathBuf>> {
        match self.projector_choice(model.id).await? {
            ProjectorChoice::None => Ok(None),
            ProjectorChoice::File(path) => Ok(Some(path.into())),
            ProjectorChoice::Automatic => {
                let config = self.clone();
                let path = model.path.clone();
                let found =
                    tokio::task::spawn_blocking(move || config.paired_projectors().of(&path)).await;
                found.map_err(|_| internal("the folder of a model could not be read"))
            }
        }
    }

    /// The projector that the model uses because it is in the model's folder.
    pub(crate) async fn projector_beside(&self, model: &LocalModel) -> ApiResult<Option<PathBuf>> {
        let automatic = self.projector_choice(model.id).await? == ProjectorChoice::Automatic;
        if automatic {
            self.projector(model).await
        } else {
            Ok(None)
        }
    }

    pub(crate) async fn reads_pictures(&self, model: &LocalModel) -> ApiResult<bool> {
        Ok(self.projector(model).await?.is_some())
    }

    async fn projector_choice(&self, model: ModelId) -> ApiResult<ProjectorChoice> {
        Ok(self
            .base()
            .store()
            .read(move |store| store.model_projectors().get(model))
            .await?)
    }

    /// The model's projector, and whether the user has chosen to have none.
    pub(crate) async fn shown_projector(
        &self,
        model: &LocalModel,
    ) -> ApiResult<(Option<api::ModelProjector>, bool)> {
        let choice = self.projector_choice(model.id).await?;
        let projector = self.projector(model).await?.map(|path| {
            let bytes = path.metadata().map(|about| about.len()).ok();
            api::ModelProjector {
                name: path
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned(),
                path: path.to_string_lossy().into_owned(),
                bytes: bytes.unwrap_or(0),
                missing: bytes.is_none(),
                automatic: choice == ProjectorChoice::Automatic,
            }
        });
        Ok((projector, choice == ProjectorChoice::None))
    }

    /// Lets a model read pictures with this file from now on. The file stays in its folder.
    ///
    /// # Errors
    /// `NotFound`; `BadInput` if the file reads no pictures for this model.
    pub(crate) async fn set_model_projector(
        &self,
        id: ModelId,
        path: PathBuf,
    ) -> ApiResult<api::ModelState> {
        let model = self.model_lookup.local_model(id).await?;
        let of = model.path.clone();
        let checked = tokio::task::spawn_blocking(move || check(&path, Path::new(&of))).await;
        let path = checked.map_err(|_| internal("a file for pictures could not be read"))??;
        self.choose_projector(&model, ProjectorChoice::File(path))
            .await
    }

    /// The model reads no pictures from now on.
    pub(crate) async fn remove_model_projector(&self, id: ModelId) -> ApiResult<api::ModelState> {
        let model = self.model_lookup.local_model(id).await?;
        self.choose_projector(&model, ProjectorChoice::None).await
    }

    /// The model reads pictures with the file in its folder from now on, if there is one.
    pub(crate) async fn pair_model_projector(&self, id: ModelId) -> ApiResult<api::ModelState> {
        let model = self.model_lookup.local_model(id).await?;
        self.choose_projector(&model, ProjectorChoice::Automatic)
            .await
    }

    /// A loaded model is not loaded again: the next prompt with a picture does it.
    async fn choose_projector(
        &self,
        model: &LocalModel,
        choice: ProjectorChoice,
    ) -> ApiResult<api::ModelState> {
        let id = model.id;
        self.base()
            .store()
            .write(move |store| store.model_projectors_mut().set(id, &choice))
            .await?;
        self.base()
            .events()
            .changed(Changed::Models, Some(id.to_string()));
        self.model_state(id).await
    }

    /// Known token counts of pictures, by their hashes.
    pub(crate) async fn known_picture_tokens(
        &self,
        sight: &LocalSight,
        pictures: Vec<String>,
    ) -> ApiResult<HashMap<String, u32>> {
        let tokenizer = &sight.model.sha256;
        let projector = sight.options.projector_identity();
        let of_cache = |hash| {
            self.token_counts
                .known_counts()
                .get(tokenizer, hash)
                .map(|known| known.count)
        };
        let mut counts = HashMap::new();
        let mut asked = HashMap::new();
        for picture in pictures {
            let hash = key(&picture, &projector);
            match of_cache(hash) {
                Some(count) => {
                    counts.insert(picture, count);
                }
                None => {
                    asked.insert(hash, picture);
                }
            }
        }
        if asked.is_empty() {
            return Ok(counts);
        }
        let of = token_counter::key(tokenizer);
        let hashes = asked.keys().copied().collect::<Vec<_>>();
        let stored = self
            .base()
            .store()
            .read(move |store| store.token_counts().get_many(&of, &hashes))
            .await?;
        let known = stored.iter().map(|(hash, count)| {
            (
                *hash,
                CachedCount {
                    count: *count,
                    stored: true,
                },
            )
        });
        self.token_counts.known_counts().keep(tokenizer, known);
        counts.extend(
            stored
                .into_iter()
                .filter_map(|(hash, count)| Some((asked.remove(&hash)?, count))),
        );
        Ok(counts)
    }

    /// Lets the model count pictures by their size, and stores the counts by their hashes.
    ///
    /// # Errors
    /// `Provider` if the model cannot be loaded with its projector.
    pub(crate) async fn count_pictures(
        &self,
        sight: &LocalSight,
        pictures: Vec<(String, (u32, u32))>,
    ) -> ApiResult<Vec<(String, u32)>> {
        if pictures.is_empty() {
            return Ok(Vec::new());
        }
        let LocalSight {
            model,
            context,
            options,
        } = sight;
        let sizes = pictures.iter().map(|(_, size)| *size).collect();
        let counted = self
            .local()
            .count_pictures(model, *context, options.clone(), sizes)
            .await?;
        let counts: Vec<(String, u32)> = pictures
            .into_iter()
            .map(|(hash, _)| hash)
            .zip(counted)
            .collect();
        let projector = options.projector_identity();
        let hashed: Vec<(TextHash, u32)> = counts
            .iter()
            .map(|(picture, count)| (key(picture, &projector), *count))
            .collect();
        let known = hashed.iter().map(|(hash, count)| {
            (
                *hash,
                CachedCount {
                    count: *count,
                    stored: true,
                },
            )
        });
        self.token_counts.known_counts().keep(&model.sha256, known);
        token_counter::store(&self.token_counts, &model.sha256, hashed);
        Ok(counts)
    }
}

/// Key of a picture's count. The picture is identified by the hash of its content.
fn key(picture: &str, projector: &str) -> TextHash {
    // Keys of texts begin with "c" or "p".
    TextHash::joined(["i", picture, "\n", projector])
}

/// Returns the absolute path of a projector that suits the model at `model`.
fn check(path: &Path, model: &Path) -> ApiResult<String> {
    let refused = |why: String| {
        let hint = "Choose the mmproj file that was made for this model.";
        bad_input(
            format!("The file cannot read pictures for this model: {why}."),
            hint,
        )
    };
    let projector = gguf::read_projector(path).map_err(|error| refused(error.to_string()))?;
    let header = gguf::read(model).map_err(|error| refused(error.to_string()))?;
    if !local::suits(&projector, &header) {
        let [made_for, has] =
            [projector.width, header.embedding_length].map(Option::unwrap_or_default);
        return Err(refused(format!(
            "it is for an embedding length of {made_for}, and the model has {has}"
        )));
    }
    let path = std::path::absolute(path).map_err(|error| refused(error.to_string()))?;
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| refused("its name is not Unicode".to_owned()))
}
