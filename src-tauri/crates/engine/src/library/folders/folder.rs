//! Folders of chats and characters.

use std::collections::HashMap;

use domain::FolderId;
use store::{Place, StoreError, WriteTransaction};
use uuid::Uuid;

use crate::api::{Changed, DeletedFolder, Folder, FolderColor, FolderDraft};
use crate::base::error::{ApiResult, bad_input, not_found};
use crate::library::folders::Folders;
use crate::library::folders::places::{exists, ids};

/// Maximum number of folders in both lists together.
const MOST: usize = 2_000;
/// Maximum number of folders inside each other.
const DEEPEST: usize = 8;
/// Maximum length of a name, in characters.
const LONGEST: usize = 100;

impl Folders {
    /// Folders of both lists, sorted by name.
    pub(crate) async fn list_folders(&self) -> ApiResult<Vec<Folder>> {
        let folders = self
            .base()
            .store()
            .read(|store| store.folders().list())
            .await?;
        Ok(folders.into_iter().map(shown).collect())
    }

    /// Creates a folder if it has no id, and changes it otherwise. The kind of a folder never
    /// changes.
    ///
    /// # Errors
    /// `BadInput` for an empty name, for too many folders or levels, and for a folder that would
    /// contain itself; `NotFound` if it or its parent does not exist.
    pub(crate) async fn save_folder(&self, folder: FolderDraft) -> ApiResult<Folder> {
        let new = folder.id.is_none();
        let mut row = stored(folder);
        if row.name.is_empty() {
            return Err(bad_input("A folder needs a name.", "Write a few words."));
        }
        let known = self
            .base()
            .store()
            .read(|store| store.folders().list())
            .await?;
        match known.iter().find(|known| known.id == row.id) {
            Some(own) => row.kind = own.kind,
            None if !new => return Err(not_found("folder")),
            None if known.len() >= MOST => {
                return Err(bad_input(
                    format!("There are {MOST} folders already."),
                    "Delete some of them first.",
                ));
            }
            None => {}
        }
        check_levels(&row, &known)?;
        let saved = row.clone();
        self.base()
            .store()
            .write(move |store| store.folders_mut().put(&saved))
            .await?;
        self.folders_changed();
        Ok(shown(row))
    }

    /// Deletes a folder. Its contents move to the folder that contains it. Returns what
    /// `restore_folder` needs.
    pub(crate) async fn delete_folder(&self, id: FolderId) -> ApiResult<DeletedFolder> {
        let delete = move |store: &mut WriteTransaction<'_>| {
            let folder = store
                .folders()
                .get(id)?
                .ok_or(StoreError::NotFound { what: "folder" })?;
            let contents = store.folders_mut().delete(&folder)?;
            Ok((folder, contents))
        };
        let (folder, contents) = self.base().store().write(delete).await?;
        self.folders_changed();
        self.characters.library_changed();
        Ok(DeletedFolder {
            folder: shown(folder),
            folders: contents.folders,
            items: contents.items.iter().map(ToString::to_string).collect(),
        })
    }

    /// Undoes `delete_folder`. Contents that no longer exist are left out.
    pub(crate) async fn restore_folder(&self, deleted: DeletedFolder) -> ApiResult<()> {
        let row = stored(deleted.folder.into());
        let folders = deleted.folders;
        let items = ids(&deleted.items)?;
        let restore = move |store: &mut WriteTransaction<'_>| {
            store.folders_mut().put(&row)?;
            for id in folders {
                if let Some(mut inner) = store.folders().get(id)? {
                    inner.parent = Some(row.id);
                    store.folders_mut().put(&inner)?;
                }
            }
            for item in items {
                if exists(store, row.kind, item)? {
                    let place = store.folders().place(row.kind, item)?;
                    store.folders_mut().set_place(
                        row.kind,
                        item,
                        Place {
                            folder: Some(row.id),
                            ..place
                        },
                    )?;
                }
            }
            Ok(())
        };
        self.base().store().write(restore).await?;
        self.folders_changed();
        self.characters.library_changed();
        Ok(())
    }

    pub(crate) fn folders_changed(&self) {
        self.base().events().changed(Changed::Folders, None);
    }
}

/// Whether the parent exists in the same list, and the folder is neither inside itself nor too
/// deep.
fn check_levels(folder: &store::Folder, known: &[store::Folder]) -> ApiResult<()> {
    let by_id: HashMap<FolderId, &store::Folder> =
        known.iter().map(|known| (known.id, known)).collect();
    let mut above = folder.parent;
    let mut levels = 1 + height(folder.id, known, DEEPEST);
    while let Some(id) = above {
        if id == folder.id {
            return Err(bad_input(
                "A folder cannot contain itself.",
                "Choose another place for it.",
            ));
        }
        let parent = by_id
            .get(&id)
            .filter(|parent| parent.kind == folder.kind)
            .ok_or_else(|| not_found("folder"))?;
        if parent.tag.is_some() {
            return Err(bad_input(
                "A smart folder shows what has its tag.",
                "Choose another place for the folder.",
            ));
        }
        levels += 1;
        if levels > DEEPEST {
            let message = format!("Folders can have {DEEPEST} levels at most.");
            return Err(bad_input(message, "Put the folder further up."));
        }
        above = parent.parent;
    }
    Ok(())
}

/// Number of levels below a folder, at most `limit`.
fn height(id: FolderId, known: &[store::Folder], limit: usize) -> usize {
    if limit == 0 {
        return 0;
    }
    let inside = known
        .iter()
        .filter(|folder| folder.parent == Some(id) && folder.id != id);
    inside
        .map(|folder| 1 + height(folder.id, known, limit - 1))
        .max()
        .unwrap_or_default()
}

const COLORS: [(FolderColor, &str); 6] = [
    (FolderColor::Red, "red"),
    (FolderColor::Orange, "orange"),
    (FolderColor::Yellow, "yellow"),
    (FolderColor::Green, "green"),
    (FolderColor::Blue, "blue"),
    (FolderColor::Purple, "purple"),
];

fn shown(row: store::Folder) -> Folder {
    let color = COLORS
        .into_iter()
        .find(|(_, name)| Some(*name) == row.colour.as_deref());
    Folder {
        id: row.id,
        kind: row.kind,
        parent: row.parent,
        name: row.name,
        color: color.map(|(color, _)| color),
        collapsed: row.collapsed,
        tag: row.tag,
    }
}

fn stored(folder: FolderDraft) -> store::Folder {
    let short = |text: &str| text.trim().chars().take(LONGEST).collect::<String>();
    let color = COLORS
        .into_iter()
        .find(|(color, _)| Some(*color) == folder.color);
    store::Folder {
        id: folder.id.unwrap_or_else(|| FolderId(Uuid::now_v7())),
        kind: folder.kind,
        parent: folder.parent,
        name: short(&folder.name),
        colour: color.map(|(_, name)| name.to_owned()),
        collapsed: folder.collapsed,
        tag: folder
            .tag
            .map(|tag| short(&tag))
            .filter(|tag| !tag.is_empty()),
    }
}
