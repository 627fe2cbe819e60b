use std::time::Duration;

use engine::api::CharacterFields;
use rand::Rng;
use serde_json::{Value, json};

use crate::desk::{Desk, until, within};
use crate::processes;
use crate::stories::first_light::greeted;
use crate::stories::instances::database;
use crate::window::Window;

const STREAMING_KILLS: u32 = 50;
/// At any moment after the app took the message.
const OTHER_KILLS: u32 = 25;
/// The third death within five minutes would be the last: then the app asks the user to choose another model.
const SITTINGS: u32 = 10;
const SIGNALS: [&str; 2] = ["KILL", "ABRT"];

/// What the app had said is on the disk.
struct Acknowledged {
    chat: Value,
    message: Value,
    text: String,
}

/// The app dies without a word, again and again: fifty times while the reply streams, and then at any moment after it took
/// the message. What it had acknowledged is there on the next start.
pub(crate) async fn app(desk: Desk) {
    let mut acknowledged: Vec<Acknowledged> = Vec::new();
    let mut character = Value::Null;
    for round in 0..STREAMING_KILLS + OTHER_KILLS {
        let window = desk.open().await;
        if character.is_null() {
            character =
                window.invoke("create_character", json!({ "fields": brief("Ada") })).await.unwrap()["id"].take();
        }
        loop {
            let sent = send(&window, &character, round).await;
            // A small model now and then says a word and is done, before anybody could see it write.
            let is_caught = round >= STREAMING_KILLS || streams(&window, &sent.chat).await;
            acknowledged.push(sent);
            if is_caught {
                break;
            }
        }
        // Right behind the first words, while more are on the way: short replies are over within a second.
        let longest = if round < STREAMING_KILLS { 100 } else { 500 };
        let moment = Duration::from_millis(rand::rng().random_range(0..longest));
        tokio::time::sleep(moment).await;
        processes::signal(window.app, "KILL");
        within(Duration::from_secs(2), "the worker's end after its app's", || async {
            (!processes::is_alive(window.app) && processes::running(&desk.worker()).is_empty()).then_some(())
        })
        .await;
        eprintln!("round {round} after {moment:?}");
        assert_eq!(integrity(&desk), "ok", "after round {round}");
    }
    let window = desk.open().await;
    for Acknowledged { chat, message, text } in &acknowledged {
        let messages = window.invoke("open_chat", json!({ "id": chat })).await.unwrap()["page"]["messages"].take();
        let kept = messages.as_array().unwrap().iter().find(|kept| kept["id"] == *message);
        let kept = kept.unwrap_or_else(|| panic!("{text:?} is lost"));
        assert_eq!(kept["swipes"][0]["text"], json!(text));
        let reply = messages.as_array().unwrap().last().unwrap();
        assert_ne!(reply["swipes"][0]["state"], "streaming", "a cut reply is known as cut");
    }
    window.photograph("after-kills").await;
    window.close().await;
}

async fn send(window: &Window<'_>, character: &Value, round: u32) -> Acknowledged {
    let chat = window.invoke("new_chat", json!({ "character": character })).await.unwrap()["id"].take();
    let text = format!("Message number {round}: tell me everything about the sea, and leave nothing out.");
    let sent = window.invoke("send_message", json!({ "chat": chat, "text": text })).await.unwrap();
    Acknowledged { chat, message: sent["sent"]["id"].clone(), text }
}

/// Waits for the reply's first words; `false` when it was over before.
async fn streams(window: &Window<'_>, chat: &Value) -> bool {
    until("words of the reply", || async {
        let open = window.invoke("open_chat", json!({ "id": chat })).await.unwrap();
        match open["generating"]["text"].as_str() {
            Some("") => None,
            Some(_) => Some(true),
            None => Some(false),
        }
    })
    .await
}

/// The worker dies in the middle of a reply, twenty times; the app, the words so far and the next reply are well.
pub(crate) async fn worker(desk: Desk) {
    let mut sittings = 0;
    for tries in 0.. {
        assert!(tries < SITTINGS * 2, "only {sittings} of {tries} sittings had two replies long enough to be cut");
        sittings += u32::from(sitting(&desk, sittings == 0).await);
        // Short prompts make short work, and a model that has read cut replies learns to write them.
        std::fs::remove_dir_all(desk.data()).unwrap();
        if sittings == SITTINGS {
            break;
        }
    }
}

/// Both signals, each in the middle of a reply, and then a good reply; `false` when a reply was over before its signal.
async fn sitting(desk: &Desk, photograph: bool) -> bool {
    let window = desk.open().await;
    greeted(&window).await;
    for signal in SIGNALS {
        let reply = window.ask("Write me a very long letter about every room of this house.").await;
        let [worker] = processes::writing(&desk.worker())[..] else { panic!("one worker writes") };
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

/// Waits for the error card, which names the signal; `false` when the reply was finished instead.
async fn is_cut(window: &Window<'_>, signal: &str) -> bool {
    let card = until("the error card, or the end of the reply", || async {
        let error = "return document.querySelector('[data-testid=error]')?.innerText ?? null";
        match window.script(error, vec![]).await.as_str() {
            Some(card) => Some(Some(card.to_owned())),
            None => {
                let last = window.messages().await.pop();
                last.is_some_and(|last| last.state == "finished").then_some(None)
            }
        }
    })
    .await;
    let Some(card) = card else { return false };
    assert!(card.contains(&format!("SIG{signal}")), "{card}");
    true
}

/// A card of few words, so that a round takes seconds.
fn brief(name: &str) -> CharacterFields {
    CharacterFields {
        name: name.to_owned(),
        description: "Ada knows the sea and loves to talk.".to_owned(),
        first_message: "Sit down.".to_owned(),
        ..CharacterFields::default()
    }
}

fn integrity(desk: &Desk) -> String {
    let database = rusqlite::Connection::open(database(desk)).unwrap();
    database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap()
}
