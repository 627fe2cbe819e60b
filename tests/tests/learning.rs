//! Learning in idle time, in whole turns: keyframes (S4.31-S4.33, S4.64, C26) and facts (S4.58, S4.59), and that they go with the
//! words they were made from (memory.md, group G).

#![allow(clippy::unwrap_used, reason = "a failed helper fails the test")]

use engine::api::{Event, Memory, SettingOwner, SettingValue, WhatIf};
use provider::{Gate, Request, Script};
use serde_json::json;
use tests::headless::{Headless, ended};

const FACT: &str = "You own a boat called Zebulon.";
const TOLD: &str = "I own a boat that is called Zebulon.";

/// An app in which a model is asked to learn, and a chat with one character.
struct Stage {
    app: Headless,
    character: String,
    chat: String,
}

impl Stage {
    async fn learning(how: &str) -> Self {
        let app = Headless::new().await;
        let character = card(&app, "Ada").await;
        let chat = app.engine.new_chat(character.clone()).await.unwrap().id;
        let how = SettingValue::Text(how.to_owned());
        app.engine.set_setting(SettingOwner::Global, "memory_learn".into(), Some(how)).await.unwrap();
        Self { app, character, chat }
    }

    /// One exchange, what the model says in it, and what it answers to the jobs behind it.
    async fn exchange(&self, said: &str, answers: &[&str]) {
        self.app.model.reply("Is that so.");
        answers.iter().for_each(|answer| _ = self.app.model.reply(answer));
        self.app.say(&self.chat, said).await;
        self.app.engine.settle().await;
    }

    async fn exchanges(&self, count: usize) {
        for number in 0..count {
            self.exchange(&format!("The lamp number {number} is lit now."), &[]).await;
        }
    }

    fn asked(&self, template: &str) -> Vec<Request> {
        let asks = |request: &Request| request.prompt.messages.iter().any(|message| message.text.contains(template));
        self.app.model.requests().into_iter().filter(|request| request.shape.is_some() && asks(request)).collect()
    }

    async fn memories(&self) -> Vec<Memory> {
        self.app.engine.list_memories(self.character.clone(), String::new()).await.unwrap()
    }

    /// What the next prompt of a chat would be.
    async fn prompt(&self, chat: &str, words: &str) -> String {
        self.app.engine.preview_prompt(chat.to_owned(), words.to_owned(), WhatIf::default()).await.unwrap().text
    }

    /// First and last message of each keyframe, from 0, and whether no model has read them.
    fn keyframes(&self) -> Vec<(i64, i64, bool)> {
        let conn = rusqlite::Connection::open(self.app.dir.path().join("inglenook.db")).unwrap();
        let mut rows = conn.prepare("SELECT first, last, fallback FROM keyframe ORDER BY first").unwrap();
        let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    }

    async fn ceiling(&self, messages: u32) {
        let owner = SettingOwner::Chat { id: self.chat.clone() };
        let ceiling = Some(SettingValue::Whole(messages));
        self.app.engine.set_setting(owner, "message_ceiling".into(), ceiling).await.unwrap();
    }

    /// The id of the message that says `text`.
    async fn message(&self, text: &str) -> String {
        let chat = self.app.engine.whole_chat(self.chat.clone()).await.unwrap();
        let says = |message: &&engine::api::Message| message.swipes.iter().any(|swipe| swipe.text == text);
        chat.page.messages.iter().find(says).unwrap().id.clone()
    }
}

async fn card(app: &Headless, name: &str) -> String {
    let card = json!({ "spec": "chara_card_v3", "spec_version": "3.0", "data": {
        "name": name, "description": "Keeps a lighthouse.", "personality": "", "scenario": "", "first_mes": "Good evening.",
        "mes_example": "", "creator_notes": "", "system_prompt": "", "post_history_instructions": "",
        "alternate_greetings": [], "tags": [], "creator": "", "character_version": "", "group_only_greetings": [],
        "extensions": {} } });
    let report = app.engine.import_bytes(format!("{name}.json"), card.to_string().into_bytes()).await.unwrap();
    report.imported[0].id.clone()
}

