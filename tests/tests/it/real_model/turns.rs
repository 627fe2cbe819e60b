//! Whole turns with the real worker and the real small model.

use std::path::PathBuf;
use std::time::Duration;

use domain::ChatId;
use engine::Engine;
use engine::api::{EndReason, Event};
use serde_json::json;
use tests::headless::{ended, selected_text};

use super::open_with;

async fn open(dir: &tempfile::TempDir) -> Engine {
    open_with(dir, &[]).await
}

#[tokio::test]
async fn second_turn_evaluates_only_new_tokens() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(&dir).await;
    let chat = engine.startup().await.unwrap().chat.unwrap();
    let mut figures = Vec::new();
    for words in [
        "Hello! Who are you?",
        "What do you like about the fire?",
        "And what is in that pot?",
    ] {
        let mut events = engine.subscribe();
        engine.send_message(chat, words.into()).await.unwrap();
        let (reply, reason) = ended(&mut events, chat).await;
        assert!(
            matches!(reason, EndReason::Stop | EndReason::Length),
            "{reason:?}"
        );
        let reply = reply.unwrap();
        println!(
            "{words}\n  {}\n  {:?}",
            selected_text(&reply),
            reply.swipes[0].figures
        );
        let manifest = engine.manifest(reply.swipes[0].id).await.unwrap();
        let usage = reply.swipes[0].figures.clone().unwrap();
        // The planned token count equals the worker's.
        assert!(manifest.tokens.exact);
        assert_eq!(usage.prompt, Some(manifest.tokens.total));
        figures.push(usage);
    }
    assert_eq!(figures[0].reused, Some(0));
    for pair in figures.windows(2) {
        let (before, after) = (&pair[0], &pair[1]);
        let known = before.prompt.unwrap() + before.generated.unwrap();
        let reused = after.reused.unwrap();
        // The reply's last token is never evaluated, and a reply may be tokenized differently
        // later.
        assert!(
            reused >= before.prompt.unwrap() && reused <= known,
            "{before:?} then {after:?}"
        );
        assert_eq!(after.prompt.unwrap() - reused, after.evaluated.unwrap());
    }
    engine.shutdown().await;
}

#[tokio::test]
async fn killed_worker_keeps_text_and_next_reply_works() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(&dir).await;
    let chat = engine.startup().await.unwrap().chat.unwrap();
    let mut events = engine.subscribe();
    engine
        .send_message(chat, "Tell me a long story about a lighthouse.".into())
        .await
        .unwrap();
    tests::headless::first_token(&mut events, chat).await;
    let pid = engine.worker_pid().await.unwrap();
    std::process::Command::new("kill")
        .args(["-KILL", &pid.to_string()])
        .status()
        .unwrap();
    let (reply, reason) = ended(&mut events, chat).await;
    assert!(matches!(reason, EndReason::Failed { .. }), "{reason:?}");
    assert!(!selected_text(&reply.unwrap()).is_empty());

    engine.regenerate(chat).await.unwrap();
    let (reply, reason) = ended(&mut events, chat).await;
    assert!(
        matches!(reason, EndReason::Stop | EndReason::Length),
        "{reason:?}"
    );
    assert_eq!(reply.unwrap().swipes.len(), 2);
    engine.shutdown().await;
    assert!(!PathBuf::from(format!("/proc/{pid}")).exists());
}

