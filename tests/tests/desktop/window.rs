//! The app's window, with the actions of a user.

use std::time::Duration;

use fantoccini::Locator;
use fantoccini::elements::Element;
use serde_json::{Value, json};

use crate::desk::{Driver, PATIENCE, Session, TestEnvironment, until, within};
use crate::processes;

pub(crate) struct Window<'a> {
    pub(crate) desk: &'a TestEnvironment,
    pub(crate) session: Session,
    pub(crate) app: u32,
    _driver: Driver,
}

/// A message as displayed on the page.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
pub(crate) struct Shown {
    pub(crate) id: String,
    pub(crate) role: String,
    /// `streaming`, `finished` or `interrupted`.
    pub(crate) state: String,
    /// The text without the buttons and figures around it.
    pub(crate) text: String,
}

/// Returns the text in the composer.
const COMPOSED: &str = "return document.querySelector('[data-testid=composer]').value";

impl<'a> Window<'a> {
    pub(crate) fn new(
        desk: &'a TestEnvironment,
        session: Session,
        driver: Driver,
        app: u32,
    ) -> Self {
        Self {
            desk,
            session,
            app,
            _driver: driver,
        }
    }

    /// Waits for the element with this `data-testid`; for that of the last message if every message
    /// has one.
    pub(crate) async fn part(&self, id: &str) -> Element {
        let selector = format!("[data-testid='{id}']");
        until(&format!("{id} on the page"), || async {
            self.session
                .find_all(Locator::Css(&selector))
                .await
                .ok()
                .and_then(|mut all| all.pop())
        })
        .await
    }

    /// Clicks the element once it is enabled, does not move and is not covered.
    pub(crate) async fn press(&self, id: &str) {
        until(&format!("{id} to be pressed"), || async {
            let part = self.part(id).await;
            if self.stands_still(id).await {
                part.click().await.ok()
            } else {
                None
            }
        })
        .await;
    }

    /// Whether the element is enabled and has not moved for two frames; a click on a moving element
    /// could hit another one.
    async fn stands_still(&self, id: &str) -> bool {
        let script = "const [id, done] = arguments;
            const part = [...document.querySelectorAll(`[data-testid='${id}']`)].at(-1);
            const place = () => JSON.stringify(part.getBoundingClientRect());
            if (!part || part.disabled) return done(false);
            const before = place();
            requestAnimationFrame(() => requestAnimationFrame(() => done(part.isConnected && place() === before)));";
        self.session
            .execute_async(script, vec![json!(id)])
            .await
            .unwrap()
            == json!(true)
    }

