//! One worker process: start, pipes and exit.

use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use provider::ProviderError;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use worker::frame::{self, FrameError};
use worker::protocol::{PROTOCOL, WorkerReply, WorkerRequest};
use worker::saved::NOTICE;

use crate::actor::Loaded;
use crate::failure::{self, Death};
use crate::last_output;
use crate::settings::WorkerSettings;

/// Environment variables passed to a worker: library paths, variables that Windows programs need,
/// and those with which a user selects graphics drivers and devices, or places their shader caches.
const ENVIRONMENT: [&str; 11] = [
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "SystemRoot",
    "TEMP",
    "TMP",
    "VK_DRIVER_FILES",
    "VK_ICD_FILENAMES",
    "GGML_VK_VISIBLE_DEVICES",
    "CUDA_VISIBLE_DEVICES",
    "HOME",
    "XDG_CACHE_HOME",
];

/// Variables that hide all graphics devices if they are empty.
const DEVICES: [&str; 2] = ["GGML_VK_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"];

/// Capacity of the frame queue. A worker that writes faster than we read blocks.
const FRAMES: usize = 256;

/// Maximum bytes of stderr kept for the error message about a death.
const STDERR_TAIL: usize = 2_000;

/// A running worker.
pub(crate) struct Worker {
    child: Child,
    pipe: ChildStdin,
    pub(crate) frames: mpsc::Receiver<Result<WorkerReply, FrameError>>,
    words: Arc<Mutex<Vec<u8>>>,
    /// It has received a request that may hold text of the user.
    has_content: bool,
    listener: JoinHandle<()>,
    /// It may use graphics devices.
    pub(crate) graphics: bool,
    pub(crate) loaded: Option<Loaded>,
}

/// Runs `command` in the worker's own folder with an empty environment, except for [`ENVIRONMENT`].
pub(crate) fn restrict(command: &mut Command, settings: &WorkerSettings) {
    // ggml also looks for backends in the current directory.
    if let Some(folder) = settings.worker.parent().filter(|folder| folder.is_dir()) {
        command.current_dir(folder);
    }
    command.env_clear().envs(
        ENVIRONMENT
            .iter()
            .filter_map(|name| Some((name, std::env::var_os(name)?))),
    );
    command.env("GOMP_SPINCOUNT", settings.spin.to_string());
    // An abort would start a debugger, whose output would mix with the frames on stdout.
    command.env("GGML_NO_BACKTRACE", "1");
}

impl Worker {
    /// Starts a worker and waits for its handshake. On Linux the worker dies with the calling
    /// *thread*, so that must stay alive.
    ///
    /// # Errors
    /// The binary does not start, or does not speak our protocol.
    pub(crate) async fn start(
        settings: &WorkerSettings,
        graphics: bool,
    ) -> Result<Self, ProviderError> {
        let path = settings.worker.as_path();
        let mut worker =
            Self::spawn(settings, graphics).map_err(|error| failure::not_started(path, error))?;
        match timeout(settings.policy.handshake, worker.frames.recv()).await {
            Ok(Some(Ok(WorkerReply::Ready {
                protocol: PROTOCOL,
                build,
                devices,
            }))) => {
                tracing::info!(pid = worker.pid(), build, ?devices, "worker ready");
                Ok(worker)
            }
            greeting => {
                let why = match greeting {
                    Ok(Some(Ok(WorkerReply::Ready { protocol, .. }))) => {
                        format!("it speaks version {protocol} of the protocol, not {PROTOCOL}")
                    }
                    Ok(Some(Ok(_))) => "it did not report that it is ready".to_owned(),
                    Ok(Some(Err(error))) => error.to_string(),
                    Ok(None) => worker.end(None).await.describe(),
                    Err(_) => format!(
                        "it sent nothing for {} seconds",
                        settings.policy.handshake.as_secs_f32()
                    ),
                };
                Err(failure::no_worker(path, &why))
            }
        }
    }

    fn spawn(settings: &WorkerSettings, graphics: bool) -> std::io::Result<Self> {
        let mut command = Command::new(&settings.worker);
        // Shown only in the process list.
        command.arg(settings.task);
        restrict(&mut command, settings);
        if !graphics {
            command
                .arg("--no-graphics")
                .envs(DEVICES.map(|name| (name, "")));
        }
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command.spawn()?;
        let (Some(pipe), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(std::io::Error::other("it has no pipes"));
        };
        let (sender, frames) = mpsc::channel(FRAMES);
        tokio::spawn(read_frames(BufReader::new(stdout), sender));
        let words = Arc::default();
        let listener = tokio::spawn(listen(stderr, Arc::clone(&words)));
        Ok(Self {
            child,
            pipe,
            frames,
            words,
            has_content: false,
            listener,
            graphics,
            loaded: None,
        })
    }

