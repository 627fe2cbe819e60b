use std::env;
use std::time::Duration;

use engine::api::CharacterFields;
use rand::Rng;
use serde_json::{Value, json};

use crate::desk::{TestEnvironment, until, within};
use crate::processes;
use crate::stories::first_light::greeted;
use crate::stories::instances::database;
use crate::window::Window;

/// `cargo xtask test --all-rounds` sets this variable.
const ALL_ROUNDS: &str = "INGLENOOK_ALL_ROUNDS";

/// Repetitions of each kind of kill. Every moment is random, so more rounds find rarer faults.
struct Rounds {
    /// Kills of the app while the reply streams.
    streaming: u32,
    /// Kills of the app at a random moment after it has accepted the message.
    other: u32,
    /// Runs of the app in which the worker is killed with each signal. The third death within five
    /// minutes would stop restarts, so each run has only two.
    sittings: u32,
}

impl Rounds {
    fn of_this_run() -> Self {
        if env::var_os(ALL_ROUNDS).is_some() {
            Self {
                streaming: 50,
                other: 25,
                sittings: 10,
            }
        } else {
            Self {
                streaming: 3,
                other: 2,
                sittings: 1,
            }
        }
    }
}

const SIGNALS: [&str; 2] = ["KILL", "ABRT"];

/// Data that the app had acknowledged, so it must be stored.
struct Acknowledged {
    chat: Value,
    message: Value,
    text: String,
}

/// Kills the app repeatedly: first while the reply streams, and then at random moments after it
/// accepted the message. The next start must show everything that was acknowledged.
pub(crate) async fn app(desk: TestEnvironment) {
    let mut acknowledged: Vec<Acknowledged> = Vec::new();
    let mut character = Value::Null;
    let rounds = Rounds::of_this_run();
    for round in 0..rounds.streaming + rounds.other {
        let window = desk.open().await;
        if character.is_null() {
            character = window
                .invoke("create_character", json!({ "fields": brief("Ada") }))
                .await
                .unwrap()["id"]
                .take();
        }
        loop {
            let sent = send(&window, &character, round).await;
            // A small model sometimes ends its reply before the test can see it stream.
            let is_caught = round >= rounds.streaming || streams(&window, &sent.chat).await;
            acknowledged.push(sent);
            if is_caught {
                break;
            }
        }
        // Kills right after the first text, because short replies end within a second.
        let longest = if round < rounds.streaming { 100 } else { 500 };
        let moment = Duration::from_millis(rand::rng().random_range(0..longest));
        tokio::time::sleep(moment).await;
        processes::signal(window.app, "KILL");
        within(
            Duration::from_secs(2),
            "the worker's end after its app's",
            || async {
                (!processes::is_alive(window.app) && processes::running(&desk.worker()).is_empty())
                    .then_some(())
            },
        )
        .await;
        eprintln!("round {round} after {moment:?}");
        assert_eq!(integrity(&desk), "ok", "after round {round}");
    }
    let window = desk.open().await;
    for Acknowledged {
        chat,
        message,
        text,
    } in &acknowledged
    {
        let messages = window
            .invoke("open_chat", json!({ "id": chat }))
            .await
            .unwrap()["page"]["messages"]
            .take();
        let kept = messages
            .as_array()
            .unwrap()
            .iter()
            .find(|kept| kept["id"] == *message);
        let kept = kept.unwrap_or_else(|| panic!("{text:?} is lost"));
        assert_eq!(kept["swipes"][0]["text"], json!(text));
        let reply = messages.as_array().unwrap().last().unwrap();
        assert_ne!(
            reply["swipes"][0]["state"], "streaming",
            "an interrupted reply is marked as interrupted"
        );
    }
    window.photograph("after-kills").await;
    window.close().await;
}

async fn send(window: &Window<'_>, character: &Value, round: u32) -> Acknowledged {
    let chat = window
        .invoke("new_chat", json!({ "character": character }))
        .await
        .unwrap()["id"]
        .take();
    let text =
        format!("Message number {round}: tell me everything about the sea, and leave nothing out.");
    let sent = window
        .invoke("send_message", json!({ "chat": chat, "text": text }))
        .await
        .unwrap();
    Acknowledged {
        chat,
        message: sent["sent"]["id"].clone(),
        text,
    }
}

/// Waits for the first text of the reply. Returns `false` if the reply ended before.
async fn streams(window: &Window<'_>, chat: &Value) -> bool {
    until("words of the reply", || async {
        let open = window
            .invoke("open_chat", json!({ "id": chat }))
            .await
            .unwrap();
        match open["generating"]["text"].as_str() {
            Some("") => None,
            Some(_) => Some(true),
            None => Some(false),
        }
    })
    .await
}