    /// Runs `script` in the page: a function's body with `arguments`.
    pub(crate) async fn script(&self, script: &str, arguments: Vec<Value>) -> Value {
        self.session
            .execute(script, arguments)
            .await
            .unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    /// Calls an operation of the engine like the page. `Err` is the error that the page would get.
    pub(crate) async fn invoke(&self, operation: &str, arguments: Value) -> Result<Value, Value> {
        self.command(
            "call",
            json!({ "operation": operation, "arguments": arguments.to_string() }),
        )
        .await
    }

    /// Calls a command like the page. `Err` is the error that the page would get.
    pub(crate) async fn command(&self, command: &str, arguments: Value) -> Result<Value, Value> {
        let script = "const [command, args, done] = arguments;
            window.__TAURI_INTERNALS__.invoke(command, args)
                .then((ok) => done({ ok: ok ?? null }), (err) => done({ err: err ?? null }));";
        let asked = self
            .session
            .execute_async(script, vec![json!(command), arguments]);
        let Ok(answer) = tokio::time::timeout(PATIENCE, asked).await else {
            panic!("{command} never answered")
        };
        let answer = answer.unwrap_or_else(|error| panic!("{command}: {error}"));
        match answer.get("ok") {
            Some(ok) => Ok(ok.clone()),
            None => Err(answer["err"].clone()),
        }
    }

    /// Returns the messages on the page, top to bottom.
    pub(crate) async fn messages(&self) -> Vec<Shown> {
        let script = "return [...document.querySelectorAll('[data-testid=message]')].map((message) => ({
            id: message.dataset.messageId ?? '', role: message.dataset.role ?? '', state: message.dataset.state ?? '',
            text: [...message.querySelectorAll('[data-testid=message-text] > :not([data-testid])')]
                .map((part) => part.innerText).join('\\n') }))";
        serde_json::from_value(self.script(script, vec![]).await).unwrap()
    }

    /// Types into the composer and presses Enter. Returns the id of the previously last message.
    pub(crate) async fn say(&self, text: &str) -> String {
        let last = self
            .messages()
            .await
            .pop()
            .map(|message| message.id)
            .unwrap_or_default();
        let composer = self.part("composer").await;
        composer.send_keys(text).await.unwrap();
        let typed = || async { self.script(COMPOSED, vec![]).await == json!(text) };
        until("the typed words in the composer", || async {
            typed().await.then_some(())
        })
        .await;
        composer.send_keys("\u{e007}").await.unwrap();
        until("an empty composer", || async {
            (self.script(COMPOSED, vec![]).await == json!("")).then_some(())
        })
        .await;
        last
    }

    /// Waits until no reply is running.
    pub(crate) async fn quiet(&self) {
        within(PATIENCE * 2, "the end of the reply", || async {
            self.is_idle().await.then_some(())
        })
        .await;
    }

    /// Whether no reply is running.
    pub(crate) async fn is_idle(&self) -> bool {
        let idle = "return document.querySelector('[data-testid=stop]') === null \
                    && document.querySelector('[data-testid=send]') !== null";
        self.script(idle, vec![]).await == json!(true)
    }

    /// Sends a message and waits for the first text of the reply. Returns the reply's id.
    pub(crate) async fn ask(&self, text: &str) -> String {
        let before = self.say(text).await;
        until("the first words of the reply", || async {
            let last = self.messages().await.pop()?;
            (last.id != before && last.role == "character" && !last.text.trim().is_empty())
                .then_some(last.id)
        })
        .await
    }

    /// Returns the text of the element with this `data-testid`. The driver's own command returns no
    /// text for a toolbar that CSS hides.
    pub(crate) async fn text(&self, id: &str) -> String {
        self.part(id).await;
        let script = "return [...document.querySelectorAll(`[data-testid='${arguments[0]}']`)].at(-1)?.innerText ?? ''";
        self.script(script, vec![json!(id)])
            .await
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// Waits until the page's pictures are loaded and all changes are painted.
    pub(crate) async fn painted(&self) {
        let script = "const done = arguments[arguments.length - 1];
            const loaded = [...document.images].filter((image) => !image.complete)
                .map((image) => new Promise((ok) => { image.onload = image.onerror = ok; }));
            Promise.all(loaded).then(() => requestAnimationFrame(() => requestAnimationFrame(() => done(null))));
            setTimeout(() => done(null), 5000);";
        self.session.execute_async(script, vec![]).await.unwrap();
    }

    /// Waits until the composer contains `text`. The page may be loading.
    pub(crate) async fn has_typed(&self, text: &str) {
        until("the text in the composer", || async {
            self.session
                .execute(COMPOSED, vec![])
                .await
                .is_ok_and(|composed| composed == json!(text))
                .then_some(())
        })
        .await;
    }

    /// Takes a screenshot of the page.
    pub(crate) async fn photograph(&self, step: &str) {
        self.painted().await;
        let png = self.session.screenshot().await.expect("a screenshot");
        std::fs::write(self.desk.picture(step), png).unwrap();
    }

    /// Closes the app like a user, and waits until it and its worker have ended.
    pub(crate) async fn close(self) {
        processes::signal(self.app, "TERM");
        within(
            Duration::from_secs(10),
            "the end of the app and its worker",
            || async {
                (!processes::is_alive(self.app)
                    && processes::running(&self.desk.worker()).is_empty())
                .then_some(())
            },
        )
        .await;
    }
}
