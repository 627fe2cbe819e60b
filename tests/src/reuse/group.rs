//! Measures prompt reuse in a group of eight with four lorebooks, on the scripted provider. Its
//! counts are words, and it reads every reply again with the next turn, so a real model reuses
//! more.

use domain::ChatId;
use engine::api::{CharacterFields, GroupOptions, LorebookBinding, TurnOrder};
use serde_json::{Map, json};

use super::{ReuseFigures, script};
use crate::headless::{Headless, ended};

/// Names of the characters.
const NAMES: [&str; 8] = [
    "Odile", "Bram", "Cesca", "Dov", "Elin", "Faro", "Gwen", "Hale",
];
const BOOKS: usize = 4;
/// Sentences of a card's description and of a reply.
const CARD: usize = 6;
const REPLY: usize = 6;

/// Figures of a group chat.
#[derive(Debug, Clone, Default)]
pub struct GroupRun {
    /// Turns of characters that share the window of the chat.
    pub shared: ReuseFigures,
    /// The same turns if each prompt began with the whole one before it: only new messages and
    /// replies are read.
    pub limit: ReuseFigures,
    /// Turns of the character that missed messages.
    pub alone: ReuseFigures,
}

/// Runs `turns` turns at 8k tokens of context. With `absent`, one character misses the second tenth
/// of the chat.
pub async fn group(turns: usize, absent: bool) -> GroupRun {
    let app = Headless::with_environment(&[
        ("INGLENOOK_CONTEXT_LIMIT", "8192"),
        ("INGLENOOK_MAX_TOKENS", "400"),
    ])
    .await;
    let mut ids = Vec::new();
    for (number, name) in NAMES.into_iter().enumerate() {
        let description = format!(
            "{name} is one of the eight. {}",
            script::replied(number * 7, CARD)
        );
        let fields = CharacterFields {
            name: name.to_owned(),
            description,
            ..CharacterFields::default()
        };
        ids.push(
            app.engine
                .create_character(fields)
                .await
                .expect("a character")
                .id,
        );
    }
    let chat = app
        .engine
        .new_group("The eight".to_owned(), ids.clone())
        .await
        .expect("a group")
        .id;
    let options = GroupOptions {
        order: TurnOrder::List,
        self_responses: false,
        several_replies: false,
        auto_delay: 0,
    };
    app.engine
        .set_group(chat, options)
        .await
        .expect("the order is set");
    books(&app, chat).await;
    let late = ids[3];
    let (mut run, mut before) = (GroupRun::default(), 0);
    for turn in 0..turns {
        if absent && (turn == turns / 10 || turn == turns / 5) {
            let away = turn == turns / 10;
            app.engine
                .set_member(chat, late, false, away)
                .await
                .expect("the state is set");
        }
        app.model.reply(&script::replied(turn, REPLY));
        let mut events = app.engine.subscribe();
        app.engine
            .send_message(chat, script::said(turn))
            .await
            .expect("the message is taken");
        let (reply, _) = ended(&mut events, chat).await;
        let swipe = reply.map(|reply| reply.swipes[0].clone()).expect("a reply");
        let figures = swipe.figures.expect("figures");
        let shared = app
            .model
            .last_request()
            .is_some_and(|request| request.cache_key == chat.to_string());
        let (prompt, reused) = (
            figures.prompt.unwrap_or_default(),
            figures.reused.unwrap_or_default(),
        );
        if shared {
            run.shared.add(prompt, reused);
            run.limit.add(prompt, prompt.min(before));
            before = prompt;
        } else {
            run.alone.add(prompt, reused);
        }
    }
    (run.shared, run.limit) = (run.shared.without_first(), run.limit.without_first());
    run
}

/// Four lorebooks with ten entries each, bound to the chat.
async fn books(app: &Headless, chat: ChatId) {
    let all: Vec<(String, String)> = script::entries().collect();
    for (number, part) in all.chunks(all.len() / BOOKS).enumerate() {
        let entry = |(uid, (key, content)): (usize, &(String, String))| {
            (
                uid.to_string(),
                json!({ "uid": uid, "key": [key], "content": content, "position": 0, "probability": 100 }),
            )
        };
        let entries: Map<_, _> = part.iter().enumerate().map(entry).collect();
        let file = json!({ "entries": entries }).to_string().into_bytes();
        let report = app
            .engine
            .import_bytes(format!("Book {number}.json"), file)
            .await
            .expect("a book");
        let binding = LorebookBinding::Chat { id: chat };
        app.engine
            .bind_lorebook(report.imported[0].id.parse().expect("an id"), vec![binding])
            .await
            .expect("the book is bound");
    }
}
