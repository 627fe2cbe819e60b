use std::process::Stdio;
use std::time::Duration;

use serde_json::json;

use crate::desk::{TestEnvironment, until, within};
use crate::processes;
use crate::stories::first_light::greeted;
use crate::stories::imports::{card, imported};

pub(crate) async fn second_start(desk: TestEnvironment) {
    let card = card(&desk, "Wilhelmina");
    let window = desk.open().await;
    greeted(&window).await;
    let mut second = desk
        .command(desk.app())
        .arg(card.file_name().unwrap())
        // The second start runs in another folder.
        .current_dir(desk.home())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let status = within(
        Duration::from_secs(10),
        "the end of the second start",
        || {
            let status = second.try_wait().unwrap();
            async move { status }
        },
    )
    .await;
    assert_eq!(status.code(), Some(0));
    assert_eq!(processes::running(&desk.app()), [window.app]);
    assert_eq!(desk.display.windows("Inglenook").len(), 1);
    // Nothing is imported before the answer.
    window.part("openings").await;
    window.press("openings-accept").await;
    imported(&window, "Wilhelmina").await;
    window.close().await;
}

/// Closes the window with its own button during a reply.
pub(crate) async fn closing(desk: TestEnvironment) {
    let window = desk.open().await;
    greeted(&window).await;
    window.ask("Tell me a long story about the sea.").await;
    assert_eq!(
        processes::writing(&desk.worker()).len(),
        1,
        "one worker writes the reply"
    );
    let id = desk.display.windows("Inglenook").pop().expect("the window");
    desk.display.press_close(&id);
    within(
        Duration::from_secs(10),
        "the end of every process",
        || async {
            let left = [
                processes::running(&desk.app()),
                processes::running(&desk.worker()),
            ]
            .concat();
            left.is_empty().then_some(())
        },
    )
    .await;
    drop(window);

    let window = desk.open().await;
    until("the words written before", || async {
        let messages = window.messages().await;
        (messages.len() == 3 && !messages[2].text.trim().is_empty()).then_some(())
    })
    .await;
    window.photograph("partial-kept").await;
    window.close().await;
}

pub(crate) async fn place(desk: TestEnvironment) {
    let window = desk.open().await;
    greeted(&window).await;
    let id = desk.display.windows("Inglenook").pop().expect("the window");
    desk.display
        .xdotool(&["windowsize", "--sync", &id, "1010", "640"]);
    desk.display
        .xdotool(&["windowmove", "--sync", &id, "120", "80"]);
    let geometry = || desk.display.xdotool(&["getwindowgeometry", "--shell", &id]);
    until("the new size in the shell's file", || async {
        std::fs::read_to_string(desk.data().join("shell.json"))
            .ok()
            .filter(|text| text.contains("1010"))
            .map(drop)
    })
    .await;
    assert!(geometry().contains("WIDTH=1010"));
    window.close().await;

    let window = desk.open().await;
    greeted(&window).await;
    until("the window where it was", || async {
        let id = desk.display.windows("Inglenook").pop()?;
        let geometry = desk.display.xdotool(&["getwindowgeometry", "--shell", &id]);
        ["WIDTH=1010", "HEIGHT=640", "X=120", "Y=80"]
            .iter()
            .all(|part| geometry.contains(part))
            .then_some(())
    })
    .await;
    window.close().await;

    // Places that a lost monitor or a minimized window leave behind.
    for (x, y, width, height) in [(9_000, 9_000, 1_010, 640), (-32_000, -32_000, 0, 0)] {
        let stored = json!({"window": {"x": x, "y": y, "width": width, "height": height, "maximized": false}});
        std::fs::write(desk.data().join("shell.json"), stored.to_string()).unwrap();
        let window = desk.open().await;
        greeted(&window).await;
        let id = desk.display.windows("Inglenook").pop().expect("the window");
        let geometry = desk.display.xdotool(&["getwindowgeometry", "--shell", &id]);
        let value = |name: &str| -> i64 {
            let line = geometry
                .lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
            line.unwrap().parse().unwrap()
        };
        assert!(
            (-100..1_300).contains(&value("X")) && (-20..800).contains(&value("Y")),
            "{geometry}"
        );
        assert!(value("WIDTH") > 300 && value("HEIGHT") > 200, "{geometry}");
        window.close().await;
    }
}

/// The dialog names the file and offers remedies. Every choice keeps the damaged file.
pub(crate) async fn damaged_database(desk: TestEnvironment) {
    let window = desk.open().await;
    greeted(&window).await;
    window.close().await;
    let database = database(&desk);
    let mut damaged = std::fs::read(&database).unwrap();
    damaged[16..4096].fill(0xaa);
    std::fs::write(&database, &damaged).unwrap();

    let mut app = desk.command(desk.app()).spawn().unwrap();
    let dialog = until("the question", || async {
        desk.display.windows(QUESTION).pop()
    })
    .await;
    desk.display.photograph(&desk.picture("1-question"));
    desk.display
        .xdotool(&["windowfocus", "--sync", &dialog, "key", "Escape"]);
    let status = within(Duration::from_secs(10), "the app's end", || {
        let ended = app.try_wait().unwrap();
        async move { ended }
    })
    .await;
    assert_eq!(status.code(), Some(1));
    assert!(
        std::fs::read(&database).unwrap() == damaged,
        "no answer changes nothing"
    );

    let mut app = desk.command(desk.app()).spawn().unwrap();
    let dialog = until("the question", || async {
        desk.display.windows(QUESTION).pop()
    })
    .await;
    // The middle button, beside the one that restores the backup of the end of the session: keep it
    // and start fresh.
    desk.display
        .xdotool(&["mousemove", "--window", &dialog, "273", "230", "click", "1"]);
    until("the window, and where the damaged file is", || async {
        let shown = !desk.display.windows("Inglenook").is_empty();
        (shown && !desk.display.windows("The damaged file is kept").is_empty()).then_some(())
    })
    .await;
    desk.display.photograph(&desk.picture("2-fresh"));
    let holds_damage =
        |path: std::path::PathBuf| std::fs::read(path).is_ok_and(|bytes| bytes == damaged);
    assert!(
        files_below(&desk.data()).into_iter().any(holds_damage),
        "the damaged file is kept"
    );
    processes::signal(app.id(), "TERM");
    app.wait().unwrap();
}

const QUESTION: &str = "The database is damaged";

fn files_below(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .filter_map(Result::ok)
        .map(|entry| entry.path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                files_below(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

/// Returns the database file in the app's data folder.
pub(crate) fn database(desk: &TestEnvironment) -> std::path::PathBuf {
    let files = std::fs::read_dir(desk.data())
        .unwrap()
        .filter_map(Result::ok)
        .map(|entry| entry.path());
    files
        .into_iter()
        .find(|path| path.extension().is_some_and(|extension| extension == "db"))
        .expect("a database")
}
