//! The workers of a host, one for each model file in use, within one budget of memory.

mod confirmation;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Semaphore, mpsc, oneshot, watch};

pub(crate) use self::confirmation::Confirmation;
use crate::actor::{Actor, ActorCommand};
use crate::devices::DeviceCache;
use crate::load::LoadNote;
use crate::settings::WorkerSettings;
use crate::status::{WorkerState, WorkerStatus};

/// Limits of the loaded models, which may change at any time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelLimits {
    /// Maximum bytes of memory for all loaded models; `None` keeps one model loaded.
    pub memory: Option<u64>,
    /// Idle time after which a model is unloaded; `None` keeps it.
    pub idle: Option<Duration>,
}

/// The parts that all workers of a host share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) devices: DeviceCache,
    /// Held while a reply is prepared and generated, because two models at once would slow each
    /// other down.
    pub(crate) turn: Arc<Semaphore>,
    /// The state of the worker that changed last.
    pub(crate) latest: watch::Sender<WorkerStatus>,
    pub(crate) deaths: AtomicU32,
    pub(crate) limits: watch::Sender<ModelLimits>,
}

/// A worker's supervisor.
#[derive(Debug)]
struct Slot {
    commands: mpsc::UnboundedSender<ActorCommand>,
    status: watch::Receiver<WorkerStatus>,
    /// Order of the last use.
    used: usize,
}

/// The supervisors of a host. The workers end when the pool is dropped.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) shared: Arc<Shared>,
    settings: Arc<WorkerSettings>,
    slots: Mutex<HashMap<PathBuf, Slot>>,
    uses: AtomicUsize,
    closed: AtomicBool,
}

