//! `models`: the library of model files.

mod hub;
mod load;
mod moves;

use std::path::PathBuf;

use engine::Engine;
use engine::api::{Fits, Model, ModelRef, ModelSpeed, SettingsChange};
use serde::Serialize;

use crate::cli::{ModelVerb, SettingsOwnerArgs};
use crate::failure::CommandError;
use crate::find;
use crate::output::Output;
use crate::verbs::item_list::{ItemList, lines};
use crate::verbs::keys::secret;
use crate::verbs::settings;

pub(crate) async fn models(
    engine: &Engine,
    verb: ModelVerb,
    out: &Output,
) -> Result<(), CommandError> {
    match verb {
        ModelVerb::List => list(engine, out).await,
        ModelVerb::Add { file } => out.answer(&engine.add_model(file).await?, line),
        ModelVerb::Get { url, sha256 } => get(engine, &url, sha256.as_deref(), out).await,
        ModelVerb::Remove { name } => remove(engine, &name, out).await,
        ModelVerb::Default { name } => make_default(engine, &name, out).await,
        ModelVerb::Search { query, page } => hub::search(engine, &query.join(" "), page, out).await,
        ModelVerb::Files { repo } => hub::files(engine, repo, out).await,
        ModelVerb::Fit {
            repo,
            file,
            context,
        } => hub::fit(engine, repo, &file, context, out).await,
        ModelVerb::Download {
            repo,
            file,
            pictures,
            default,
            token_from,
        } => {
            if let Some(file) = token_from {
                engine.give_hub_token(&secret(&file)?)?;
            }
            let options = hub::DownloadOptions { pictures, default };
            hub::download(engine, repo, file, options, out).await
        }
        ModelVerb::Downloads { cancel } => hub::downloads(engine, cancel, out).await,
        ModelVerb::Suggest => hub::suggest(engine, out).await,
        ModelVerb::Folders { add, forget } => hub::folders(engine, add, forget, out).await,
        ModelVerb::Apps { app } => hub::apps(engine, app, out).await,
        ModelVerb::Hub {
            address,
            token_from,
        } => hub::settings(engine, address, token_from, out).await,
        ModelVerb::Check => check(engine, out).await,
        ModelVerb::Devices => load::devices(engine, out).await,
        ModelVerb::Load { name } => load::load(engine, &name, out).await,
        ModelVerb::Set {
            name, key, value, ..
        } => set(engine, name, key, value, out).await,
        ModelVerb::Adapter {
            name,
            file,
            weight,
            remove,
        } => {
            let change = load::AdapterChange {
                file,
                weight,
                remove,
            };
            load::adapter(engine, &name, change, out).await
        }
        ModelVerb::Pictures {
            name,
            file,
            none,
            auto,
        } => {
            let change = load::ProjectorChange { file, none, auto };
            load::pictures(engine, &name, change, out).await
        }
        ModelVerb::Move { name, all_from, to } => {
            moves::move_models(engine, name, all_from, to, out).await
        }
        ModelVerb::Moves { cancel } => moves::moves(engine, cancel, out).await,
        ModelVerb::Embedding { file, bundled } => load::embedding(engine, file, bundled, out).await,
        ModelVerb::Speed { name } => load::speed(engine, &name, out).await,
        ModelVerb::Tokenizer { endpoint, file, .. } => {
            tokenizer(engine, &endpoint, file, out).await
        }
    }
}

async fn set(
    engine: &Engine,
    name: String,
    key: String,
    value: Option<String>,
    out: &Output,
) -> Result<(), CommandError> {
    let whose = SettingsOwnerArgs {
        model: Some(name),
        ..SettingsOwnerArgs::default()
    };
    settings::set(engine, whose, key, value, out).await
}

async fn get(
    engine: &Engine,
    url: &str,
    sha256: Option<&str>,
    out: &Output,
) -> Result<(), CommandError> {
    let report = |here: u64, all: Option<u64>| out.progress(&fetched(here, all));
    out.answer(&engine.get_model(url, sha256, report).await?, line)
}

async fn remove(engine: &Engine, name: &str, out: &Output) -> Result<(), CommandError> {
    let model = find::model(engine, name).await?;
    engine.remove_model(model.id).await?;
    out.answer(&model, |model| {
        format!(
            "removed {} from the library; the file {} is kept",
            model.name, model.path
        )
    })
}

/// Sets the tokenizer of an endpoint; without a file, removes it.
async fn tokenizer(
    engine: &Engine,
    endpoint: &str,
    file: Option<PathBuf>,
    out: &Output,
) -> Result<(), CommandError> {
    let id = find::endpoint(engine, endpoint).await?.id;
    let endpoint = match file {
        Some(file) => engine.set_endpoint_tokenizer_file(id, file).await?,
        None => engine.remove_endpoint_tokenizer(id).await?,
    };
    out.answer(&endpoint, |endpoint| {
        format!(
            "tokens of {} are counted with {}",
            endpoint.name, endpoint.counted_with
        )
    })
}

