//! `models move` and `models moves`: model files on their way to another folder.

use std::collections::BTreeMap;

use domain::ModelId;
use engine::api::{Event, ModelMove, MoveState};
use engine::{Engine, Events};
use serde_json::json;

use crate::failure::CommandError;
use crate::find;
use crate::interrupts::Interrupts;
use crate::output::Output;
use crate::verbs::item_list::{ItemList, lines};
use crate::verbs::models::{fetched, whole};

/// Moves one model, or all of a folder, and waits for the end. An interrupted move goes on with the
/// same command.
pub(crate) async fn move_models(
    engine: &Engine,
    name: Option<String>,
    all_from: Option<String>,
    to: String,
    out: &Output,
) -> Result<(), CommandError> {
    let mut events = engine.subscribe();
    let started = match (name, all_from) {
        (Some(name), _) => vec![
            engine
                .move_model(find::model(engine, &name).await?.id, to)
                .await?,
        ],
        (None, from) => {
            engine
                .move_models_of_folder(from.unwrap_or_default(), to)
                .await?
        }
    };
    let ids: Vec<ModelId> = started.iter().map(|one| one.model).collect();
    let failed = wait(&mut events, started, out).await?;
    let models = engine.list_models().await?;
    let moved = models
        .into_iter()
        .filter(|model| ids.contains(&model.id) && !failed.contains_key(&model.id));
    lines(
        ItemList {
            items: moved.collect(),
        },
        out,
        whole,
    )?;
    if failed.is_empty() {
        return Ok(());
    }
    let why: Vec<_> = failed
        .into_values()
        .map(|one| format!("{}: {} {}", one.name, one.reason, one.hint))
        .collect();
    Err(CommandError::because("storage", why.join("\n")))
}

/// Waits until every move has ended. Returns those that failed.
async fn wait(
    events: &mut Events,
    started: Vec<ModelMove>,
    out: &Output,
) -> Result<BTreeMap<ModelId, ModelMove>, CommandError> {
    let mut interrupts = Interrupts::listen()?;
    let (failed, mut open): (Vec<_>, Vec<_>) = started
        .into_iter()
        .partition(|one| one.state == MoveState::Failed);
    let mut failed: BTreeMap<_, _> = failed.into_iter().map(|one| (one.model, one)).collect();
    while !open.is_empty() {
        let event = tokio::select! {
            event = events.next() => event,
            _ = interrupts.next() => return Err(CommandError::because("interrupted", "the move is interrupted; the same command continues it")),
        };
        match event {
            Some(Event::ModelMoving { moving }) => {
                let Some(at) = open.iter().position(|one| one.model == moving.model) else {
                    continue;
                };
                if moving.state == MoveState::Failed {
                    open.remove(at);
                    failed.insert(moving.model, moving);
                } else {
                    out.progress(&progress(&moving));
                }
            }
            Some(Event::ModelMoveEnded {
                model,
                moved: false,
                ..
            }) if open.iter().any(|one| one.model == model) => {
                return Err(CommandError::because(
                    "interrupted",
                    "the move was cancelled",
                ));
            }
            Some(Event::ModelMoveEnded { model, .. }) => open.retain(|one| one.model != model),
            Some(_) => {}
            None => return Err(CommandError::because("internal", "the engine has ended")),
        }
    }
    Ok(failed)
}

fn progress(moving: &ModelMove) -> String {
    let done = fetched(moving.done, Some(moving.total));
    match moving.state {
        MoveState::Queued => format!("{} waits", moving.name),
        MoveState::Copying => format!("{}: {done} copied", moving.name),
        MoveState::Checking => format!("{}: {done} compared", moving.name),
        MoveState::Finishing => format!(
            "{}: its old file is deleted once its reply has ended",
            moving.name
        ),
        MoveState::Failed => format!("{}: {} {}", moving.name, moving.reason, moving.hint),
    }
}

pub(crate) async fn moves(
    engine: &Engine,
    cancel: Option<String>,
    out: &Output,
) -> Result<(), CommandError> {
    if let Some(name) = cancel {
        let model = find::model(engine, &name).await?;
        engine.cancel_model_move(model.id).await?;
        return out.answer(&json!({ "cancelled": model.id }), |_| {
            "cancelled; the copy is deleted".to_owned()
        });
    }
    lines(
        ItemList {
            items: engine.list_model_moves().await?,
        },
        out,
        |one: &ModelMove| format!("{}  to {}", progress(one), one.folder),
    )
}
