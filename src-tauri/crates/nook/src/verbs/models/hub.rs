//! `models search`, `files`, `fit`, `download` and other verbs that bring models from outside into
//! the library.

use std::path::PathBuf;

use engine::Engine;
use engine::api::{
    AddedModels, Download, DownloadState, Event, FitReport, GraphicsFit, HubFile, HubModel,
    HubRepository, HubSettings, OtherAppModels, SuggestedModel,
};
use serde_json::json;

use crate::failure::CommandError;
use crate::interrupts::Interrupts;
use crate::output::Output;
use crate::verbs::item_list::{ItemList, lines};
use crate::verbs::keys;
use crate::verbs::keys::secret;
use crate::verbs::models::{fetched, fit as fit_text, line, words};

pub(crate) async fn search(
    engine: &Engine,
    query: &str,
    page: Option<String>,
    out: &Output,
) -> Result<(), CommandError> {
    let found = engine.search_hub(query.to_owned(), page).await?;
    out.answer(&found, |found| {
        let next = found
            .next
            .as_ref()
            .map(|cursor| format!("more: --page {cursor}"));
        found
            .models
            .iter()
            .map(model_line)
            .chain(next)
            .collect::<Vec<_>>()
            .join("\n")
    })
}

fn model_line(model: &HubModel) -> String {
    let licence = model.licence.as_deref().unwrap_or("no licence stated");
    let gated = if model.gated {
        ", asks to accept its terms"
    } else {
        ""
    };
    format!(
        "{}  ({licence}{gated}, {} downloads)",
        model.repo, model.downloads
    )
}

pub(crate) async fn files(engine: &Engine, repo: String, out: &Output) -> Result<(), CommandError> {
    let repository = engine.hub_files(repo).await?;
    out.answer(&repository, |repository| {
        let recommended = |file: &HubFile| repository.recommended.as_ref() == Some(&file.path);
        let files = repository.files.iter().chain(&repository.projectors);
        let files = files.map(|file| file_line(file, recommended(file)));
        std::iter::once(model_line(&repository.model))
            .chain(files)
            .collect::<Vec<_>>()
            .join("\n")
    })
}

fn file_line(file: &HubFile, recommended: bool) -> String {
    let mark = if recommended { "*" } else { " " };
    let size = file
        .bytes
        .map_or_else(|| "unknown size".to_owned(), |bytes| fetched(bytes, None));
    let parts = if file.parts > 1 {
        format!(", {} parts", file.parts)
    } else {
        String::new()
    };
    let fits = file
        .fits
        .map_or_else(String::new, |fits| format!(", {}", fit_text(fits)));
    let hash = file
        .sha256
        .as_ref()
        .map_or_else(String::new, |hash| format!("  {hash}"));
    let installed = if file.installed {
        ", in the library"
    } else {
        ""
    };
    format!(
        "{mark} {}  ({size}{parts}{fits}{installed}){hash}",
        file.path
    )
}

pub(crate) async fn fit(
    engine: &Engine,
    repo: String,
    file: &str,
    context: Option<u32>,
    out: &Output,
) -> Result<(), CommandError> {
    let path = chosen(&engine.hub_files(repo.clone()).await?, Some(file))?;
    out.answer(&engine.hub_fit(repo, path, context).await?, fit_lines)
}

fn fit_lines(report: &FitReport) -> String {
    let size = |bytes| fetched(bytes, None);
    let available = report.available.map_or_else(|| "unknown".to_owned(), size);
    let largest = report
        .largest_context
        .map_or_else(|| "unknown".to_owned(), |tokens| format!("{tokens} tokens"));
    let graphics = report
        .graphics
        .as_ref()
        .map(graphics_line)
        .unwrap_or_default();
    let speed = report
        .words_per_minute
        .map(|speed| words(speed, false))
        .unwrap_or_default();
    format!(
        "{} with {} tokens of context{speed}\n  weights {}, KV cache {}, buffers {}: {} of {available} available\n  largest \
         context that fits: {largest} (trained for {}){graphics}",
        fit_text(report.fits),
        report.context,
        size(report.weights),
        size(report.cache),
        size(report.working),
        size(report.needed),
        report.trained_context,
    )
}

