//! `models devices`, `load`, `adapter`, `pictures`, `embedding` and `speed`: how models are loaded.

use std::path::PathBuf;

use engine::Engine;
use engine::api::{
    ComputeDevice, ComputeDeviceKind, LoadNote, ModelActivity, ModelMemory, ModelState, SpeedTest,
};

use crate::failure::CommandError;
use crate::find;
use crate::output::Output;
use crate::verbs::item_list::{ItemList, lines};

/// Lists the devices. A failed driver is an error, although models still run on the processor.
pub(crate) async fn devices(engine: &Engine, out: &Output) -> Result<(), CommandError> {
    let listed = engine.list_devices().await?;
    if let Some(reason) = listed.failure {
        return Err(CommandError::reported(
            "unhealthy",
            format!("{reason}; the processor computes alone"),
        ));
    }
    lines(
        ItemList {
            items: listed.devices,
        },
        out,
        device,
    )
}

fn device(device: &ComputeDevice) -> String {
    let kind = match device.kind {
        ComputeDeviceKind::Processor => "processor",
        ComputeDeviceKind::Discrete => "graphics card",
        ComputeDeviceKind::Integrated => "integrated graphics",
        ComputeDeviceKind::Accelerator => "accelerator",
    };
    let ComputeDevice {
        name,
        description,
        backend,
        free,
        total,
        ..
    } = device;
    format!(
        "{name}  {description} ({backend}, {kind}, {} of {} MiB free)",
        mebibytes(*free),
        mebibytes(*total)
    )
}

pub(crate) async fn load(engine: &Engine, name: &str, out: &Output) -> Result<(), CommandError> {
    let model = find::model(engine, name).await?;
    out.progress(&format!("loading {}", model.name));
    out.answer(&engine.load_model(model.id).await?, |state| {
        format!("{}: {}", model.name, placement(state))
    })
}

/// The adapter to add, change or remove; without a file, the adapters are shown.
pub(crate) struct AdapterChange {
    pub(crate) file: Option<PathBuf>,
    pub(crate) weight: Option<f32>,
    pub(crate) remove: bool,
}

/// Adds an adapter to a model, changes its weight, or removes it.
pub(crate) async fn adapter(
    engine: &Engine,
    name: &str,
    change: AdapterChange,
    out: &Output,
) -> Result<(), CommandError> {
    let AdapterChange {
        file,
        weight,
        remove,
    } = change;
    let model = find::model(engine, name).await?;
    let states = engine.model_states().await?;
    let state = states.into_iter().find(|state| state.id == model.id);
    let state = state.ok_or_else(|| CommandError::not_found("the model was removed meanwhile"))?;
    let Some(file) = file else {
        return out.answer(&state, |state| adapters(&model.name, state));
    };
    let path = std::path::absolute(&file)
        .unwrap_or(file)
        .display()
        .to_string();
    let is_known = state.adapters.iter().any(|adapter| adapter.path == path);
    let mut state = match (remove, is_known) {
        (true, _) => engine.remove_model_adapter(model.id, path.clone()).await?,
        (false, true) => state,
        (false, false) => {
            engine
                .add_model_adapter(model.id, path.clone().into())
                .await?
        }
    };
    if let Some(weight) = weight {
        state = engine.set_adapter_weight(model.id, path, weight).await?;
    }
    out.answer(&state, |state| adapters(&model.name, state))
}

fn adapters(model: &str, state: &ModelState) -> String {
    if state.adapters.is_empty() {
        return format!("{model} is loaded without an adapter");
    }
    let lines = state.adapters.iter().map(|adapter| {
        let missing = if adapter.missing {
            ", file missing"
        } else {
            ""
        };
        format!("\n  {}, weight {}{missing}", adapter.path, adapter.weight)
    });
    format!("{model} is loaded with{}", lines.collect::<String>())
}

/// Shows or chooses the embedding model.
pub(crate) async fn embedding(
    engine: &Engine,
    file: Option<PathBuf>,
    bundled: bool,
    out: &Output,
) -> Result<(), CommandError> {
    let model = match file {
        Some(file) => engine.choose_embedding_model(file).await?,
        None if bundled => engine.use_bundled_embedding_model().await?,
        None => engine.embedding_choice().await?,
    };
    out.answer(&model, |model| {
        let Some(name) = &model.name else {
            return "no embedding model; searches use words only".to_owned();
        };
        let from = model
            .path
            .as_ref()
            .map_or_else(|| "comes with the app".to_owned(), Clone::clone);
        let missing = if model.missing { ", file missing" } else { "" };
        format!("{name} ({from}{missing}), {} texts to embed", model.left)
    })
}

