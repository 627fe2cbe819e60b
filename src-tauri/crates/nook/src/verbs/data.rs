//! `backup`, `restore`, `trash`, `check`: backups, deleted items, and integrity checks.

pub(crate) mod forget;

use std::path::PathBuf;

use engine::api::{Backup, BackupKind, Difference, RestorePreview, TrashItem, TrashKind, TrashRef};
use engine::{Engine, Options};
use serde::Serialize;

use crate::failure::CommandError;
use crate::output::Output;
use crate::verbs::doctor;
use crate::verbs::item_list::{ItemList, lines};

/// The data folder is encrypted, and an archive of it is not.
const PLAIN_ARCHIVE: &str = "The archive is not encrypted. Anybody who has the file can read it.";

/// Runs `backup`: makes one, unless it names something else.
pub(crate) struct BackupRequest {
    pub(crate) list: bool,
    pub(crate) export: Option<PathBuf>,
    pub(crate) import: Option<PathBuf>,
    pub(crate) second_place: Option<PathBuf>,
}

pub(crate) async fn backups(
    engine: &Engine,
    request: BackupRequest,
    out: &Output,
) -> Result<(), CommandError> {
    if request.list {
        list(engine, out).await
    } else if let Some(file) = request.export {
        export(engine, file, out).await
    } else if let Some(file) = request.import {
        import(engine, file, out).await
    } else if let Some(folder) = request.second_place {
        second_place(engine, folder, out).await
    } else {
        backup(engine, out).await
    }
}

pub(crate) async fn backup(engine: &Engine, out: &Output) -> Result<(), CommandError> {
    out.answer(&engine.backup().await?, |made| {
        format!("wrote {}", line(made))
    })
}

pub(crate) async fn list(engine: &Engine, out: &Output) -> Result<(), CommandError> {
    lines(
        ItemList {
            items: engine.list_backups().await?,
        },
        out,
        line,
    )
}

#[derive(Serialize)]
struct ArchiveFile {
    file: String,
}

pub(crate) async fn export(
    engine: &Engine,
    file: PathBuf,
    out: &Output,
) -> Result<(), CommandError> {
    if engine.protection_status().await?.protected {
        out.warn(PLAIN_ARCHIVE);
    }
    engine.export_archive(file.clone()).await?;
    out.answer(
        &ArchiveFile {
            file: file.display().to_string(),
        },
        |written| format!("wrote {}", written.file),
    )
}

pub(crate) async fn import(
    engine: &Engine,
    file: PathBuf,
    out: &Output,
) -> Result<(), CommandError> {
    let made = engine.import_archive(file).await?;
    out.answer(&made, |made| {
        format!(
            "imported {}; restore it with `nook restore {}`",
            line(made),
            made.file
        )
    })
}

pub(crate) async fn second_place(
    engine: &Engine,
    folder: PathBuf,
    out: &Output,
) -> Result<(), CommandError> {
    let folder = std::path::absolute(&folder).unwrap_or(folder);
    engine.set_second_place(folder.clone()).await?;
    out.answer(
        &ArchiveFile {
            file: folder.display().to_string(),
        },
        |at| format!("every backup is also copied to {}", at.file),
    )
}

fn line(backup: &Backup) -> String {
    let kind = match backup.kind {
        BackupKind::Automatic => "automatic",
        BackupKind::ByHand => "manual",
        BackupKind::Upgrade => "before an upgrade",
        BackupKind::Imported => "imported",
        BackupKind::SetAside => "replaced by a restore",
    };
    format!(
        "{} ({} bytes, taken {}, {kind})",
        backup.file, backup.bytes, backup.taken
    )
}

/// Requires that no process uses the data folder.
pub(crate) async fn restore(
    options: &Options,
    file: Option<PathBuf>,
    out: &Output,
) -> Result<(), CommandError> {
    let restored = Engine::restore(options, file.as_deref()).await?;
    out.answer(&restored, |restored| {
        let skipped = restored
            .skipped
            .iter()
            .map(|why| format!("skipped: {why}\n"))
            .collect::<String>();
        let aside = restored
            .aside
            .as_ref()
            .map(|folder| format!("; the previous database is in {folder}"));
        let missing = match restored.missing {
            0 => String::new(),
            count => format!("\n{count} pictures and files are missing from every backup"),
        };
        format!(
            "{skipped}restored {}{}{missing}",
            restored.backup,
            aside.unwrap_or_default()
        )
    })
}

