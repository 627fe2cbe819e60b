//! Arguments of the command line.

mod api_key;
mod character;
mod folders;
mod group;
mod kinds;
mod lore;
mod memory;
mod readable;
mod story;
mod tool_servers;
mod tools;

use std::path::PathBuf;

pub(crate) use api_key::{ApiKeyArgs, ApiKeyVerb};
pub(crate) use character::CharacterVerb;
use clap::{Args, Parser, Subcommand, ValueEnum};
use engine::api::Ask;
pub(crate) use folders::{FolderList, FoldersVerb, PlaceArgs};
pub(crate) use group::{GroupMemberArgs, GroupVerb};
pub(crate) use kinds::{ExportFormat, ExportKind, ListKind, ShowKind};
pub(crate) use lore::{LoreProfile, LoreTestArgs, LoreVerb};
pub(crate) use memory::{MemoryArgs, MemoryVerb};
#[cfg(feature = "evaluation")]
pub(crate) use memory::{RankArgs, ScenarioArgs};
pub(crate) use readable::ReadableArgs;
pub(crate) use story::StoryVerb;
pub(crate) use tool_servers::{ToolServerArgs, ToolServerVerb};
pub(crate) use tools::ToolVerb;

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
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Import cards, chats, lorebooks, presets and model files; folders are searched recursively
    Import {
        #[arg(required_unless_present = "sillytavern", value_name = "PATH")]
        paths: Vec<PathBuf>,
        /// A SillyTavern folder: imports its cards, chats, personas, regex scripts and active presets
        #[arg(long, value_name = "DIR")]
        sillytavern: Option<PathBuf>,
    },
    /// Export a character, a lorebook, a chat, a preset, a script, a template or a background to a file
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
    /// Change a setting of prompts and replies: for all chats, or for one chat, character, model or endpoint
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
    /// Search messages, notes, memories, lorebooks and characters: words, "phrases"; messages also by from:NAME, in:TITLE,
    /// before:DATE, after:DATE, has:picture
    Search {
        #[arg(required = true, value_name = "QUERY")]
        query: Vec<String>,
        /// Id or title [default: all chats]
        #[arg(long)]
        chat: Option<String>,
        /// Also find messages, memories and marked entries with a similar meaning, if they are embedded
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
    /// Serve the local API, and optionally the web UI, until interrupted
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
    /// Test lorebooks on files, without a data folder
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
    /// Check the integrity of all data: the database, pictures and files, backups
    Check,
    /// Report the health of the app and its models
    Doctor {
        /// Also contact each endpoint
        #[arg(long)]
        endpoints: bool,
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

#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// Name or id, or a card file, which is imported first
    #[arg(long, value_name = "CHARACTER", required_unless_present = "chat")]
    pub(crate) character: Option<String>,
    /// Continue this chat (id or title) instead of starting a new one
    #[arg(long)]
    pub(crate) chat: Option<String>,
    /// The persona to play: name or id
    #[arg(long)]
    pub(crate) persona: Option<String>,
    #[command(flatten)]
    pub(crate) answering: ModelArgs,
    /// Random seed; the same seed gives the same reply
    #[arg(long)]
    pub(crate) seed: Option<u32>,
    /// Sampling temperature from 0 to 2; 0 always takes the most likely token
    #[arg(long, value_name = "X", value_parser = temperature)]
    pub(crate) temperature: Option<f32>,
    /// Maximum length of the reply in tokens
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_tokens: Option<u32>,
    /// A picture to send with the first message (PNG, JPEG or WebP); may be repeated
    #[arg(long = "image", value_name = "FILE")]
    pub(crate) images: Vec<PathBuf>,
    /// The message to send [default: each line of stdin]
    #[arg(long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PromptArgs {
    /// Id or title
    #[arg(long, required_unless_present = "character")]
    pub(crate) chat: Option<String>,
    /// Name or id; without --chat, uses the character's newest chat, or shows the first turn if there is none
    #[arg(long, value_name = "CHARACTER")]
    pub(crate) character: Option<String>,
    /// The message to build the prompt for
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) message: String,
    /// Print the prompt of a background task instead of the next turn
    #[arg(long, value_name = "JOB", conflicts_with = "message")]
    pub(crate) ask: Option<GenerationTask>,
    /// Generate another version of the last reply instead of the next turn
    #[arg(long, conflicts_with_all = ["message", "ask"])]
    pub(crate) regenerate: bool,
    /// Context size in tokens to plan for
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u32>,
    /// Placement of lore and notes, overriding the settings
    #[arg(long)]
    pub(crate) placement: Option<PlacementArg>,
    /// Print the prompt at this stage, compared with the stage before
    #[arg(long)]
    pub(crate) stage: Option<StageArg>,
    #[command(flatten)]
    pub(crate) answering: ModelArgs,
}