/// A model with its speed on this machine; `null` if it is not known.
#[derive(Serialize)]
struct ModelLine {
    #[serde(flatten)]
    model: Model,
    speed: Option<ModelSpeed>,
}

pub(crate) async fn list(engine: &Engine, out: &Output) -> Result<(), CommandError> {
    let mut speeds = engine.model_speeds().await?;
    let listed = engine.list_models().await?.into_iter().map(|model| {
        let known = speeds.iter().position(|speed| speed.model == model.id);
        let speed = known.map(|at| speeds.swap_remove(at));
        ModelLine { model, speed }
    });
    let items = listed.collect();
    lines(ItemList { items }, out, |listed: &ModelLine| {
        let speed = listed.speed.as_ref();
        let words = speed.map(|speed| words(speed.words_per_minute, speed.is_measured));
        line_with(&listed.model, &words.unwrap_or_default())
    })
}

/// The speed as the end of a list of facts.
pub(crate) fn words(words_per_minute: u32, is_measured: bool) -> String {
    let measured = if is_measured { " (measured)" } else { "" };
    format!(", about {words_per_minute} words a minute{measured}")
}

pub(crate) fn line(model: &Model) -> String {
    line_with(model, "")
}

fn line_with(model: &Model, speed: &str) -> String {
    let mark = if model.default { "*" } else { " " };
    let fits = fit(model.fits);
    let missing = if model.missing { ", file missing" } else { "" };
    let mebibytes = model.bytes / (1024 * 1024);
    let note = model
        .note
        .as_ref()
        .map_or_else(String::new, |note| format!("\n    {note}"));
    format!(
        "{mark} {}  {} ({}, {mebibytes} MiB, {fits}{speed}{missing}){note}",
        model.id, model.name, model.architecture
    )
}

pub(crate) fn fit(fits: Fits) -> &'static str {
    match fits {
        Fits::Yes => "fits",
        Fits::Tight => "fits tightly",
        Fits::No => "does not fit",
    }
}

pub(crate) fn fetched(here: u64, all: Option<u64>) -> String {
    let mebibytes = |bytes: u64| bytes / (1024 * 1024);
    match all {
        Some(all) => format!("{} of {} MiB", mebibytes(here), mebibytes(all)),
        None => format!("{} MiB", mebibytes(here)),
    }
}

pub(crate) fn whole(model: &Model) -> String {
    format!(
        "{}\n  file     {}\n  sha256   {}\n  context  {} tokens",
        line(model),
        model.path,
        model.sha256,
        model.context
    )
}

async fn make_default(engine: &Engine, name: &str, out: &Output) -> Result<(), CommandError> {
    let model = find::model(engine, name).await?;
    let default_model = Some(ModelRef::Local { id: model.id });
    engine
        .update_settings(SettingsChange {
            default_model,
            ..SettingsChange::default()
        })
        .await?;
    let model = find::model(engine, &model.id.to_string()).await?;
    out.answer(&model, |model| format!("{} is now the default", model.name))
}

#[derive(Serialize)]
struct CheckedModel {
    #[serde(flatten)]
    model: Model,
    ok: bool,
    /// Empty if the model is intact.
    reason: String,
}

async fn check(engine: &Engine, out: &Output) -> Result<(), CommandError> {
    let mut items = Vec::new();
    for model in engine.list_models().await? {
        out.progress(&format!("reading {}", model.name));
        let fault = fault(engine, &model).await;
        items.push(CheckedModel {
            model,
            ok: fault.is_none(),
            reason: fault.unwrap_or_default(),
        });
    }
    let bad = items.iter().filter(|one| !one.ok).count();
    lines(ItemList { items }, out, |one| {
        if one.ok {
            format!("ok  {}", one.model.name)
        } else {
            format!("NO  {}: {}", one.model.name, one.reason)
        }
    })?;
    if bad == 0 {
        Ok(())
    } else {
        Err(CommandError::reported(
            "unhealthy",
            format!("{bad} of the models cannot be used"),
        ))
    }
}

async fn fault(engine: &Engine, model: &Model) -> Option<String> {
    if model.missing {
        return Some(format!(
            "{} is missing; put it back, or add it from its new place",
            model.path
        ));
    }
    let found = match engine.model_checksum(PathBuf::from(&model.path)).await {
        Ok(found) => found,
        Err(error) => return Some(error.to_string()),
    };
    if found != model.sha256.to_lowercase() {
        return Some(format!(
            "{} has changed since it was added; download it again, or add it again",
            model.path
        ));
    }
    (model.fits == Fits::No)
        .then(|| "it needs more memory than this machine has; choose a smaller model".to_owned())
}
