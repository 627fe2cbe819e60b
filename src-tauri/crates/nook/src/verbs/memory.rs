//! `memory`: lists, searches and changes memories.

use std::path::Path;

use engine::Engine;
use engine::api::{Memory, MemoryDraft, MemoryFilter, MemoryOwner, Recollected};
use serde_json::json;

use crate::cli::{ForgetArgs, MemoryArgs, MemoryVerb};
use crate::failure::CommandError;
use crate::find;
use crate::output::Output;
use crate::verbs::export::keep;
use crate::verbs::item_list::{ItemList, lines};

pub(crate) async fn memory(
    engine: &Engine,
    verb: MemoryVerb,
    out: &Output,
) -> Result<(), CommandError> {
    match verb {
        MemoryVerb::List {
            character,
            archived,
        } => list(engine, &character, String::new(), archived, out).await,
        MemoryVerb::Search {
            character: Some(character),
            words,
            ..
        } => list(engine, &character, words, false, out).await,
        MemoryVerb::Search { chat, words, .. } => {
            recall(engine, &chat.unwrap_or_default(), words, out).await
        }
        MemoryVerb::Add { what, text } => {
            let draft = draft(engine, what, text).await?;
            one(&engine.save_memory(draft).await?, out)
        }
        MemoryVerb::Edit {
            id,
            character,
            text,
            kind,
            importance,
        } => {
            let mut draft = draft_of(engine, &character, &id).await?;
            draft.kind = kind.unwrap_or(draft.kind);
            draft.text = text.unwrap_or(draft.text);
            draft.importance = importance.unwrap_or(draft.importance);
            one(&engine.save_memory(draft).await?, out)
        }
        MemoryVerb::Pin { id, off } => one(&engine.pin_memory(find::id(&id)?, !off).await?, out),
        MemoryVerb::Forget { id: Some(id), .. } => {
            engine.delete_memory(find::id(&id)?).await?;
            out.answer(&json!({ "forgotten": id }), |_| format!("forgot {id}"))
        }
        MemoryVerb::Forget {
            id: None, whose, ..
        } => {
            let forgotten = engine.forget_memories(owner(engine, whose).await?).await?;
            out.answer(&json!({ "forgotten": forgotten }), |_| {
                format!("forgot {} memories", forgotten.len())
            })
        }
        MemoryVerb::Export {
            character,
            out: file,
        } => export(engine, &character, &file, out).await,
        MemoryVerb::Import { character, file } => import(engine, &character, &file, out).await,
        MemoryVerb::Consolidate => consolidate(engine, out).await,
        MemoryVerb::Restore { ids } => restore(engine, ids, out).await,
        MemoryVerb::Learn => learn(engine, out).await,
        #[cfg(feature = "evaluation")]
        MemoryVerb::Rank(_) | MemoryVerb::Scenario(_) => Ok(()),
    }
}

async fn restore(engine: &Engine, ids: Vec<String>, out: &Output) -> Result<(), CommandError> {
    let memories = ids
        .iter()
        .map(|id| find::id(id))
        .collect::<Result<_, _>>()?;
    engine.unarchive_memories(memories).await?;
    out.answer(&json!({ "restored": ids }), |_| {
        format!("restored {}", ids.join(", "))
    })
}

/// The memory as it is, to be changed.
async fn draft_of(engine: &Engine, character: &str, id: &str) -> Result<MemoryDraft, CommandError> {
    let known = known(engine, character, id).await?;
    let character = find::character(engine, character).await?.id;
    Ok(MemoryDraft {
        id: Some(known.id),
        kind: known.kind,
        text: known.text,
        importance: known.importance,
        pinned: known.pinned,
        scope: known.scope,
        character,
        persona: known.persona,
        chat: known.chat,
        world: known.world,
    })
}

async fn owner(engine: &Engine, whose: ForgetArgs) -> Result<MemoryOwner, CommandError> {
    Ok(match (whose.character, whose.chat) {
        (Some(name), _) => MemoryOwner::Character {
            character: find::character(engine, &name).await?.id,
        },
        (None, Some(name)) => MemoryOwner::Chat {
            chat: find::chat(engine, &name).await?.id,
        },
        (None, None) => MemoryOwner::Everybody,
    })
}

async fn learn(engine: &Engine, out: &Output) -> Result<(), CommandError> {
    let read = engine.learn().await?;
    out.answer(&json!({ "read": read }), |_| {
        format!("indexed {read} messages")
    })
}

