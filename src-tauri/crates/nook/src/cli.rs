//! The words of the command line.

mod kinds;
mod memory;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use engine::api::Ask;
pub(crate) use kinds::{ExportKind, Format, ListKind, ShowKind};
pub(crate) use memory::{MemoryArgs, MemoryVerb, RankArgs, ScenarioArgs};

/// Private character chat on this machine, from the command line.
#[derive(Debug, Parser)]
#[command(name = "nook", version, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// The data folder; without it the desktop app's own
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
    /// Import cards, chats, lorebooks, presets and model files; folders are searched to their ends
    Import {
        #[arg(required_unless_present = "sillytavern", value_name = "PATH")]
        paths: Vec<PathBuf>,
        /// A folder of SillyTavern's: its cards, chats, personas, regex scripts, and the presets in use
        #[arg(long, value_name = "DIR")]
        sillytavern: Option<PathBuf>,
    },
    /// Write a character, a lorebook, a chat, a preset, a script or a template to a file
    Export {
        kind: ExportKind,
        /// Name or id
        name: String,
        #[arg(long = "as", value_name = "FORMAT")]
        format: Format,
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// List what is there
    List { kind: ListKind },
    /// Show one thing, whole; or the settings of prompts and replies, with their origins
    Show {
        kind: ShowKind,
        /// Name or id
        #[arg(required_if_eq_any([("kind", "character"), ("kind", "chat"), ("kind", "persona"), ("kind", "lorebook"), ("kind", "model"), ("kind", "template"), ("kind", "preset")]))]
        name: Option<String>,
        #[command(flatten)]
        whose: Whose,
    },
    /// Change a setting of prompts and replies: for all, or for one chat, character, model or endpoint
    Set {
        /// As `show settings` lists it, such as `history_cap`
        key: String,
        #[arg(required_unless_present = "reset")]
        value: Option<String>,
        /// Let the layer below decide again
        #[arg(long, conflicts_with = "value")]
        reset: bool,
        #[command(flatten)]
        whose: Whose,
    },
    /// Say one message, or talk line by line
    Chat(ChatArgs),
    /// Print the prompt that a message would send; nothing is sent or stored
    Prompt(PromptArgs),
    /// Count the tokens of a file or of stdin
    Tokens {
        /// Name, file name or id; without it the default model
        #[arg(long)]
        model: Option<String>,
        /// Print the token ids as well
        #[arg(long)]
        ids: bool,
        file: Option<PathBuf>,
    },
    /// The model library
    Models {
        #[command(subcommand)]
        verb: ModelVerb,
    },
    /// Remote endpoints and their models
    Endpoints {
        #[command(subcommand)]
        verb: EndpointVerb,
    },
    /// What is remembered of a character, of a pair, of a chat
    Memory {
        #[command(subcommand)]
        verb: MemoryVerb,
    },
    /// Serve the local API, and the web UI where asked, until interrupted
    Serve {
        /// 127.0.0.1, ::1 or localhost
        #[arg(long, default_value = "127.0.0.1")]
        host: String,
        /// 0 takes any free port
        #[arg(long, default_value_t = 0)]
        port: u16,
        /// Serve the web UI too
        #[arg(long)]
        ui: bool,
    },
    /// Prompt templates
    Template {
        #[command(subcommand)]
        verb: TemplateVerb,
    },
    /// Try lorebooks on files; no data folder is touched
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
    /// Put a backup in the place of the database, which is set aside
    Restore {
        /// The file of a backup; without it, the newest intact backup
        file: Option<PathBuf>,
        /// Only show what would change
        #[arg(long)]
        preview: bool,
        /// Set the database aside and start with an empty one
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
        /// With --delete or --empty: also delete the backups that hold the items
        #[arg(long)]
        backups: bool,
    },
    /// Read everything that is kept: the database, pictures and files, backups
    Check,
    /// Say what works and what does not
    Doctor {
        /// Also contact each endpoint
        #[arg(long)]
        endpoints: bool,
    },
}

/// Whose settings; without any of these everybody's.
#[derive(Debug, Default, Args)]
#[group(multiple = false)]
pub(crate) struct Whose {
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
    /// Go on with this chat (id or title) instead of a new one
    #[arg(long)]
    pub(crate) chat: Option<String>,
    /// Whom you play: name or id
    #[arg(long)]
    pub(crate) persona: Option<String>,
    #[command(flatten)]
    pub(crate) answering: Answering,
    /// Makes the choice of tokens repeatable
    #[arg(long)]
    pub(crate) seed: Option<u32>,
    /// 0 always takes the likeliest token
    #[arg(long, value_name = "X", value_parser = temperature)]
    pub(crate) temperature: Option<f32>,
    /// Tokens of reply at the most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_tokens: Option<u32>,
    /// A picture that goes with the first message (PNG, JPEG or WebP); may be given again
    #[arg(long = "image", value_name = "FILE")]
    pub(crate) images: Vec<PathBuf>,
    /// What to say; without it every line of stdin is said
    #[arg(long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PromptArgs {
    /// Id or title
    #[arg(long, required_unless_present = "character")]
    pub(crate) chat: Option<String>,
    /// Name or id; shows the character's newest chat, or the first turn if there is no chat
    #[arg(long, value_name = "CHARACTER")]
    pub(crate) character: Option<String>,
    /// The words that would be sent
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) message: String,
    /// The prompt of a job beside the chat, instead of the next turn's
    #[arg(long, value_name = "JOB", conflicts_with = "message")]
    pub(crate) ask: Option<Job>,
    /// Generate another version of the last reply instead of the next turn
    #[arg(long, conflicts_with_all = ["message", "ask"])]
    pub(crate) regenerate: bool,
    /// Plan for a context of so many tokens
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u32>,
    /// Where lore and notes stand, whatever the settings say
    #[arg(long)]
    pub(crate) placement: Option<Placing>,
    /// The prompt at one of its stages, beside the stage before
    #[arg(long)]
    pub(crate) stage: Option<Stage>,
    #[command(flatten)]
    pub(crate) answering: Answering,
}

