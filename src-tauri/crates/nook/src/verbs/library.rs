//! `import`, `delete`, `list`, `show`.

use std::path::PathBuf;
use std::pin::pin;

use engine::Engine;
use engine::api::{
    Character, Chat, ChatSummary, Event, ImportProgress, ImportReport, ImportStage, LorebookEntry,
    LorebookSummary, Message,
};
use serde::Serialize;
use serde_json::json;

use crate::cli::{DeleteKind, ListKind, ShowKind};
use crate::failure::CommandError;
use crate::find;
use crate::interrupts::Interrupts;
use crate::output::Output;
use crate::verbs::item_list::{ItemList, lines};
use crate::verbs::models;
use crate::verbs::prompt::presets;

pub(crate) async fn import(
    engine: &Engine,
    paths: Vec<PathBuf>,
    sillytavern: Option<PathBuf>,
    out: &Output,
) -> Result<(), CommandError> {
    let mut report = match sillytavern {
        Some(folder) => import_folder(engine, folder, out).await?,
        None => ImportReport::default(),
    };
    if !paths.is_empty() && !report.cancelled {
        report.append(engine.import_paths(paths).await?);
    }
    out.answer(&report, import_text)?;
    if report.cancelled {
        let hint = "Imported items are kept; run the same command again to import the rest.";
        return Err(CommandError::reported(
            "cancelled",
            format!("The import was cancelled. {hint}"),
        ));
    }
    match report.refused.len() {
        0 => Ok(()),
        1 => Err(CommandError::reported(
            "refused",
            format!("{} was refused", report.refused[0].file),
        )),
        count => Err(CommandError::reported(
            "refused",
            format!("{count} files were refused"),
        )),
    }
}

/// Imports a folder and shows the progress. Ctrl-C ends it after the current item.
async fn import_folder(
    engine: &Engine,
    folder: PathBuf,
    out: &Output,
) -> Result<ImportReport, CommandError> {
    let mut interrupts = Interrupts::listen()?;
    let mut events = engine.subscribe();
    let mut import = pin!(engine.import_sillytavern(folder));
    loop {
        tokio::select! {
            report = &mut import => break Ok(report?),
            _ = interrupts.next() => engine.cancel_import().await?,
            event = events.next() => {
                if let Some(Event::Importing { progress }) = event {
                    out.progress(&progress_bar(progress));
                }
            }
        }
    }
}

/// Width of the progress bar in characters.
const CELLS: u32 = 24;

fn progress_bar(ImportProgress { done, total, stage }: ImportProgress) -> String {
    let what = match stage {
        ImportStage::Looking => return "searching the folder".into(),
        ImportStage::Personas => "personas",
        ImportStage::Characters => "characters",
        ImportStage::Chats => "chats",
        ImportStage::GroupChats => "group chats",
        ImportStage::Lorebooks => "lorebooks",
        ImportStage::Presets => "presets",
        ImportStage::Pictures => "pictures",
    };
    let full = (u64::from(done) * u64::from(CELLS) / u64::from(total.max(1))) as usize;
    format!(
        "[{}{}] {done} of {total}  {what}",
        "#".repeat(full),
        ".".repeat(CELLS as usize - full)
    )
}

fn import_text(report: &ImportReport) -> String {
    let mut lines = Vec::new();
    for one in &report.imported {
        lines.push(format!(
            "imported {} {} from {} ({})",
            one.kind, one.name, one.file, one.id
        ));
        lines.extend(one.warnings.iter().map(|warning| format!("    {warning}")));
    }
    lines.extend(
        report
            .skipped
            .iter()
            .map(|one| format!("skipped {}: {}", one.file, one.reason)),
    );
    lines.extend(
        report
            .refused
            .iter()
            .map(|one| format!("refused {}: {}", one.file, one.reason)),
    );
    lines.join("\n")
}

/// Lists a chat's title as `name`, like other items.
#[derive(Serialize)]
struct NamedChat {
    name: String,
    #[serde(flatten)]
    chat: ChatSummary,
}

/// Moves an item to the trash.
pub(crate) async fn delete(
    engine: &Engine,
    kind: DeleteKind,
    name: &str,
    keep_learned: bool,
    out: &Output,
) -> Result<(), CommandError> {
    if keep_learned && kind != DeleteKind::Chat {
        return Err(CommandError::because(
            "usage",
            "--keep-learned is for chats",
        ));
    }
    let (id, name) = match kind {
        DeleteKind::Chat => {
            let chat = find::chat(engine, name).await?;
            engine.delete_chats(vec![chat.id], keep_learned).await?;
            (chat.id.to_string(), chat.title)
        }
        DeleteKind::Character => {
            let character = find::character(engine, name).await?;
            engine.delete_character(character.id).await?;
            (character.id.to_string(), character.name)
        }
        DeleteKind::Lorebook => {
            let book = find::lorebook(engine, name).await?;
            if book.character.is_some() {
                let message = format!(
                    "\"{}\" is part of a card; edit the card to remove it",
                    book.name
                );
                return Err(CommandError::because("badInput", message));
            }
            engine.delete_lorebook(book.id).await?;
            (book.id.to_string(), book.name)
        }
    };
    out.answer(&json!({ "id": id, "name": name }), |_| {
        format!("moved \"{name}\" to the trash; trash --restore {id} undoes it")
    })
}

