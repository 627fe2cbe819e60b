//! Consolidation of memories in whole turns: duplicates are merged, outdated facts are sent with
//! their date, and deleting a source keeps what other sources said.

use domain::{CharacterId, ChatId, MessageId};
use engine::api::{Consolidation, Memory, MemoryFilter, SettingOwner, SettingValue, WhatIf};
use serde_json::{Value, json};
use tests::headless::Headless;

const BOAT: &str = "I own a boat.";
const CALLED: &str = "My boat is called Zebulon.";
const MOVED: &str = "I now live in Porto.";

struct Stage {
    app: Headless,
    character: CharacterId,
    chat: ChatId,
}

impl Stage {
    async fn learning(how: &str) -> Self {
        let app = Headless::new().await;
        let chat = app.first_chat().await;
        let how = SettingValue::Text(how.to_owned());
        app.engine
            .set_setting(SettingOwner::Global, "memory_learn".into(), Some(how))
            .await
            .unwrap();
        Self {
            app,
            character: chat.character,
            chat: chat.id,
        }
    }

    /// Runs one exchange with the model's answers to the background jobs after it.
    async fn exchange(&self, said: &str, answers: &[String]) {
        self.app.model.reply("Is that so.");
        answers
            .iter()
            .for_each(|answer| _ = self.app.model.reply(answer));
        self.app.send(self.chat, said).await;
        self.app.engine.settle().await;
    }

    async fn consolidated(&self) -> Consolidation {
        self.app.engine.consolidate_memories().await.unwrap()
    }

    async fn memories(&self, archived: bool) -> Vec<Memory> {
        let filter = MemoryFilter {
            archived,
            ..MemoryFilter::default()
        };
        self.app
            .engine
            .find_memories(self.character, String::new(), filter, 1)
            .await
            .unwrap()
            .memories
    }

    /// Returns only the facts, sorted.
    async fn facts(&self) -> Vec<String> {
        let facts = self
            .memories(false)
            .await
            .into_iter()
            .filter(|memory| memory.kind == "fact");
        let mut facts: Vec<String> = facts.map(|memory| memory.text).collect();
        facts.sort();
        facts
    }

    /// Returns the first prompt of another chat of the pair.
    async fn prompt(&self, words: &str) -> String {
        let chat = self.app.engine.new_chat(self.character).await.unwrap().id;
        let prompt = self
            .app
            .engine
            .preview_prompt(chat, words.to_owned(), WhatIf::default())
            .await
            .unwrap();
        self.app.engine.delete_chat(chat).await.unwrap();
        prompt.text
    }

    /// Returns the id of the message with `text`.
    async fn message(&self, text: &str) -> MessageId {
        let chat = self.app.engine.whole_chat(self.chat).await.unwrap();
        let says =
            |message: &&engine::api::Message| message.swipes.iter().any(|swipe| swipe.text == text);
        chat.page.messages.iter().find(says).unwrap().id
    }

    /// Imports memories as a model would have created them.
    async fn import(&self, items: Vec<Value>) {
        let json = json!({ "items": items }).to_string();
        let imported = self
            .app
            .engine
            .import_memories(self.character, json)
            .await
            .unwrap();
        assert_eq!(imported.refused, [""; 0]);
    }

    /// Runs thirty exchanges, from which a model learns four facts and three summaries.
    async fn thirty_episodes(&self) {
        for number in 1..=30 {
            let lamp = format!("The lamp number {number} is lit now.");
            let said = match number {
                2 => BOAT,
                7 => CALLED,
                12 => "I live in Lisbon.",
                27 => MOVED,
                _ => &lamp,
            };
            let facts = match number {
                5 => fact("Traveller owns a boat."),
                10 => fact("Traveller owns a boat called Zebulon."),
                15 => fact("Traveller lives in Lisbon."),
                30 => fact("Traveller now lives in Porto."),
                _ => "[]".to_owned(),
            };
            let summary = json!({ "summary": "Traveller lit the lamps.", "rating": 8 }).to_string();
            let answers = match (number % 10, number % 5) {
                (0, _) => vec![summary, facts],
                (_, 0) => vec![facts],
                _ => Vec::new(),
            };
            self.exchange(said, &answers).await;
        }
    }
}