#[derive(Serialize)]
struct Fresh {
    /// Folder of the previous database.
    aside: Option<String>,
}

/// Requires that no process uses the data folder.
pub(crate) async fn fresh(options: &Options, out: &Output) -> Result<(), CommandError> {
    let aside = Engine::set_aside(options).await?;
    out.answer(
        &Fresh {
            aside: aside.map(|folder| folder.display().to_string()),
        },
        |fresh| match &fresh.aside {
            Some(folder) => format!(
                "the next start begins with an empty database; the previous one is in {folder}"
            ),
            None => "the next start begins with an empty database".to_owned(),
        },
    )
}

/// Previews the newest backup if no file is given.
pub(crate) async fn preview(
    engine: &Engine,
    file: Option<PathBuf>,
    out: &Output,
) -> Result<(), CommandError> {
    let newest = engine
        .list_backups()
        .await?
        .into_iter()
        .find(|backup| !backup.foreign && backup.kind != BackupKind::SetAside);
    let file = file
        .map(|file| file.display().to_string())
        .or(newest.map(|backup| backup.file));
    let file = file.ok_or_else(|| CommandError::not_found("There is no backup."))?;
    out.answer(&engine.preview_restore(file).await?, changes)
}

fn changes(preview: &RestorePreview) -> String {
    let line = |what: &str, of: &Difference| {
        let names = |sign: &str, names: &[String]| {
            names
                .iter()
                .map(|name| format!("\n  {sign} {name}"))
                .collect::<String>()
        };
        format!(
            "{what}: {} added, {} removed{}{}",
            of.gained,
            of.lost,
            names("+", &of.names_gained),
            names("-", &of.names_lost)
        )
    };
    [
        line("characters", &preview.characters),
        line("chats", &preview.chats),
        line("messages", &preview.messages),
        format!("messages with changed text: {}", preview.reworded),
    ]
    .join("\n")
}

/// Actions on items in the trash. Without any, the items are listed.
pub(crate) struct TrashActions {
    pub(crate) restore: Vec<String>,
    pub(crate) delete: Vec<String>,
    pub(crate) empty: bool,
    pub(crate) backups: bool,
}

pub(crate) async fn trash(
    engine: &Engine,
    sorting: TrashActions,
    out: &Output,
) -> Result<(), CommandError> {
    let items = engine.trash().await?;
    if !sorting.restore.is_empty() {
        engine
            .restore_from_trash(chosen(&items, &sorting.restore)?)
            .await?;
        return lines(
            ItemList {
                items: engine.trash().await?,
            },
            out,
            deleted,
        );
    }
    if sorting.empty || !sorting.delete.is_empty() {
        let gone = if sorting.empty {
            engine.empty_trash(sorting.backups).await?
        } else {
            engine
                .delete_from_trash(chosen(&items, &sorting.delete)?, sorting.backups)
                .await?
        };
        return out.answer(&gone, |gone| {
            format!(
                "permanently deleted {} items and {} backups",
                gone.things, gone.backups
            )
        });
    }
    lines(ItemList { items }, out, deleted)
}

fn chosen(items: &[TrashItem], ids: &[String]) -> Result<Vec<TrashRef>, CommandError> {
    let find = |id: &String| {
        let item = items.iter().find(|item| item.id == *id);
        let item = item.ok_or_else(|| {
            CommandError::not_found(format!("Nothing in the trash has the id {id}."))
        })?;
        Ok(TrashRef {
            kind: item.kind,
            id: item.id.clone(),
        })
    };
    ids.iter().map(find).collect()
}

fn deleted(item: &TrashItem) -> String {
    let kind = match item.kind {
        TrashKind::Chat => "chat",
        TrashKind::Character => "character",
        TrashKind::Lorebook => "lorebook",
    };
    format!(
        "{} {kind} \"{}\" (deleted {}, in {} backups)",
        item.id, item.name, item.deleted, item.backups
    )
}

pub(crate) async fn check(engine: &Engine, out: &Output) -> Result<(), CommandError> {
    doctor::report(&engine.check_data().await?, out)
}