fn fact(text: &str, importance: u8) -> String {
    json!([{ "person": "You", "text": text, "type": "fact", "importance": importance }]).to_string()
}

fn keyframe(summary: &str) -> String {
    json!({ "summary": summary, "analysis": "All is calm.", "rating": 8, "characters": ["Ada"] }).to_string()
}

/// S4.58, S4.31: five extractions and two keyframes in 25 exchanges; of nothing, nothing is kept.
#[tokio::test]
async fn facts_are_looked_for_in_every_five_exchanges() {
    let stage = Stage::learning("on").await;
    for number in 1..=25 {
        let summary = keyframe("You lit the lamps.");
        let answers: &[&str] = match number {
            10 | 20 => &[&summary, "[]"],
            5 | 15 | 25 => &["[]"],
            _ => &[],
        };
        stage.exchange(&format!("The lamp number {number} is lit now."), answers).await;
    }
    let (facts, keyframes) = (stage.asked("worth remembering"), stage.asked("go on with this conversation"));
    assert_eq!((facts.len(), keyframes.len(), stage.app.model.requests().len()), (5, 2, 25 + 5 + 2));
    let second = &facts[1].prompt.messages.last().unwrap().text;
    assert!(second.contains("number 6 ") && second.contains("number 10 "), "{second}");
    assert!(!second.contains("number 5 ") && !second.contains("number 11 "), "{second}");
    assert_ne!(facts[0].cache_key, stage.chat, "the chat's own cache is left alone");
    let kinds: Vec<String> = stage.memories().await.into_iter().map(|memory| memory.kind).collect();
    assert_eq!(kinds, ["event", "event"], "two keyframes, and no fact");
}

/// C24, S4.76: how many messages and exchanges that takes is a setting.
#[tokio::test]
async fn how_often_it_learns_is_a_setting() {
    let stage = Stage::learning("on").await;
    for (key, value) in [("keyframe_every_messages", 6), ("memory_extract_every_exchanges", 2)] {
        let owner = SettingOwner::Chat { id: stage.chat.clone() };
        stage.app.engine.set_setting(owner, key.into(), Some(SettingValue::Whole(value))).await.unwrap();
    }
    let summary = keyframe("You lit the lamps.");
    for answers in [&[][..], &["[]"], &[&summary], &["[]"]] {
        stage.exchange("The lamp is lit now.", answers).await;
    }
    assert_eq!(stage.asked("worth remembering").len(), 2);
    assert_eq!(stage.keyframes(), [(0, 5, false)]);
}

/// S4.59, C30: off, no model is asked; nor is an endpoint, unless the user wants it.
#[tokio::test]
async fn without_learning_no_model_is_asked() {
    for how in ["off", "auto"] {
        let stage = Stage::learning(how).await;
        stage.exchanges(11).await;
        assert_eq!(stage.app.model.requests().len(), 11, "{how}");
        assert!(stage.memories().await.is_empty());
        assert_eq!(stage.keyframes(), [(0, 19, true)], "first sentences ask nobody");
    }
}

/// S3.24: memory that is off keeps no summaries either.
#[tokio::test]
async fn without_memory_nothing_is_kept() {
    let stage = Stage::learning("on").await;
    let off = Some(SettingValue::Switch(false));
    stage.app.engine.set_setting(SettingOwner::Global, "memory".into(), off).await.unwrap();
    stage.ceiling(10).await;
    stage.exchanges(15).await;
    assert_eq!((stage.app.model.requests().len(), stage.keyframes()), (15, vec![]));
}

