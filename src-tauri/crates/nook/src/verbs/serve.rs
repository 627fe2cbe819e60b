//! `serve`: the local API, and the web UI for a browser.

use std::env;

use engine::Engine;
use serde_json::json;
use server::{AccessToken, ServeOptions, find_ui};

use crate::failure::CommandError;
use crate::interrupts::Interrupts;
use crate::output::Output;

/// Access token of a service that keeps it across restarts; without it each start creates a new one.
const TOKEN_VARIABLE: &str = "INGLENOOK_TOKEN";

pub(crate) async fn serve(
    engine: &Engine,
    host: String,
    port: u16,
    ui: bool,
    out: &Output,
) -> Result<(), CommandError> {
    let mut interrupts = Interrupts::listen()?;
    let ui = if ui { Some(find_ui()?) } else { None };
    let seen = ui.is_some();
    let token = env::var(TOKEN_VARIABLE).ok().map(|token| AccessToken::parse(&token)).transpose()?;
    let serving = server::serve(engine.clone(), ServeOptions { host, port, ui, token }).await?;
    let started = json!({
        "url": serving.url,
        "addr": serving.addr.to_string(),
        "token": serving.token.reveal(),
    });
    out.answer(&started, |_| serving.url.clone())?;
    // With the UI open, the user expects a fast first reply and background learning, as in the app's window.
    if seen {
        engine.warm_up_in_background();
        engine.resume_interrupted_downloads();
    }
    interrupts.next().await;
    serving.stop().await;
    Ok(())
}
