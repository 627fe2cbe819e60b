use std::time::Duration;

use serde_json::json;

use crate::desk::{TestEnvironment, within};
use crate::processes;
use crate::stories::first_light::greeted;
use crate::window::Window;

/// Types in the card editor and in the composer, and closes the window at once.
pub(crate) async fn closed_at_once(desk: TestEnvironment) {
    let window = desk.open().await;
    greeted(&window).await;
    window.press("nav-people").await;
    window.press("card-menu").await;
    window.press("edit-character").await;
    window
        .part("field-description")
        .await
        .send_keys(" TYPED-IN-THE-CARD")
        .await
        .unwrap();
    close_with_button(&desk, window).await;

    let window = desk.open().await;
    greeted(&window).await;
    let characters = window.invoke("list_characters", json!({})).await.unwrap();
    let mut descriptions = Vec::new();
    for character in characters.as_array().unwrap() {
        let card = window
            .invoke("get_character", json!({ "id": character["id"] }))
            .await
            .unwrap();
        descriptions.push(card["fields"]["description"].as_str().unwrap().to_owned());
    }
    assert!(
        descriptions
            .iter()
            .any(|text| text.contains("TYPED-IN-THE-CARD")),
        "{descriptions:?}"
    );
    window
        .part("composer")
        .await
        .send_keys("Typed in the composer")
        .await
        .unwrap();
    close_with_button(&desk, window).await;

    // A signal ends the app in the same way.
    let window = desk.open().await;
    greeted(&window).await;
    window.has_typed("Typed in the composer").await;
    window.photograph("restored").await;
    window
        .part("composer")
        .await
        .send_keys(", and more")
        .await
        .unwrap();
    let killed = std::process::Command::new("kill")
        .args(["-TERM", &window.app.to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    ended(&desk).await;
    drop(window);

    let window = desk.open().await;
    greeted(&window).await;
    window.has_typed("Typed in the composer, and more").await;
    window.close().await;
}

async fn close_with_button(desk: &TestEnvironment, window: Window<'_>) {
    let id = desk.display.windows("Inglenook").pop().expect("the window");
    desk.display.press_close(&id);
    ended(desk).await;
    drop(window);
}

async fn ended(desk: &TestEnvironment) {
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
}
