//! Arguments of `lore`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(crate) enum LoreVerb {
    /// Report which entries activate and why, or run recorded cases
    Test(LoreTestArgs),
    /// Copy a lorebook, or that of a card, under a new name; the copy applies nowhere until it is
    /// bound
    Duplicate {
        /// Name or id; for a card's own lorebook, also the character's name
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct LoreTestArgs {
    /// Lorebooks: SillyTavern JSON, a character_book or a lorebook_v3
    #[arg(long, value_name = "FILE", num_args = 1.., required_unless_present_any = ["vectors", "card"])]
    pub(crate) book: Vec<PathBuf>,
    /// A SillyTavern chat as JSON lines
    #[arg(long, value_name = "FILE", required_unless_present = "vectors")]
    pub(crate) chat: Option<PathBuf>,
    /// The character card; its own lorebook and texts are used too
    #[arg(long, value_name = "FILE")]
    pub(crate) card: Option<PathBuf>,
    /// Lore settings as JSON, with our names or SillyTavern's
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
    /// Activation rules [default: corrected; compatible for recorded cases]
    #[arg(long)]
    pub(crate) profile: Option<LoreProfile>,
    /// Random seed for probabilities
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Context size in tokens, from which the lore budget is calculated
    #[arg(long, value_name = "N", default_value_t = 8192)]
    pub(crate) context_tokens: u32,
    /// Scan after each message up to N, carrying timers along [default: scan once, after the last
    /// message]
    #[arg(long, value_name = "N")]
    pub(crate) at: Option<usize>,
    /// File of recorded cases to run
    #[arg(long, value_name = "FILE", requires = "out", conflicts_with_all = ["book", "chat", "card", "settings", "at"])]
    pub(crate) vectors: Option<PathBuf>,
    /// Output file for the results of the cases, one line each
    #[arg(long, value_name = "FILE", requires = "vectors")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum LoreProfile {
    /// Like SillyTavern 1.18, including its peculiarities
    Compatible,
    /// Without those peculiarities, and with the V3 rules
    Corrected,
}
