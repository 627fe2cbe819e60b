//! Arguments of the command line.

mod api_key;
mod character;
mod endpoints;
mod folders;
mod forget;
mod group;
mod kinds;
mod lore;
mod memory;
mod models;
mod protect;
mod readable;
mod story;
mod tool_servers;
mod tools;
mod turn;
mod update;

use std::path::PathBuf;

pub(crate) use api_key::{ApiKeyArgs, ApiKeyVerb};
pub(crate) use character::CharacterVerb;
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
pub(crate) use endpoints::{EndpointArgs, EndpointVerb};
pub(crate) use folders::{FolderList, FoldersVerb, PlaceArgs};
pub(crate) use forget::ForgetSubjectArgs;
pub(crate) use group::{GroupMemberArgs, GroupVerb};
pub(crate) use kinds::{DeleteKind, ExportFormat, ExportKind, ListKind, ShowKind};
pub(crate) use lore::{LoreProfile, LoreTestArgs, LoreVerb};
pub(crate) use memory::{ForgetArgs, MemoryArgs, MemoryVerb};
#[cfg(feature = "evaluation")]
pub(crate) use memory::{RankArgs, ScenarioArgs};
pub(crate) use models::ModelVerb;
pub(crate) use protect::{ProtectVerb, UnlockArgs};
pub(crate) use readable::ReadableArgs;
pub(crate) use story::StoryVerb;
pub(crate) use tool_servers::{GrantArg, ToolServerArgs, ToolServerVerb};
pub(crate) use tools::ToolVerb;
pub(crate) use turn::{ChatArgs, ModelArgs, PlacementArg, PromptArgs, StageArg};
pub(crate) use update::UpdateArgs;

