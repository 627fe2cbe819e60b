//! Settings of the workers and their supervisor.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use installation::Installation;
use worker::saved::CacheKeys;

use crate::library::available_memory;

/// Path of the worker binary, for development and tests.
const WORKER_VARIABLE: &str = "INGLENOOK_WORKER";

/// Settings of a [`LocalHost`](crate::LocalHost).
#[derive(Debug, Clone, PartialEq)]
pub struct WorkerSettings {
    /// Path of the worker binary.
    pub worker: PathBuf,
    /// Purpose of the workers, shown in the process list.
    pub task: &'static str,
    /// Number of compute threads.
    pub threads: u32,
    /// Spin iterations of an idle libgomp thread before it sleeps (`GOMP_SPINCOUNT`). Other OpenMP
    /// runtimes ignore it.
    pub spin: u32,
    /// Maximum bytes of memory for the KV caches of chats other than the current one.
    pub cache_budget: u64,
    /// Folder for saved KV caches; `None` keeps them in memory only.
    pub state_dir: Option<PathBuf>,
    /// Maximum bytes in `state_dir`, over all models.
    pub state_budget: u64,
    /// With keys, saved KV caches are encrypted; without, they are plain. After a change, call
    /// [`LocalHost::delete_unusable_caches`](crate::LocalHost::delete_unusable_caches).
    pub cache_keys: Option<Arc<CacheKeys>>,
    /// Idle time after which the worker is shut down to free its memory; `None` keeps it.
    pub idle: Option<Duration>,
    pub policy: Policy,
}

impl Default for WorkerSettings {
    fn default() -> Self {
        Self {
            worker: worker_path(),
            task: "replies",
            threads: threads(),
            spin: spin(),
            cache_budget: cache_budget(),
            state_dir: None,
            state_budget: 512 << 20,
            cache_keys: None,
            idle: None,
            policy: Policy::default(),
        }
    }
}

/// Timeouts and restart limits of the supervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Number of deaths within `window` after which no worker starts for the same model and context
    /// size.
    pub deaths: usize,
    pub window: Duration,
    /// Pause before the first restart; it doubles with each death.
    pub backoff: Duration,
    /// Timeout for the handshake of a started worker.
    pub handshake: Duration,
    /// Silence of a busy worker after which [`Stalled`](provider::GenerationEvent::Stalled) is
    /// sent.
    pub stall_notice: Duration,
    /// Silence of a busy worker after which it is killed.
    pub reply_timeout: Duration,
    /// Maximum time from a cancel to the end of the stream, even if the worker does not react.
    pub cancel: Duration,
    /// Maximum time for a worker to save its caches and exit.
    pub shutdown_timeout: Duration,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            deaths: 3,
            window: Duration::from_secs(300),
            backoff: Duration::from_millis(250),
            handshake: Duration::from_secs(10),
            stall_notice: Duration::from_secs(10),
            reply_timeout: Duration::from_secs(30),
            cancel: Duration::from_millis(250),
            shutdown_timeout: Duration::from_millis(2_500),
        }
    }
}

/// Returns `$INGLENOOK_WORKER`, else the worker of this installation.
fn worker_path() -> PathBuf {
    if let Some(path) = std::env::var_os(WORKER_VARIABLE) {
        return path.into();
    }
    Installation::of_this_program()
        .map(|installation| installation.worker())
        .unwrap_or_default()
}

/// A tenth of the available memory, at most 512 MiB. Larger caches have frozen machines with little
/// memory.
fn cache_budget() -> u64 {
    const MOST: u64 = 512 << 20;
    available_memory().map_or(MOST / 4, |available| (available / 10).min(MOST))
}

/// One thread per physical core, because a second thread on a core does not speed up matrix
/// products. Limited to the cores that this process may use.
fn threads() -> u32 {
    let allowed = std::thread::available_parallelism().map_or(1, usize::from);
    u32::try_from(num_cpus::get_physical().clamp(1, allowed)).unwrap_or(1)
}

/// Spin count of libgomp. ggml has several hundred barriers per token. Sleeping at each one costs
/// up to two thirds of the decode speed on an idle virtual machine. Spinning without limit costs a
/// factor of 20 as soon as another process needs a core.
///
/// The values are the smallest with about full speed on an idle machine. Measured with `cargo xtask
/// bench decode -- --sweep` on an AMD EPYC and an Intel Xeon, two virtual cores each. Decode speed
/// in tokens/s, in several runs at different hours:
///
/// | spin | EPYC idle | EPYC with one busy process | Xeon idle | Xeon with one busy process |
/// | --- | --- | --- | --- | --- |
/// | 0 | 57 | 69 | 25 | 33 |
/// | 200 | 84 to 87 | 48 to 57 | 31 | 33 |
/// | 400 | 123 | 35 | 51 | 30 |
/// | 1,000 | 88 | 28 | 67 | 29 |
fn spin() -> u32 {
    const AMD: u32 = 400;
    const OTHERS: u32 = 1_000;
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    if processor.contains("AuthenticAMD") {
        AMD
    } else {
        OTHERS
    }
}
