//! Reads passphrases and codes from files, or asks for them on the terminal without showing them.
//! Other users of the machine can see command-line arguments.

use std::env;
use std::io::{self, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use engine::UnlockSecret;
use engine::api::SecretText;

use crate::cli::UnlockArgs;
use crate::failure::CommandError;

/// A file with the passphrase, for all commands.
const VARIABLE: &str = "INGLENOOK_PASSPHRASE_FILE";
/// Mark that editors on Windows put at the beginning of a text file.
const BYTE_ORDER_MARK: char = '\u{feff}';

impl UnlockArgs {
    /// The file with the passphrase: from the command line, or else from the variable.
    pub(super) fn passphrase_file(&self) -> Option<PathBuf> {
        let variable = || env::var_os(VARIABLE).filter(|file| !file.is_empty());
        self.passphrase_from
            .clone()
            .or_else(|| variable().map(PathBuf::from))
    }

    /// Whether a secret comes from stdin.
    pub(crate) fn reads_stdin(&self) -> bool {
        let files = [self.passphrase_file(), self.code_from.clone()];
        files.iter().flatten().any(|file| file.as_os_str() == "-")
    }
}

/// The secret in a file, if one is named.
pub(super) fn given(args: &UnlockArgs) -> Result<Option<UnlockSecret>, CommandError> {
    if let Some(file) = &args.code_from {
        return Ok(Some(UnlockSecret::RecoveryCode(in_file(file)?)));
    }
    let Some(file) = args.passphrase_file() else {
        return Ok(None);
    };
    Ok(Some(UnlockSecret::Passphrase(in_file(&file)?)))
}

/// Asks for the passphrase of the data folder.
pub(super) fn asked() -> Result<UnlockSecret, CommandError> {
    ask("Passphrase: ").map(UnlockSecret::Passphrase)
}

/// A new passphrase from a file, or asked for twice.
pub(super) fn new_passphrase(file: Option<PathBuf>) -> Result<SecretText, CommandError> {
    if let Some(file) = file {
        return in_file(&file);
    }
    if !can_ask() {
        return Err(CommandError::because(
            "badInput",
            "the new passphrase is missing, and nobody can type it here; name a file that contains it",
        ));
    }
    let first = ask("New passphrase: ")?;
    let second = ask("The same again: ")?;
    if first.expose() == second.expose() {
        Ok(first)
    } else {
        Err(CommandError::because(
            "badInput",
            "the two passphrases differ; nothing has changed",
        ))
    }
}

/// Whether somebody can answer.
pub(super) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

fn ask(question: &str) -> Result<SecretText, CommandError> {
    Ok(SecretText::new(rpassword::prompt_password(question)?))
}

fn in_file(file: &Path) -> Result<SecretText, CommandError> {
    let mut text = String::new();
    let read = if file.as_os_str() == "-" {
        io::stdin().read_to_string(&mut text).map(drop)
    } else {
        std::fs::read_to_string(file).map(|read| text = read)
    };
    read.map_err(|error| {
        let message = format!("cannot read {}: {error}", file.display());
        CommandError::because("badInput", message)
    })?;
    if text.starts_with(BYTE_ORDER_MARK) {
        text.remove(0);
    }
    Ok(SecretText::new(text))
}