async fn recall(
    engine: &Engine,
    chat: &str,
    words: String,
    out: &Output,
) -> Result<(), CommandError> {
    let chat = find::chat(engine, chat).await?.id;
    let items = engine.try_recall(chat, words).await?.items;
    lines(ItemList { items }, out, recollected)
}

async fn export(
    engine: &Engine,
    character: &str,
    file: &Path,
    out: &Output,
) -> Result<(), CommandError> {
    let character = find::character(engine, character).await?.id;
    let exported = engine.export_memories(character).await?;
    keep(file, &exported.bytes, exported.warnings, out)
}

async fn import(
    engine: &Engine,
    character: &str,
    file: &Path,
    out: &Output,
) -> Result<(), CommandError> {
    let character = find::character(engine, character).await?.id;
    let json = std::fs::read_to_string(file).map_err(|error| {
        CommandError::because(
            "badInput",
            format!("cannot read {}: {error}", file.display()),
        )
    })?;
    let imported = engine.import_memories(character, json).await?;
    out.answer(&imported, |imported| {
        let worldless = imported.worldless.iter().map(|line| {
            format!("\nimported for the character, because its lorebook is missing: {line}")
        });
        let refused = imported
            .refused
            .iter()
            .map(|refused| format!("\nrefused: {refused}"));
        let more = worldless.chain(refused).collect::<String>();
        format!(
            "{} added, {} already there{more}",
            imported.added, imported.known
        )
    })
}

async fn consolidate(engine: &Engine, out: &Output) -> Result<(), CommandError> {
    let done = engine.consolidate_memories().await?;
    out.answer(&done, |done| {
        let lists = [&done.merged, &done.superseded, &done.retired, &done.crowded];
        let all: Vec<String> = lists.into_iter().flatten().map(line).collect();
        if all.is_empty() {
            "nothing to do".to_owned()
        } else {
            all.join("\n")
        }
    })
}

async fn list(
    engine: &Engine,
    character: &str,
    words: String,
    archived: bool,
    out: &Output,
) -> Result<(), CommandError> {
    let character = find::character(engine, character).await?.id;
    let filter = MemoryFilter {
        archived,
        ..MemoryFilter::default()
    };
    let items = engine
        .find_memories(character, words, filter, u32::MAX)
        .await?
        .memories;
    lines(ItemList { items }, out, line)
}

async fn draft(
    engine: &Engine,
    what: MemoryArgs,
    text: String,
) -> Result<MemoryDraft, CommandError> {
    let MemoryArgs {
        character,
        scope,
        persona,
        chat,
        world,
        kind,
        importance,
    } = what;
    let persona = match persona {
        Some(name) => Some(find::persona(engine, &name).await?.id),
        None => None,
    };
    let chat = match chat {
        Some(name) => Some(find::chat(engine, &name).await?.id),
        None => None,
    };
    let world = match world {
        Some(name) => Some(find::lorebook(engine, &name).await?.id),
        None => None,
    };
    let character = find::character(engine, &character).await?.id;
    Ok(MemoryDraft {
        id: None,
        kind,
        text,
        importance,
        pinned: false,
        scope: scope.into(),
        character,
        persona,
        chat,
        world,
    })
}

async fn known(engine: &Engine, character: &str, id: &str) -> Result<Memory, CommandError> {
    let character = find::character(engine, character).await?.id;
    let all = engine.every_memory(character).await?;
    all.into_iter()
        .find(|memory| memory.id.to_string() == id)
        .ok_or_else(|| CommandError::not_found(format!("there is no memory {id}")))
}

fn one(memory: &Memory, out: &Output) -> Result<(), CommandError> {
    out.answer(memory, line)
}

/// Formats a recalled memory, with the reason if it would not be used.
fn recollected(item: &Recollected) -> String {
    let score = item.score.unwrap_or_default();
    let missing = item
        .dropped_reason
        .as_ref()
        .map_or_else(String::new, |why| format!(", not used: {why}"));
    format!(
        "{}  {} ({}, {score:.2}: {}{missing})",
        item.id, item.text, item.kind, item.reason
    )
}

fn line(memory: &Memory) -> String {
    let pin = if memory.pinned { ", pinned" } else { "" };
    let archived = memory
        .archived
        .as_ref()
        .map_or_else(String::new, |archived| match &archived.by {
            Some(by) => format!(", {} by {by}", archived.why),
            None => format!(", {}", archived.why),
        });
    let fits = memory
        .score
        .map_or_else(String::new, |score| format!(", {score:.2}"));
    format!(
        "{}  {} ({}, {}{pin}{fits}{archived})",
        memory.id, memory.text, memory.kind, memory.importance
    )
}
