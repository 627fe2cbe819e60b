//! `folders`: folders of chats and characters, pins and the archive.

use domain::FolderId;
use engine::Engine;
use engine::api::{FolderDraft, FolderKind, PlacedItem};
use serde::Serialize;

use crate::cli::{FolderList, FoldersVerb, PlaceArgs};
use crate::failure::CommandError;
use crate::find;
use crate::output::Output;
use crate::verbs::item_list::{ItemList, lines};

pub(super) async fn folders(
    engine: &Engine,
    verb: FoldersVerb,
    out: &Output,
) -> Result<(), CommandError> {
    match verb {
        FoldersVerb::List => list(engine, out).await,
        FoldersVerb::Add {
            name,
            inside,
            color,
            tag,
            list,
        } => {
            let kind = kind_of(list);
            let parent = folder_id(engine, kind, inside).await?;
            let folder = FolderDraft {
                id: None,
                kind,
                parent,
                name,
                color: color.map(Into::into),
                collapsed: false,
                tag,
            };
            let folder = engine.save_folder(folder).await?;
            out.answer(&folder, |folder| {
                format!("created {} ({})", folder.name, folder.id)
            })
        }
        FoldersVerb::Delete { folder, list } => delete(engine, &folder, kind_of(list), out).await,
        FoldersVerb::Move { items, to, list } => {
            let kind = kind_of(list);
            let folder = folder_id(engine, kind, to).await?;
            let items = ids(engine, kind, &items).await?;
            answer(
                engine.move_to_folder(kind, items, folder).await?,
                "moved",
                out,
            )
        }
        FoldersVerb::Pin(args) => pin(engine, args, out).await,
        FoldersVerb::Archive(args) => archive(engine, args, out).await,
    }
}

async fn archive(engine: &Engine, args: PlaceArgs, out: &Output) -> Result<(), CommandError> {
    let PlaceArgs { chats, undo } = args;
    let items = ids(engine, FolderKind::Chat, &chats).await?;
    let done = if undo {
        "taken out of the archive"
    } else {
        "archived"
    };
    answer(
        engine.archive_items(FolderKind::Chat, items, !undo).await?,
        done,
        out,
    )
}

async fn pin(engine: &Engine, args: PlaceArgs, out: &Output) -> Result<(), CommandError> {
    let PlaceArgs { chats, undo } = args;
    let items = ids(engine, FolderKind::Chat, &chats).await?;
    let done = if undo { "unpinned" } else { "pinned" };
    answer(
        engine.pin_items(FolderKind::Chat, items, !undo).await?,
        done,
        out,
    )
}

async fn delete(
    engine: &Engine,
    folder: &str,
    kind: FolderKind,
    out: &Output,
) -> Result<(), CommandError> {
    let id = find::folder(engine, kind, folder).await?.id;
    let deleted = engine.delete_folder(id).await?;
    out.answer(&deleted, |deleted| {
        format!(
            "deleted {}; it contained {} items",
            deleted.folder.name,
            deleted.items.len()
        )
    })
}

async fn folder_id(
    engine: &Engine,
    kind: FolderKind,
    name: Option<String>,
) -> Result<Option<FolderId>, CommandError> {
    match name {
        Some(name) => Ok(Some(find::folder(engine, kind, &name).await?.id)),
        None => Ok(None),
    }
}

async fn list(engine: &Engine, out: &Output) -> Result<(), CommandError> {
    let items = engine.list_folders().await?;
    let names: Vec<(FolderId, String)> =
        items.iter().map(|one| (one.id, one.name.clone())).collect();
    lines(ItemList { items }, out, |folder| {
        let of = if folder.kind == FolderKind::Chat {
            "chats"
        } else {
            "characters"
        };
        let inside = names.iter().find(|(id, _)| Some(*id) == folder.parent);
        let inside = inside
            .map(|(_, name)| format!(", inside {name}"))
            .unwrap_or_default();
        let tag = folder
            .tag
            .as_ref()
            .map(|tag| format!(", tag {tag}"))
            .unwrap_or_default();
        format!("{}  {} ({of}{inside}{tag})", folder.id, folder.name)
    })
}

/// The former places of the items that changed.
#[derive(Serialize)]
struct Changes {
    changed: Vec<PlacedItem>,
}

fn answer(changed: Vec<PlacedItem>, done: &str, out: &Output) -> Result<(), CommandError> {
    out.answer(&Changes { changed }, |changes| {
        match changes.changed.len() {
            0 => "nothing changed".to_owned(),
            1 => format!("1 item {done}"),
            count => format!("{count} items {done}"),
        }
    })
}

async fn ids(
    engine: &Engine,
    kind: FolderKind,
    names: &[String],
) -> Result<Vec<String>, CommandError> {
    let mut ids = Vec::new();
    for name in names {
        ids.push(match kind {
            FolderKind::Chat => find::chat(engine, name).await?.id.to_string(),
            FolderKind::Character => find::character(engine, name).await?.id.to_string(),
        });
    }
    Ok(ids)
}

fn kind_of(list: FolderList) -> FolderKind {
    if list.characters {
        FolderKind::Character
    } else {
        FolderKind::Chat
    }
}
