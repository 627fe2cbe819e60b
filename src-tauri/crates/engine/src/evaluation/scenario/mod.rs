//! End-to-end tests of memory, without a model as a judge. A scenario describes events in chats,
//! and its probes show what prompts then contain.
//!
//! A scenario is a file of JSON lines. Each is a [`Step`] with its name:
//!
//! ```json
//! {"step":"say","pair":"p1","chat":"main","who":"user","text":"My boat is the Zebulon.",
//!  "time":"2026-03-01T20:15"}
//! ```
//!
//! The steps are
//!
//! | step | fields | effect |
//! |---|---|---|
//! | `character` | name, description | a card in the library |
//! | `pair` | pair, persona, character | names a persona and a character; creates them if they are missing |
//! | `chat` | pair, chat, members | sets who takes part in a chat from now on |
//! | `presence` | pair, chat, character, away | a participant goes away or comes back |
//! | `inform` | pair, chat, character | a participant knows everything said so far |
//! | `say` | pair, chat, who, text, id | a message, stored as an import does |
//! | `turn` | pair, chat, text, reply, id | a turn with its epoch, context block and manifest |
//! | `edit`, `swipe` | message, text | a new text; another reply in place of one |
//! | `delete` | message | deletes a message |
//! | `branch` | pair, chat, after, to | a chat that begins like another one |
//! | `delete_chat` | pair, chat | deletes a chat |
//! | `remember`, `forget` | pair, text | writes or deletes a memory, as in the memory panel |
//! | `share` | pair, text | lets memories apply in all chats |
//! | `lorebook` | pair, chat, name, entries `{keys, text}` | a lorebook of the character, or of a chat |
//! | `setting` | pair, chat, key, value | a setting of that chat, or of all |
//! | `learn`, `consolidate` | | embeds messages, archives outdated memories, as in idle time |
//! | `compact`, `reopen` | | purges what was deleted; ends the engine and starts it again |
//! | `probe` | id, pair, chat, text, budget, whole | the only step with an answer: [`Probed`] |
//!
//! Each step may have a `time`, to which the engine's clock is set for it and the steps after it.
//!
//! Guarantees
//! - The tests use the code of the app: steps call the same operations, and a probe is the same
//!   preview.
//! - The same scenario in an empty folder gives the same answers, except for the milliseconds.

mod lines;
mod probe;
mod stage;
mod step;

use std::path::Path;
use std::sync::Arc;

use domain::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
pub use probe::{Item, Probed};
use provider::FakeProvider;
use stage::Stage;
pub use step::{
    Branch, Character, Chat, Deleted, Informed, Lorebook, Noted, Pair, Presence, Probe, Rewritten,
    Say, ScenarioEntry, Set, Step, Timed, Turn, Where,
};

use crate::api::ApiError;
use crate::base::clock::{Clock, Hands};
use crate::base::error::{ApiResult, bad_input};
use crate::{Engine, OpenError, Options};

/// The time of the first steps if a scenario sets none: 1 January 2026.
const BEGINNING: Timestamp = Timestamp(1_767_225_600_000);

/// Why a scenario failed.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    #[error(transparent)]
    Open(#[from] OpenError),
    /// `step` starts at 1.
    #[error("step {step}: {error}")]
    Step { step: usize, error: ApiError },
}

/// Runs `steps` in the folder of `options` and returns the answers of the probes. Token counts are
/// exact if a model is available, otherwise estimated; no model writes anything. The clock of
/// `options` is ignored.
///
/// # Errors
/// [`ScenarioError`]: the folder cannot be opened, or a step fails.
pub async fn run(options: Options, steps: Vec<Timed>) -> Result<Vec<Probed>, ScenarioError> {
    let (clock, hands) = Clock::moved_by_hand(BEGINNING);
    let mut options = Options { clock, ..options };
    let mut stage = Stage::new(Engine::open(options.clone()).await?);
    if options.provider.is_none() && !counts(&stage.engine).await {
        options.provider = Some(Arc::new(FakeProvider::new()));
        stage = stage.reopen(&options).await?;
    }
    let mut answers = Vec::new();
    let steps_there = steps.len();
    for (number, Timed { time, step }) in (1..).zip(steps) {
        let at = |error| ScenarioError::Step {
            step: number,
            error,
        };
        tell_time(&hands, time.as_deref()).map_err(at)?;
        if step != Step::Reopen {
            answers.extend(stage.take(step, number).await.map_err(at)?);
            continue;
        }
        stage.settle().await.map_err(at)?;
        stage = stage.reopen(&options).await?;
    }
    let settled = stage.settle().await;
    stage.engine.shutdown().await;
    settled.map_err(|error| ScenarioError::Step {
        step: steps_there,
        error,
    })?;
    Ok(answers)
}

/// Whether a model or an endpoint can count tokens.
async fn counts(engine: &Engine) -> bool {
    let there = engine.base.store().read(|store| {
        let here = store
            .models()
            .list()?
            .iter()
            .any(|model| Path::new(&model.path).exists());
        Ok(here || !store.endpoints().list()?.is_empty())
    });
    there.await.unwrap_or(false)
}

fn tell_time(hands: &Hands, time: Option<&str>) -> ApiResult<()> {
    let Some(time) = time else { return Ok(()) };
    let civil = || {
        Some(
            time.parse::<DateTime>()
                .ok()?
                .to_zoned(TimeZone::UTC)
                .ok()?
                .timestamp(),
        )
    };
    let Some(at) = time.parse::<jiff::Timestamp>().ok().or_else(civil) else {
        return Err(bad_input(
            format!("The time {time:?} cannot be read."),
            "Write it like 2026-03-01T20:15:00Z.",
        ));
    };
    hands.move_to(Timestamp(at.as_millisecond()));
    Ok(())
}

#[cfg(test)]
mod tests;
