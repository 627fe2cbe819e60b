//! `models devices`, `load`, `adapter`, `pictures` and `speed`: how models are loaded.

use std::path::PathBuf;

use engine::Engine;
use engine::api::{ComputeDevice, ComputeDeviceKind, LoadNote, ModelActivity, ModelMemory, ModelState, SpeedTest};

use super::library::{ItemList, lines};
use crate::failure::CommandError;
use crate::find;
use crate::output::Output;

/// Lists the devices. A failed driver is an error, although models still run on the processor.
pub(super) async fn devices(engine: &Engine, out: &Output) -> Result<(), CommandError> {
    let listed = engine.list_devices().await?;
    if let Some(why) = listed.failure {
        return Err(CommandError::reported("unhealthy", format!("{why}; the processor computes alone")));
    }
    lines(ItemList { items: listed.devices }, out, device)
}

fn device(device: &ComputeDevice) -> String {
    let kind = match device.kind {
        ComputeDeviceKind::Processor => "processor",
        ComputeDeviceKind::Discrete => "graphics card",
        ComputeDeviceKind::Integrated => "integrated graphics",
        ComputeDeviceKind::Accelerator => "accelerator",
    };
    let ComputeDevice { name, description, backend, free, total, .. } = device;
    format!("{name}  {description} ({backend}, {kind}, {} of {} MiB free)", mebibytes(*free), mebibytes(*total))
}

pub(super) async fn load(engine: &Engine, name: &str, out: &Output) -> Result<(), CommandError> {
    let model = find::model(engine, name).await?;
    out.progress(&format!("loading {}", model.name));
    out.answer(&engine.load_model(model.id).await?, |state| format!("{}: {}", model.name, placement(state)))
}

/// Sets or removes the adapter of a model, and its weight.
pub(super) async fn adapter(
    engine: &Engine,
    name: &str,
    (file, weight, remove): (Option<PathBuf>, Option<f32>, bool),
    out: &Output,
) -> Result<(), CommandError> {
    let model = find::model(engine, name).await?;
    let mut state = None;
    if let Some(file) = file {
        state = Some(engine.set_model_adapter(model.id.clone(), file).await?);
    }
    if let Some(weight) = weight {
        state = Some(engine.set_adapter_weight(model.id.clone(), weight).await?);
    }
    if remove {
        state = Some(engine.remove_model_adapter(model.id.clone()).await?);
    }
    let Some(state) = state else { return Ok(()) };
    out.answer(&state, |state| match &state.adapter {
        Some(adapter) => format!("{} is loaded with {}, weight {}", model.name, adapter.path, adapter.weight),
        None => format!("{} is loaded without an adapter", model.name),
    })
}

/// Shows or changes the file with which a model reads pictures.
pub(super) async fn pictures(
    engine: &Engine,
    name: &str,
    (file, none, auto): (Option<PathBuf>, bool, bool),
    out: &Output,
) -> Result<(), CommandError> {
    let model = find::model(engine, name).await?;
    let changed = match file {
        Some(file) => Some(engine.set_model_projector(model.id.clone(), file).await?),
        None if none => Some(engine.remove_model_projector(model.id.clone()).await?),
        None if auto => Some(engine.pair_model_projector(model.id.clone()).await?),
        None => engine.model_states().await?.into_iter().find(|state| state.id == model.id),
    };
    let Some(state) = changed else { return Ok(()) };
    out.answer(&state, |state| match &state.projector {
        Some(projector) if projector.missing => format!("{}: the file {} is missing", model.name, projector.path),
        Some(projector) => format!("{} reads pictures with {}", model.name, projector.path),
        None => format!("{} reads no pictures", model.name),
    })
}

pub(super) async fn speed(engine: &Engine, name: &str, out: &Output) -> Result<(), CommandError> {
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
    let memory = state.devices.iter().map(memory).collect::<Vec<_>>().join("; ");
    let notes: String = state.notes.iter().map(|note| format!("\n    {}", note_text(note))).collect();
    let layers = match state.gpu_layers {
        0 => "on the processor".to_owned(),
        on_graphics => format!("{on_graphics} of {} layers on graphics devices", state.layers),
    };
    format!("{layers}, context {}; {memory}{notes}", state.context)
}

fn memory(memory: &ModelMemory) -> String {
    let ModelMemory { device, weights, cache, compute, total } = memory;
    let device = if device.is_empty() { "processor" } else { device };
    let of = if *total > 0 { format!(" of {}", mebibytes(*total)) } else { String::new() };
    let used = mebibytes(weights.saturating_add(*cache).saturating_add(*compute));
    let parts = [weights, cache, compute].map(|bytes| mebibytes(*bytes));
    let [weights, cache, compute] = parts;
    format!("{device}: {used}{of} MiB ({weights} model, {cache} context, {compute} computing)")
}

fn note_text(note: &LoadNote) -> String {
    match note {
        LoadNote::WithoutGraphics { why } => format!("the processor computes alone: {why}"),
        LoadNote::FewerLayers { from, to, why } => {
            format!("{to} instead of {from} layers are on the graphics device: {why}")
        }
        LoadNote::SmallerContext { from, to, why } => {
            format!("the context has {to} instead of {from} tokens: {why}")
        }
    }
}

fn mebibytes(bytes: u64) -> u64 {
    bytes >> 20
}
