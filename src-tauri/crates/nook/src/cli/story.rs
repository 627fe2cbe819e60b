//! Arguments of `story`.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum StoryVerb {
    /// Copy a chat up to a message into a new chat with a link back
    Branch {
        /// Title or id
        chat: String,
        /// Number of the message, from 1 [default: the last one]
        #[arg(long, value_name = "NUMBER")]
        at: Option<usize>,
        /// Title of the new chat
        #[arg(long)]
        title: Option<String>,
    },
    /// Name a message, so that you find it again
    Checkpoint {
        /// Title or id
        chat: String,
        /// Number of the message, from 1 [default: the last one]
        #[arg(long, value_name = "NUMBER")]
        at: Option<usize>,
        #[arg(required_unless_present = "remove")]
        name: Option<String>,
        /// Remove the checkpoint
        #[arg(long, conflicts_with = "name")]
        remove: bool,
    },
    /// Show the chats of one origin as a tree
    Tree {
        /// Title or id
        chat: String,
    },
    /// Begin a new scene: the model no longer reads the earlier messages, which stay in the chat
    Scene {
        /// Title or id
        chat: String,
        /// A text of the narrator that opens the scene
        text: Option<String>,
    },
    /// Delete a version of a reply for good; the only one cannot be deleted
    DeleteVersion {
        /// Title or id
        chat: String,
        /// Number of the version, from 1 [default: the shown one]
        #[arg(long, value_name = "NUMBER")]
        version: Option<usize>,
        /// Number of the message, from 1 [default: the last one]
        #[arg(long, value_name = "NUMBER")]
        at: Option<usize>,
    },
    /// Move a message and all later ones into a new chat
    Split {
        /// Title or id
        chat: String,
        /// Number of the message, from 1
        #[arg(long, value_name = "NUMBER")]
        at: usize,
    },
    /// Append the messages of another chat of the same character, which moves to the trash
    Join {
        /// Title or id
        chat: String,
        /// Title or id
        other: String,
    },
}
