//! Why an entry is active, and where its text goes.

use context::frame::InsertionPoint;
use context::lore;
use context::lore::{Activated, KeyLocation, Reason};
use context::reason::{BlockReason, two_decimals};
use context::regex_script::{Channel, ScriptContext};
use domain::lorebook;
use domain::regex_script::ScriptTarget;

use crate::api;
use crate::turn::assembly::notes;
use crate::turn::inputs::turn_inputs::TurnInputs;

/// The script_context for scripts on an entry. Only an entry at a depth has a depth.
pub(super) fn script_context(place: &lore::EntryPosition) -> ScriptContext {
    let depth = match place {
        lore::EntryPosition::Depth(depth) => u32::try_from(*depth).ok(),
        _ => None,
    };
    ScriptContext {
        placement: ScriptTarget::Lorebook,
        channel: Channel::Prompt,
        depth,
        edited: false,
    }
}

pub(super) fn shown(entry: &lorebook::Entry) -> api::LoreEntry {
    let title = if entry.comment.is_empty() {
        &entry.name
    } else {
        &entry.comment
    };
    api::LoreEntry {
        id: entry.uid.to_string(),
        title: title.clone(),
        keys: entry.keys.clone(),
        secondary_keys: if entry.selective {
            entry.secondary_keys.clone()
        } else {
            Vec::new()
        },
        content: entry.content.clone(),
        constant: entry.constant,
        enabled: !entry.disable,
    }
}

/// The place of the text in the prompt. `Err` holds the outlet that requests it, or `None` if it
/// has no place.
pub(super) fn place(
    place: &lore::EntryPosition,
    inputs: &TurnInputs,
) -> Result<InsertionPoint, Option<String>> {
    let depth = |depth: i64| InsertionPoint::Depth(u32::try_from(depth.max(0)).unwrap_or(u32::MAX));
    Ok(match place {
        lore::EntryPosition::BeforeChar => InsertionPoint::BeforeCharacter,
        lore::EntryPosition::AfterChar
        | lore::EntryPosition::Personality
        | lore::EntryPosition::Scenario => InsertionPoint::AfterCharacter,
        lore::EntryPosition::NoteTop | lore::EntryPosition::NoteBottom => {
            notes::place(&inputs.values)
        }
        lore::EntryPosition::Depth(n) => depth(*n),
        lore::EntryPosition::FromStart(n) => depth(inputs.history.len() as i64 - n),
        lore::EntryPosition::ExampleTop => InsertionPoint::BeforeExamples,
        lore::EntryPosition::ExampleBottom => InsertionPoint::AfterExamples,
        lore::EntryPosition::Outlet(name) => return Err(Some(name.clone())),
        lore::EntryPosition::Nowhere => return Err(None),
    })
}

/// Reason of the activation, for the X-ray.
pub(super) fn why(entry: &Activated, nearness: Option<f32>, inputs: &TurnInputs) -> BlockReason {
    match entry.reason {
        Reason::Key => key_found(entry, inputs),
        Reason::Constant => BlockReason::AlwaysOn,
        Reason::Sticky => BlockReason::Sticky,
        Reason::Decorator => BlockReason::Decorator,
        Reason::External => BlockReason::ByMeaning {
            similarity: two_decimals(nearness.unwrap_or_default()),
        },
        Reason::Kept => BlockReason::KeptEntry,
    }
}

pub(super) fn key_found(entry: &Activated, inputs: &TurnInputs) -> BlockReason {
    let key = entry.key.clone().unwrap_or_default();
    match entry.found {
        Some(KeyLocation::Message(index)) => match inputs.history.get(index) {
            Some(message) => {
                let speaker = message.speaker.clone();
                match inputs.history.len() - 1 - index {
                    0 => BlockReason::KeyInNewestMessage { key, speaker },
                    ago => BlockReason::KeyInMessage { key, speaker, ago },
                }
            }
            None => BlockReason::KeyInSomeMessage { key },
        },
        Some(KeyLocation::Persona) => BlockReason::KeyInPersona { key },
        Some(KeyLocation::Entry) => BlockReason::KeyInEntry { key },
        Some(KeyLocation::Prompt) => BlockReason::KeyInNote { key },
        Some(KeyLocation::Anywhere) | None => BlockReason::Key { key },
        Some(_) => BlockReason::KeyInCard { key },
    }
}
