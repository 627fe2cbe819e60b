//! Diagnosis of a failed desktop test: a screenshot, and the state of the page, the engine and the
//! log as text. On a remote machine only the text is available.

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use serde_json::Value;

use crate::desk::{Session, TestEnvironment};

/// The test environment of this process.
static SCENE: OnceLock<Scene> = OnceLock::new();

struct Scene {
    display: String,
    picture: PathBuf,
    logs: PathBuf,
    session: Mutex<Option<Session>>,
}

const LINES_OF_LOG: usize = 25;

/// Timeout for a page that hangs.
const PATIENCE: Duration = Duration::from_secs(5);

const PAGE: &str = "
    const of = (id) => document.querySelector(`[data-testid=${id}]`);
    const log = of('log');
    return {
        composer: of('composer')?.value, focused: document.activeElement?.dataset.testid ?? document.activeElement?.tagName,
        stop: of('stop') !== null, jump: of('jump') !== null, error: of('error')?.innerText,
        log: log && [log.scrollTop, log.clientHeight, log.scrollHeight],
        messages: [...document.querySelectorAll('[data-testid=message]')].map((message) => message.dataset.role + ' '
            + message.dataset.state + ': ' + message.innerText.replaceAll('\\n', ' | ').slice(-300)),
        buttons: [...document.querySelectorAll('button[data-testid]')].map((button) => {
            const { x, y } = button.getBoundingClientRect();
            return `${button.dataset.testid}${button.disabled ? ' (disabled)' : ''} ${Math.round(x)},${Math.round(y)}`;
        }),
    };";

const ENGINE: &str = "
    const done = arguments[arguments.length - 1];
    const invoke = window.__TAURI_INTERNALS__.invoke;
    invoke('list_chats').then(([{ id }]) => invoke('open_chat', { id }))
        .then(({ generating, page }) => done({ generating, last: page.messages.slice(-2) }), (error) => done({ error }));";

pub(crate) fn watch_desk(desk: &TestEnvironment) {
    let (display, picture) = (desk.display.name().to_owned(), desk.picture("failure"));
    let scene = Scene {
        display,
        picture,
        logs: desk.data().join("logs"),
        session: Mutex::default(),
    };
    SCENE.set(scene).ok();
}

pub(crate) fn watch_session(session: &Session) {
    if let Some(scene) = SCENE.get() {
        *scene.session.lock().unwrap() = Some(session.clone());
    }
}

pub(crate) async fn tell() {
    let Some(scene) = SCENE.get() else { return };
    Command::new("import")
        .args(["-window", "root"])
        .arg(&scene.picture)
        .env("DISPLAY", &scene.display)
        .status()
        .ok();
    eprintln!("the screen: {}", scene.picture.display());
    let session = scene.session.lock().unwrap().clone();
    if let Some(session) = session {
        eprintln!("the page: {}", answer(session.execute(PAGE, vec![])).await);
        eprintln!(
            "the engine: {}",
            answer(session.execute_async(ENGINE, vec![])).await
        );
    }
    let logs = std::fs::read_dir(&scene.logs)
        .into_iter()
        .flatten()
        .flatten();
    for log in logs.filter_map(|file| std::fs::read_to_string(file.path()).ok()) {
        let lines: Vec<&str> = log.lines().collect();
        eprintln!(
            "the log:\n{}",
            lines[lines.len().saturating_sub(LINES_OF_LOG)..].join("\n")
        );
    }
}

async fn answer<E: std::fmt::Display>(asked: impl Future<Output = Result<Value, E>>) -> String {
    match tokio::time::timeout(PATIENCE, asked).await {
        Ok(Ok(value)) => format!("{value:#}"),
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("silent for {PATIENCE:?}"),
    }
}