/// S4.58: an answer that cannot be read is asked for once more, and then left.
#[tokio::test]
async fn a_broken_answer_is_asked_for_once_more() {
    let stage = Stage::learning("on").await;
    stage.exchange(TOLD, &[]).await;
    stage.exchanges(3).await;
    stage.exchange("Fine.", &["Well, you own a boat.", &fact(FACT, 7)]).await;
    assert_eq!(stage.asked("worth remembering").len(), 2);
    assert_eq!(stage.memories().await.len(), 1);
    stage.exchanges(4).await;
    stage.exchange("Fine.", &["Hm.", "Hm.", "Hm.", "Hm."]).await;
    assert_eq!(stage.asked("worth remembering").len(), 4);
    stage.exchanges(1).await;
    assert_eq!((stage.asked("worth remembering").len(), stage.memories().await.len()), (4, 1), "skipped for good");
    assert_eq!(stage.keyframes(), [(0, 19, true)], "first sentences stay where a model made nothing of them");
}

/// S4.53, group F: what a model has found is told in the pair's next chat, with its source, and to nobody else.
#[tokio::test]
async fn a_fact_is_learned_and_told_in_the_next_chat_of_the_pair() {
    let stage = Stage::learning("on").await;
    let mut events = stage.app.engine.subscribe();
    stage.exchange(TOLD, &[]).await;
    stage.exchanges(3).await;
    stage.exchange("Fine.", &[&fact(FACT, 7)]).await;
    let told = loop {
        if let Event::Remembered { chat, memory } = events.next().await.unwrap() {
            break (chat, memory);
        }
    };
    assert_eq!((told.0.as_str(), told.1.text.as_str()), (stage.chat.as_str(), FACT));
    assert_eq!(told.1.sources, [stage.message(TOLD).await]);

    let engine = &stage.app.engine;
    let next = engine.new_chat(stage.character.clone()).await.unwrap().id;
    assert!(stage.prompt(&next, "Good morning.").await.contains(FACT));
    let other = card(&stage.app, "Bo").await;
    let other = engine.new_chat(other).await.unwrap().id;
    assert!(!stage.prompt(&other, "Do I own a boat?").await.contains("Zebulon"));

    engine.edit_message(stage.message(TOLD).await, "I own nothing.".into()).await.unwrap();
    assert!(stage.memories().await.is_empty());
    assert!(!stage.prompt(&next, "Do I own a boat?").await.contains("Zebulon"));
}

/// memory.md, section 5: what was not said, is known, or says nothing is not kept.
#[tokio::test]
async fn only_what_was_said_and_is_new_is_kept() {
    let stage = Stage::learning("on").await;
    stage.exchange(TOLD, &[]).await;
    stage.exchange("Remember that I sleep until noon.", &[]).await;
    stage.exchanges(2).await;
    let facts = json!([
        { "person": "You", "text": "You own a boat called Titanic.", "type": "fact", "importance": 9 },
        { "person": "You", "text": "You sleep until noon.", "type": "preference", "importance": 9 },
        { "person": "You", "text": "You are nice.", "type": "note", "importance": 9 },
        { "person": "Ada", "text": "The lamp number 0 is lit.", "type": "fact", "importance": 1 },
    ]);
    stage.exchange("Fine.", &[&facts.to_string()]).await;
    let texts: Vec<String> = stage.memories().await.into_iter().map(|memory| memory.text).collect();
    assert_eq!(texts, ["Traveller said: \"I sleep until noon\""]);
}

/// S3.43, C8: who speaks comes first; what was interrupted is due still, now or after a restart.
#[tokio::test]
async fn learning_gives_way_to_a_message_and_goes_on_later() {
    let stage = Stage::learning("on").await;
    stage.exchange(TOLD, &[]).await;
    stage.exchanges(3).await;
    let (gate, again) = (Gate::new(), Gate::new());
    stage.app.model.reply("Hm.").play(Script::new().words("[").gate(&gate).words("never"));
    stage.app.model.reply("I see.").play(Script::new().gate(&again).words("never"));
    stage.app.say(&stage.chat, "Fine.").await;
    gate.reached().await;
    stage.app.say(&stage.chat, "And now?").await;
    again.reached().await;
    assert!(stage.memories().await.is_empty());

    let Stage { app, character, chat } = stage;
    let stage = Stage { app: app.restart().await, character, chat };
    stage.app.model.reply(&fact(FACT, 7));
    stage.app.engine.warm_up_in_background();
    stage.app.engine.settle().await;
    assert_eq!(stage.asked("worth remembering").len(), 3);
    assert_eq!(stage.memories().await.len(), 1);
}