pub(crate) async fn list(
    engine: &Engine,
    kind: ListKind,
    out: &Output,
) -> Result<(), CommandError> {
    match kind {
        ListKind::Characters => {
            let items = engine.list_characters().await?;
            lines(ItemList { items }, out, |one| {
                format!("{}  {}", one.id, one.name)
            })
        }
        ListKind::Chats => {
            let chats = engine.list_chats().await?;
            let items = chats
                .into_iter()
                .map(|chat| NamedChat {
                    name: chat.title.clone(),
                    chat,
                })
                .collect();
            lines(ItemList { items }, out, |NamedChat { name, chat }| {
                format!(
                    "{}  {name} ({}, {} messages)",
                    chat.id, chat.character_name, chat.message_count
                )
            })
        }
        ListKind::Lorebooks => {
            let items = engine.list_lorebooks().await?;
            lines(ItemList { items }, out, |one| {
                let of = match &one.character {
                    Some(_) => format!("of {}, ", one.character_name),
                    None if one.bindings.is_empty() => "not used anywhere, ".to_owned(),
                    None => String::new(),
                };
                format!("{}  {} ({of}{} entries)", one.id, one.name, one.entry_count)
            })
        }
        ListKind::Personas => {
            let items = engine.list_personas().await?;
            lines(ItemList { items }, out, |one| {
                format!("{}  {}", one.id, one.name)
            })
        }
        ListKind::Models => models::list(engine, out).await,
        ListKind::Templates => {
            let items = engine.list_templates().await?;
            lines(ItemList { items }, out, |one| {
                format!("{}  {}", one.id, one.name)
            })
        }
        ListKind::Presets => presets::list(engine, out).await,
        ListKind::Backgrounds => {
            let items = engine.list_backgrounds().await?;
            lines(ItemList { items }, out, |one| {
                let words = if one.scene_words.is_empty() {
                    String::new()
                } else {
                    format!("  ({})", one.scene_words)
                };
                format!("{}  {}{words}", one.picture, one.name)
            })
        }
    }
}

pub(crate) async fn show(
    engine: &Engine,
    kind: ShowKind,
    name: &str,
    out: &Output,
) -> Result<(), CommandError> {
    match kind {
        ShowKind::Character => {
            let found = find::character(engine, name).await?;
            out.answer(&engine.get_character(found.id).await?, character_text)
        }
        ShowKind::Chat => {
            let found = find::chat(engine, name).await?;
            out.answer(&engine.whole_chat(found.id).await?, chat_text)
        }
        ShowKind::Lorebook => lorebook(engine, name, out).await,
        ShowKind::Model => out.answer(&find::model(engine, name).await?, models::whole),
        ShowKind::Persona => {
            let found = find::persona(engine, name).await?;
            out.answer(&found, |one| format!("{}\n\n{}", one.name, one.description))
        }
        ShowKind::Template => {
            let found = find::template(engine, name).await?;
            out.answer(&engine.get_template(found).await?, |found| {
                found.json.clone()
            })
        }
        ShowKind::Preset => presets::show(engine, name, out).await,
        ShowKind::Settings => Err(CommandError::because(
            "usage",
            "`show settings` takes no name",
        )),
    }
}

/// A lorebook with its entries.
#[derive(Serialize)]
struct WholeBook {
    #[serde(flatten)]
    book: LorebookSummary,
    entries: Vec<LorebookEntry>,
}

async fn lorebook(engine: &Engine, name: &str, out: &Output) -> Result<(), CommandError> {
    let book = find::lorebook(engine, name).await?;
    let entries = engine.get_lorebook(book.id).await?.entries;
    out.answer(&WholeBook { book, entries }, |whole| {
        let entry =
            |entry: &LorebookEntry| format!("\n\n# {}\n{}", entry.keys.join(", "), entry.content);
        format!(
            "{}{}",
            whole.book.name,
            whole.entries.iter().map(entry).collect::<String>()
        )
    })
}

fn character_text(character: &Character) -> String {
    let fields = &character.fields;
    let parts = [
        ("Description", &fields.description),
        ("Personality", &fields.personality),
        ("Scenario", &fields.scenario),
        ("Greeting", &fields.first_message),
        ("Examples", &fields.message_examples),
        ("System prompt", &fields.system_prompt),
        ("After the history", &fields.post_history_instructions),
        ("Creator's notes", &fields.creator_notes),
    ];
    let shown = parts
        .iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(title, text)| format!("\n\n# {title}\n{text}"));
    format!(
        "{} ({}){}",
        fields.name,
        character.spec,
        shown.collect::<String>()
    )
}

fn chat_text(chat: &Chat) -> String {
    chat.page
        .messages
        .iter()
        .map(|message| format!("{}: {}", message.name, shown(message)))
        .collect::<Vec<_>>()
        .join("\n\n")
}

/// Returns the text of the selected swipe.
pub(super) fn shown(message: &Message) -> &str {
    let swipe = message.swipes.get(message.selected as usize);
    swipe.map_or("", |swipe| {
        swipe
            .display
            .as_ref()
            .map_or(&swipe.text, |display| &display.text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_bar_is_full_at_the_end() {
        let bar = |done, total| {
            progress_bar(ImportProgress {
                done,
                total,
                stage: ImportStage::Chats,
            })
        };
        assert_eq!(bar(0, 0), "[........................] 0 of 0  chats");
        assert_eq!(bar(7, 12), "[##############..........] 7 of 12  chats");
        assert_eq!(bar(12, 12), "[########################] 12 of 12  chats");
    }
}