impl Pool {
    /// Starts the first supervisor, which serves the first model.
    ///
    /// # Errors
    /// The operating system cannot create a thread.
    pub(crate) fn new(settings: Arc<WorkerSettings>) -> std::io::Result<Arc<Self>> {
        let limits = ModelLimits {
            memory: None,
            idle: settings.idle,
        };
        let shared = Shared {
            devices: DeviceCache::default(),
            turn: Arc::new(Semaphore::new(1)),
            latest: watch::Sender::new(WorkerStatus::default()),
            deaths: AtomicU32::new(0),
            limits: watch::Sender::new(limits),
        };
        let pool = Arc::new(Self {
            shared: Arc::new(shared),
            settings,
            slots: Mutex::default(),
            uses: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
        });
        let first = pool.start()?;
        pool.slots().insert(PathBuf::new(), first);
        Ok(pool)
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<PathBuf, Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(self: &Arc<Self>) -> std::io::Result<Slot> {
        let (commands, orders) = mpsc::unbounded_channel();
        let (seen, status) = watch::channel(WorkerStatus::default());
        let (shared, pool): (_, Weak<Self>) = (Arc::clone(&self.shared), Arc::downgrade(self));
        let actor = Actor::new(Arc::clone(&self.settings), orders, seen, (shared, pool));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        // On Linux a worker dies with the thread that started it, so every supervisor has its own
        // thread.
        std::thread::Builder::new()
            .name("local-models".to_owned())
            .spawn(move || runtime.block_on(actor.run()))?;
        Ok(Slot {
            commands,
            status,
            used: 0,
        })
    }

    /// Sends a command to the supervisor of the model at `path`. Returns false after a shutdown.
    pub(crate) fn send(self: &Arc<Self>, path: &Path, command: ActorCommand) -> bool {
        if self.closed.load(Ordering::Acquire) {
            return false;
        }
        let used = self.uses.fetch_add(1, Ordering::Relaxed) + 1;
        let mut slots = self.slots();
        if !slots.contains_key(path) {
            // The first supervisor has no model yet. Without a thread for another one, the first
            // serves both.
            let slot = match slots.remove(Path::new("")) {
                Some(first) => Ok(first),
                None => self.start(),
            };
            match slot {
                Ok(slot) => drop(slots.insert(path.to_owned(), slot)),
                Err(error) => {
                    tracing::warn!(%error, "no thread for another model; a loaded one is replaced");
                    return slots
                        .values()
                        .next()
                        .is_some_and(|slot| slot.commands.send(command).is_ok());
                }
            }
        }
        slots.get_mut(path).is_some_and(|slot| {
            slot.used = used;
            slot.commands.send(command).is_ok()
        })
    }

    /// Sends a command to every supervisor.
    pub(crate) fn send_all(&self, command: impl Fn() -> ActorCommand) {
        for slot in self.slots().values() {
            // A supervisor that has ended has nothing to do.
            let _ = slot.commands.send(command());
        }
    }

    /// The context that fits if the model at `path` is loaded with less than `context` tokens, else
    /// `context`.
    pub(crate) fn fitting_context(&self, path: &Path, context: u32) -> u32 {
        let slots = self.slots();
        let status = slots.get(path).map(|slot| slot.status.borrow());
        let loaded = status.as_ref().and_then(|status| status.loaded.as_ref());
        let is_smaller = |note: &LoadNote| matches!(note, LoadNote::SmallerContext { from, .. } if *from == context);
        loaded
            .filter(|loaded| loaded.notes.iter().any(is_smaller))
            .map_or(context, |loaded| loaded.context)
    }

    /// The state of every worker that has or had a model.
    pub(crate) fn statuses(&self) -> Vec<WorkerStatus> {
        self.slots()
            .values()
            .map(|slot| slot.status.borrow().clone())
            .collect()
    }

    pub(crate) async fn shutdown(&self) {
        self.closed.store(true, Ordering::Release);
        let gone: Vec<_> = self
            .slots()
            .values()
            .filter_map(|slot| {
                let (done, gone) = oneshot::channel();
                slot.commands
                    .send(ActorCommand::Shutdown(done))
                    .is_ok()
                    .then_some(gone)
            })
            .collect();
        for gone in gone {
            let _ = gone.await;
        }
    }

    /// Unloads the least recently used models until `needed` bytes for the one at `path` fit the
    /// budget.
    pub(crate) async fn make_room(&self, path: &Path, needed: u64, limit: Duration) {
        while let Some(commands) = self.least_used(path, needed) {
            let (done, gone) = oneshot::channel();
            // A worker that does not answer in time is killed by its supervisor.
            if commands.send(ActorCommand::Unload(done)).is_err()
                || tokio::time::timeout(limit * 2, gone).await.is_err()
            {
                return;
            }
        }
    }

    /// The supervisor whose model must go; `None` if all fit.
    fn least_used(&self, path: &Path, needed: u64) -> Option<mpsc::UnboundedSender<ActorCommand>> {
        let limits = *self.shared.limits.borrow();
        let slots = self.slots();
        let others = slots
            .iter()
            .filter(|(of, slot)| of.as_path() != path && has_model(&slot.status.borrow()));
        let others: Vec<_> = others
            .map(|(_, slot)| (slot, slot.status.borrow().memory()))
            .collect();
        let total = others
            .iter()
            .map(|(_, bytes)| *bytes)
            .fold(needed, u64::saturating_add);
        if limits.memory.is_some_and(|most| total <= most) {
            return None;
        }
        others
            .into_iter()
            .min_by_key(|(slot, _)| slot.used)
            .map(|(slot, _)| slot.commands.clone())
    }
}

/// Whether a model for replies is loaded and nothing runs.
fn has_model(status: &WorkerStatus) -> bool {
    status
        .loaded
        .as_ref()
        .is_some_and(|loaded| loaded.context > 0)
        && status.state != WorkerState::Busy
}

impl Pool {
    /// Sends a command that every supervisor must confirm.
    pub(crate) fn send_confirmed(
        &self,
        command: impl Fn(Arc<Confirmation>) -> ActorCommand,
    ) -> oneshot::Receiver<()> {
        let slots = self.slots();
        let (confirmation, receiver) = Confirmation::of(slots.len());
        for slot in slots.values() {
            // A dropped command is not confirmed, which the receiver reports as an error.
            let _ = slot.commands.send(command(Arc::clone(&confirmation)));
        }
        receiver
    }
}