/// Kills the page's process twice. The window shows the typed text again and accepts more.
/// WebDriver loses such a page, so the display's keyboard types.
pub(crate) async fn page(desk: TestEnvironment) {
    let window = desk.open().await;
    greeted(&window).await;
    window
        .part("composer")
        .await
        .send_keys("Typed before")
        .await
        .unwrap();
    until("the stored draft", || async {
        (draft(&desk) == "Typed before").then_some(())
    })
    .await;
    let id = desk.display.windows("Inglenook").pop().expect("the window");
    let mut kept = String::from("Typed before");
    for mark in ["+", "="] {
        let [page] = processes::below(window.app, "WebKitWebProcess")[..] else {
            panic!("one page")
        };
        processes::signal(page, "KILL");
        // The page that loads does not accept keys yet.
        kept = until("the draft with the next key", || async {
            desk.display
                .xdotool(&["windowfocus", "--sync", &id, "type", mark]);
            Some(draft(&desk)).filter(|text| {
                text.strip_prefix(kept.as_str())
                    .is_some_and(|more| more.starts_with(mark))
            })
        })
        .await;
    }
    desk.display.photograph(&desk.picture("page-again"));
    window.close().await;
}

/// The stored text of the only chat's composer.
fn draft(desk: &TestEnvironment) -> String {
    let database = rusqlite::Connection::open(database(desk)).unwrap();
    database
        .query_row("SELECT draft FROM chat", [], |row| row.get(0))
        .unwrap()
}

/// Kills the worker during a reply, twice in each sitting. The app, the text so far and the next
/// reply must be intact.
pub(crate) async fn worker(desk: TestEnvironment) {
    let (wanted, mut sittings) = (Rounds::of_this_run().sittings, 0);
    for tries in 0.. {
        assert!(
            tries < wanted * 2 + 2,
            "only {sittings} of {tries} sittings had two replies long enough to be cut"
        );
        sittings += u32::from(sitting(&desk, sittings == 0).await);
        // Short prompts take less time, and a model imitates interrupted replies in its history.
        std::fs::remove_dir_all(desk.data()).unwrap();
        if sittings == wanted {
            break;
        }
    }
}

/// Sends both signals, each during a reply, and then gets a good reply. Returns `false` if a reply
/// ended before its signal.
async fn sitting(desk: &TestEnvironment, photograph: bool) -> bool {
    let window = desk.open().await;
    greeted(&window).await;
    for signal in SIGNALS {
        let reply = window
            .ask("Write me a very long letter about every room of this house.")
            .await;
        let [worker] = processes::writing(&desk.worker())[..] else {
            panic!("one worker writes")
        };
        processes::signal(worker, signal);
        if !is_cut(&window, signal).await {
            window.close().await;
            return false;
        }
        let last = window.messages().await.pop().unwrap();
        assert_eq!((last.id, last.state.as_str()), (reply, "interrupted"));
        assert!(!last.text.trim().is_empty(), "the partial reply stays");
        assert!(processes::is_alive(window.app));
    }
    if photograph {
        window.photograph("1-error-card").await;
    }
    window.ask("And now a short farewell.").await;
    window.quiet().await;
    assert_eq!(window.messages().await.pop().unwrap().state, "finished");
    window.close().await;
    true
}

/// Waits for the error card, which names the signal. Returns `false` if the reply finished instead.
async fn is_cut(window: &Window<'_>, signal: &str) -> bool {
    let card = until("the error card, or the end of the reply", || async {
        let error = "return document.querySelector('[data-testid=error]')?.innerText ?? null";
        match window.script(error, vec![]).await.as_str() {
            Some(card) => Some(Some(card.to_owned())),
            None => {
                let last = window.messages().await.pop();
                last.is_some_and(|last| last.state == "finished")
                    .then_some(None)
            }
        }
    })
    .await;
    let Some(card) = card else { return false };
    assert!(card.contains(&format!("SIG{signal}")), "{card}");
    true
}

/// A card with short texts, so that a round takes seconds.
fn brief(name: &str) -> CharacterFields {
    CharacterFields {
        name: name.to_owned(),
        description: "Ada knows the sea and loves to talk.".to_owned(),
        first_message: "Sit down.".to_owned(),
        ..CharacterFields::default()
    }
}

fn integrity(desk: &TestEnvironment) -> String {
    let database = rusqlite::Connection::open(database(desk)).unwrap();
    database
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap()
}
