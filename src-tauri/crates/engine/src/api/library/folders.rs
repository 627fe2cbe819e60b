//! Folders of the chat list and of the character library.

use domain::FolderId;
use serde::{Deserialize, Serialize};
use specta::Type;
pub use store::FolderKind;

/// The colours of folders. Screens choose a tone that is readable in their theme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum FolderColor {
    Red,
    Orange,
    Yellow,
    Green,
    Blue,
    Purple,
}

/// A folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Folder {
    pub id: FolderId,
    pub kind: FolderKind,
    /// The folder that contains it.
    pub parent: Option<FolderId>,
    pub name: String,
    pub color: Option<FolderColor>,
    pub collapsed: bool,
    /// A smart folder shows all characters with this tag, or all chats with such characters.
    pub tag: Option<String>,
}

/// A folder as the user edits it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct FolderDraft {
    /// `null` or an empty text for a new one.
    #[serde(default, deserialize_with = "domain::id::none_if_empty")]
    #[specta(type = Option<FolderId>)]
    pub id: Option<FolderId>,
    pub kind: FolderKind,
    pub parent: Option<FolderId>,
    pub name: String,
    pub color: Option<FolderColor>,
    pub collapsed: bool,
    pub tag: Option<String>,
}

impl From<Folder> for FolderDraft {
    fn from(folder: Folder) -> Self {
        Self {
            id: Some(folder.id),
            kind: folder.kind,
            parent: folder.parent,
            name: folder.name,
            color: folder.color,
            collapsed: folder.collapsed,
            tag: folder.tag,
        }
    }
}

/// The place of a chat or a character in its list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ListPlace {
    pub folder: Option<FolderId>,
    pub pinned: bool,
    /// Archived items are not in the list. Searches find them.
    pub archived: bool,
}

/// A chat or a character, and its place before a change, for `restore_places`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PlacedItem {
    pub id: String,
    pub place: ListPlace,
}

/// A deleted folder with the ids of its contents, for `restore_folder`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct DeletedFolder {
    pub folder: Folder,
    pub folders: Vec<FolderId>,
    pub items: Vec<String>,
}
