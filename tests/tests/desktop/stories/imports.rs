use std::path::{Path, PathBuf};
use std::process::Child;

use domain::card::Card;
use serde_json::json;
use tests::tavern::Tavern;

use crate::desk::{TestEnvironment, until};
use crate::stories::first_light::greeted;
use crate::window::Window;

/// A real drop: drags a file from another program over the display onto the window.
pub(crate) async fn by_drop(desk: TestEnvironment) {
    let card = card(&desk, "Ottilie");
    let window = desk.open().await;
    greeted(&window).await;
    let mut source = drag_onto(&window, &card).await;
    until("the toast", || async {
        window.text("toast").await.contains("Ottilie").then_some(())
    })
    .await;
    source.kill().unwrap();
    source.wait().unwrap();
    let names = imported(&window, "Ottilie").await;
    assert!(names.len() >= 2, "the sample characters stay: {names:?}");
    window.photograph("library").await;
    window.close().await;

    let window = desk.open().await;
    greeted(&window).await;
    imported(&window, "Ottilie").await;
    window.close().await;
}

pub(crate) async fn by_dialog(desk: TestEnvironment) {
    let card = card(&desk, "Bartholomew");
    let window = desk.open().await;
    greeted(&window).await;
    window.press("nav-people").await;
    window.press("import").await;
    choose(&desk, "Import", &card, "1-dialog").await;
    imported(&window, "Bartholomew").await;
    window.photograph("2-library").await;
    window.close().await;
}

/// Imports a SillyTavern folder while the window stays usable, and checks the result.
pub(crate) async fn from_sillytavern(desk: TestEnvironment) {
    let folder = desk.home().join("SillyTavern");
    Tavern::SMALL.write(&folder.join("data/default-user"));
    let window = desk.open().await;
    greeted(&window).await;
    window.press("nav-people").await;
    window.press("import-more").await;
    window.press("import-sillytavern").await;
    choose(&desk, "Import from SillyTavern", &folder, "1-folder").await;
    window.press("nav-chats").await;
    let ended = until("the end of the import", || async {
        Some(window.text("import-ended").await).filter(|text| !text.is_empty())
    })
    .await;
    assert!(
        ended.starts_with("The import from SillyTavern is done."),
        "{ended}"
    );
    window.photograph("2-ended").await;
    window.press("import-show").await;
    window.part("import-report").await;
    window.photograph("3-report").await;
    let characters = window.invoke("list_characters", json!({})).await.unwrap();
    let names: Vec<&str> = characters
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    assert!(
        names.len() > Tavern::SMALL.cards,
        "the sample characters stay: {names:?}"
    );
    let chats = window.invoke("list_chats", json!({})).await.unwrap();
    let count = chats.as_array().unwrap().len();
    assert!(
        count >= Tavern::SMALL.chats + Tavern::SMALL.groups,
        "{count} chats"
    );
    window.close().await;
}

/// Enters `path` in the dialog with this title and takes the screenshot `step`.
async fn choose(desk: &TestEnvironment, title: &str, path: &Path, step: &str) {
    let dialog = until("the system's dialog", || async {
        desk.display.windows(title).pop()
    })
    .await;
    desk.display.photograph(&desk.picture(step));
    let keys = |keys: &[&str]| desk.display.xdotool(keys);
    keys(&["windowfocus", "--sync", &dialog]);
    // The dialog starts with recent files, where no folder can be selected.
    keys(&["key", "alt+Home"]);
    keys(&["key", "ctrl+l"]);
    keys(&["type", "--delay", "5", path.to_str().unwrap()]);
    // While the dialog still reads the folder, Enter only completes the name.
    until("the dialog's end", || async {
        let open = !desk.display.windows(title).is_empty();
        if open {
            keys(&["key", "Return", "sleep", "0.5"]);
        }
        (!open).then_some(())
    })
    .await;
}

pub(crate) async fn refused(desk: TestEnvironment) {
    let broken = desk.file(
        "holiday.png",
        include_bytes!("../../../../src-tauri/icons/32x32.png"),
    );
    let window = desk.open_with(&[broken.to_str().unwrap()]).await;
    greeted(&window).await;
    window.part("openings").await;
    window.press("openings-accept").await;
    until("a notice that names the file", || async {
        window
            .text("toast")
            .await
            .contains("holiday.png")
            .then_some(())
    })
    .await;
    window.photograph("toast").await;
    window.close().await;
}

/// Writes a card as a PNG file in the user's home folder.
pub(crate) fn card(desk: &TestEnvironment, name: &str) -> PathBuf {
    let mut card = Card::new(name).unwrap();
    card.set_description("Keeps the lighthouse and counts ships.");
    card.set_first_mes("*The lamp turns.* You are late, and the kettle is not.");
    let png = card
        .to_png(include_bytes!("../../../../src-tauri/icons/128x128.png"))
        .unwrap();
    desk.file(&format!("{name}.png"), &png)
}

/// Waits for a character in the library and returns all names.
pub(crate) async fn imported(window: &Window<'_>, name: &str) -> Vec<String> {
    window.press("nav-people").await;
    until(&format!("{name} in the library"), || async {
        let script =
            "return [...document.querySelectorAll('[data-testid=library-card]')].map((card) => card.innerText)";
        let cards: Vec<String> = serde_json::from_value(window.script(script, vec![]).await).unwrap();
        cards.iter().any(|card| card.contains(name)).then_some(cards)
    })
    .await
}

/// Returns the dragging program, which transfers the file after the button is released.
async fn drag_onto(window: &Window<'_>, file: &Path) -> Child {
    let display = &window.desk.display;
    let source = display
        .command(env!("CARGO_BIN_EXE_drag-source"))
        .arg(file)
        .spawn()
        .unwrap();
    until("the window to drag from", || async {
        display.windows("drag source").pop()
    })
    .await;
    let mouse = |arguments: &[&str]| display.xdotool(arguments);
    mouse(&["mousemove", "1370", "70", "mousedown", "1"]);
    // A drag starts after some distance, and targets notice it only while it moves.
    for x in (600..1370).step_by(35).rev() {
        mouse(&["mousemove", &x.to_string(), "300"]);
    }
    window.part("drop-target").await;
    window.painted().await;
    display.photograph(&window.desk.picture("over-the-window"));
    mouse(&["mouseup", "1"]);
    source
}