    /// Returns the process id while the process runs.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None)) && !self.frames.is_closed()
    }

    /// Sends a request. An error means that the worker is gone or has not read for `limit`.
    pub(crate) async fn send(
        &mut self,
        request: &WorkerRequest,
        limit: Duration,
    ) -> Result<(), FrameError> {
        self.has_content |= !matches!(request, WorkerRequest::Load(_));
        let bytes = frame::encode(request)?;
        let written = timeout(limit, self.pipe.write_all(&bytes)).await;
        written
            .unwrap_or_else(|_| Err(std::io::ErrorKind::TimedOut.into()))
            .map_err(FrameError::Pipe)
    }

    /// Asks the process to save its caches and exit. Kills it after `limit`.
    pub(crate) async fn shut_down(mut self, limit: Duration) {
        let leaving = async {
            if self.send(&WorkerRequest::Shutdown, limit).await.is_ok() {
                // The worker may still send frames, and would block if nobody read them.
                while self.frames.recv().await.is_some() {}
                let _ = self.child.wait().await;
            }
        };
        if timeout(limit, leaving).await.is_err() {
            tracing::warn!("the worker did not exit in time; its unsaved caches are lost");
        }
        self.end(Some("Inglenook is closing".to_owned())).await;
    }

    /// Kills the process if it still runs, and describes its end. `killed_because` is the reason if
    /// we end it.
    pub(crate) async fn end(&mut self, killed_because: Option<String>) -> Death {
        if killed_because.is_none() {
            // The pipes close shortly before the exit status is available.
            let _ = timeout(Duration::from_millis(500), self.child.wait()).await;
        }
        let _ = self.child.start_kill();
        let status = self.child.wait().await.ok();
        let _ = timeout(Duration::from_millis(200), &mut self.listener).await;
        Death {
            status,
            stderr_tail: self.stderr_tail(),
            killed_because,
        }
    }

    /// Returns the end of stderr, without content.
    pub(crate) fn stderr_tail(&self) -> String {
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&words);
        if self.has_content {
            last_output::without_content(&text)
        } else {
            last_output::whole(&text)
        }
    }
}

/// Forwards frames until the pipe closes or its data is invalid.
async fn read_frames(
    mut pipe: impl AsyncRead + Unpin,
    frames: mpsc::Sender<Result<WorkerReply, FrameError>>,
) {
    loop {
        let frame = match read_frame(&mut pipe).await {
            Ok(None) => return,
            Ok(Some(reply)) => Ok(reply),
            Err(error) => Err(error),
        };
        let broken = frame.is_err();
        if frames.send(frame).await.is_err() || broken {
            return;
        }
    }
}

async fn read_frame(
    pipe: &mut (impl AsyncRead + Unpin),
) -> Result<Option<WorkerReply>, FrameError> {
    let mut head = Vec::with_capacity(frame::HEAD);
    (&mut *pipe)
        .take(frame::HEAD as u64)
        .read_to_end(&mut head)
        .await?;
    if head.is_empty() {
        return Ok(None);
    }
    let head = head.as_slice().try_into().map_err(|_| FrameError::Cut {
        wanted: frame::HEAD,
        got: head.len(),
    })?;
    let wanted = frame::length(head)?;
    let mut json = Vec::new();
    let got = pipe.take(wanted as u64).read_to_end(&mut json).await?;
    if got < wanted {
        Err(FrameError::Cut { wanted, got })
    } else {
        frame::decode(&json).map(Some)
    }
}

/// Keeps the end of stderr, and logs its lines.
async fn listen(mut stderr: impl AsyncRead + Unpin, words: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = [0; 1024];
    let mut line = Vec::new();
    while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
        for part in buffer[..read].split_inclusive(|byte| *byte == b'\n') {
            line.extend_from_slice(part);
            if line.ends_with(b"\n") || line.len() >= STDERR_TAIL {
                log(&line);
                line.clear();
            }
        }
        let mut words = words.lock().unwrap_or_else(PoisonError::into_inner);
        words.extend_from_slice(&buffer[..read]);
        let excess = words.len().saturating_sub(STDERR_TAIL);
        words.drain(..excess);
    }
    log(&line);
}

/// Lines of llama.cpp can have content of chats, such as a grammar. They are not in the usual log.
fn log(line: &[u8]) {
    let line = String::from_utf8_lossy(line);
    let line = line.trim_end();
    match line.strip_prefix(NOTICE) {
        Some(notice) => tracing::warn!(notice, "saved caches"),
        None if line.is_empty() => {}
        None => tracing::debug!(target: "worker", "{line}"),
    }
}