/// Model, template and mode of a turn, overriding the chat and the settings.
#[derive(Debug, Default, Args)]
pub(crate) struct ModelArgs {
    /// A model of the library: name, file name or id
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// A remote endpoint, name or id; NAME/MODEL for a model other than its default
    #[arg(long, value_name = "NAME", conflicts_with = "model")]
    pub(crate) endpoint: Option<String>,
    /// A prompt template: id or name
    #[arg(long, value_name = "T")]
    pub(crate) template: Option<String>,
    /// A conversation mode
    #[arg(long, value_name = "M")]
    pub(crate) mode: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EndpointVerb {
    /// List the endpoints
    List,
    /// List known services and servers, with their addresses
    Services,
    /// Add an endpoint
    Add(EndpointArgs),
    /// List the models of an endpoint
    Models {
        /// Name or id
        name: String,
    },
    /// Test an endpoint and store its list of models
    Test {
        /// Name or id
        name: String,
    },
    /// Use an endpoint by default, for chats without their own model
    Default {
        /// Name or id; NAME/MODEL for a model other than its default
        name: String,
    },
    /// Remove an endpoint and its key
    Remove {
        /// Name or id
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct EndpointArgs {
    /// Display name [default: the service's name or the address]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Base address, such as http://127.0.0.1:8080/v1
    #[arg(long, required_unless_present = "service")]
    pub(crate) url: Option<String>,
    /// A known service; `endpoints services` lists them
    #[arg(long)]
    pub(crate) service: Option<String>,
    /// The API of the server [default: by the address]
    #[arg(long, value_name = "API", value_parser = ["openai", "text", "anthropic", "gemini", "ollama"])]
    pub(crate) api: Option<String>,
    /// The default model
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Context size of the model in tokens
    #[arg(long, value_name = "N", default_value_t = 8192)]
    pub(crate) context: u32,
    /// A file with the API key; - reads it from stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) key_from: Option<PathBuf>,
    /// A file with one header per line, such as X-Team: lamps
    #[arg(long, value_name = "FILE")]
    pub(crate) headers_from: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelVerb {
    /// List the models
    List,
    /// Add a GGUF file; it stays in its folder
    Add { file: PathBuf },
    /// Download a GGUF file from an https address into the data folder, and add it
    Get {
        url: String,
        /// Expected SHA-256 of the file
        #[arg(long, value_name = "HEX")]
        sha256: Option<String>,
    },
    /// Search the model hub
    Search {
        #[arg(required = true, value_name = "QUERY")]
        query: Vec<String>,
        /// Cursor of a further page, as the page before printed it
        #[arg(long, value_name = "CURSOR")]
        page: Option<String>,
    },
    /// List the files of a model on the hub: size, quantisation, fit, checksum
    Files {
        /// OWNER/NAME
        repo: String,
    },
    /// Report the memory that a file of the hub needs, before it is downloaded
    Fit {
        /// OWNER/NAME
        repo: String,
        /// Path or quantisation
        file: String,
        /// Context size in tokens
        #[arg(long, value_name = "N")]
        context: Option<u32>,
    },
    /// Download a model from the hub and add it; an interrupted download continues
    Download {
        /// OWNER/NAME, or the id of a suggested model
        repo: String,
        /// Path or quantisation [default: the file that suits this machine]
        file: Option<String>,
        /// Also download the file that lets the model read pictures
        #[arg(long)]
        pictures: bool,
        /// Use the model by default afterwards
        #[arg(long)]
        default: bool,
    },
    /// List the downloads that are not complete, or cancel one
    Downloads {
        #[arg(long, value_name = "ID")]
        cancel: Option<String>,
    },
    /// List models that suit this machine
    Suggest,
    /// List the folders of model files, or add or forget one
    #[command(group = clap::ArgGroup::new("folder").multiple(false))]
    Folders {
        /// Add the model files in a folder without copying them
        #[arg(long, value_name = "DIR", group = "folder")]
        add: Option<PathBuf>,
        /// Forget a folder; its models stay in the library
        #[arg(long, value_name = "DIR", group = "folder")]
        forget: Option<String>,
    },
    /// List other apps with model files on this machine, or add the models of one without copying them
    Apps { app: Option<String> },
    /// Show or change the address of the model hub, and its access token
    Hub {
        /// Address; an empty one restores the default
        #[arg(long, value_name = "URL")]
        address: Option<String>,
        /// File with the access token; an empty file removes it
        #[arg(long, value_name = "FILE")]
        token_from: Option<PathBuf>,
    },
    /// Remove a model from the library; its file is kept
    Remove { name: String },
    /// Use a model by default, for chats without their own model
    Default { name: String },
    /// List the devices that can compute models
    Devices,
    /// Load a model with its own settings, and report where it is
    Load { name: String },
    /// Change how a model is loaded, such as `gpu_layers`, `kv_cache_type` or `context_limit`; `show settings` lists all
    /// keys
    Set {
        name: String,
        key: String,
        #[arg(required_unless_present = "reset")]
        value: Option<String>,
        /// Remove the value, so that the more general value applies
        #[arg(long, conflicts_with = "value")]
        reset: bool,
    },
    /// Load a model with an adapter (LoRA), or without one
    Adapter {
        name: String,
        #[arg(required_unless_present_any = ["remove", "weight"])]
        file: Option<PathBuf>,
        /// Factor of its effect, from 0 to 2
        #[arg(long)]
        weight: Option<f32>,
        #[arg(long, conflicts_with_all = ["file", "weight"])]
        remove: bool,
    },
    /// Measure the speed of a model for about ten seconds, and keep the fastest settings
    Speed { name: String },
    /// Verify every model file against its stored checksum
    Check,
    /// Count the tokens of a remote model with its own tokenizer.json
    Tokenizer {
        /// The endpoint: name or id
        endpoint: String,
        #[arg(required_unless_present = "remove")]
        file: Option<PathBuf>,
        /// Remove the tokenizer and count with a matching encoding or an estimate again
        #[arg(long, conflicts_with = "file")]
        remove: bool,
    },
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

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum GenerationTask {
    /// Continue the last reply
    Continue,
    /// Draft the user's next message
    Impersonate,
    /// Title of the chat
    Title,
}

impl From<GenerationTask> for Ask {
    fn from(job: GenerationTask) -> Self {
        match job {
            GenerationTask::Continue => Self::Continue,
            GenerationTask::Impersonate => Self::Impersonate,
            GenerationTask::Title => Self::Title,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum PlacementArg {
    CacheFirst,
    Classic,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum StageArg {
    /// The template as written, with its variables and macros
    Sources,
    /// After variables, macros and regex scripts
    Filled,
    /// After applying the token budget
    Budget,
    /// As sent to the model
    Sent,
}

fn temperature(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(value) if (0.0..=2.0).contains(&value) => Ok(value),
        _ => Err("enter a number from 0 to 2".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn temperature_is_a_number_from_0_to_2() {
        assert_eq!(temperature("0.8"), Ok(0.8));
        for wrong in ["-1", "2.1", "NaN", "inf", "warm"] {
            assert!(temperature(wrong).is_err(), "{wrong}");
        }
    }
}
