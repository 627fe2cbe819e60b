//! `serve`: the engine over HTTP, the local API, and the web UI for a browser.

use std::env;

use engine::Engine;
use engine::api::{ApiServerState, LocalApiSettings};
use serde_json::json;
use server::{AccessToken, ApiSwitch, ServeOptions, find_ui};

use crate::failure::CommandError;
use crate::interrupts::Interrupts;
use crate::output::Output;

/// Access token of a service that keeps it across restarts; without it each start creates a new
/// one.
const TOKEN_VARIABLE: &str = "INGLENOOK_TOKEN";

pub(crate) struct ServeArgs {
    pub(crate) host: String,
    pub(crate) port: Option<u16>,
    pub(crate) ui: bool,
    pub(crate) api: bool,
}

pub(crate) async fn serve(
    engine: &Engine,
    args: ServeArgs,
    out: &Output,
) -> Result<(), CommandError> {
    let ServeArgs {
        host,
        port,
        ui,
        api,
    } = args;
    let mut interrupts = Interrupts::listen()?;
    let ui = if ui { Some(find_ui()?) } else { None };
    let seen = ui.is_some();
    let token = env::var(TOKEN_VARIABLE)
        .ok()
        .map(|token| AccessToken::parse(&token))
        .transpose()?;
    let (usual_port, switch) = if api {
        (LocalApiSettings::DEFAULT_PORT, ApiSwitch::Always)
    } else {
        (0, ApiSwitch::BySettings)
    };
    let options = ServeOptions {
        host,
        port: port.unwrap_or(usual_port),
        ui,
        token,
        api: switch,
    };
    let serving = server::serve(engine.clone(), options).await?;
    let address = format!("http://{}", serving.addr);
    engine.set_api_server(ApiServerState::Fixed {
        address: address.clone(),
        always: api,
    });
    let started = json!({
        "url": serving.url,
        "addr": serving.addr.to_string(),
        "token": serving.token.reveal(),
        "api": api.then(|| format!("{address}/v1")),
    });
    out.answer(&started, |_| {
        if api {
            format!(
                "{}\nOpenAI-compatible API: {address}/v1 (key: {})",
                serving.url,
                serving.token.reveal()
            )
        } else {
            serving.url.clone()
        }
    })?;
    // With the UI open, the user expects a fast first reply and background learning, as in the
    // app's window.
    if seen {
        engine.warm_up_in_background();
        engine.resume_interrupted_downloads();
        engine.resume_interrupted_moves();
    }
    interrupts.next().await;
    serving.stop().await;
    Ok(())
}
