//! The process of a server: start, error output and end.

use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::McpError;
use crate::text::clean_line;

/// Environment variables that a server receives besides its own: what programs need to start, and
/// nothing that usually contains a key. The reference implementations of the protocol pass the
/// same.
#[cfg(not(windows))]
const ENVIRONMENT: &[&str] = &[
    "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ",
    "USER",
];
#[cfg(windows)]
const ENVIRONMENT: &[&str] = &[
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "ProgramData",
    "ProgramFiles",
    "SystemDrive",
    "SystemRoot",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
    "windir",
];

/// Bytes of error output that are kept.
const STDERR_TAIL: usize = 4_000;

/// A running server process. Dropping it kills the process and the processes that it started.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    child: Box<dyn ChildWrapper>,
    last_output: Arc<Mutex<Vec<u8>>>,
    listener: JoinHandle<()>,
}

impl ServerProcess {
    /// Starts the program in `folder`. Returns its pipes too.
    ///
    /// # Errors
    /// `ProgramNotFound`, `NotStarted`.
    pub(crate) fn start(
        command: &str,
        args: &[String],
        env: &[(String, SecretString)],
        folder: &Path,
    ) -> Result<(Self, ChildStdout, ChildStdin), McpError> {
        let program = clean_line(command, 200);
        let failed = |reason: String| McpError::NotStarted {
            program: program.clone(),
            reason,
        };
        std::fs::create_dir_all(folder)
            .map_err(|error| failed(format!("its folder cannot be made, {error}")))?;
        let path = std::env::var_os("PATH");
        let found =
            which::which_in(command, path, folder).map_err(|_| McpError::ProgramNotFound {
                program: program.clone(),
            })?;
        let mut command = CommandWrap::with_new(found, |command| {
            command.args(args).current_dir(folder);
            set_environment(command, env);
            command
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
        });
        command.wrap(KillOnDrop);
        #[cfg(unix)]
        command.wrap(process_wrap::tokio::ProcessGroup::leader());
        #[cfg(windows)]
        command.wrap(process_wrap::tokio::JobObject);
        let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
        let pipes = (
            child.stdin().take(),
            child.stdout().take(),
            child.stderr().take(),
        );
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(failed("it has no pipes".into()));
        };
        let last_output = Arc::default();
        let listener = tokio::spawn(listen(stderr, Arc::clone(&last_output)));
        Ok((
            Self {
                child,
                last_output,
                listener,
            },
            stdout,
            stdin,
        ))
    }

    /// Process id while it runs.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits until the process exits by itself, at most for `limit`. Returns the reason: the end of
    /// its error output, else its exit status, else nothing.
    pub(crate) async fn last_words(&mut self, limit: Duration) -> String {
        let status = timeout(limit, self.child.wait())
            .await
            .ok()
            .and_then(Result::ok);
        if status.is_some() && !self.listener.is_finished() {
            // The pipe may still contain text. A process that the server started may keep it open.
            let _ = timeout(limit, &mut self.listener).await;
        }
        let words = self.stderr_tail();
        match (words.is_empty(), status) {
            (true, Some(status)) => status.to_string(),
            _ => words,
        }
    }

    /// The end of the error output.
    pub(crate) fn stderr_tail(&self) -> String {
        let words = self
            .last_output
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&words);
        let lines: Vec<_> = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        clean_line(&lines[lines.len().saturating_sub(4)..].join(" / "), 600)
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // On Unix this signals the whole group, also if its first process has exited.
        if let Err(error) = self.child.start_kill() {
            tracing::debug!(%error, "the tool server had ended");
        }
    }
}

/// Keeps the end of the error output. A server that writes without end cannot fill memory or a
/// pipe.
async fn listen(mut stderr: impl AsyncRead + Unpin, last_output: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = [0; 4_096];
    while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
        let mut kept = last_output.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&buffer[..read]);
        let excess = kept.len().saturating_sub(STDERR_TAIL);
        kept.drain(..excess);
    }
}

/// Passes on a few variables only, because the others may hold secrets.
fn set_environment(command: &mut tokio::process::Command, env: &[(String, SecretString)]) {
    let inherited = ENVIRONMENT
        .iter()
        .filter_map(|name| Some((name, std::env::var_os(name)?)));
    let given = env
        .iter()
        .map(|(name, value)| (name, value.expose_secret()));
    command.env_clear().envs(inherited).envs(given);
}
