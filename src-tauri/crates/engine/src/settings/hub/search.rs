//! Search of the hub, the files of a model, and whether a file fits before it is downloaded.

use std::collections::HashSet;
use std::sync::Arc;

use local::{GgufHeader, gguf};
use provider::hub::names::{FilePurpose, RepoAddress, RepoId, bits_per_weight};
use provider::hub::{HubClient, HubFile, HubModel, Repository};

use crate::api::{self, ApiError, Fits};
use crate::base::error::{ApiResult, bad_input, not_found};
use crate::settings::hub::{Hub, fit_report};

/// Bytes to read of a file until its header is complete. The largest vocabularies make a header of
/// about 20 MB.
const STARTS: [usize; 4] = [1 << 20, 6 << 20, 16 << 20, 40 << 20];

/// Small models lose much by strong quantisation, and cost little without it.
const SMALL: u64 = 1 << 30;

impl Hub {
    /// Searches the hub for models with GGUF files. `page` is the cursor of a further page.
    ///
    /// # Errors
    /// `BadInput` for a search without words; `Provider` if the hub does not answer.
    pub(crate) async fn search_hub(
        &self,
        query: String,
        page: Option<String>,
    ) -> ApiResult<api::HubSearch> {
        if query.trim().is_empty() {
            return Err(bad_input(
                "The search has no words.",
                "Enter a name, such as Qwen or Mistral.",
            ));
        }
        let hub = self.hub().await?;
        // The address of a model's page, or its full name, finds exactly that model.
        if page.is_none()
            && let Some(repo) = RepoId::parse(&query)
            && let Ok(found) = hub.repository(&repo).await
        {
            let model = shown_model(&hub, &self.known_repos().put(found).model);
            return Ok(api::HubSearch {
                models: vec![model],
                next: None,
            });
        }
        let found = hub.search(&query, page.as_deref()).await?;
        Ok(api::HubSearch {
            models: found
                .models
                .iter()
                .map(|model| shown_model(&hub, model))
                .collect(),
            next: found.next,
        })
    }

    /// The model files of a repository. A file or a quantisation in its address is the recommended
    /// one.
    ///
    /// # Errors
    /// `BadInput` if `repo` is not a name; `Provider` if the hub does not answer.
    pub(crate) async fn hub_files(&self, repo: String) -> ApiResult<api::HubRepository> {
        let hub = self.hub().await?;
        let address = repo_address(&repo)?;
        let repository = self.known_repos().put(hub.repository(&address.repo).await?);
        let models = self
            .base()
            .store()
            .read(|store| store.models().list())
            .await?;
        let installed = models
            .into_iter()
            .map(|model| model.sha256.to_ascii_lowercase())
            .collect();
        let mut shown = shown_repository(&hub, &repository, &installed, self.model_memory().await);
        if let Some(named) = &address.file {
            let file = shown.files.iter().find(|file| address.names(&file.path));
            let file =
                file.ok_or_else(|| no_such_file(&address.repo.to_string(), named, &repository))?;
            shown.recommended = Some(file.path.clone());
        }
        Ok(shown)
    }

    /// Reads the header of a file on the hub, and reports the memory that it needs. `context` in
    /// tokens; without one, the default.
    ///
    /// # Errors
    /// `NotFound` if the repository has no such file; `BadInput` if the file is not a chat model;
    /// `Provider` if the hub does not answer.
    pub(crate) async fn hub_fit(
        &self,
        repo: String,
        path: String,
        context: Option<u32>,
    ) -> ApiResult<api::FitReport> {
        let (hub, repository) = self.repository(&repo).await?;
        let file = file(&repository, &path)?;
        let header = self.remote_header(&hub, &repository, file).await?;
        let speeds = self.model_speeds().known().await?;
        Ok(fit_report::report(
            &header,
            file.bytes().unwrap_or(0),
            context,
            &speeds,
        ))
    }

    /// The repository as it was listed last, or loaded now.
    pub(crate) async fn repository(&self, repo: &str) -> ApiResult<(HubClient, Arc<Repository>)> {
        let hub = self.hub().await?;
        let repo = repo_id(repo)?;
        let repository = match self.known_repos().get(&repo) {
            Some(known) => known,
            None => self.known_repos().put(hub.repository(&repo).await?),
        };
        Ok((hub, repository))
    }

