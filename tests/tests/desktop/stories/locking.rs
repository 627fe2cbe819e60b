use std::time::Duration;

use serde_json::{Value, json};

use crate::desk::{TestEnvironment, until, within};
use crate::stories::first_light::greeted;
use crate::window::Window;
use crate::{memory, processes};

const PASSPHRASE: &str = "whale oil in the lamp room";
/// Nothing but the message has this text.
const SECRET: &str = "MARMALADE-HERON-7261";

pub(crate) async fn locked(desk: TestEnvironment) {
    protected(&desk).await;

    let window = desk.open().await;
    window.part("lock-page").await;
    assert!(window.messages().await.is_empty(), "no chat is shown");
    assert_eq!(desk.display.windows("Inglenook").len(), 1);
    assert!(!memory::tree_holds(window.app, SECRET));
    window.photograph("1-locked").await;
    give(&window, "whale oil in the lamp").await;
    until("the refusal", || async {
        (!window.text("lock-error").await.trim().is_empty()).then_some(())
    })
    .await;
    window.photograph("2-refused").await;
    give(&window, PASSPHRASE).await;
    shows_secret(&window).await;
    assert!(
        memory::tree_holds(window.app, SECRET),
        "an open app holds its messages, so the search works"
    );

    assert_eq!(nook(&desk, &["lock"]), json!({ "asked": true }));
    let app = locked_app(&desk, window.app).await;
    drop(window);
    desk.display.photograph(&desk.picture("3-locked-again"));
    assert!(
        !memory::tree_holds(app, SECRET),
        "a locked app holds no message"
    );
    processes::signal(app, "TERM");
    until("the end of the locked app", || async {
        (!processes::is_alive(app)).then_some(())
    })
    .await;

    let window = desk.open_with(&["--locked"]).await;
    window.part("lock-page").await;
    give(&window, PASSPHRASE).await;
    shows_secret(&window).await;
    window.close().await;
}

/// Stores a message, and encrypts the data folder.
async fn protected(desk: &TestEnvironment) {
    let window = desk.open().await;
    greeted(&window).await;
    window.ask(&format!("The password is {SECRET}.")).await;
    window.quiet().await;
    window.close().await;
    let passphrase = desk.file("passphrase", PASSPHRASE.as_bytes());
    let code = desk.home().join("code");
    let done = nook(
        desk,
        &[
            "protect",
            "on",
            "--passphrase-from",
            passphrase.to_str().unwrap(),
            "--code-to",
            code.to_str().unwrap(),
        ],
    );
    assert_eq!(done["protected"], true, "{done}");
}

/// Types a passphrase and sends it.
async fn give(window: &Window<'_>, passphrase: &str) {
    until("the field of the passphrase", || async {
        let field = window.part("lock-passphrase").await;
        field.clear().await.ok()?;
        field.send_keys(passphrase).await.ok()
    })
    .await;
    window.press("lock-submit").await;
}

async fn shows_secret(window: &Window<'_>) {
    until("the message", || async {
        let messages = window.messages().await;
        messages
            .iter()
            .any(|message| message.text.contains(SECRET))
            .then_some(())
    })
    .await;
}

/// Waits until another process than `before` has a window, and returns it.
async fn locked_app(desk: &TestEnvironment, before: u32) -> u32 {
    let app = within(Duration::from_secs(30), "the restarted app", || async {
        let is_shown = !desk.display.windows("Inglenook").is_empty();
        match processes::running(&desk.app()).as_slice() {
            [app] if *app != before && is_shown => Some(*app),
            _ => None,
        }
    })
    .await;
    let arguments = std::fs::read(format!("/proc/{app}/cmdline")).unwrap();
    assert!(
        arguments
            .split(|byte| *byte == 0)
            .any(|argument| argument == b"--locked"),
        "{}",
        String::from_utf8_lossy(&arguments)
    );
    app
}

/// Runs the command line, and returns its JSON.
fn nook(desk: &TestEnvironment, arguments: &[&str]) -> Value {
    let output = desk
        .command(desk.nook())
        .args(arguments)
        .arg("--json")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "nook {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}
