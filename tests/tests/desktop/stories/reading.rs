//! Zoom, links and context menus in the real window.

use serde_json::{Value, json};

use crate::desk::{TestEnvironment, until};
use crate::stories::first_light::greeted;
use crate::window::Window;

/// Control, in the key codes of WebDriver.
const CONTROL: &str = "\u{e009}";
/// Whether the browser's own context menu would open at the element.
const OFFERS_MENU: &str = "return document.querySelector(arguments[0])
    .dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, cancelable: true }))";

pub(crate) async fn zoom_and_links(desk: TestEnvironment) {
    let window = desk.open().await;
    greeted(&window).await;
    window.say("Look: https://lamps.example/way?at=mill").await;
    window
        .script(
            "document.querySelector('[data-testid=stop]')?.click()",
            vec![],
        )
        .await;
    window.quiet().await;
    let width = width(&window).await;
    for _ in 0..3 {
        window
            .part("composer")
            .await
            .send_keys(&format!("{CONTROL}="))
            .await
            .unwrap();
    }
    until("a larger page", || async {
        (self::width(&window).await < 0.85 * width).then_some(())
    })
    .await;
    window.photograph("1-zoomed").await;
    assert_eq!(
        window
            .script(
                "return document.querySelector('[data-testid=composer]').value",
                vec![]
            )
            .await,
        json!("")
    );

    let offers = async |selector: &str| window.script(OFFERS_MENU, vec![json!(selector)]).await;
    assert_eq!(offers("[data-testid=message-text]").await, json!(false));
    assert_eq!(offers("[data-testid=composer]").await, json!(true));

    window
        .script("document.querySelector('a[data-address]').click()", vec![])
        .await;
    let address = window.text("link-address").await;
    assert_eq!(address.trim(), "https://lamps.example/way?at=mill");
    window.photograph("2-link").await;
    window
        .script(
            "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))",
            vec![],
        )
        .await;
    let before = window.messages().await;
    window.close().await;

    let window = desk.open().await;
    until("the same chat", || async {
        (window.messages().await == before).then_some(())
    })
    .await;
    until("the same zoom", || async {
        (self::width(&window).await < 0.85 * width).then_some(())
    })
    .await;
    window.close().await;
}

/// Width of the page in its own pixels.
async fn width(window: &Window<'_>) -> f64 {
    let width: Value = window.script("return innerWidth", vec![]).await;
    width.as_f64().unwrap()
}
