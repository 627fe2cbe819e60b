//! The engine as the shell holds it: opened beside the window, so that neither waits for the other.

use engine::Engine;
use tokio::sync::{SetOnce, watch};

/// Shared by all commands. Whoever comes before the engine is open waits.
pub(crate) struct Core {
    engine: SetOnce<Engine>,
    pages: watch::Sender<u64>,
}

impl Core {
    pub(crate) fn new() -> Self {
        Self { engine: SetOnce::new(), pages: watch::Sender::new(0) }
    }

    /// The engine, as soon as it is open.
    pub(crate) async fn engine(&self) -> Engine {
        self.engine.wait().await.clone()
    }

    /// The engine, if it is open.
    pub(crate) fn opened(&self) -> Option<Engine> {
        self.engine.get().cloned()
    }

    /// A second engine is refused: there is one for the life of the process.
    pub(crate) fn set(&self, engine: Engine) {
        if self.engine.set(engine).is_err() {
            tracing::error!("the engine was opened twice");
        }
    }

    /// Changes when another page takes the place of the present one, as a reload does.
    pub(crate) fn page(&self) -> watch::Receiver<u64> {
        self.pages.subscribe()
    }

    /// Ends the streams of the page before.
    pub(crate) fn new_page(&self) {
        self.pages.send_modify(|page| *page += 1);
    }
}
