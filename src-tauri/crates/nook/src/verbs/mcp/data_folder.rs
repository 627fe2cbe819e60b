//! The data folder of a server that runs next to the window: open while it is used, and only then.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use engine::{Engine, Options};
use tokio::sync::Mutex;

use crate::failure::CommandError;

/// The folder is closed after this time without a call. A conversation within it keeps the model
/// loaded.
const IDLE: Duration = Duration::from_secs(60);

#[derive(Clone)]
pub(super) struct DataFolder {
    inner: Arc<Inner>,
}

struct Inner {
    options: Options,
    engine: Mutex<Option<OpenedEngine>>,
    /// Calls in progress.
    users: AtomicUsize,
}

struct OpenedEngine {
    engine: Engine,
    used: Instant,
}

/// Keeps the folder open during a call.
pub(super) struct Lease {
    engine: Engine,
    inner: Arc<Inner>,
}

impl Lease {
    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.inner.users.fetch_sub(1, Ordering::Relaxed);
    }
}

impl DataFolder {
    pub(super) fn new(options: Options) -> Self {
        Self {
            inner: Arc::new(Inner {
                options,
                engine: Mutex::default(),
                users: AtomicUsize::new(0),
            }),
        }
    }

    /// # Errors
    /// `inUse` while the window or another program has the folder open.
    pub(super) async fn open(&self) -> Result<Lease, CommandError> {
        let mut opened = self.inner.engine.lock().await;
        let engine = match opened.as_ref() {
            Some(opened) => opened.engine.clone(),
            None => Engine::open(self.inner.options.clone()).await?,
        };
        *opened = Some(OpenedEngine {
            engine: engine.clone(),
            used: Instant::now(),
        });
        self.inner.users.fetch_add(1, Ordering::Relaxed);
        Ok(Lease {
            engine,
            inner: Arc::clone(&self.inner),
        })
    }

    pub(super) async fn close_if_idle(&self) {
        let mut opened = self.inner.engine.lock().await;
        let busy = self.inner.users.load(Ordering::Relaxed) > 0;
        match opened.as_mut() {
            Some(open) if busy => open.used = Instant::now(),
            Some(open) if open.used.elapsed() >= IDLE => {
                let engine = open.engine.clone();
                *opened = None;
                engine.shutdown().await;
            }
            _ => {}
        }
    }

    pub(super) async fn close(&self) {
        if let Some(open) = self.inner.engine.lock().await.take() {
            open.engine.shutdown().await;
        }
    }
}
