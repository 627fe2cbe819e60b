use std::collections::BTreeSet;
use std::time::Duration;

use rand::Rng;
use serde_json::json;

use crate::desk::{Desk, until, within};
use crate::processes;
use crate::stories::first_light::greeted;
use crate::stories::instances::database;

const APP_KILLS: u32 = 50;
const WORKER_KILLS: u32 = 20;

/// The app dies without a word, again and again, while it writes; what it had acknowledged is there on the next start.
pub async fn app(desk: Desk) {
    let mut acknowledged = BTreeSet::new();
    let mut random = rand::rng();
    for round in 0..APP_KILLS {
        let window = desk.open().await;
        let chat = window.invoke("startup", json!({})).await.unwrap()["chat"].as_str().unwrap().to_owned();
        let text = format!("Message number {round}, and do not lose it.");
        let sent = window.invoke("send_message", json!({ "chat": chat, "text": text })).await.unwrap();
        acknowledged.insert((sent["sent"]["id"].as_str().unwrap().to_owned(), text));
        let moment = Duration::from_millis(random.random_range(0..1200));
        tokio::time::sleep(moment).await;
        processes::signal(window.app, "KILL");
        within(Duration::from_secs(2), "the worker's end after its app's", || async {
            processes::running(&desk.worker()).is_empty().then_some(())
        })
        .await;
        assert_eq!(integrity(&desk), "ok", "after round {round}");
    }
    let window = desk.open().await;
    let chat = window.invoke("startup", json!({})).await.unwrap()["chat"].clone();
    let mut kept = BTreeSet::new();
    let mut page = window.invoke("open_chat", json!({ "id": chat })).await.unwrap()["page"].take();
    loop {
        let messages = page["messages"].as_array().unwrap();
        for message in messages {
            let selected = message["selected"].as_u64().unwrap() as usize;
            let text = message["swipes"][selected]["text"].as_str().unwrap_or_default();
            kept.insert((message["id"].as_str().unwrap().to_owned(), text.to_owned()));
        }
        if page["more"] != json!(true) {
            break;
        }
        let oldest = messages[0]["id"].clone();
        let before = json!({ "chat": chat, "before": oldest, "limit": 100 });
        page = window.invoke("messages_before", before).await.unwrap();
    }
    let lost: Vec<_> = acknowledged.difference(&kept).collect();
    assert!(lost.is_empty(), "lost after {APP_KILLS} kills: {lost:?}");
    greeted(&window).await;
    window.photograph("after-kills").await;
    window.close().await;
}

/// The worker dies in the middle of a reply; the app, the words so far and the next reply are well.
pub async fn worker(desk: Desk) {
    let window = desk.open().await;
    greeted(&window).await;
    for round in 0..WORKER_KILLS {
        let before = window.messages().await.len();
        window.say(&format!("Story {round}: tell me about a ship, at length.")).await;
        let reply = window.reply_begins(before + 1).await;
        let [worker] = processes::running(&desk.worker())[..] else { panic!("one worker writes") };
        processes::signal(worker, if round % 2 == 0 { "KILL" } else { "ABRT" });
        let card = until("the error card", || async {
            let error = "return document.querySelector('[data-testid=error]')?.innerText ?? null";
            window.script(error, vec![]).await.as_str().map(str::to_owned)
        })
        .await;
        assert!(!card.trim().is_empty());
        if round == 0 {
            window.photograph("1-error-card").await;
        }
        let messages = window.messages().await;
        let partial = messages.iter().find(|message| message.id == reply).expect("the partial reply stays");
        assert!(!partial.text.trim().is_empty());
        assert!(processes::is_alive(window.app));
        window.quiet().await;
    }
    let before = window.messages().await.len();
    window.say("And now a short farewell.").await;
    window.reply_begins(before + 1).await;
    window.quiet().await;
    window.photograph("2-next-reply").await;
    window.close().await;
}

fn integrity(desk: &Desk) -> String {
    let database = rusqlite::Connection::open(database(desk)).unwrap();
    database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap()
}
