//! The log: one file per day in the data folder, kept for a week. It records events but no content:
//! no message, no card, no key.
//!
//! The log begins before the settings can be read, so a file in its folder says whether it is
//! switched off (`LogFolder`). It is looked for before each line.

use std::io::{self, Write};
use std::path::Path;

use engine::LogFolder;
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
/// The folder or the file cannot be created.
pub(crate) fn start(data_dir: &Path) -> Result<WorkerGuard, NoLog> {
    let folder = LogFolder::in_data(data_dir);
    // This is often the first write to the data folder, so it also creates that.
    engine::make_private_folder(folder.path())?;
    let (writer, guard) = tracing_appender::non_blocking(LogWriter::start(folder)?);
    tracing_subscriber::fmt()
        .with_writer(writer)
        .with_ansi(false)
        .with_env_filter(EnvFilter::new("info"))
        .init();
    std::panic::set_hook(Box::new(note_panic));
    Ok(guard)
}

/// Writes to the file of the day. While the log is switched off, it drops all lines and keeps no
/// file open, so that the engine can delete them.
struct LogWriter {
    folder: LogFolder,
    file: Option<RollingFileAppender>,
}

impl LogWriter {
    fn start(folder: LogFolder) -> Result<Self, InitError> {
        let file = (!folder.is_off()).then(|| open(&folder)).transpose()?;
        Ok(Self { folder, file })
    }
}

impl Write for LogWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.folder.is_off() {
            self.file = None;
            return Ok(line.len());
        }
        let file = match self.file.take() {
            Some(file) => file,
            None => open(&self.folder).map_err(io::Error::other)?,
        };
        self.file.insert(file).write(line)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}

fn open(folder: &LogFolder) -> Result<RollingFileAppender, InitError> {
    let file = RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .max_log_files(KEPT)
        .filename_prefix(LogFolder::PREFIX)
        .filename_suffix(LogFolder::SUFFIX)
        .build(folder.path())?;
    make_private(folder.path());
    Ok(file)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The content of all log files.
    fn lines(folder: &LogFolder) -> String {
        let mut files: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|end| end == LogFolder::SUFFIX))
            .collect();
        files.sort();
        files
            .iter()
            .map(|path| std::fs::read_to_string(path).unwrap())
            .collect()
    }

    #[test]
    fn no_line_is_written_while_the_log_is_off() {
        let dir = tempfile::tempdir().unwrap();
        let folder = LogFolder::in_data(dir.path());
        engine::make_private_folder(folder.path()).unwrap();
        let mut log = LogWriter::start(folder.clone()).unwrap();
        log.write_all(b"one\n").unwrap();
        assert_eq!(lines(&folder), "one\n");

        folder.switch_off().unwrap();
        log.write_all(b"two\n").unwrap();
        folder.delete_files().unwrap();
        log.write_all(b"three\n").unwrap();
        assert_eq!(lines(&folder), "");

        folder.switch_on().unwrap();
        log.write_all(b"four\n").unwrap();
        assert_eq!(lines(&folder), "four\n");
    }

    #[test]
    fn log_that_is_off_at_the_start_makes_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let folder = LogFolder::in_data(dir.path());
        folder.switch_off().unwrap();
        let mut log = LogWriter::start(folder.clone()).unwrap();
        log.write_all(b"one\n").unwrap();
        log.flush().unwrap();
        assert_eq!(folder.bytes(), 0);
        assert_eq!(lines(&folder), "");
    }
}
