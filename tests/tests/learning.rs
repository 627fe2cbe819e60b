//! Learning in idle time, in whole turns: keyframes (S4.31-S4.33, S4.64, C26) and facts (S4.58, S4.59), and that they go with the
//! words they were made from (memory.md, group G).

#![allow(clippy::unwrap_used, reason = "a failed helper fails the test")]

use engine::api::{Event, SettingOwner, SettingValue, WhatIf};
use provider::{Gate, Script};
use serde_json::json;
use tests::headless::ended;
use tests::learning::{FACT, Stage, TOLD, card, fact, keyframe};

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

    let shown = stage.app.engine.keyframes(stage.character.clone()).await.unwrap();
    assert_eq!((shown.len(), shown[3].messages, shown[3].chat.as_str()), (4, 20, stage.chat.as_str()));
    assert!(shown[0].text.contains("number 3") && shown[3].text.contains("number 0"), "{shown:?}");
    assert_eq!(shown[2].message, first, "the second leads to its first message");
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
    let stage = Stage::summed_up(SUMMARY).await;
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

/// What was learned long ago goes with its words; of those in their place the model is asked once more, and of nothing else.
#[tokio::test]
async fn a_message_that_is_reworded_long_after_is_learned_from_anew() {
    let stage = Stage::learning("on").await;
    stage.exchange(TOLD, &[]).await;
    stage.exchanges(3).await;
    stage.exchange("Fine.", &[&fact(FACT, 8)]).await;
    for _ in 0..2 {
        stage.exchanges(4).await;
        stage.exchange("Fine.", &[&keyframe("You talked."), "[]"]).await;
    }
    assert_eq!(stage.memories().await.iter().filter(|memory| memory.text == FACT).count(), 1);

    let (asked, boat) = (stage.asked("worth remembering").len(), stage.message(TOLD).await);
    stage.app.engine.edit_message(boat, TOLD.replace("Zebulon", "Quillon")).await.unwrap();
    let learned = FACT.replace("Zebulon", "Quillon");
    stage.exchange("Good night.", &[&keyframe("You talked."), &fact(&learned, 8)]).await;
    assert_eq!(stage.asked("worth remembering").len(), asked + 1);
    let facts: Vec<String> = stage.memories().await.into_iter().map(|memory| memory.text).collect();
    assert!(facts.contains(&learned) && !facts.contains(&FACT.to_owned()), "{facts:?}");
    stage.exchange("Sleep well.", &[]).await;
    assert_eq!(stage.asked("worth remembering").len(), asked + 1, "once");
}

/// A reply that is written anew is not told what was learned from the one before it.
#[tokio::test]
async fn what_a_reply_has_taught_is_not_known_to_the_one_in_its_place() {
    let stage = Stage::learning("on").await;
    stage.exchanges(4).await;
    stage.app.model.reply("She is the Zebulon.");
    stage.app.model.reply(&fact("Ada owns a boat called Zebulon.", 8).replace("You", "Ada"));
    stage.app.say(&stage.chat, "Is there a boat that you own?").await;
    stage.app.engine.settle().await;
    assert_eq!(stage.memories().await[0].sources.len(), 2, "what was asked, and what was answered");
    // Another epoch tells what is known by now.
    let lamp = stage.message("The lamp number 0 is lit now.").await;
    stage.app.engine.edit_message(lamp, "The lamp number 0 is out.".into()).await.unwrap();
    let again = WhatIf { regenerate: true, ..WhatIf::default() };
    let again = stage.app.engine.preview_prompt(stage.chat.clone(), String::new(), again).await.unwrap().text;
    assert!(!again.contains("Zebulon"), "{again}");
    let second = stage.app.engine.new_chat(stage.character.clone()).await.unwrap().id;
    assert!(stage.prompt(&second, "Do you own a boat?").await.contains("owns a boat called Zebulon"));
}

/// Who forgets what a model summed up forgets that, and not the messages: they were said, and nothing is wrong with them.
#[tokio::test]
async fn a_summary_is_forgotten_without_its_messages() {
    const SUMMARY: &str = "You told Ada of the boat Zebulon.";
    let stage = Stage::summed_up(SUMMARY).await;
    let summary = stage.memories().await.remove(0).id;
    let engine = &stage.app.engine;
    let next = engine.new_chat(stage.character.clone()).await.unwrap().id;
    let asked = async || stage.prompt(&next, "What did I tell you of the boat?").await;

    engine.delete_memory(summary.clone()).await.unwrap();
    let told = asked().await;
    assert!(!told.contains(SUMMARY) && told.contains(TOLD), "{told}");
    stage.exchanges(1).await;
    assert_eq!(stage.keyframes(), [(0, 19, true)], "first sentences stand for it");
    assert_eq!(stage.asked("go on with this conversation").len(), 1, "and no model is asked again");

    engine.restore_memory(summary).await.unwrap();
    assert!(asked().await.contains(SUMMARY));
}

/// For good: the mark that it was forgotten outlives what was forgotten.
#[tokio::test]
async fn a_forgotten_summary_is_not_made_again_after_a_restart() {
    let stage = Stage::summed_up("You lit the lamps.").await;
    stage.app.engine.delete_memory(stage.memories().await.remove(0).id).await.unwrap();

    let Stage { app, character, chat } = stage;
    let stage = Stage { app: app.restart().await, character, chat };
    stage.exchanges(2).await;
    assert_eq!(stage.keyframes(), [(0, 19, true)]);
    assert_eq!(stage.asked("go on with this conversation").len(), 1);
}

/// What is learned late is as old as its words: of two that contradict each other the one counts that was said last (group B).
#[tokio::test]
async fn a_fact_is_dated_by_when_it_was_said() {
    let stage = Stage::learning("on").await;
    let says = |user: bool, text: &str| {
        let name = if user { "Traveller" } else { "Ada" };
        json!({ "name": name, "is_user": user, "mes": text, "send_date": "2024-03-05T10:00:00Z" }).to_string()
    };
    let header = json!({ "user_name": "Traveller", "character_name": "Ada" }).to_string();
    let mut lines = vec![header, says(false, "Good evening."), says(true, TOLD), says(false, "Is that so.")];
    lines.extend((0..6).map(|number| says(number % 2 == 0, "The lamp is lit now.")));
    let report =
        stage.app.engine.import_chat_with(stage.character.clone(), "old.jsonl".into(), lines.join("\n").into_bytes());
    let old = report.await.unwrap().imported.remove(0).id;
    let stage = Stage { chat: old, ..stage };
    stage.exchange("Fine.", &[&fact(FACT, 7)]).await;
    let learned = stage.memories().await.remove(0);
    assert_eq!((learned.text.as_str(), &learned.created[..10]), (FACT, "2024-03-05"));
}

/// What is said otherwise is read again where facts were looked for in it lately.
#[tokio::test]
async fn what_is_reworded_is_learned_anew() {
    let stage = Stage::learning("on").await;
    stage.exchange(TOLD, &[]).await;
    stage.exchanges(3).await;
    stage.exchange("Fine.", &[&fact(FACT, 7)]).await;
    let said = stage.message(TOLD).await;
    stage.app.engine.edit_message(said, "I own a boat that is called Korall.".into()).await.unwrap();
    assert!(stage.memories().await.is_empty());
    stage.exchange("Well.", &[&fact("You own a boat called Korall.", 7)]).await;
    let learned: Vec<String> = stage.memories().await.into_iter().map(|memory| memory.text).collect();
    assert_eq!(learned, ["You own a boat called Korall."]);
}
