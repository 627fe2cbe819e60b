use serde_json::{Value, json};

use crate::desk::{TestEnvironment, until};
use crate::window::{Shown, Window};

pub(crate) async fn answers_offline(desk: TestEnvironment) {
    let window = desk.open().await;
    let greeting = greeted(&window).await;
    assert!(greeting.text.split_whitespace().count() > 8, "{greeting:?}");
    let focused =
        "return document.activeElement?.dataset.testid ?? document.activeElement?.tagName";
    until("the cursor in the composer", || async {
        (window.script(focused, vec![]).await == json!("composer")).then_some(())
    })
    .await;
    window.photograph("1-greeting").await;

    let reply = window
        .ask("Hello! Who are you, and what is this place?")
        .await;
    let first = text_of(&window, &reply).await;
    until("more words, or the end", || async {
        (text_of(&window, &reply).await.len() > first.len() || window.is_idle().await).then_some(())
    })
    .await;
    window.photograph("2-streaming").await;
    window.quiet().await;
    let figures = window.text("figures").await;
    assert!(
        figures.contains(|letter: char| letter.is_ascii_digit()),
        "figures without a number: {figures:?}"
    );
    window.photograph("3-figures").await;

    window.press("regenerate").await;
    until("the second swipe", || async {
        shows_swipe(&window, "2/2").await
    })
    .await;
    window.quiet().await;
    window.press("swipe-prev").await;
    until("the first swipe again", || async {
        shows_swipe(&window, "1/2").await
    })
    .await;
    window.photograph("4-swipes").await;
    desk.display.photograph(&desk.picture("5-screen"));
    window.close().await;
}

pub(crate) async fn survives_a_restart(desk: TestEnvironment) {
    let window = desk.open().await;
    greeted(&window).await;
    window.ask("Good evening. May I sit down?").await;
    window.quiet().await;
    window.press("regenerate").await;
    until("the second swipe", || async {
        shows_swipe(&window, "2/2").await
    })
    .await;
    window.quiet().await;
    let reply = window.messages().await.pop().expect("a reply");
    let before = chat(&window).await;
    assert_eq!(before.as_array().map(Vec::len), Some(3), "{before}");
    window.close().await;

    let window = desk.open().await;
    until("the same words", || async {
        (text_of(&window, &reply.id).await == reply.text).then_some(())
    })
    .await;
    until("both swipes", || async {
        shows_swipe(&window, "2/2").await
    })
    .await;
    assert_eq!(chat(&window).await, before);
    window.photograph("after-restart").await;
    window.ask("Thank you.").await;
    window.close().await;
}

/// Waits for the sample character's greeting.
pub(crate) async fn greeted(window: &Window<'_>) -> Shown {
    until("the greeting", || async {
        let messages = window.messages().await;
        messages
            .into_iter()
            .next()
            .filter(|message| message.role == "character" && !message.text.trim().is_empty())
    })
    .await
}

/// Returns the text of one message.
pub(crate) async fn text_of(window: &Window<'_>, id: &str) -> String {
    let messages = window.messages().await;
    messages
        .into_iter()
        .find(|message| message.id == id)
        .map(|message| message.text)
        .unwrap_or_default()
}

async fn shows_swipe(window: &Window<'_>, count: &str) -> Option<()> {
    let shown: String = window
        .text("swipe-count")
        .await
        .split_whitespace()
        .collect();
    shown.contains(count).then_some(())
}

/// Returns the messages of the newest chat with all swipes. The page renders only those near the
/// viewport.
async fn chat(window: &Window<'_>) -> Value {
    let chats = window.invoke("list_chats", json!({})).await.unwrap();
    let id = &chats[0]["id"];
    window
        .invoke("open_chat", json!({ "id": id }))
        .await
        .unwrap()["page"]["messages"]
        .take()
}
