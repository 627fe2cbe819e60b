//! Arguments of `folders`.

use clap::{Args, Subcommand, ValueEnum};
use engine::api::FolderColor;

#[derive(Debug, Subcommand)]
pub(crate) enum FoldersVerb {
    /// List the folders of chats and characters
    List,
    /// Create a folder
    Add {
        name: String,
        /// Name or id of the folder that contains it
        #[arg(long, value_name = "FOLDER")]
        inside: Option<String>,
        #[arg(long)]
        color: Option<Color>,
        /// Make a smart folder: it shows every item with this tag
        #[arg(long)]
        tag: Option<String>,
        #[command(flatten)]
        list: FolderList,
    },
    /// Delete a folder; its contents move to the folder that contains it
    Delete {
        /// Name or id
        folder: String,
        #[command(flatten)]
        list: FolderList,
    },
    /// Move chats or characters into a folder; without --to, out of all folders
    Move {
        /// Names or ids
        #[arg(required = true, value_name = "ITEM")]
        items: Vec<String>,
        /// Name or id
        #[arg(long, value_name = "FOLDER")]
        to: Option<String>,
        #[command(flatten)]
        list: FolderList,
    },
    /// Keep chats at the top of their list
    Pin(PlaceArgs),
    /// Take chats out of their list; searches still find them
    Archive(PlaceArgs),
}

#[derive(Debug, Args)]
pub(crate) struct PlaceArgs {
    /// Titles or ids
    #[arg(required = true, value_name = "CHAT")]
    pub(crate) chats: Vec<String>,
    /// Undo it
    #[arg(long)]
    pub(crate) undo: bool,
}

/// The list that folders and items belong to.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct FolderList {
    /// Characters instead of chats
    #[arg(long)]
    pub(crate) characters: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Color {
    Red,
    Orange,
    Yellow,
    Green,
    Blue,
    Purple,
}

impl From<Color> for FolderColor {
    fn from(color: Color) -> Self {
        match color {
            Color::Red => Self::Red,
            Color::Orange => Self::Orange,
            Color::Yellow => Self::Yellow,
            Color::Green => Self::Green,
            Color::Blue => Self::Blue,
            Color::Purple => Self::Purple,
        }
    }
}
