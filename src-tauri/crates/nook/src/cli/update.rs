//! Arguments of `update`.

use clap::Args;

#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct UpdateArgs {
    /// Ask the server for the newest version
    #[arg(long)]
    pub(crate) check: bool,
    /// Check, download the newest version, back up the data and install it
    #[arg(long)]
    pub(crate) install: bool,
    /// Go back to the previous version
    #[arg(long)]
    pub(crate) back: bool,
}
