//! `update`: shows, checks, installs and takes back updates.

use engine::Engine;
use engine::api::{AvailableUpdate, Event, PreviousVersion, UpdatePhase, UpdateStatus};

use crate::cli::UpdateArgs;
use crate::failure::CommandError;
use crate::interrupts::Interrupts;
use crate::output::Output;
use crate::verbs::models::fetched;

pub(super) async fn update(
    engine: &Engine,
    args: &UpdateArgs,
    out: &Output,
) -> Result<(), CommandError> {
    let status = if args.check {
        engine.check_for_updates().await?
    } else if args.install {
        install(engine, out).await?
    } else if args.back {
        go_back(engine, out).await?
    } else {
        engine.updates_status().await?
    };
    out.answer(&status, text)
}

/// Installs the newest version. A package manager must do it itself; the text names its command.
async fn install(engine: &Engine, out: &Output) -> Result<UpdateStatus, CommandError> {
    let checked = engine.check_for_updates().await?;
    let Some(available) = &checked.available else {
        return Ok(checked);
    };
    if available.command.is_some() || checked.phase == UpdatePhase::Restart {
        return Ok(checked);
    }
    if checked.phase != UpdatePhase::Ready {
        download(engine, out).await?;
    }
    out.progress("backing up the data and installing");
    Ok(engine.install_update().await?)
}

async fn download(engine: &Engine, out: &Output) -> Result<(), CommandError> {
    let mut events = engine.subscribe();
    let mut interrupts = Interrupts::listen()?;
    engine.download_update().await?;
    loop {
        let event = tokio::select! {
            event = events.next() => event,
            _ = interrupts.next() => return Err(CommandError::because("interrupted", "the download is interrupted; the same command continues it")),
        };
        let status = match event {
            Some(Event::UpdateChanged { status }) => *status,
            Some(_) => continue,
            None => return Err(CommandError::because("internal", "the engine has ended")),
        };
        if status.phase == UpdatePhase::Downloading {
            let total = status.available.and_then(|available| available.bytes);
            out.progress(&fetched(status.downloaded, total));
        } else if let Some(error) = status.failure {
            return Err(error.into());
        } else {
            return Ok(());
        }
    }
}

async fn go_back(engine: &Engine, out: &Output) -> Result<UpdateStatus, CommandError> {
    let before = engine.updates_status().await?;
    let status = engine.go_back_to_previous_version().await?;
    if let Some(PreviousVersion { version, backup }) = before.previous {
        let backup = backup.map_or_else(String::new, |backup| {
            format!(
                "; `nook restore {}` brings back the data from before the update",
                backup.file
            )
        });
        out.warn(&format!(
            "version {version} may refuse data that version {} has saved{backup}",
            before.version
        ));
    }
    Ok(status)
}

fn text(status: &UpdateStatus) -> String {
    let state = match (&status.next_version, &status.available) {
        (Some(next), _) => format!("version {next} starts next time"),
        (None, Some(available)) => offer(available),
        (None, None) if !status.has_address => "this build has no update address".to_owned(),
        (None, None) => match &status.last_check {
            Some(at) => format!("no newer version was known at {at}"),
            None => "`nook update --check` asks the server for a newer version".to_owned(),
        },
    };
    let previous = status.previous.as_ref().map(|previous| {
        format!(
            "\n`nook update --back` goes back to version {}",
            previous.version
        )
    });
    format!(
        "Inglenook {}\n{state}{}",
        status.version,
        previous.unwrap_or_default()
    )
}

fn offer(available: &AvailableUpdate) -> String {
    let way = match &available.command {
        Some(command) => format!("download the package and type: {command}"),
        None => "`nook update --install` installs it".to_owned(),
    };
    format!(
        "version {} is available; {way}\n\n{}",
        available.version,
        available.notes.en.trim()
    )
}