/// Private character chat on this machine, from the command line.
#[derive(Debug, Parser)]
#[command(name = "nook", version, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// The data folder [default: the desktop app's data folder]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Print JSON: one document, or one line per event
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) unlock: UnlockArgs,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Import cards, chats, lorebooks, presets and model files; folders are searched recursively,
    /// SillyTavern's as a whole
    Import {
        #[arg(required_unless_present = "sillytavern", value_name = "PATH")]
        paths: Vec<PathBuf>,
        /// A SillyTavern folder: imports its cards, chats, personas, regex scripts and active
        /// presets, and shows progress
        #[arg(long, value_name = "DIR")]
        sillytavern: Option<PathBuf>,
    },
    /// Export a character, a lorebook, a chat, a preset, a script, a template or a background to a
    /// file
    Export {
        kind: ExportKind,
        /// Name or id
        name: String,
        #[arg(long = "as", value_name = "FORMAT")]
        format: ExportFormat,
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        #[command(flatten)]
        parts: ReadableArgs,
    },
    /// Move a chat, a character or a lorebook to the trash; `trash` lists and restores it
    Delete {
        kind: DeleteKind,
        /// Name or id
        name: String,
        /// For a chat: keep the memories that were learned in it
        #[arg(long)]
        keep_learned: bool,
    },
    /// List items of one kind
    List { kind: ListKind },
    /// Show one item in full, or the settings of prompts and replies with their origins
    Show {
        kind: ShowKind,
        /// Name or id
        #[arg(required_if_eq_any([("kind", "character"), ("kind", "chat"), ("kind", "persona"), ("kind", "lorebook"), ("kind", "model"), ("kind", "template"), ("kind", "preset")]))]
        name: Option<String>,
        #[command(flatten)]
        whose: SettingsOwnerArgs,
    },
    /// Change a setting of prompts and replies: for all chats, or for one chat, character, model or
    /// endpoint
    Set {
        /// Key of the setting, such as `history_cap`; `show settings` lists all keys
        key: String,
        #[arg(required_unless_present = "reset")]
        value: Option<String>,
        /// Remove the value, so that the setting's default or a more general value applies
        #[arg(long, conflicts_with = "value")]
        reset: bool,
        #[command(flatten)]
        whose: SettingsOwnerArgs,
    },
    /// Send one message, or chat line by line
    Chat(ChatArgs),
    /// Chats with several characters: create, add, mute, order, speak
    Group {
        #[command(subcommand)]
        verb: GroupVerb,
    },
    /// Print the prompt that a message would produce; nothing is sent or stored
    Prompt(PromptArgs),
    /// Search messages, notes, memories, lorebooks and characters: words, "phrases"; messages also
    /// by from:NAME, in:TITLE, before:DATE, after:DATE, has:picture
    Search {
        #[arg(required = true, value_name = "QUERY")]
        query: Vec<String>,
        /// Id or title [default: all chats]
        #[arg(long)]
        chat: Option<String>,
        /// Also find messages, memories and marked entries with a similar meaning, if they are
        /// embedded
        #[arg(long)]
        meaning: bool,
    },
    /// Manage folders, pins and the archive of chats and characters
    Folders {
        #[command(subcommand)]
        verb: FoldersVerb,
    },
    /// Count the tokens of a file or of stdin
    Tokens {
        /// Name, file name or id [default: the default model]
        #[arg(long)]
        model: Option<String>,
        /// Also print the token ids
        #[arg(long)]
        ids: bool,
        file: Option<PathBuf>,
    },
    /// Manage the model library
    Models {
        #[command(subcommand)]
        verb: ModelVerb,
    },
    /// Manage remote endpoints and their models
    Endpoints {
        #[command(subcommand)]
        verb: EndpointVerb,
    },
    /// Manage the servers that offer tools to models (MCP)
    ToolServers {
        #[command(subcommand)]
        verb: ToolServerVerb,
    },
    /// List and forget decisions about the app's own tools
    Tools {
        #[command(subcommand)]
        verb: ToolVerb,
    },
    /// Offer the characters to another program as tools: an MCP server on stdin and stdout
    Mcp,
    /// Copy characters, restore earlier versions of their cards, and choose their personas
    Character {
        #[command(subcommand)]
        verb: CharacterVerb,
    },
    /// Manage the memories of characters and chats
    Memory {
        #[command(subcommand)]
        verb: MemoryVerb,
    },
    /// Branch, split and join chats, and mark their checkpoints
    Story {
        #[command(subcommand)]
        verb: StoryVerb,
    },
    /// Serve the local API, and optionally the web UI, until interrupted; an encrypted data folder
    /// is locked again at the end
    Serve {
        /// 127.0.0.1, ::1 or localhost
        #[arg(long, default_value = "127.0.0.1")]
        host: String,
        /// Port; 0 selects any free port [default: 8000 with --api, else 0]
        #[arg(long)]
        port: Option<u16>,
        /// Serve the web UI too
        #[arg(long)]
        ui: bool,
        /// Serve the OpenAI-compatible API and the chat socket, whatever the settings say
        #[arg(long)]
        api: bool,
        /// A file with the API key of the default endpoint, or NAME=FILE for another; may be
        /// repeated; - reads stdin
        #[arg(long, value_name = "[NAME=]FILE")]
        key_from: Vec<PathBuf>,
    },
    /// Call any operation of the app by its name, such as `list_chats`, and print its result as
    /// JSON
    Call {
        operation: String,
        /// The operation's arguments as one JSON object; - reads stdin [default: none]
        arguments: Option<String>,
    },
    /// Make, list, limit and revoke keys of the local API
    ApiKey {
        #[command(subcommand)]
        verb: ApiKeyVerb,
    },
    /// Check and render prompt templates
    Template {
        #[command(subcommand)]
        verb: TemplateVerb,
    },
    /// Copy lorebooks, or test them on files without a data folder
    Lore {
        #[command(subcommand)]
        verb: LoreVerb,
    },
    /// Make a verified backup of the database, pictures and files, or list the backups
    #[command(group = clap::ArgGroup::new("backup").multiple(false))]
    Backup {
        #[arg(long, group = "backup")]
        list: bool,
        /// Export everything to one archive instead
        #[arg(long, value_name = "FILE", group = "backup")]
        export: Option<PathBuf>,
        /// Import an archive as a backup, which `restore` can then restore
        #[arg(long, value_name = "FILE", group = "backup")]
        import: Option<PathBuf>,
        /// Copy every backup to this folder too
        #[arg(long, value_name = "FOLDER", group = "backup")]
        second_place: Option<PathBuf>,
    },
    /// Replace the database with a backup; the current database is kept in a separate folder
    Restore {
        /// The backup file [default: the newest intact backup]
        file: Option<PathBuf>,
        /// Only show what would change
        #[arg(long)]
        preview: bool,
        /// Keep the current database in a separate folder and start with an empty one
        #[arg(long, conflicts_with_all = ["file", "preview"])]
        fresh: bool,
    },
    /// List deleted chats, characters and lorebooks, or restore or remove them
    #[command(group = clap::ArgGroup::new("trash").multiple(false))]
    Trash {
        /// Ids to restore
        #[arg(long, value_name = "ID", group = "trash")]
        restore: Vec<String>,
        /// Ids to delete permanently
        #[arg(long, value_name = "ID", group = "trash")]
        delete: Vec<String>,
        /// Delete everything in the trash permanently
        #[arg(long, group = "trash")]
        empty: bool,
        /// With --delete or --empty: also delete the backups that contain the items
        #[arg(long)]
        backups: bool,
    },
    /// Remove everything about a character, a persona or a span of days for good, from the data and
    /// the backups
    Forget(ForgetSubjectArgs),
    /// Check the integrity of all data: the database, pictures and files, backups
    Check,
    /// Encrypt the data folder with a passphrase, or decrypt it
    Protect {
        #[command(subcommand)]
        verb: ProtectVerb,
    },
    /// Lock the running app that has the data folder open; it restarts and asks for the passphrase
    Lock,
    /// Show what is known about updates; check, install or take back one
    Update(UpdateArgs),
    /// Report the health of the app and its models
    Doctor {
        /// Also contact each endpoint
        #[arg(long)]
        endpoints: bool,
    },
    /// Print the script with which a shell completes the arguments of `nook`
    Completions { shell: Shell },
    /// Print the manual page of `nook`
    #[command(hide = true)]
    Man {
        /// Write it and the pages of all verbs into a folder instead
        #[arg(long, value_name = "FOLDER")]
        into: Option<PathBuf>,
    },
}

/// Owner of the settings; without any of these, all chats.
#[derive(Debug, Default, Args)]
#[group(multiple = false)]
pub(crate) struct SettingsOwnerArgs {
    /// Id or title
    #[arg(long)]
    pub(crate) chat: Option<String>,
    /// Name or id
    #[arg(long, value_name = "CHARACTER")]
    pub(crate) character: Option<String>,
    /// A model of the library: name, file name or id
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// A remote endpoint: name or id
    #[arg(long, value_name = "NAME")]
    pub(crate) endpoint: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TemplateVerb {
    /// Report the problems of a template by section
    Check { file: PathBuf },
    /// Render a template for a chat; nothing is sent or stored
    Render {
        file: PathBuf,
        /// Id or title
        #[arg(long)]
        chat: String,
    },
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn arguments_are_consistent() {
        Cli::command().debug_assert();
    }
}
