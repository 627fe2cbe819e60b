//! Arguments of the verbs for the keys of the local API.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum ApiKeyVerb {
    /// Make a key and print it; it cannot be shown again
    Add {
        /// Such as the name of the program that will use it
        name: String,
        #[command(flatten)]
        limits: ApiKeyArgs,
    },
    /// List the keys without their secrets
    List,
    /// Replace the limits of a key; without options it may use all characters, but no model without
    /// one
    Limit {
        /// Name or id
        name: String,
        #[command(flatten)]
        limits: ApiKeyArgs,
    },
    /// Delete a key; requests with it are refused from now on
    Revoke {
        /// Name or id
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ApiKeyArgs {
    /// A character that the key may use: name or id; may be repeated [default: all]
    #[arg(long = "character", value_name = "CHARACTER")]
    pub(crate) characters: Vec<String>,
    /// Allow models without a character
    #[arg(long)]
    pub(crate) raw: bool,
    /// Allow nothing that is stored
    #[arg(long)]
    pub(crate) read_only: bool,
}
