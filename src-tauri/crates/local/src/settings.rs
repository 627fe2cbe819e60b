//! How workers are run.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::library::available_memory;

/// Names the worker binary; for development and tests.
const WORKER_VARIABLE: &str = "INGLENOOK_WORKER";

/// What a [`LocalHost`](crate::LocalHost) is made with.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The worker binary.
    pub worker: PathBuf,
    /// What the workers are for, in a list of processes.
    pub task: &'static str,
    /// Threads that compute.
    pub threads: u32,
    /// Spin iterations of a libgomp thread that waits for work, before it sleeps (`GOMP_SPINCOUNT`). Other runtimes
    /// ignore it.
    pub spin: u32,
    /// Layers on the GPU; 0 computes on the CPU.
    pub gpu_layers: u32,
    /// Bytes of memory for the KV caches of chats other than the current one.
    pub cache_budget: u64,
    /// Where KV caches outlive the worker; `None` keeps them in memory alone.
    pub state_dir: Option<PathBuf>,
    /// Bytes in `state_dir`, over all models.
    pub state_budget: u64,
    /// A worker that had nothing to do for so long is let go, and its memory with it; `None` keeps it.
    pub idle: Option<Duration>,
    pub policy: Policy,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            worker: worker_path(),
            task: "replies",
            threads: threads(),
            spin: spin(),
            gpu_layers: 0,
            cache_budget: cache_budget(),
            state_dir: None,
            state_budget: 512 << 20,
            idle: None,
            policy: Policy::default(),
        }
    }
}

/// How patient the supervisor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// So many deaths of a worker within `window`, and no new one is started for the same model and context size.
    pub deaths: usize,
    pub window: Duration,
    /// Pause before a new start after the first death; it doubles with each one.
    pub backoff: Duration,
    /// Until a started worker says that it is ready.
    pub handshake: Duration,
    /// Silence of a busy worker that is reported as [`Stalled`](provider::GenerationEvent::Stalled).
    pub stall: Duration,
    /// Silence of a busy worker that ends it.
    pub silence: Duration,
    /// From a cancel to the end of the stream, whatever the worker does.
    pub cancel: Duration,
    /// From the request to leave to the end of a worker that is still saving its caches.
    pub farewell: Duration,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            deaths: 3,
            window: Duration::from_secs(300),
            backoff: Duration::from_millis(250),
            handshake: Duration::from_secs(10),
            stall: Duration::from_secs(10),
            silence: Duration::from_secs(30),
            cancel: Duration::from_millis(250),
            farewell: Duration::from_millis(2_500),
        }
    }
}

/// `$INGLENOOK_WORKER`, or else the binary beside this one, or where packages put it; test binaries live one folder deeper.
fn worker_path() -> PathBuf {
    if let Some(path) = std::env::var_os(WORKER_VARIABLE) {
        return path.into();
    }
    let name = format!("inglenook-worker{}", std::env::consts::EXE_SUFFIX);
    let exe = std::env::current_exe().unwrap_or_default();
    let folder = match exe.parent() {
        Some(folder) if folder.ends_with("deps") => folder.parent(),
        folder => folder,
    };
    let folder = folder.unwrap_or(Path::new(""));
    let beside = folder.join(&name);
    let packaged = folder.join("../lib/inglenook").join(&name);
    if !beside.exists() && packaged.exists() { packaged } else { beside }
}

/// A tenth of what is free, and never more than 512 MiB: caches beside the model have frozen machines that had no room.
fn cache_budget() -> u64 {
    const MOST: u64 = 512 << 20;
    available_memory().map_or(MOST / 4, |available| (available / 10).min(MOST))
}

/// One per physical core: a second thread on a core adds nothing to matrix products. Never more than this process may use.
fn threads() -> u32 {
    let allowed = std::thread::available_parallelism().map_or(1, usize::from);
    u32::try_from(num_cpus::get_physical().clamp(1, allowed)).unwrap_or(1)
}

/// ggml has several hundred barriers per token. Sleeping at each one costs up to two thirds of the decode speed on an idle
/// virtual machine; waiting awake until the others arrive costs a factor of 20 as soon as another process needs a core.
///
/// The values are the smallest with about the full speed on an idle machine, measured with `cargo xtask bench decode -- --sweep`
/// on an AMD EPYC and an Intel Xeon, two virtual cores each. Decode in tokens/s, in several runs of different hours:
///
/// | spin | EPYC idle | beside one busy process | Xeon idle | beside one busy process |
/// | --- | --- | --- | --- | --- |
/// | 0 | 57 | 69 | 25 | 33 |
/// | 200 | 84 to 87 | 48 to 57 | 31 | 33 |
/// | 400 | 123 | 35 | 51 | 30 |
/// | 1,000 | 88 | 28 | 67 | 29 |
fn spin() -> u32 {
    const AMD: u32 = 400;
    const OTHERS: u32 = 1_000;
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    if processor.contains("AuthenticAMD") { AMD } else { OTHERS }
}