/// A job such as a title or a draft only evaluates its own text, and the next turn is not affected.
#[tokio::test]
async fn title_and_draft_keep_the_chats_cache() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open_with(
        &dir,
        &[("INGLENOOK_MEMORY", "off"), ("INGLENOOK_MAX_TOKENS", "40")],
    )
    .await;
    let chat = engine.startup().await.unwrap().chat.unwrap();
    let mut events = engine.subscribe();
    let mut asked = Vec::new();
    for words in [
        "Hello! Who are you?",
        "What do you like about the fire?",
        "And what is in that pot?",
    ] {
        engine.send_message(chat, words.into()).await.unwrap();
        let (reply, _) = ended(&mut events, chat).await;
        engine.settle().await;
        let swipe = reply.unwrap().swipes.remove(0);
        println!("{words}\n  {:?}", swipe.figures);
        asked.push(swipe.figures.unwrap().evaluated.unwrap());
        println!("  title: {}", engine.open_chat(chat).await.unwrap().title);
        engine.impersonate(chat).await.unwrap();
        let (text, figures) = loop {
            if let Event::Drafted { text, figures, .. } = events.next().await.unwrap() {
                break (text, figures);
            }
        };
        println!("  draft: {text}\n  {figures:?}");
        assert!(!text.is_empty());
        assert!(
            figures.evaluated.unwrap() < 150 && figures.reused.unwrap() > 400,
            "{figures:?}"
        );
        engine.save_draft(chat, String::new()).await.unwrap();
    }
    assert!(
        asked[1..].iter().all(|evaluated| *evaluated < 60),
        "{asked:?}"
    );
    engine.shutdown().await;
}

const SMALL: [(&str, &str); 4] = [
    ("INGLENOOK_CONTEXT_LIMIT", "1024"),
    ("INGLENOOK_REPLY_RESERVE", "64"),
    ("INGLENOOK_MAX_TOKENS", "40"),
    ("INGLENOOK_MEMORY", "off"),
];
const WORDS: &str = "The fog came in over the quay tonight, and the lamplighter was late again. What do you make of it?";

/// Sends messages until the window has been trimmed `enough` times, at most 16. Returns the number
/// of trimmed windows, and the maximum of tokens evaluated besides the input.
async fn most_evaluated_until(engine: &Engine, enough: usize) -> (usize, u32) {
    let chat = engine.startup().await.unwrap().chat.unwrap();
    let (mut epoch, mut cuts, mut most) = (1, 0, 0);
    for turn in 0..16 {
        let mut events = engine.subscribe();
        engine.send_message(chat, WORDS.into()).await.unwrap();
        let (reply, _) = ended(&mut events, chat).await;
        engine.settle().await;
        let swipe = &reply.unwrap().swipes[0];
        let manifest = engine.manifest(swipe.id).await.unwrap();
        let evaluated = swipe.figures.as_ref().unwrap().evaluated.unwrap();
        if turn > 0 {
            cuts += usize::from(manifest.epoch > epoch);
            most = most.max(evaluated.saturating_sub(manifest.tokens.by_zone.input));
        }
        epoch = manifest.epoch;
        if cuts == enough {
            break;
        }
    }
    (cuts, most)
}

/// The next prefix is evaluated in idle time, and the trimmed one if the next turn will trim.
#[tokio::test]
async fn full_window_is_trimmed_and_prefetched_when_idle() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open_with(&dir, &SMALL).await;
    let (cuts, most) = most_evaluated_until(&engine, 2).await;
    assert_eq!(cuts, 2, "no window was full");
    // Markers around a message remain; and a reply may be tokenized differently later.
    assert!(
        most < 64,
        "{most} tokens were evaluated while the user waited"
    );
    engine.shutdown().await;
}

#[tokio::test]
async fn no_prefetch_if_disabled() {
    let dir = tempfile::tempdir().unwrap();
    let variables: Vec<_> = SMALL
        .into_iter()
        .chain([("INGLENOOK_READ_AHEAD", "off")])
        .collect();
    let engine = open_with(&dir, &variables).await;
    let (cuts, most) = most_evaluated_until(&engine, 1).await;
    assert!(cuts > 0 && most > 100, "{most} tokens at {cuts} cuts");
    engine.shutdown().await;
}

