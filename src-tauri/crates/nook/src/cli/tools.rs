//! Arguments of `tools`.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum ToolVerb {
    /// List the decisions about the app's own tools, newest first
    Decisions,
    /// Forget decisions about a tool, so that you are asked again
    Forget {
        /// Name of the tool, such as set_mood
        tool: String,
        /// Forget only the decision for this chat: title or id [default: all decisions about the
        /// tool]
        #[arg(long)]
        chat: Option<String>,
    },
}