/// S4.32, C26: whatever left the window is covered; the last two keyframes that left it stand in the digest, and no other.
#[tokio::test]
async fn what_leaves_the_window_is_covered() {
    let stage = Stage::learning("off").await;
    stage.ceiling(20).await;
    stage.exchanges(40).await;
    let kept = stage.keyframes();
    assert!(kept.windows(2).all(|pair| pair[0].1 + 1 == pair[1].0), "{kept:?}");
    assert_eq!((kept[0].0, kept.len()), (0, 4), "{kept:?}");

    let report =
        stage.app.engine.preview_prompt(stage.chat.clone(), "And now?".into(), WhatIf::default()).await.unwrap();
    let told: Vec<&str> =
        report.blocks.iter().filter(|block| block.kept && block.kind == "keyframe").map(|block| &*block.text).collect();
    assert_eq!(told.len(), 2, "{}", report.text);
    let origin = report.blocks.iter().find(|block| block.kept && block.kind == "keyframe").unwrap().origin.clone();
    let first = stage.app.engine.whole_chat(stage.chat.clone()).await.unwrap().page.messages[20].id.clone();
    let engine::api::Origin::Keyframe { first: Some(leads_to), .. } = origin else { panic!("{origin:?}") };
    assert_eq!(leads_to, first, "the X-ray leads to the first message it tells of");
    // 81 messages: the second keyframe tells of 21 to 40, lamps 10 to 19; the third of lamps 20 to 29.
    assert!(told[0].contains("number 1") && told[1].contains("number 2"), "{told:?}");
    assert!(!told.iter().any(|text| text.contains("number 3")), "{told:?}");
    assert!(report.text.contains("The story so far:"), "{}", report.text);
}

/// C26: a window that is cut before twenty messages are there is covered with the cut itself.
#[tokio::test]
async fn a_small_window_is_covered_as_it_is_cut() {
    let stage = Stage::learning("off").await;
    stage.ceiling(8).await;
    stage.exchanges(8).await;
    let kept = stage.keyframes();
    assert!(!kept.is_empty() && kept.iter().all(|(_, last, fallback)| *last < 17 && *fallback), "{kept:?}");
    assert_eq!(kept[0].0, 0);
    let prompt = stage.prompt(&stage.chat, "And now?").await;
    assert!(prompt.contains("- Traveller: The lamp number 0 is lit now. Traveller: The lamp number 1"), "{prompt}");
}

/// Group G, in summaries: edited, deleted or swiped away, it is in no later prompt.
#[tokio::test]
async fn a_summary_goes_with_the_words_it_was_made_from() {
    const PARROT: &str = "My parrot is called KORALLE.";
    for change in 0..2 {
        let stage = Stage::learning("off").await;
        stage.ceiling(10).await;
        stage.exchange(PARROT, &[]).await;
        stage.exchanges(5).await;
        let prompt = stage.prompt(&stage.chat, "Well?").await;
        let (_, story) = prompt.split_once("The story so far:").unwrap_or_else(|| panic!("no story:\n{prompt}"));
        assert!(story.contains("KORALLE"), "{prompt}");
        let (engine, message) = (&stage.app.engine, stage.message(PARROT).await);
        match change {
            0 => _ = engine.edit_message(message, "I have no parrot.".into()).await.unwrap(),
            _ => engine.delete_message(message).await.unwrap(),
        }
        let prompt = stage.prompt(&stage.chat, "Well?").await;
        assert!(!prompt.contains("KORALLE"), "change {change}:\n{prompt}");
        stage.exchanges(1).await;
        assert_eq!(stage.keyframes()[0].0, 0, "what it covered is covered anew");
    }
}

