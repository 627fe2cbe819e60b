//! The engine as the shell holds it: opened beside the window, so that neither waits for the other.

use engine::Engine;
use tokio::sync::watch;

/// Shared by all commands. Whoever comes before the engine is open waits.
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

    /// The engine, as soon as it is open; never again once the app is ending. Keep it no longer than one call: the database
    /// is closed in order when the last clone goes.
    pub(crate) async fn engine(&self) -> Engine {
        let mut opened = self.engine.subscribe();
        // Neither can fail while `self` holds the sender.
        let engine = opened.wait_for(Option::is_some).await.ok().and_then(|engine| engine.clone());
        match engine {
            Some(engine) => engine,
            None => std::future::pending().await,
        }
    }

    pub(crate) fn set(&self, engine: Engine) {
        self.engine.send_replace(Some(engine));
    }

    /// Takes the engine away, for the end.
    pub(crate) fn take(&self) -> Option<Engine> {
        self.engine.send_replace(None)
    }

    /// Changes when another page takes the place of the present one, as a reload does.
    pub(crate) fn page(&self) -> watch::Receiver<u64> {
        self.pages.subscribe()
    }

    /// Ends the streams of the page before.
    pub(crate) fn new_page(&self) {
        self.pages.send_modify(|page| *page += 1);
    }

    /// A page listens to the engine's news.
    pub(crate) fn is_heard(&self) {
        self.heard.send_replace(true);
    }

    /// Waits until a page listens, so that what is told next is not told to nobody.
    pub(crate) async fn heard(&self) {
        self.heard.subscribe().wait_for(|heard| *heard).await.ok();
    }

    /// The window is on the screen, with its page.
    pub(crate) fn is_shown(&self) {
        self.shown.send_replace(true);
    }

    /// Waits until the window is on the screen, so that what can wait does not slow that down.
    pub(crate) async fn shown(&self) {
        self.shown.subscribe().wait_for(|shown| *shown).await.ok();
    }
}
