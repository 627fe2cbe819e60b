//! Memory from end to end, without a judge: what happens in chats, and what prompts then say (memory.md, section 5).
//!
//! A scenario is a file of JSON lines, each a [`Step`] that names itself: `{"step":"say","pair":"p1","chat":"main",
//! "who":"user","text":"My boat is the Zebulon.","time":"2026-03-01T20:15"}`. Steps are
//!
//! | step | fields | what it does |
//! |---|---|---|
//! | `character` | name, description | a card in the library |
//! | `pair` | pair, persona, character | names who plays with whom; makes who is missing |
//! | `chat` | pair, chat, members | who takes part in a chat from now on |
//! | `say` | pair, chat, who, text, id | a message, as an import brings it |
//! | `turn` | pair, chat, text, reply, id | a turn, whose prompt leaves its traces: epoch, context blocks, manifest |
//! | `edit`, `swipe` | message, text | other words; another reply in place of one |
//! | `delete` | message | |
//! | `branch` | pair, chat, after, to | a chat that begins as another did |
//! | `delete_chat` | pair, chat | |
//! | `remember`, `forget` | pair, text | a memory, as in the memory panel |
//! | `lorebook` | pair, name, entries `{keys, text}` | |
//! | `setting` | pair, chat, key, value | of that chat, or of all |
//! | `learn` | | reads what was said, as in idle time |
//! | `compact`, `reopen` | | removes for good what was deleted; ends the engine and starts it again |
//! | `probe` | id, pair, chat, text, budget, whole | the only one that answers: [`Probed`] |
//!
//! Each may have a `time`: the engine's clock stands there then, and for the steps behind it.
//!
//! Promises
//! - All of it goes the way of the app: the same operations, and for a probe the same preview.
//! - The same scenario in an empty folder gives the same answers, but for the milliseconds.

mod lines;
mod probe;
mod stage;
mod step;

use std::path::Path;
use std::sync::Arc;

use domain::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use provider::FakeProvider;

pub use probe::{Item, Probed};
pub use step::{
    Branch, Character, Chat, Deleted, LoreEntry, Lorebook, Noted, Pair, Probe, Rewritten, Say, Set, Step, Timed, Turn,
    Where,
};

use crate::api::ApiError;
use crate::clock::{Clock, Hands};
use crate::error::{Answer, bad_input};
use crate::{Engine, OpenError, Options};
use stage::Stage;

/// When a scenario begins that does not say: 1 January 2026.
const BEGINNING: Timestamp = Timestamp(1_767_225_600_000);

/// Why a scenario did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    #[error(transparent)]
    Open(#[from] OpenError),
    /// `step` counts from 1.
    #[error("step {step}: {error}")]
    Step { step: usize, error: ApiError },
}

/// Plays `steps` in the folder of `options` and gives the answers of the probes. Counting is exact where a model is at hand,
/// and an estimate where there is none; no model is asked to write. The clock of `options` counts for nothing.
///
/// # Errors
/// [`ScenarioError`]: the folder cannot be opened, or a step cannot be taken.
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
        let at = |error| ScenarioError::Step { step: number, error };
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
    settled.map_err(|error| ScenarioError::Step { step: steps_there, error })?;
    Ok(answers)
}

/// Something is there that counts tokens.
async fn counts(engine: &Engine) -> bool {
    let there = engine.store().read(|store| {
        let here = store.models().list()?.iter().any(|model| Path::new(&model.path).exists());
        Ok(here || !store.endpoints().list()?.is_empty())
    });
    there.await.unwrap_or(false)
}

fn tell_time(hands: &Hands, time: Option<&str>) -> Answer<()> {
    let Some(time) = time else { return Ok(()) };
    let civil = || Some(time.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp());
    let Some(at) = time.parse::<jiff::Timestamp>().ok().or_else(civil) else {
        return Err(bad_input(format!("The time {time:?} cannot be read."), "Write it like 2026-03-01T20:15:00Z."));
    };
    hands.move_to(Timestamp(at.as_millisecond()));
    Ok(())
}

#[cfg(test)]
mod tests;
