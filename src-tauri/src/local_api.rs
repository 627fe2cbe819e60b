//! The local API of the app: its server runs beside the window while the settings switch it on.

use std::sync::{Mutex, PoisonError};

use engine::Engine;
use server::LocalApiServer;

/// The server, once the engine is open.
#[derive(Default)]
pub(crate) struct LocalApi(Mutex<Option<LocalApiServer>>);

impl LocalApi {
    /// Starts to follow the settings. Call it in the Tokio runtime.
    pub(crate) fn start(&self, engine: Engine) {
        let server = LocalApiServer::follow_settings(engine);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(server);
    }

    /// Stops the server, which holds the engine.
    pub(crate) async fn stop(&self) {
        let server = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(server) = server {
            server.stop().await;
        }
    }
}