/// The app removes the blank at the start of a reply, which changes its tokens.
#[tokio::test]
async fn reply_with_other_tokens_is_read_in_idle_time() {
    let dir = tempfile::tempdir().unwrap();
    let words = "\" river\" = 100\n\" lamp\" = 100";
    let variables = [
        ("INGLENOOK_MAX_TOKENS", "40"),
        ("INGLENOOK_MEMORY", "off"),
        ("INGLENOOK_LOGIT_BIAS", words),
    ];
    let engine = open_with(&dir, &variables).await;
    let chat = engine.startup().await.unwrap().chat.unwrap();
    let mut evaluated = Vec::new();
    for words in ["Good evening.", "And then?"] {
        let mut events = engine.subscribe();
        engine.send_message(chat, words.into()).await.unwrap();
        let (reply, _) = ended(&mut events, chat).await;
        engine.settle().await;
        let swipe = reply.unwrap().swipes.remove(0);
        assert!(
            swipe
                .text
                .split(' ')
                .all(|word| ["river", "lamp"].contains(&word)),
            "{}",
            swipe.text
        );
        evaluated.push(swipe.figures.unwrap().evaluated.unwrap());
    }
    assert!(
        evaluated[1] < 30,
        "{evaluated:?}: the reply of 40 tokens was read while the user waited"
    );
    engine.shutdown().await;
}

/// Background jobs use a separate cache, so the chat's cache is available for the next turn.
/// Arbitrary output of a tiny model never gets into a prompt by itself.
#[tokio::test]
async fn learning_keeps_the_chats_cache() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open_with(
        &dir,
        &[
            ("INGLENOOK_MAX_TOKENS", "12"),
            ("INGLENOOK_MEMORY_LEARN", "on"),
        ],
    )
    .await;
    let chat = engine.startup().await.unwrap().chat.unwrap();
    let say = async |words: &str| {
        let mut events = engine.subscribe();
        engine.send_message(chat, words.into()).await.unwrap();
        let (reply, reason) = ended(&mut events, chat).await;
        assert!(
            matches!(reason, EndReason::Stop | EndReason::Length),
            "{reason:?}"
        );
        engine.settle().await;
        reply.unwrap().swipes[0].figures.clone().unwrap()
    };
    let talk = [
        "I own a boat called Zebulon.",
        "She is red.",
        "I sail to Lisbon in May.",
        "My sister Ida comes too.",
    ];
    for words in talk {
        say(words).await;
    }
    let before = say("She is a doctor.").await;
    let conn = tests::open_database(dir.path());
    let learned: i64 = conn
        .query_row("SELECT position FROM chat_learned", [], |row| row.get(0))
        .unwrap();
    assert_eq!(learned, 10, "five exchanges after the greeting");
    let after = say("Where do I sail?").await;
    // The markers between the reply and the next message are read ahead.
    let known = before.prompt.unwrap() + before.generated.unwrap() + 8;
    assert!(
        (before.prompt.unwrap()..=known).contains(&after.reused.unwrap()),
        "{before:?} then {after:?}"
    );
    let standing = "SELECT count(*) FROM memory WHERE origin = 'model' AND confidence >= 5";
    assert_eq!(
        conn.query_row(standing, [], |row| row.get::<_, i64>(0))
            .unwrap(),
        0
    );
    engine.shutdown().await;
}

const CANARY: &str = "Zebulonique";
const ASKED: &str = "What is my sister's parrot called?";

async fn chat_with(engine: &Engine, name: &str) -> ChatId {
    let card = json!({ "name": name, "description": format!("{name} keeps a lighthouse."), "first_mes": "Evening." });
    let report = engine
        .import_bytes(format!("{name}.json"), card.to_string().into_bytes())
        .await
        .unwrap();
    engine
        .new_chat(report.imported[0].id.parse().unwrap())
        .await
        .unwrap()
        .id
}

/// Sends `words` and returns the prompt, whose planned token count the worker confirmed.
async fn sent(engine: &Engine, chat: ChatId, words: &str) -> String {
    let mut events = engine.subscribe();
    engine.send_message(chat, words.to_owned()).await.unwrap();
    let (reply, reason) = ended(&mut events, chat).await;
    assert!(
        matches!(reason, EndReason::Stop | EndReason::Length),
        "{reason:?}"
    );
    let swipe = &reply.unwrap().swipes[0];
    let manifest = engine.manifest(swipe.id).await.unwrap();
    assert_eq!(
        swipe.figures.as_ref().unwrap().prompt,
        Some(manifest.tokens.total)
    );
    manifest.text
}

