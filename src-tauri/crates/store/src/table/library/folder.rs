//! Folders of chats and characters, and the place of each item: its folder, pinned, archived.

use domain::FolderId;
use rusqlite::{OptionalExtension, Row, params};
use uuid::Uuid;

use crate::StoreError;
use crate::access::{Folders, FoldersMut};
use crate::sql::{Col, one};

/// The list that a folder belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum FolderKind {
    Chat,
    Character,
}

impl FolderKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Character => "character",
        }
    }

    fn places(self) -> &'static str {
        match self {
            Self::Chat => "chat_place",
            Self::Character => "character_place",
        }
    }
}

/// A folder. One with a tag is smart: it shows all items with the tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    pub id: FolderId,
    pub kind: FolderKind,
    pub parent: Option<FolderId>,
    pub name: String,
    /// Name of a colour of the palette.
    pub colour: Option<String>,
    pub collapsed: bool,
    pub tag: Option<String>,
}

/// The place of an item in its list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    pub folder: Option<FolderId>,
    pub pinned: bool,
    pub archived: bool,
}

impl Place {
    /// Reads the columns `folder`, `pinned` and `archived`, which are null for an item without a
    /// row.
    pub(crate) fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            folder: row.get::<_, Option<Col<_>>>("folder")?.map(|Col(id)| id),
            pinned: row.get::<_, Option<bool>>("pinned")?.unwrap_or_default(),
            archived: row.get::<_, Option<bool>>("archived")?.unwrap_or_default(),
        })
    }
}

/// The contents of a folder that was deleted, for an undo.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FolderContents {
    pub folders: Vec<FolderId>,
    /// Ids of chats or characters.
    pub items: Vec<Uuid>,
}

impl Folders<'_> {
    /// Folders of both lists, sorted by name.
    pub fn list(&self) -> Result<Vec<Folder>, StoreError> {
        let sql = "SELECT * FROM folder ORDER BY name COLLATE NOCASE, id";
        Ok(self
            .conn
            .prepare_cached(sql)?
            .query_map([], from_row)?
            .collect::<Result<_, _>>()?)
    }

    pub fn get(&self, id: FolderId) -> Result<Option<Folder>, StoreError> {
        let sql = "SELECT * FROM folder WHERE id = ?1";
        Ok(self
            .conn
            .prepare_cached(sql)?
            .query_row([Col(id)], from_row)
            .optional()?)
    }

    /// The place of an item. One without a row is in no folder, not pinned and not archived.
    pub fn place(&self, kind: FolderKind, item: Uuid) -> Result<Place, StoreError> {
        let sql = format!(
            "SELECT folder, pinned, archived FROM {} WHERE item = ?1",
            kind.places()
        );
        let place = self
            .conn
            .prepare_cached(&sql)?
            .query_row([item.as_bytes()], Place::from_row)
            .optional()?;
        Ok(place.unwrap_or_default())
    }
}

impl FoldersMut<'_> {
    /// Adds a folder, or replaces the one with its id.
    ///
    /// # Errors
    /// `Conflict` if its parent does not exist.
    pub fn put(&mut self, folder: &Folder) -> Result<(), StoreError> {
        let sql = "INSERT INTO folder (id, kind, parent, name, colour, collapsed, tag)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (id) DO UPDATE SET parent = excluded.parent, name = excluded.name,
                 colour = excluded.colour, collapsed = excluded.collapsed, tag = excluded.tag";
        self.conn.prepare_cached(sql)?.execute(params![
            Col(folder.id),
            folder.kind.as_str(),
            folder.parent.map(Col),
            folder.name,
            folder.colour,
            folder.collapsed,
            folder.tag,
        ])?;
        Ok(())
    }

    /// Deletes a folder. Its folders and items move to its parent.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn delete(&mut self, folder: &Folder) -> Result<FolderContents, StoreError> {
        let id = Col(folder.id);
        let parent = folder.parent.map(Col);
        let folders = self
            .conn
            .prepare_cached("UPDATE folder SET parent = ?2 WHERE parent = ?1 RETURNING id")?
            .query_map(params![id, parent], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?;
        let sql = format!(
            "UPDATE {} SET folder = ?2 WHERE folder = ?1 RETURNING item",
            folder.kind.places()
        );
        let items = self
            .conn
            .prepare_cached(&sql)?
            .query_map(params![id, parent], |row| Ok(Uuid::from_bytes(row.get(0)?)))?
            .collect::<Result<_, _>>()?;
        one(
            self.conn
                .prepare_cached("DELETE FROM folder WHERE id = ?1")?
                .execute([id])?,
            "folder",
        )?;
        Ok(FolderContents { folders, items })
    }

    /// Changes the place of an item.
    ///
    /// # Errors
    /// `Conflict` if the item or the folder does not exist.
    pub fn set_place(
        &mut self,
        kind: FolderKind,
        item: Uuid,
        place: Place,
    ) -> Result<(), StoreError> {
        let sql = format!(
            "INSERT INTO {} (item, folder, pinned, archived) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (item) DO UPDATE SET folder = excluded.folder, pinned = excluded.pinned,
                 archived = excluded.archived",
            kind.places()
        );
        let columns = params![
            item.as_bytes(),
            place.folder.map(Col),
            place.pinned,
            place.archived
        ];
        self.conn.prepare_cached(&sql)?.execute(columns)?;
        Ok(())
    }

    /// Puts an item in the folder of another one.
    ///
    /// # Errors
    /// `Conflict` if the item does not exist.
    pub fn move_next_to(
        &mut self,
        kind: FolderKind,
        item: Uuid,
        other: Uuid,
    ) -> Result<(), StoreError> {
        let places = kind.places();
        let sql = format!(
            "INSERT INTO {places} (item, folder) SELECT ?1, folder FROM {places} WHERE item = ?2"
        );
        self.conn
            .prepare_cached(&sql)?
            .execute(params![item.as_bytes(), other.as_bytes()])?;
        Ok(())
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Folder> {
    let kind: String = row.get("kind")?;
    Ok(Folder {
        id: row.get::<_, Col<_>>("id")?.0,
        kind: if kind == "chat" {
            FolderKind::Chat
        } else {
            FolderKind::Character
        },
        parent: row.get::<_, Option<Col<_>>>("parent")?.map(|Col(id)| id),
        name: row.get("name")?,
        colour: row.get("colour")?,
        collapsed: row.get("collapsed")?,
        tag: row.get("tag")?,
    })
}
