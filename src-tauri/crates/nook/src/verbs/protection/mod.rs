//! `protect`: encryption at rest of the data folder.

mod code_file;
pub(crate) mod lock;
mod report;
mod secrets;
pub(crate) mod unlock;

use std::io::BufRead as _;
use std::path::PathBuf;

use engine::api::{ProtectionReport, SecretText, UnfinishedConversion};
use engine::{Engine, Options, PreparedProtection, UnlockSecret};

use self::code_file::CodeFile;
use crate::cli::{ProtectVerb, UnlockArgs};
use crate::failure::CommandError;
use crate::output::Output;

/// Attempts to type the recovery code.
const ATTEMPTS: usize = 3;

pub(crate) async fn protect(
    options: Options,
    verb: ProtectVerb,
    args: &UnlockArgs,
    out: &Output,
) -> Result<(), CommandError> {
    match verb {
        ProtectVerb::Status => report::status(&Engine::protection(&options).await, out),
        ProtectVerb::On { code_to } => on(&options, args, code_to, out).await,
        ProtectVerb::Off => off(&options, args, out).await,
        ProtectVerb::Passphrase { new_from } => passphrase(options, args, new_from, out).await,
        ProtectVerb::Code { code_to } => code(options, args, code_to, out).await,
    }
}

/// Encrypts the data folder, or finishes that after an interruption.
async fn on(
    options: &Options,
    args: &UnlockArgs,
    code_to: Option<PathBuf>,
    out: &Output,
) -> Result<(), CommandError> {
    let status = Engine::protection(options).await;
    let report = if status.unfinished == Some(UnfinishedConversion::Encrypting) {
        let unlocked = unlock::required(options, args).await?;
        unlocked
            .finish_conversion(options)
            .await?
            .unwrap_or_default()
    } else if status.protected {
        return Err(CommandError::because(
            "alreadyProtected",
            format!(
                "the data folder {} is already protected",
                options.data_dir.display()
            ),
        ));
    } else {
        encrypt(options, args, code_to, out).await?
    };
    report::converted(&Engine::protection(options).await, report, out)
}

async fn encrypt(
    options: &Options,
    args: &UnlockArgs,
    code_to: Option<PathBuf>,
    out: &Output,
) -> Result<ProtectionReport, CommandError> {
    let file = code_place(code_to, out)?;
    let passphrase = secrets::new_passphrase(args.passphrase_file())?;
    let prepared = Engine::prepare_protection(passphrase).await?;
    let code = prepared.recovery_code();
    let Some(file) = file else {
        show(&code, out)?;
        let typed = typed_back(&prepared, out)?;
        return Ok(Engine::protect(options, prepared, typed).await?);
    };
    file.write(&code)?;
    let done = Engine::protect(options, prepared, code).await;
    // Without a protected folder, the code opens nothing.
    if done.is_ok() || Engine::protection(options).await.protected {
        file.keep();
    }
    Ok(done?)
}

async fn off(options: &Options, args: &UnlockArgs, out: &Output) -> Result<(), CommandError> {
    let unlocked = unlock::required(options, args).await?;
    let report = Engine::unprotect(options, unlocked).await?;
    report::converted(&Engine::protection(options).await, report, out)
}

async fn passphrase(
    options: Options,
    args: &UnlockArgs,
    new_from: Option<PathBuf>,
    out: &Output,
) -> Result<(), CommandError> {
    let current = unlock::secret_without_keychain(&options, args).await?;
    let new = secrets::new_passphrase(new_from)?;
    let engine = open(options, current.clone()).await?;
    let changed = match current {
        UnlockSecret::RecoveryCode(code) => engine.reset_passphrase(code, new).await,
        UnlockSecret::Passphrase(old) => engine.change_passphrase(old, new).await,
        UnlockSecret::Keychain => Err(unlock::passphrase_needed()),
    };
    engine.shutdown().await;
    changed?;
    out.answer(&serde_json::json!({ "changed": true }), |_| {
        "the new passphrase unlocks the data folder".to_owned()
    })
}

async fn code(
    options: Options,
    args: &UnlockArgs,
    code_to: Option<PathBuf>,
    out: &Output,
) -> Result<(), CommandError> {
    let file = code_place(code_to, out)?;
    let current = unlock::secret_without_keychain(&options, args).await?;
    let engine = open(options, current.clone()).await?;
    let renewed = match current {
        UnlockSecret::Passphrase(passphrase) => engine.renew_recovery_code(passphrase).await,
        _ => Err(unlock::passphrase_needed()),
    };
    engine.shutdown().await;
    let code = renewed?.code;
    match file {
        Some(file) => {
            // It has replaced the old code.
            let path = file.keep();
            CodeFile::rewrite(&path, &code)?;
        }
        None => show(&code, out)?,
    }
    out.answer(&serde_json::json!({ "renewed": true }), |_| {
        "the new recovery code unlocks the data folder; the old one does not".to_owned()
    })
}

async fn open(mut options: Options, secret: UnlockSecret) -> Result<Engine, CommandError> {
    options.keys = Some(Engine::unlock(&options, secret).await?);
    Ok(Engine::open(options).await?)
}

/// The new file for a recovery code, or `None` for the terminal.
fn code_place(code_to: Option<PathBuf>, out: &Output) -> Result<Option<CodeFile>, CommandError> {
    match code_to {
        Some(path) => CodeFile::create(path).map(Some),
        None if secrets::can_ask() && !out.is_json() => Ok(None),
        None => Err(CommandError::because(
            "badInput",
            "the recovery code needs a place, because nobody can read it here; name a new file with --code-to FILE",
        )),
    }
}

fn show(code: &SecretText, out: &Output) -> Result<(), CommandError> {
    out.print(&format!(
        "Recovery code: {}\nIt unlocks your data if the passphrase is lost. Write it down and keep it away from this computer.",
        code.expose()
    ))
}

/// Lets the user type the recovery code, so that it is written down before it is needed.
fn typed_back(prepared: &PreparedProtection, out: &Output) -> Result<SecretText, CommandError> {
    for _ in 0..ATTEMPTS {
        out.print("Type the recovery code:")?;
        let mut line = String::new();
        std::io::stdin().lock().read_line(&mut line)?;
        let typed = SecretText::new(line);
        match prepared.check_code(&typed) {
            Ok(()) => return Ok(typed),
            Err(error) => out.warn(&error.to_string()),
        }
    }
    Err(CommandError::because(
        "badInput",
        "the recovery code was not typed; nothing has changed",
    ))
}
