//! Arguments about encryption at rest.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// The secret that unlocks a protected data folder. All verbs accept it.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct UnlockArgs {
    /// A file with the passphrase of a protected data folder; - reads stdin [default: the file in
    /// INGLENOOK_PASSPHRASE_FILE, or a question on the terminal]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) passphrase_from: Option<PathBuf>,
    /// A file with the recovery code of a protected data folder, instead of the passphrase
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) code_from: Option<PathBuf>,
    /// Show private characters and their chats
    #[arg(long, global = true)]
    pub(crate) with_private: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProtectVerb {
    /// Encrypt the data folder and its backups with the passphrase of --passphrase-from
    On {
        /// Write the recovery code to this new file instead of the terminal
        #[arg(long, value_name = "FILE")]
        code_to: Option<PathBuf>,
    },
    /// Decrypt the data folder and its backups
    Off,
    /// Show whether the data folder is encrypted
    Status,
    /// Replace the passphrase; a forgotten one with --code-from
    Passphrase {
        /// A file with the new passphrase [default: a question on the terminal]
        #[arg(long, value_name = "FILE")]
        new_from: Option<PathBuf>,
    },
    /// Replace the recovery code
    Code {
        /// Write the new code to this new file instead of the terminal
        #[arg(long, value_name = "FILE")]
        code_to: Option<PathBuf>,
    },
}
