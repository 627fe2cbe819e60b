//! The parts of a chat that an export for people shows.

use clap::Args;
use engine::api::ReadableOptions;

/// They apply to a chat as HTML, Markdown or text.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct ReadableArgs {
    /// A chat for people: leave out the names of the speakers
    #[arg(long)]
    no_names: bool,
    /// A chat for people: include the thoughts of the model
    #[arg(long)]
    thoughts: bool,
    /// A chat for people: include the time of each message
    #[arg(long)]
    times: bool,
    /// A chat for people: include messages that are hidden from the model
    #[arg(long)]
    hidden: bool,
}

impl ReadableArgs {
    pub(crate) fn options(self) -> ReadableOptions {
        ReadableOptions {
            names: !self.no_names,
            thoughts: self.thoughts,
            times: self.times,
            hidden: self.hidden,
        }
    }
}
