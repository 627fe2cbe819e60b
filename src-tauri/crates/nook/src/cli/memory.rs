//! The words of `memory`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use engine::api::MemoryScope;

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryVerb {
    /// Everything that counts with a character
    List {
        /// Name or id
        #[arg(long)]
        character: String,
        /// What is kept and told no more, and why
        #[arg(long)]
        archived: bool,
    },
    /// What fits some words, best first
    Search {
        /// Name or id
        #[arg(long, required_unless_present = "chat")]
        character: Option<String>,
        /// What a turn with those words would recall in this chat: id or title
        #[arg(long, conflicts_with = "character")]
        chat: Option<String>,
        words: String,
    },
    /// Remember a text
    Add {
        #[command(flatten)]
        what: MemoryArgs,
        text: String,
    },
    /// Change a memory: what is not said stays
    Edit {
        /// As `memory list` shows it
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
    /// Tell it whatever else there is to tell
    Pin {
        id: String,
        /// Not any more
        #[arg(long)]
        off: bool,
    },
    /// Forget a memory
    Forget { id: String },
    /// Write everything that counts with a character to a JSON file
    Export {
        /// Name or id
        #[arg(long)]
        character: String,
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Take in the memories of an exported file for a character; what is there already stays as it is
    Import {
        /// Name or id
        #[arg(long)]
        character: String,
        file: PathBuf,
    },
    /// Hold all memories against each other, now instead of once a day: the same is merged, what is so no longer superseded, what
    /// is old and unsure retired
    Consolidate,
    /// Take memories out of the archive
    Restore {
        /// As `memory list --archived` shows them
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// Read everything that was said, so that it is found by its meaning, now instead of in idle time
    Learn,
    /// Rank the messages of a corpus for questions about it, to measure recall; needs no data folder
    Rank(RankArgs),
    /// Play a scenario and print what the prompts at its probes have from memory; without --data-dir in a folder of its own
    Scenario(ScenarioArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RankArgs {
    /// JSON lines of {conversation_id, id, speaker, text, caption?}, each conversation in its order
    #[arg(long, value_name = "FILE")]
    pub(crate) messages: PathBuf,
    /// JSON lines of {conversation_id, question_id, question}
    #[arg(long, value_name = "FILE")]
    pub(crate) queries: PathBuf,
    /// Gets JSON lines of {conversation_id, question_id, ranked_ids}
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Who says "I" in the questions, one for each conversation; else whoever speaks first in it
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Vec<String>,
    /// Only the messages that have room in a prompt with so many tokens for them, by an estimate
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<u32>,
    /// Without the model that understands what was said
    #[arg(long)]
    pub(crate) words_only: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ScenarioArgs {
    /// JSON lines, each a step: {"step": "say", "pair", "chat", "who", "text", "time"?}, ... {"step": "probe", "id", "pair", "chat", "text"}
    pub(crate) file: PathBuf,
    /// Gets the answers as JSON lines; without it they are printed
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct MemoryArgs {
    /// Name or id
    #[arg(long)]
    pub(crate) character: String,
    /// Where it counts: everywhere, with the character, with the character and one persona, in one chat, or wherever one lorebook does
    #[arg(long, default_value = "pair")]
    pub(crate) scope: ScopeWord,
    /// Of a pair: name or id; without it the default persona
    #[arg(long)]
    pub(crate) persona: Option<String>,
    /// Of a chat: id or title
    #[arg(long, required_if_eq("scope", "chat"))]
    pub(crate) chat: Option<String>,
    /// Of a world: id or name of its lorebook
    #[arg(long, required_if_eq("scope", "world"))]
    pub(crate) world: Option<String>,
    /// note, fact, event, relationship, personality, preference, rule, outcome, decision, emotion or open_thread
    #[arg(long = "type", value_name = "TYPE", default_value = "note")]
    pub(crate) kind: String,
    #[arg(long, value_name = "1-10", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10))]
    pub(crate) importance: u32,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ScopeWord {
    Profile,
    Character,
    Pair,
    Chat,
    World,
}

impl From<ScopeWord> for MemoryScope {
    fn from(word: ScopeWord) -> Self {
        match word {
            ScopeWord::Profile => Self::Profile,
            ScopeWord::Character => Self::Character,
            ScopeWord::Pair => Self::Pair,
            ScopeWord::Chat => Self::Chat,
            ScopeWord::World => Self::World,
        }
    }
}