fn fact(text: &str) -> String {
    json!([{ "person": "Traveller", "text": text, "type": "fact", "importance": 7 }]).to_string()
}

fn learned(number: usize, text: &str, importance: u32) -> Value {
    let created = format!("2026-05-01T{:02}:{:02}:00Z", number / 60, number % 60);
    json!({ "id": format!("00000000-0000-0000-0000-{number:012}"), "type": "note", "text": text, "importance": importance,
        "scope": "pair", "pinned": false, "sources": [], "origin": "model", "confidence": 7, "created": created,
        "updated": created })
}

fn texts(memories: &[Memory]) -> Vec<&str> {
    memories.iter().map(|memory| memory.text.as_str()).collect()
}

#[tokio::test]
async fn thirty_episodes_yield_facts_with_sources() {
    let stage = Stage::learning("on").await;
    stage.thirty_episodes().await;
    let done = stage.consolidated().await;
    assert_eq!(texts(&done.merged), ["Traveller owns a boat."]);
    assert_eq!(texts(&done.superseded), ["Traveller lives in Lisbon."]);
    assert_eq!(
        stage.facts().await,
        [
            "Traveller now lives in Porto.",
            "Traveller owns a boat called Zebulon."
        ]
    );
    let boat = stage
        .memories(false)
        .await
        .into_iter()
        .find(|memory| memory.text.contains("Zebulon"))
        .unwrap();
    assert_eq!(
        boat.sources,
        [stage.message(CALLED).await, stage.message(BOAT).await]
    );
    assert_eq!(boat.echoes, [stage.message(BOAT).await]);
    let events = stage
        .memories(false)
        .await
        .into_iter()
        .filter(|memory| memory.kind == "event")
        .count();
    assert_eq!(events, 3, "each summary covers its own messages");
    assert_eq!(
        stage.consolidated().await,
        Consolidation::default(),
        "a second run changes nothing"
    );
}

#[tokio::test]
async fn outdated_fact_is_sent_with_its_date() {
    let stage = Stage::learning("on").await;
    stage.thirty_episodes().await;
    assert!(
        stage
            .prompt("Good morning.")
            .await
            .contains("lives in Lisbon")
    );
    stage.consolidated().await;
    let greeted = stage.prompt("Good morning.").await;
    assert!(
        greeted.contains("lives in Porto") && !greeted.contains("Lisbon"),
        "{greeted}"
    );
    let asked = stage.prompt("Do you remember Lisbon, where I live?").await;
    assert!(
        asked.contains("Traveller lives in Lisbon. (until 21 November 2026; not so now)"),
        "{asked}"
    );

    stage
        .app
        .engine
        .delete_message(stage.message(MOVED).await)
        .await
        .unwrap();
    let greeted = stage.prompt("Good morning.").await;
    assert!(
        greeted.contains("Traveller lives in Lisbon.") && !greeted.contains("Porto"),
        "{greeted}"
    );
    assert!(!greeted.contains("not so now"), "{greeted}");
}

/// Nothing of a deleted source remains, and what another source also said stays.
#[tokio::test]
async fn merged_memory_keeps_its_remaining_sources() {
    let stage = Stage::learning("on").await;
    stage.thirty_episodes().await;
    stage.consolidated().await;
    stage
        .app
        .engine
        .delete_message(stage.message(CALLED).await)
        .await
        .unwrap();
    assert_eq!(
        stage.facts().await,
        ["Traveller now lives in Porto.", "Traveller owns a boat."]
    );
    assert!(
        !stage
            .prompt("What is my boat called?")
            .await
            .contains("Zebulon")
    );
    stage
        .app
        .engine
        .edit_message(stage.message(BOAT).await, "I own nothing.".into())
        .await
        .unwrap();
    assert_eq!(stage.facts().await, ["Traveller now lives in Porto."]);
    assert!(
        !stage
            .prompt("Do I own a boat?")
            .await
            .contains("owns a boat")
    );
}