/// End to end with the real model and encoder.
#[tokio::test(flavor = "multi_thread")]
async fn facts_reach_the_pairs_next_chat_only() {
    let dir = tempfile::tempdir().unwrap();
    let small = [
        ("INGLENOOK_CONTEXT_LIMIT", "2048"),
        ("INGLENOOK_MAX_TOKENS", "8"),
    ];
    let engine = open_with(&dir, &small).await;
    let first = chat_with(&engine, "Ada").await;
    sent(
        &engine,
        first,
        &format!("My sister has a parrot that is called {CANARY}."),
    )
    .await;
    for evening in 2..=40 {
        sent(
            &engine,
            first,
            &format!("The fog came in over the quay again, and I counted {evening} lamps."),
        )
        .await;
    }
    let next = engine
        .new_chat(engine.whole_chat(first).await.unwrap().character)
        .await
        .unwrap()
        .id;
    let prompt = sent(&engine, next, ASKED).await;
    assert!(prompt.contains(CANARY), "{prompt}");
    let other = chat_with(&engine, "Bo").await;
    let prompt = sent(&engine, other, ASKED).await;
    assert!(!prompt.contains(CANARY), "{prompt}");
    engine.shutdown().await;
}

/// Returns the number of saved caches of a chat.
fn saved_caches(dir: &tempfile::TempDir) -> usize {
    let folders = std::fs::read_dir(dir.path().join("cache"))
        .into_iter()
        .flatten();
    folders
        .filter_map(|folder| Some(std::fs::read_dir(folder.unwrap().path()).ok()?.count()))
        .sum()
}

/// Creates a chat with an answered message and a saved cache.
async fn answered(dir: &tempfile::TempDir, words: &str) -> ChatId {
    let engine = open_with(dir, &[("INGLENOOK_MAX_TOKENS", "16")]).await;
    let chat = engine.startup().await.unwrap().chat.unwrap();
    let mut events = engine.subscribe();
    engine.send_message(chat, words.into()).await.unwrap();
    ended(&mut events, chat).await;
    engine.shutdown().await;
    assert_eq!(saved_caches(dir), 1);
    chat
}

/// The saved cache contains the chat's tokens, so withdrawn text must leave it too.
#[tokio::test]
async fn withdrawn_text_leaves_the_saved_cache() {
    let dir = tempfile::tempdir().unwrap();
    for how in ["delete", "edit", "forget"] {
        let chat = answered(&dir, "Remember that my secret word is Brimblewick.").await;
        let engine = open(&dir).await;
        let page = engine.whole_chat(chat).await.unwrap().page.messages;
        let said = page
            .iter()
            .rfind(|message| selected_text(message).contains("Brimblewick"))
            .unwrap()
            .id;
        match how {
            "delete" => engine.delete_message(said).await.unwrap(),
            "edit" => drop(
                engine
                    .edit_message(said, "Never mind.".into())
                    .await
                    .unwrap(),
            ),
            _ => {
                let character = engine.whole_chat(chat).await.unwrap().character;
                let known = engine
                    .list_memories(character, "Brimblewick".into())
                    .await
                    .unwrap()
                    .remove(0);
                engine.delete_memory(known.id).await.unwrap();
            }
        }
        let gone = async {
            while saved_caches(&dir) > 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), gone)
            .await
            .unwrap_or_else(|_| panic!("{how}"));
        engine.shutdown().await;
        assert_eq!(saved_caches(&dir), 0, "{how}");
    }
}

#[tokio::test]
async fn swipes_keep_the_saved_cache() {
    let dir = tempfile::tempdir().unwrap();
    let chat = answered(&dir, "Hello! Who are you?").await;
    let engine = open(&dir).await;
    let mut events = engine.subscribe();
    engine.regenerate(chat).await.unwrap();
    let reply = ended(&mut events, chat).await.0.unwrap();
    engine.select_swipe(reply.id, 0).await.unwrap();
    engine.shutdown().await;
    assert_eq!(saved_caches(&dir), 1);
}
