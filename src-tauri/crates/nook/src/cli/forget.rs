//! Arguments of `forget`.

use clap::{ArgGroup, Args};

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("subject").required(true).args(["character", "persona", "from"]))]
pub(crate) struct ForgetSubjectArgs {
    /// Name or id: the character, its chats, and its messages in groups
    #[arg(long)]
    pub(crate) character: Option<String>,
    /// Name or id: the persona; texts of messages stay
    #[arg(long)]
    pub(crate) persona: Option<String>,
    /// The first day of a span, such as 2026-01-31: all messages sent in it
    #[arg(long, value_name = "DAY", requires = "to")]
    pub(crate) from: Option<String>,
    /// The last day of the span
    #[arg(long, value_name = "DAY", requires = "from")]
    pub(crate) to: Option<String>,
    /// Keep the backups that contain it
    #[arg(long)]
    pub(crate) keep_backups: bool,
    /// Do it without a question; without a terminal and with --json, nothing is removed otherwise
    #[arg(long)]
    pub(crate) yes: bool,
}
