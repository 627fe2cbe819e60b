//! The server of the local API in the app: it starts and stops as the settings say.

use std::net::Ipv4Addr;

use engine::Engine;
use engine::api::{ApiServerState, LocalApiFailure, LocalApiSettings};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::serving::serve_error::ServeError;
use crate::serving::{RunningServer, ServeOptions, serve};
use crate::state::ApiSwitch;

/// Follows the settings until it is stopped. It holds the engine, so stop it before the engine
/// closes.
pub struct LocalApiServer {
    stopping: CancellationToken,
    task: JoinHandle<()>,
}

impl LocalApiServer {
    /// Starts a task in the current Tokio runtime.
    pub fn follow_settings(engine: Engine) -> Self {
        let stopping = CancellationToken::new();
        let task = tokio::spawn(follow(engine, stopping.clone()));
        Self { stopping, task }
    }

    /// Stops the server, if it runs.
    pub async fn stop(self) {
        self.stopping.cancel();
        if let Err(error) = self.task.await {
            tracing::error!(%error, "the local API failed");
        }
    }
}

async fn follow(engine: Engine, stopping: CancellationToken) {
    let mut events = engine.subscribe_without_user();
    let mut server: Option<RunningServer> = None;
    let mut applied = LocalApiSettings::default();
    loop {
        let wanted = engine
            .get_settings()
            .await
            .map_or(applied, |settings| settings.local_api);
        if wanted != applied {
            applied = wanted;
            if let Some(old) = server.take() {
                old.stop().await;
            }
            let (started, state) = start(&engine, wanted).await;
            server = started;
            engine.set_api_server(state);
        }
        let ended = tokio::select! {
            () = stopping.cancelled() => true,
            event = events.next() => event.is_none(),
        };
        if ended {
            break;
        }
    }
    if let Some(server) = server {
        server.stop().await;
    }
}

async fn start(
    engine: &Engine,
    wanted: LocalApiSettings,
) -> (Option<RunningServer>, ApiServerState) {
    if !wanted.enabled {
        return (None, ApiServerState::Stopped);
    }
    let host = Ipv4Addr::LOCALHOST.to_string();
    let port = wanted.port;
    let options = ServeOptions {
        host,
        port,
        ui: None,
        token: None,
        api: ApiSwitch::Always,
    };
    match serve(engine.clone(), options).await {
        Ok(server) => {
            let address = format!("http://{}", server.addr);
            tracing::info!(%address, "the local API is on");
            (Some(server), ApiServerState::Following { address })
        }
        Err(error) => {
            tracing::warn!(%error, "the local API could not start");
            (None, ApiServerState::Failed(failure(&error, port)))
        }
    }
}

fn failure(error: &ServeError, port: u16) -> LocalApiFailure {
    match error {
        ServeError::PortInUse { free, .. } => LocalApiFailure {
            message: format!("Another program uses port {port}."),
            hint: match free {
                Some(free) => format!("Port {free} is free."),
                None => "Choose another port.".to_owned(),
            },
            free_port: *free,
        },
        error => {
            let hint = "Choose a port above 1023.".to_owned();
            LocalApiFailure {
                message: format!("The local API could not start: {error}."),
                hint,
                free_port: None,
            }
        }
    }
}