/// The projector to use: a file, none, or the one that fits; without any, it is shown.
pub(crate) struct ProjectorChange {
    pub(crate) file: Option<PathBuf>,
    pub(crate) none: bool,
    pub(crate) auto: bool,
}

/// Shows or changes the file with which a model reads pictures.
pub(crate) async fn pictures(
    engine: &Engine,
    name: &str,
    change: ProjectorChange,
    out: &Output,
) -> Result<(), CommandError> {
    let ProjectorChange { file, none, auto } = change;
    let model = find::model(engine, name).await?;
    let changed = match file {
        Some(file) => Some(engine.set_model_projector(model.id, file).await?),
        None if none => Some(engine.remove_model_projector(model.id).await?),
        None if auto => Some(engine.pair_model_projector(model.id).await?),
        None => engine
            .model_states()
            .await?
            .into_iter()
            .find(|state| state.id == model.id),
    };
    let Some(state) = changed else { return Ok(()) };
    out.answer(&state, |state| match &state.projector {
        Some(projector) if projector.missing => {
            format!("{}: the file {} is missing", model.name, projector.path)
        }
        Some(projector) => format!("{} reads pictures with {}", model.name, projector.path),
        None => format!("{} reads no pictures", model.name),
    })
}

pub(crate) async fn speed(engine: &Engine, name: &str, out: &Output) -> Result<(), CommandError> {
    let model = find::model(engine, name).await?;
    out.progress(&format!("measuring {}", model.name));
    out.answer(&engine.measure_model(model.id).await?, speeds)
}

fn speeds(test: &SpeedTest) -> String {
    let rows = test.runs.iter().enumerate().map(|(at, run)| {
        let mark = if at == test.best as usize { "*" } else { " " };
        let batch = run.batch.map_or_else(|| "auto".to_owned(), |batch| batch.to_string());
        format!(
            "{mark} {} threads, batch {batch}, {} layers on graphics devices: reads {:.1}, writes {:.1} tokens/s",
            run.threads, run.gpu_layers, run.prompt, run.reply
        )
    });
    rows.collect::<Vec<_>>().join("\n")
}

/// The place of a loaded model, and its differences from what was wished.
fn placement(state: &ModelState) -> String {
    if state.activity == ModelActivity::Unloaded {
        return "not loaded".to_owned();
    }
    let memory = state
        .devices
        .iter()
        .map(memory)
        .collect::<Vec<_>>()
        .join("; ");
    let notes: String = state
        .notes
        .iter()
        .map(|note| format!("\n    {}", note_text(note)))
        .collect();
    let layers = match state.gpu_layers {
        0 => "on the processor".to_owned(),
        on_graphics => format!(
            "{on_graphics} of {} layers on graphics devices",
            state.layers
        ),
    };
    let experts = match state.processor_experts {
        0 => String::new(),
        layers => format!(", the experts of {layers} on the processor"),
    };
    format!(
        "{layers}{experts}, context {}; {memory}{notes}",
        state.context
    )
}

fn memory(memory: &ModelMemory) -> String {
    let ModelMemory {
        device,
        weights,
        cache,
        compute,
        total,
    } = memory;
    let device = if device.is_empty() {
        "processor"
    } else {
        device
    };
    let of = if *total > 0 {
        format!(" of {}", mebibytes(*total))
    } else {
        String::new()
    };
    let used = mebibytes(weights.saturating_add(*cache).saturating_add(*compute));
    let parts = [weights, cache, compute].map(|bytes| mebibytes(*bytes));
    let [weights, cache, compute] = parts;
    format!("{device}: {used}{of} MiB ({weights} model, {cache} context, {compute} computing)")
}

fn note_text(note: &LoadNote) -> String {
    match note {
        LoadNote::WithoutGraphics { reason } => format!("the processor computes alone: {reason}"),
        LoadNote::MoreExperts { from, to, reason } => {
            format!("the experts of {to} instead of {from} layers are on the processor: {reason}")
        }
        LoadNote::FewerLayers { from, to, reason } => {
            format!("{to} instead of {from} layers are on the graphics device: {reason}")
        }
        LoadNote::SmallerContext { from, to, reason } => {
            format!("the context has {to} instead of {from} tokens: {reason}")
        }
    }
}

fn mebibytes(bytes: u64) -> u64 {
    bytes >> 20
}