fn graphics_line(fit: &GraphicsFit) -> String {
    let experts = match fit.processor_experts {
        0 => String::new(),
        layers => format!(", the experts of {layers} on the processor"),
    };
    format!(
        "\n  {}: about {} of {} layers{experts}",
        fit.devices.join(", "),
        fit.layers,
        fit.of
    )
}

/// The path of a file, which may be given by its quantisation or its name.
fn chosen(repository: &HubRepository, file: Option<&str>) -> Result<String, CommandError> {
    let Some(wanted) = file else {
        return repository.recommended.clone().ok_or_else(|| {
            CommandError::not_found(
                "no file of this model is known to fit this machine; choose one with `models files`",
            )
        });
    };
    let is_wanted = |file: &&HubFile| {
        let is_name = file
            .path
            .rsplit('/')
            .next()
            .is_some_and(|name| name.eq_ignore_ascii_case(wanted));
        file.path == wanted
            || is_name
            || file
                .quantisation
                .as_deref()
                .is_some_and(|one| one.eq_ignore_ascii_case(wanted))
    };
    let file = repository.files.iter().find(is_wanted);
    file.map(|file| file.path.clone()).ok_or_else(|| {
        CommandError::not_found(format!(
            "{} has no file {wanted}; see `models files`",
            repository.model.repo
        ))
    })
}

/// Whether to load the file for pictures, and to use the model by default.
pub(crate) struct DownloadOptions {
    pub(crate) pictures: bool,
    pub(crate) default: bool,
}

pub(crate) async fn download(
    engine: &Engine,
    repo: String,
    file: Option<String>,
    options: DownloadOptions,
    out: &Output,
) -> Result<(), CommandError> {
    let mut events = engine.subscribe();
    let mut interrupts = Interrupts::listen()?;
    let suggested = !repo.contains('/') && file.is_none();
    let started = if suggested {
        engine.download_suggestion(repo).await?
    } else {
        start(engine, repo, file.as_deref(), options).await?
    };
    loop {
        let event = tokio::select! {
            event = events.next() => event,
            _ = interrupts.next() => return Err(CommandError::because("interrupted", "the download is interrupted; the same command continues it")),
        };
        match event {
            Some(Event::Downloading { download }) if download.id == started.id => {
                if download.state == DownloadState::Failed {
                    return Err(CommandError::because(
                        "provider",
                        format!("{} {}", download.reason, download.hint),
                    ));
                }
                out.progress(&progress(&download));
            }
            Some(Event::DownloadEnded {
                id,
                model: Some(model),
                ..
            }) if id == started.id => {
                let all = engine.list_models().await?;
                let added = all.into_iter().find(|one| one.id.to_string() == model);
                let added = added
                    .ok_or_else(|| CommandError::not_found("the model was removed meanwhile"))?;
                return out.answer(&added, line);
            }
            Some(_) => {}
            None => return Err(CommandError::because("internal", "the engine has ended")),
        }
    }
}

async fn start(
    engine: &Engine,
    repo: String,
    file: Option<&str>,
    options: DownloadOptions,
) -> Result<Download, CommandError> {
    let repository = engine.hub_files(repo.clone()).await?;
    let path = chosen(&repository, file)?;
    let projector = repository
        .projectors
        .first()
        .filter(|_| options.pictures)
        .map(|file| file.path.clone());
    Ok(engine
        .start_download(repo, path, projector, options.default)
        .await?)
}

fn progress(download: &Download) -> String {
    let speed = download.speed.map_or_else(String::new, |speed| {
        format!(", {:.1} MB/s", speed as f64 / 1e6)
    });
    let left = download
        .seconds_left
        .map_or_else(String::new, |seconds| format!(", {seconds} s left"));
    match download.state {
        DownloadState::Checking => "checking the file".to_owned(),
        DownloadState::Waiting => {
            format!(
                "{} Next try in {} s",
                download.reason,
                download.retry_in.unwrap_or_default()
            )
        }
        _ => format!("{}{speed}{left}", fetched(download.done, download.total)),
    }
}