#[tokio::test]
async fn merged_memories_are_forgotten_together() {
    let stage = Stage::learning("on").await;
    stage.thirty_episodes().await;
    stage.consolidated().await;
    let engine = &stage.app.engine;
    let boat = stage
        .memories(false)
        .await
        .into_iter()
        .find(|memory| memory.text.contains("Zebulon"))
        .unwrap();
    engine.delete_memory(boat.id).await.unwrap();
    assert_eq!(stage.facts().await, ["Traveller now lives in Porto."]);
    assert!(
        !stage.prompt("Do I own a boat?").await.contains("boat."),
        "neither as a memory nor as an excerpt"
    );
    engine.restore_memory(boat.id).await.unwrap();
    assert_eq!(
        (stage.facts().await.len(), stage.memories(true).await.len()),
        (2, 2)
    );

    let archived = stage
        .memories(true)
        .await
        .into_iter()
        .map(|memory| memory.id)
        .collect();
    engine.unarchive_memories(archived).await.unwrap();
    assert_eq!(
        (stage.facts().await.len(), stage.consolidated().await),
        (4, Consolidation::default())
    );
}

/// It runs in idle time once a day, but not if memory is off.
#[tokio::test]
async fn runs_in_idle_time_once_a_day() {
    let stage = Stage::learning("off").await;
    let twice = |first: usize| {
        (first..first + 2)
            .map(|number| learned(number, "The user owns a boat.", 5))
            .collect()
    };
    let memory = async |on: bool| {
        let on = Some(SettingValue::Switch(on));
        stage
            .app
            .engine
            .set_setting(SettingOwner::Global, "memory".into(), on)
            .await
            .unwrap();
    };
    stage.import(twice(1)).await;
    memory(false).await;
    stage.exchange("Hello.", &[]).await;
    assert_eq!(stage.memories(false).await.len(), 2);
    memory(true).await;
    stage.exchange("Hello.", &[]).await;
    assert_eq!(
        (
            stage.memories(false).await.len(),
            stage.memories(true).await.len()
        ),
        (1, 1)
    );
    stage.import(twice(3)).await;
    stage.exchange("Hello.", &[]).await;
    assert_eq!(
        stage.memories(false).await.len(),
        3,
        "not again on the same day"
    );
    assert_eq!(stage.consolidated().await.merged.len(), 2, "but on request");
}

/// Beyond the limit, the least valuable memories are archived and can be restored.
#[tokio::test]
async fn scope_has_at_most_a_thousand_memories() {
    let stage = Stage::learning("off").await;
    let importance = |number| if number % 500 == 0 { 2 } else { 5 };
    let lamp = |number| format!("The user has seen the lamp number {number}.");
    stage
        .import(
            (0..1_002)
                .map(|number| learned(number, &lamp(number), importance(number)))
                .collect(),
        )
        .await;
    stage.exchange("Hello.", &[]).await;
    let archived = stage.memories(true).await;
    let why: Vec<&str> = archived
        .iter()
        .map(|memory| memory.archived.as_ref().unwrap().why.as_str())
        .collect();
    assert_eq!((why, archived[0].importance), (vec!["crowded"; 2], 2));
    let back = archived[0].id;
    stage
        .app
        .engine
        .unarchive_memories(vec![back])
        .await
        .unwrap();
    assert_eq!(stage.consolidated().await.crowded.len(), 1);
    assert!(
        stage
            .memories(true)
            .await
            .iter()
            .all(|memory| memory.id != back)
    );
}
