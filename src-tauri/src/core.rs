//! The engine as the shell holds it. It opens in parallel with the window.

use engine::Engine;
use tokio::sync::watch;

/// State shared by all commands. Commands that arrive before the engine is open wait for it.
pub(crate) struct Core {
    engine: watch::Sender<Option<Engine>>,
    pages: watch::Sender<u64>,
    heard: watch::Sender<bool>,
    shown: watch::Sender<bool>,
}

impl Core {
    pub(crate) fn new() -> Self {
        Self {
            engine: watch::Sender::new(None),
            pages: watch::Sender::new(0),
            heard: watch::Sender::new(false),
            shown: watch::Sender::new(false),
        }
    }

    /// Returns the engine as soon as it is open; waits forever once the app is closing or the data
    /// folder is converted. Keep the clone only for one call, because the database closes with the
    /// last clone.
    pub(crate) async fn engine(&self) -> Engine {
        let mut opened = self.engine.subscribe();
        // Cannot fail while `self` holds the sender.
        let engine = opened
            .wait_for(Option::is_some)
            .await
            .ok()
            .and_then(|engine| engine.clone());
        match engine {
            Some(engine) => engine,
            None => std::future::pending().await,
        }
    }

    pub(crate) fn set(&self, engine: Engine) {
        self.engine.send_replace(Some(engine));
    }

    /// Removes the engine, which is about to be closed.
    pub(crate) fn take(&self) -> Option<Engine> {
        self.engine.send_replace(None)
    }

    /// Changes when a new page replaces the current one, for example on reload.
    pub(crate) fn page_changes(&self) -> watch::Receiver<u64> {
        self.pages.subscribe()
    }

    /// Ends the event streams of the previous page.
    pub(crate) fn reset_page(&self) {
        self.pages.send_modify(|page| *page += 1);
    }

    /// Records that a page receives the engine's events.
    pub(crate) fn mark_listening(&self) {
        self.heard.send_replace(true);
    }

    /// Waits until a page receives events, so that the next event is not lost.
    pub(crate) async fn wait_for_listener(&self) {
        self.heard.subscribe().wait_for(|heard| *heard).await.ok();
    }

    /// Records that the window is visible with its page.
    pub(crate) fn mark_visible(&self) {
        self.shown.send_replace(true);
    }

    /// Waits until the window is visible, so that background work does not delay it.
    pub(crate) async fn wait_until_visible(&self) {
        self.shown.subscribe().wait_for(|shown| *shown).await.ok();
    }
}