pub(crate) async fn downloads(
    engine: &Engine,
    cancel: Option<String>,
    out: &Output,
) -> Result<(), CommandError> {
    if let Some(id) = cancel {
        engine.cancel_download(id.clone()).await?;
        return out.answer(&json!({ "cancelled": id }), |_| {
            "cancelled; its files are deleted".to_owned()
        });
    }
    lines(
        ItemList {
            items: engine.list_downloads().await?,
        },
        out,
        |download: &Download| {
            let why = if download.reason.is_empty() {
                String::new()
            } else {
                format!(": {}", download.reason)
            };
            format!(
                "{}  {} {}{why}",
                download.id,
                download.repo,
                progress(download)
            )
        },
    )
}

pub(crate) async fn suggest(engine: &Engine, out: &Output) -> Result<(), CommandError> {
    lines(
        ItemList {
            items: engine.suggested_models().await?,
        },
        out,
        |model: &SuggestedModel| {
            let mark = if model.best { "*" } else { " " };
            let size = fetched(model.bytes, None);
            let installed = if model.installed { ", installed" } else { "" };
            let fits = fit_text(model.fits);
            let speed = model
                .words_per_minute
                .map(|speed| words(speed, model.speed_is_measured))
                .unwrap_or_default();
            format!(
                "{mark} {}  {} (about {size}{speed}, {fits}, {}{installed})",
                model.id, model.name, model.licence
            )
        },
    )
}

pub(crate) async fn folders(
    engine: &Engine,
    add: Option<PathBuf>,
    forget: Option<String>,
    out: &Output,
) -> Result<(), CommandError> {
    match (add, forget) {
        (Some(folder), _) => out.answer(&engine.add_model_folder(folder).await?, added_lines),
        (None, Some(folder)) => {
            out.answer(&engine.forget_model_folder(folder).await?, settings_lines)
        }
        (None, None) => out.answer(&engine.hub_settings().await?, settings_lines),
    }
}

fn added_lines(models: &AddedModels) -> String {
    let added = models.added.iter().map(|name| format!("added {name}"));
    let refused = models
        .refused
        .iter()
        .map(|reason| format!("skipped: {reason}"));
    let all = added.chain(refused).collect::<Vec<_>>();
    if all.is_empty() {
        "no new model files".to_owned()
    } else {
        all.join("\n")
    }
}

pub(crate) async fn apps(
    engine: &Engine,
    app: Option<String>,
    out: &Output,
) -> Result<(), CommandError> {
    match app {
        Some(app) => out.answer(&engine.add_other_models(app).await?, added_lines),
        None => lines(
            ItemList {
                items: engine.find_other_models().await?,
            },
            out,
            |app: &OtherAppModels| {
                format!("{}  {} ({})", app.app, app.folder, app.models.join(", "))
            },
        ),
    }
}

pub(crate) async fn settings(
    engine: &Engine,
    address: Option<String>,
    token_from: Option<PathBuf>,
    out: &Output,
) -> Result<(), CommandError> {
    if let Some(address) = address {
        engine.set_hub_address(address).await?;
    }
    if let Some(file) = token_from {
        let token = secret(&file)?;
        let stored = engine.set_hub_token(token).await?;
        if stored.has_token && stored.token_is_for_session {
            out.warn(keys::TOKEN_IS_LOST);
        } else if stored.has_token && stored.address_is_fixed {
            out.warn(keys::TOKEN_IS_NOT_SENT);
        }
    }
    out.answer(&engine.hub_settings().await?, settings_lines)
}

fn settings_lines(settings: &HubSettings) -> String {
    let token = match (settings.has_token, settings.token_is_for_session) {
        (true, false) => "an access token is stored",
        (true, true) => "an access token for this command",
        (false, _) => "no access token",
    };
    let folders = settings
        .folders
        .iter()
        .map(|folder| format!("\n  models in {folder}"))
        .collect::<String>();
    format!(
        "hub {} ({token})\n  downloads to {}{folders}",
        settings.address, settings.download_folder
    )
}
