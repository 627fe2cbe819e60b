//! The log: one file per day in the data folder, kept for a week. It records events but no content:
//! no message, no card, no key.

use std::path::Path;

use tracing_appender::non_blocking::WorkerGuard;
use tracing_appender::rolling::{InitError, RollingFileAppender, Rotation};
use tracing_subscriber::EnvFilter;

const KEPT: usize = 7;

/// Reason why there is no log. The app continues without one.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoLog {
    #[error("cannot create its folder: {0}")]
    Folder(#[from] std::io::Error),
    #[error(transparent)]
    File(#[from] InitError),
}

/// Starts logging to `logs` in `data_dir`. Dropping the guard writes queued lines.
///
/// # Errors
/// The folder cannot be created.
pub(crate) fn start(data_dir: &Path) -> Result<WorkerGuard, NoLog> {
    let logs = data_dir.join("logs");
    // This is often the first write to the data folder, so it also creates that.
    engine::make_private_folder(&logs)?;
    let file = RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .max_log_files(KEPT)
        .filename_prefix("inglenook")
        .filename_suffix("log")
        .build(&logs)?;
    make_private(&logs);
    let (writer, guard) = tracing_appender::non_blocking(file);
    tracing_subscriber::fmt()
        .with_writer(writer)
        .with_ansi(false)
        .with_env_filter(EnvFilter::new("info"))
        .init();
    std::panic::set_hook(Box::new(note_panic));
    Ok(guard)
}

/// Makes the logs and their folder private. Earlier versions created them readable by other users.
fn make_private(logs: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let close = |path: &Path, mode| {
            std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).ok()
        };
        close(logs, 0o700);
        for file in std::fs::read_dir(logs).into_iter().flatten().flatten() {
            close(&file.path(), 0o600);
        }
    }
    #[cfg(not(unix))]
    let _ = logs;
}

/// Logs only the place of a panic, because its message may quote private text.
fn note_panic(panic: &std::panic::PanicHookInfo<'_>) {
    let place = panic
        .location()
        .map(ToString::to_string)
        .unwrap_or_default();
    let thread = std::thread::current();
    tracing::error!(place, thread = thread.name().unwrap_or("unnamed"), "panic");
    eprintln!("inglenook: panic at {place}");
}