/// S4.33, S4.64: a model's keyframe is a memory as well, for the pair's other chats, until its words change.
#[tokio::test]
async fn a_keyframe_is_recalled_in_the_next_chat_of_the_pair() {
    const SUMMARY: &str = "You told Ada of the boat Zebulon.";
    let stage = Stage::learning("on").await;
    stage.exchange(TOLD, &[]).await;
    stage.exchanges(3).await;
    stage.exchange("Fine.", &["[]"]).await;
    stage.exchanges(4).await;
    stage.exchange("Fine.", &[&keyframe(SUMMARY), "[]"]).await;
    assert_eq!(stage.keyframes(), [(0, 19, false)]);
    let [memory] = &stage.memories().await[..] else { panic!("not one memory") };
    assert_eq!((memory.kind.as_str(), memory.text.as_str(), memory.importance), ("event", SUMMARY, 8));
    assert_eq!(memory.sources.len(), 20);

    let engine = &stage.app.engine;
    let next = engine.new_chat(stage.character.clone()).await.unwrap().id;
    assert!(stage.prompt(&next, "What did I tell you of the boat?").await.contains(SUMMARY));
    // S4.55, S4.56: a new chat begins with what the one before came to, and none goes on with its own.
    let greeted = stage.prompt(&next, "Good morning.").await;
    assert!(greeted.contains(&format!("Last session:\n- 21 November 2026, 8/10: {SUMMARY}")), "{greeted}");
    assert!(!stage.prompt(&stage.chat, "Good morning.").await.contains("Last session:"));
    engine.delete_message(stage.message(TOLD).await).await.unwrap();
    assert!(!stage.prompt(&next, "What did I tell you of the boat?").await.contains("Zebulon"));
    assert!(stage.memories().await.is_empty() && stage.keyframes().is_empty());
}

/// A title is asked for at its own time, and a reply that is stopped is no occasion to learn.
#[tokio::test]
async fn a_stopped_reply_teaches_nothing() {
    let stage = Stage::learning("on").await;
    stage.exchanges(4).await;
    let gate = Gate::new();
    stage.app.model.play(Script::new().words("Well, ").gate(&gate));
    let mut events = stage.app.engine.subscribe();
    stage.app.engine.send_message(stage.chat.clone(), "Fine.".into()).await.unwrap();
    gate.reached().await;
    stage.app.engine.stop(stage.chat.clone()).await.unwrap();
    ended(&mut events, &stage.chat).await;
    stage.app.engine.settle().await;
    assert_eq!(stage.app.model.requests().len(), 5);
}

/// Group G, in summaries: what is forgotten is in none, not even in one that a model wrote of twenty messages.
#[tokio::test]
async fn a_summary_goes_with_what_is_forgotten() {
    const SUMMARY: &str = "You told Ada of the boat Zebulon.";
    let stage = Stage::learning("on").await;
    stage.exchange(TOLD, &[]).await;
    stage.exchanges(3).await;
    stage.exchange("Fine.", &[&fact(FACT, 7)]).await;
    stage.exchanges(4).await;
    stage.exchange("Fine.", &[&keyframe(SUMMARY), "[]"]).await;
    let memories = stage.memories().await;
    assert_eq!(memories.len(), 2, "{memories:?}");
    let learned = memories.iter().find(|memory| memory.text != SUMMARY).unwrap().id.clone();
    let engine = &stage.app.engine;
    let next = engine.new_chat(stage.character.clone()).await.unwrap().id;
    let asked = async || stage.prompt(&next, "What did I tell you of the boat?").await;
    let told = asked().await;
    assert!(told.contains(SUMMARY) && told.contains(FACT), "{told}");
    engine.delete_memory(learned.clone()).await.unwrap();
    assert!(!asked().await.contains("Zebulon"));
    engine.restore_memory(learned).await.unwrap();
    let told = asked().await;
    assert!(told.contains(SUMMARY) && told.contains(FACT), "{told}");
}