/// Who answers, where the chat or the settings are not to decide.
#[derive(Debug, Default, Args)]
pub(crate) struct Answering {
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
    /// Test an endpoint, and store its list of models
    Test {
        /// Name or id
        name: String,
    },
    /// Make an endpoint the default for chats without a model of their own
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
    /// Display name; without it, the service's name or the address
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Base address, such as http://127.0.0.1:8080/v1
    #[arg(long, required_unless_present = "service")]
    pub(crate) url: Option<String>,
    /// A known service, as `endpoints services` lists them
    #[arg(long)]
    pub(crate) service: Option<String>,
    /// The default model
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Context size of the model in tokens
    #[arg(long, value_name = "N", default_value_t = 8192)]
    pub(crate) context: u32,
    /// A file with the key; - reads it from stdin
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
    /// Add a GGUF file where it lies
    Add { file: PathBuf },
    /// Fetch a GGUF file from an https address into the data folder, and add it
    Get {
        url: String,
        /// What the file's SHA-256 must be
        #[arg(long, value_name = "HEX")]
        sha256: Option<String>,
    },
    /// Forget a model; its file stays
    Remove { name: String },
    /// Let a model answer where a chat does not say otherwise
    Default { name: String },
    /// Read every model file and compare it with what was added
    Check,
    /// Count the tokens of a remote model by its own tokenizer.json
    Tokenizer {
        /// The endpoint: name or id
        endpoint: String,
        #[arg(required_unless_present = "remove")]
        file: Option<PathBuf>,
        /// Count again by an encoding that fits the model, or by an estimate
        #[arg(long, conflicts_with = "file")]
        remove: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum TemplateVerb {
    /// Say what is wrong with a template, section by section
    Check { file: PathBuf },
    /// Fill a template in for a chat; nothing is sent or stored
    Render {
        file: PathBuf,
        /// Id or title
        #[arg(long)]
        chat: String,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Job {
    /// Going on with the last reply
    Continue,
    /// A draft of the user's next message
    Impersonate,
    /// The chat's title
    Title,
}

impl From<Job> for Ask {
    fn from(job: Job) -> Self {
        match job {
            Job::Continue => Self::Continue,
            Job::Impersonate => Self::Impersonate,
            Job::Title => Self::Title,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Placing {
    CacheFirst,
    Classic,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Stage {
    /// As it is written: variables and macros still named
    Sources,
    /// After variables, macros and regex scripts
    Filled,
    /// What the budget keeps
    Budget,
    /// As it goes out
    Sent,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LoreVerb {
    /// Say which entries fire, and why; or run recorded cases
    Test(LoreTestArgs),
}

#[derive(Debug, Args)]
pub(crate) struct LoreTestArgs {
    /// Lorebooks: SillyTavern's JSON, a character_book or a lorebook_v3
    #[arg(long, value_name = "FILE", num_args = 1.., required_unless_present_any = ["vectors", "card"])]
    pub(crate) book: Vec<PathBuf>,
    /// A chat of SillyTavern, as JSON lines
    #[arg(long, value_name = "FILE", required_unless_present = "vectors")]
    pub(crate) chat: Option<PathBuf>,
    /// The character: its own book and its texts count too
    #[arg(long, value_name = "FILE")]
    pub(crate) card: Option<PathBuf>,
    /// Lore settings as JSON, by our names or SillyTavern's
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
    /// Without it corrected; recorded cases run compatible
    #[arg(long)]
    pub(crate) profile: Option<LoreProfile>,
    /// Makes chance repeatable
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Tokens of the prompt, of which lore may take its share
    #[arg(long, value_name = "N", default_value_t = 8192)]
    pub(crate) context_tokens: u32,
    /// After message N, timers carried from message to message; without it once, at the end
    #[arg(long, value_name = "N")]
    pub(crate) at: Option<usize>,
    /// Recorded cases to run instead
    #[arg(long, value_name = "FILE", requires = "out", conflicts_with_all = ["book", "chat", "card", "settings", "at"])]
    pub(crate) vectors: Option<PathBuf>,
    /// Where the outcomes of the cases go, a line each
    #[arg(long, value_name = "FILE", requires = "vectors")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum LoreProfile {
    /// As SillyTavern 1.18, peculiarities included
    Compatible,
    /// With the peculiarities mended, and the V3 rules
    Corrected,
}

fn temperature(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(value) if (0.0..=2.0).contains(&value) => Ok(value),
        _ => Err("a number from 0 to 2 is expected".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_words_fit_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_temperature_is_a_number_from_0_to_2() {
        assert_eq!(temperature("0.8"), Ok(0.8));
        for wrong in ["-1", "2.1", "NaN", "inf", "warm"] {
            assert!(temperature(wrong).is_err(), "{wrong}");
        }
    }
}