    async fn remote_header(
        &self,
        hub: &HubClient,
        repository: &Repository,
        file: &HubFile,
    ) -> ApiResult<Arc<GgufHeader>> {
        let repo = &repository.model.repo;
        if let Some(known) = self.known_repos().header(repo, file.path()) {
            return Ok(known);
        }
        let unusable = |why: String| {
            bad_input(
                format!("This file {why}."),
                "Choose another file or another model.",
            )
        };
        let listed = file.parts.first().and_then(|part| part.bytes);
        for length in STARTS {
            let start = hub
                .start_of(repo, &repository.revision, file.path(), length)
                .await?;
            // A total that the hub does not state cannot prove that the file is cut.
            let total = start.total.or(listed).unwrap_or(i64::MAX as u64);
            match gguf::parse_start(&start.bytes, total)
                .map_err(|fault| unusable(fault.to_string()))?
            {
                Some(header) if header.embeds => {
                    return Err(unusable("is an embedding model, which cannot chat".into()));
                }
                Some(header) => {
                    return Ok(self.known_repos().put_header(repo, file.path(), header));
                }
                None if start.bytes.len() < length => {
                    return Err(unusable("ends inside its header".into()));
                }
                None => {}
            }
        }
        Err(unusable(
            "has a header that is too large to read before the download".into(),
        ))
    }
}

fn repo_id(text: &str) -> ApiResult<RepoId> {
    repo_address(text).map(|address| address.repo)
}

fn repo_address(text: &str) -> ApiResult<RepoAddress> {
    RepoAddress::parse(text).ok_or_else(|| {
        bad_input(
            "This is not the name of a model on the hub.",
            "Write it as OWNER/NAME.",
        )
    })
}

/// Model files that an error lists.
const LISTED_FILES: usize = 12;

/// Says that a model lacks a file, and lists its files.
pub(crate) fn no_such_file(model: &str, wanted: &str, repository: &Repository) -> ApiError {
    let files = repository
        .files
        .iter()
        .filter(|file| file.purpose == FilePurpose::Model);
    let name = |file: &HubFile| {
        file.quantisation
            .map_or_else(|| file.path().to_owned(), str::to_owned)
    };
    let names: Vec<String> = files.map(name).collect();
    let more = if names.len() > LISTED_FILES {
        ", and more"
    } else {
        ""
    };
    let listed = names
        .iter()
        .take(LISTED_FILES)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    bad_input(
        format!("{model} has no file {wanted} on the hub. It has: {listed}{more}."),
        format!(
            "Choose one of its files: search for {}.",
            repository.model.repo
        ),
    )
}

/// # Errors
/// `NotFound`.
pub(crate) fn file<'r>(repository: &'r Repository, path: &str) -> ApiResult<&'r HubFile> {
    repository
        .files
        .iter()
        .find(|file| file.path() == path)
        .ok_or_else(|| not_found("file"))
}

fn shown_model(hub: &HubClient, model: &HubModel) -> api::HubModel {
    api::HubModel {
        repo: model.repo.to_string(),
        downloads: model.downloads,
        likes: model.likes,
        gated: model.gated,
        licence: model.licence.clone(),
        languages: model.languages.clone(),
        updated: model.updated.clone(),
        page: hub.page(&model.repo),
    }
}

fn shown_repository(
    hub: &HubClient,
    repository: &Repository,
    installed: &HashSet<String>,
    available: Option<u64>,
) -> api::HubRepository {
    let shown = |file: &HubFile| api::HubFile {
        path: file.path().to_owned(),
        parts: file.parts.len() as u32,
        bytes: file.bytes(),
        sha256: file.parts.first().and_then(|part| part.sha256.clone()),
        quantisation: file.quantisation.map(str::to_owned),
        fits: file
            .bytes()
            .map(|bytes| fit_report::guessed(bytes, available)),
        installed: file.parts.len() == 1
            && file.parts[0]
                .sha256
                .as_ref()
                .is_some_and(|hash| installed.contains(hash)),
    };
    let of = |purpose| {
        repository
            .files
            .iter()
            .filter(move |file| file.purpose == purpose)
            .map(shown)
            .collect()
    };
    api::HubRepository {
        model: shown_model(hub, &repository.model),
        files: of(FilePurpose::Model),
        projectors: of(FilePurpose::Projector),
        recommended: recommended(repository, available).map(|file| file.path().to_owned()),
    }
}

/// The file that suits this machine best: with about 4.9 bits per weight, or fewer if that does not
/// fit. A small model with 8.5 bits.
pub(crate) fn recommended(repository: &Repository, available: Option<u64>) -> Option<&HubFile> {
    let usable = |file: &&HubFile| {
        let fits = file
            .bytes()
            .map(|bytes| fit_report::guessed(bytes, available))
            == Some(Fits::Yes);
        file.purpose == FilePurpose::Model && fits
    };
    let bits = |file: &HubFile| {
        file.quantisation
            .and_then(bits_per_weight)
            .filter(|bits| *bits >= 3.0)
    };
    let is_small = |file: &HubFile| {
        file.quantisation == Some("Q8_0") && file.bytes().is_some_and(|bytes| bytes <= SMALL)
    };
    let wanted = if repository.files.iter().any(is_small) {
        8.5
    } else {
        4.9
    };
    let ranked = repository
        .files
        .iter()
        .filter(usable)
        .filter_map(|file| Some(((bits(file)? - wanted).abs(), file)));
    ranked
        .min_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, file)| file)
}
