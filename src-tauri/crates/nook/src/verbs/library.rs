//! `import`, `export`, `list`, `show`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use engine::Engine;
use engine::api::{CardFormat, Character, Chat, ChatSummary, ImportReport, Message};
use serde::Serialize;

use super::{models, presets};
use crate::cli::{ListKind, ShowKind};
use crate::failure::Failure;
use crate::find;
use crate::output::Output;

pub(crate) async fn import(engine: &Engine, paths: Vec<PathBuf>, out: &Output) -> Result<(), Failure> {
    let report = engine.import_paths(paths).await?;
    out.answer(&report, import_text)?;
    match report.refused.len() {
        0 => Ok(()),
        1 => Err(Failure::reported("refused", format!("{} was refused", report.refused[0].file))),
        count => Err(Failure::reported("refused", format!("{count} files were refused"))),
    }
}

fn import_text(report: &ImportReport) -> String {
    let mut lines = Vec::new();
    for one in &report.imported {
        lines.push(format!("imported {} {} from {} ({})", one.kind, one.name, one.file, one.id));
        lines.extend(one.warnings.iter().map(|warning| format!("    {warning}")));
    }
    lines.extend(report.skipped.iter().map(|one| format!("skipped {}: {}", one.file, one.reason)));
    lines.extend(report.refused.iter().map(|one| format!("refused {}: {}", one.file, one.reason)));
    lines.join("\n")
}

#[derive(Serialize)]
pub(super) struct Written {
    pub(super) file: String,
    pub(super) bytes: usize,
    pub(super) warnings: Vec<String>,
}

pub(crate) async fn export(
    engine: &Engine,
    name: &str,
    format: CardFormat,
    file: &Path,
    out: &Output,
) -> Result<(), Failure> {
    let character = find::character(engine, name).await?;
    let exported = engine.export_character(character.id, format).await?;
    write_whole(file, &exported.bytes)?;
    let written =
        Written { file: file.display().to_string(), bytes: exported.bytes.len(), warnings: exported.warnings };
    out.answer(&written, |written| {
        let warnings: String = written.warnings.iter().map(|warning| format!("\n    {warning}")).collect();
        format!("wrote {} ({} bytes){warnings}", written.file, written.bytes)
    })
}

/// A full disk leaves what stood at `file` before, not half of the new.
pub(super) fn write_whole(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write(file, bytes)
        .map_err(|error| Failure::because("storage", format!("{} cannot be written: {error}", file.display())))
}

fn write(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut whole = builder.tempfile_in(folder)?;
    whole.write_all(bytes)?;
    whole.as_file().sync_all()?;
    whole.persist(file)?;
    Ok(())
}

#[derive(Serialize)]
pub(super) struct Items<T> {
    pub(super) items: Vec<T>,
}

/// A chat answers to its title as other things do to their name.
#[derive(Serialize)]
struct NamedChat {
    name: String,
    #[serde(flatten)]
    chat: ChatSummary,
}

pub(crate) async fn list(engine: &Engine, kind: ListKind, out: &Output) -> Result<(), Failure> {
    match kind {
        ListKind::Characters => {
            let items = engine.list_characters().await?;
            lines(Items { items }, out, |one| format!("{}  {}", one.id, one.name))
        }
        ListKind::Chats => {
            let chats = engine.list_chats().await?;
            let items = chats.into_iter().map(|chat| NamedChat { name: chat.title.clone(), chat }).collect();
            lines(Items { items }, out, |NamedChat { name, chat }| {
                format!("{}  {name} ({}, {} messages)", chat.id, chat.character_name, chat.message_count)
            })
        }
        ListKind::Personas => {
            let items = engine.list_personas().await?;
            lines(Items { items }, out, |one| format!("{}  {}", one.id, one.name))
        }
        ListKind::Models => models::list(engine, out).await,
        ListKind::Templates => {
            let items = engine.list_templates().await?;
            lines(Items { items }, out, |one| format!("{}  {}", one.id, one.name))
        }
        ListKind::Presets => presets::list(engine, out).await,
    }
}

pub(super) fn lines<T: Serialize>(items: Items<T>, out: &Output, line: impl Fn(&T) -> String) -> Result<(), Failure> {
    out.answer(&items, |items| items.items.iter().map(line).collect::<Vec<_>>().join("\n"))
}

pub(crate) async fn show(engine: &Engine, kind: ShowKind, name: &str, out: &Output) -> Result<(), Failure> {
    match kind {
        ShowKind::Character => {
            let found = find::character(engine, name).await?;
            out.answer(&engine.get_character(found.id).await?, character_text)
        }
        ShowKind::Chat => {
            let found = find::chat(engine, name).await?;
            out.answer(&engine.whole_chat(found.id).await?, chat_text)
        }
        ShowKind::Persona => {
            let found = find::persona(engine, name).await?;
            out.answer(&found, |one| format!("{}\n\n{}", one.name, one.description))
        }
        ShowKind::Template => {
            let found = find::template(engine, name).await?;
            out.answer(&engine.get_template(found).await?, |found| found.json.clone())
        }
        ShowKind::Preset => presets::show(engine, name, out).await,
        ShowKind::Settings => Err(Failure::because("usage", "settings have no name")),
    }
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
    let shown = parts.iter().filter(|(_, text)| !text.is_empty()).map(|(title, text)| format!("\n\n# {title}\n{text}"));
    format!("{} ({}){}", fields.name, character.spec, shown.collect::<String>())
}

fn chat_text(chat: &Chat) -> String {
    chat.page
        .messages
        .iter()
        .map(|message| format!("{}: {}", message.name, shown(message)))
        .collect::<Vec<_>>()
        .join("\n\n")
}

/// The words of the selected swipe.
pub(super) fn shown(message: &Message) -> &str {
    let swipe = message.swipes.get(message.selected as usize);
    swipe.map_or("", |swipe| swipe.display.as_ref().map_or(&swipe.text, |display| &display.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_export_replaces_the_old_file_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mira.json");
        std::fs::write(&file, "old").unwrap();
        write_whole(&file, b"new").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
