//! Arguments of `memory`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use engine::api::MemoryScope;

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryVerb {
    /// List the memories that apply to a character
    List {
        /// Name or id
        #[arg(long)]
        character: String,
        /// List archived memories, which are not used any more, with the reason
        #[arg(long)]
        archived: bool,
    },
    /// Find the memories that match a text, best first
    Search {
        /// Name or id
        #[arg(long, required_unless_present = "chat")]
        character: Option<String>,
        /// Show what a turn with this text would recall in a chat: id or title
        #[arg(long, conflicts_with = "character")]
        chat: Option<String>,
        words: String,
    },
    /// Add a memory
    Add {
        #[command(flatten)]
        what: MemoryArgs,
        text: String,
    },
    /// Change a memory; omitted values stay
    Edit {
        /// Id of the memory; `memory list` shows it
        id: String,
        /// Name or id
        #[arg(long)]
        character: String,
        #[arg(long)]
        text: Option<String>,
        #[arg(long = "type", value_name = "TYPE")]
        kind: Option<String>,
        #[arg(long, value_name = "1-10", value_parser = clap::value_parser!(u32).range(1..=10))]
        importance: Option<u32>,
    },
    /// Include a memory in every prompt
    Pin {
        id: String,
        /// Unpin it
        #[arg(long)]
        off: bool,
    },
    /// Delete a memory, or with --all many, and exclude their source messages from recall
    Forget {
        /// Id of the memory; `memory list` shows it
        #[arg(required_unless_present = "all")]
        id: Option<String>,
        /// Delete all memories of a character, of a chat or of everybody
        #[arg(long, conflicts_with = "id", requires = "owner")]
        all: bool,
        #[command(flatten)]
        whose: ForgetArgs,
    },
    /// Export the memories that apply to a character to a JSON file
    Export {
        /// Name or id
        #[arg(long)]
        character: String,
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Import memories from an exported file for a character; existing ones stay
    Import {
        /// Name or id
        #[arg(long)]
        character: String,
        file: PathBuf,
    },
    /// Tidy up memories now instead of once a day: merge duplicates, mark outdated ones as
    /// replaced, archive old and uncertain ones
    Consolidate,
    /// Restore archived memories
    Restore {
        /// Ids of the memories; `memory list --archived` shows them
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// Index all messages for search by meaning now instead of in idle time
    Learn,
    /// Rank a corpus of messages for questions about it, to measure recall; needs no data folder
    #[cfg(feature = "evaluation")]
    Rank(RankArgs),
    /// Run a scenario and print what each probe's prompt contains from memory; without --data-dir,
    /// uses a temporary folder
    #[cfg(feature = "evaluation")]
    Scenario(ScenarioArgs),
}

/// The owner of the memories to forget.
#[derive(Debug, Args)]
#[group(id = "owner", multiple = false)]
pub(crate) struct ForgetArgs {
    /// With --all: name or id of the character
    #[arg(long, requires = "all")]
    pub(crate) character: Option<String>,
    /// With --all: id or title of the chat
    #[arg(long, requires = "all")]
    pub(crate) chat: Option<String>,
    /// With --all: the memories of all characters
    #[arg(long, requires = "all")]
    pub(crate) everybody: bool,
}

#[cfg(feature = "evaluation")]
#[derive(Debug, Args)]
pub(crate) struct RankArgs {
    /// Input: JSON lines of {conversation_id, id, speaker, text, caption?}, each conversation in
    /// order
    #[arg(long, value_name = "FILE")]
    pub(crate) messages: PathBuf,
    /// Input: JSON lines of {conversation_id, question_id, question}
    #[arg(long, value_name = "FILE")]
    pub(crate) queries: PathBuf,
    /// Output: JSON lines of {conversation_id, question_id, ranked_ids}
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Speaker that "I" in the questions refers to, one per conversation [default: its first
    /// speaker]
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Vec<String>,
    /// Only rank messages that fit into this many tokens of a prompt, by an estimate
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<u32>,
    /// Match by words only, without the embedding model
    #[arg(long)]
    pub(crate) words_only: bool,
}

#[cfg(feature = "evaluation")]
#[derive(Debug, Args)]
pub(crate) struct ScenarioArgs {
    /// JSON lines, one step each: {"step": "say", "pair", "chat", "who", "text", "time"?}, ...
    /// {"step": "probe", "id", "pair", "chat", "text"}
    pub(crate) file: PathBuf,
    /// Output file for the answers as JSON lines [default: print them]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct MemoryArgs {
    /// Name or id
    #[arg(long)]
    pub(crate) character: String,
    /// The scope of the memory: everywhere, with the character, with the character and one
    /// persona, in one chat, or with one lorebook
    #[arg(long, default_value = "pair")]
    pub(crate) scope: ScopeArg,
    /// For scope pair: name or id of the persona [default: the default persona]
    #[arg(long)]
    pub(crate) persona: Option<String>,
    /// For scope chat: id or title of the chat
    #[arg(long, required_if_eq("scope", "chat"))]
    pub(crate) chat: Option<String>,
    /// For scope world: id or name of the lorebook
    #[arg(long, required_if_eq("scope", "world"))]
    pub(crate) world: Option<String>,
    /// note, fact, event, relationship, personality, preference, rule, outcome, decision, emotion
    /// or open_thread
    #[arg(long = "type", value_name = "TYPE", default_value = "note")]
    pub(crate) kind: String,
    #[arg(long, value_name = "1-10", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10))]
    pub(crate) importance: u32,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ScopeArg {
    Profile,
    Character,
    Pair,
    Chat,
    World,
}

impl From<ScopeArg> for MemoryScope {
    fn from(word: ScopeArg) -> Self {
        match word {
            ScopeArg::Profile => Self::Profile,
            ScopeArg::Character => Self::Character,
            ScopeArg::Pair => Self::Pair,
            ScopeArg::Chat => Self::Chat,
            ScopeArg::World => Self::World,
        }
    }
}
