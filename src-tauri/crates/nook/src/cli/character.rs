//! Arguments of `character`.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum CharacterVerb {
    /// Copy a character with its pictures, documents and links to lorebooks, without its chats
    Duplicate {
        /// Name or id
        name: String,
    },
    /// List the earlier versions of a card, newest first, or show the changes since one of them
    Versions {
        /// Name or id
        name: String,
        /// Id of a version
        version: Option<String>,
    },
    /// Restore an earlier version of a card; the current card becomes a version
    Restore {
        /// Name or id
        name: String,
        /// Id of a version; `character versions` lists them
        version: String,
    },
    /// Set the persona with which new chats with a character begin
    Persona {
        /// Name or id
        name: String,
        /// Name or id [default: the default persona again]
        persona: Option<String>,
    },
    /// Add a persona with the name, description and picture of a character
    ToPersona {
        /// Name or id
        name: String,
    },
    /// Add a character with the name, description and picture of a persona
    FromPersona {
        /// Name or id
        persona: String,
    },
}
