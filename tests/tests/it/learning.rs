//! Learning in idle time over whole turns: keyframes and facts. Both are removed together with
//! their source messages.

use engine::api::{Event, SettingOwner, SettingValue, WhatIf};
use provider::{ReplyGate, ReplyScript};
use serde_json::json;
use tests::headless::ended;
use tests::learning::{FACT, LearningSetup, TOLD, card, fact, keyframe};

/// Five extractions and two keyframes in 25 exchanges; empty results are not stored.
#[tokio::test]
async fn extracts_facts_every_five_exchanges() {
    let stage = LearningSetup::learning("on").await;
    for number in 1..=25 {
        let summary = keyframe("You lit the lamps.");
        let answers: &[&str] = match number {
            10 | 20 => &[&summary, "[]"],
            5 | 15 | 25 => &["[]"],
            _ => &[],
        };
        stage
            .exchange(&format!("The lamp number {number} is lit now."), answers)
            .await;
    }
    let (facts, keyframes) = (
        stage.asked("worth remembering"),
        stage.asked("go on with this conversation"),
    );
    assert_eq!(
        (
            facts.len(),
            keyframes.len(),
            stage.app.model.requests().len()
        ),
        (5, 2, 25 + 5 + 2)
    );
    let second = &facts[1].prompt.messages.last().unwrap().text;
    assert!(
        second.contains("number 6 ") && second.contains("number 10 "),
        "{second}"
    );
    assert!(
        !second.contains("number 5 ") && !second.contains("number 11 "),
        "{second}"
    );
    assert_ne!(
        facts[0].cache_key,
        stage.chat.to_string(),
        "the chat's own cache is not used"
    );
    let kinds: Vec<String> = stage
        .memories()
        .await
        .into_iter()
        .map(|memory| memory.kind)
        .collect();
    assert_eq!(kinds, ["event", "event"], "two keyframes, and no fact");
}

/// The intervals in messages and exchanges are settings.
#[tokio::test]
async fn learning_intervals_are_settings() {
    let stage = LearningSetup::learning("on").await;
    for (key, value) in [
        ("keyframe_every_messages", 6),
        ("memory_extract_every_exchanges", 2),
    ] {
        let owner = SettingOwner::Chat { id: stage.chat };
        stage
            .app
            .engine
            .set_setting(owner, key.into(), Some(SettingValue::Whole(value)))
            .await
            .unwrap();
    }
    let summary = keyframe("You lit the lamps.");
    for answers in [&[][..], &["[]"], &[&summary], &["[]"]] {
        stage.exchange("The lamp is lit now.", answers).await;
    }
    assert_eq!(stage.asked("worth remembering").len(), 2);
    assert_eq!(stage.keyframes(), [(0, 5, false)]);
}

/// If learning is off, no model is called; endpoints are called only if the user enables it.
#[tokio::test]
async fn no_model_is_called_without_learning() {
    for how in ["off", "auto"] {
        let stage = LearningSetup::learning(how).await;
        stage.exchanges(11).await;
        assert_eq!(stage.app.model.requests().len(), 11, "{how}");
        assert!(stage.memories().await.is_empty());
        assert_eq!(
            stage.keyframes(),
            [(0, 19, true)],
            "first sentences need no model"
        );
    }
}

/// If memory is off, no summaries are stored either.
#[tokio::test]
async fn nothing_is_stored_without_memory() {
    let stage = LearningSetup::learning("on").await;
    let off = Some(SettingValue::Switch(false));
    stage
        .app
        .engine
        .set_setting(SettingOwner::Global, "memory".into(), off)
        .await
        .unwrap();
    stage.ceiling(10).await;
    stage.exchanges(15).await;
    assert_eq!(
        (stage.app.model.requests().len(), stage.keyframes()),
        (15, vec![])
    );
}

/// An invalid answer is requested once more and then skipped.
#[tokio::test]
async fn invalid_answer_is_requested_once_more() {
    let stage = LearningSetup::learning("on").await;
    stage.exchange(TOLD, &[]).await;
    stage.exchanges(3).await;
    stage
        .exchange("Fine.", &["Well, you own a boat.", &fact(FACT, 7)])
        .await;
    assert_eq!(stage.asked("worth remembering").len(), 2);
    assert_eq!(stage.memories().await.len(), 1);
    stage.exchanges(4).await;
    stage.exchange("Fine.", &["Hm.", "Hm.", "Hm.", "Hm."]).await;
    assert_eq!(stage.asked("worth remembering").len(), 4);
    stage.exchanges(1).await;
    assert_eq!(
        (
            stage.asked("worth remembering").len(),
            stage.memories().await.len()
        ),
        (4, 1),
        "permanently skipped"
    );
    assert_eq!(
        stage.keyframes(),
        [(0, 19, true)],
        "first sentences stay if the model gives no summary"
    );
}

/// A learned fact is sent with its source in the pair's next chat, and in no other pair's.
#[tokio::test]
async fn learned_fact_is_sent_in_the_pairs_next_chat() {
    let stage = LearningSetup::learning("on").await;
    let mut events = stage.app.engine.subscribe();
    stage.exchange(TOLD, &[]).await;
    stage.exchanges(3).await;
    stage.exchange("Fine.", &[&fact(FACT, 7)]).await;
    let told = loop {
        if let Event::Remembered { chat, memory } = events.next().await.unwrap() {
            break (chat, memory);
        }
    };
    assert_eq!((told.0, told.1.text.as_str()), (stage.chat, FACT));
    assert_eq!(told.1.sources, [stage.message(TOLD).await]);

    let engine = &stage.app.engine;
    let next = engine.new_chat(stage.character).await.unwrap().id;
    assert!(stage.prompt(next, "Good morning.").await.contains(FACT));
    let other = card(&stage.app, "Bo").await;
    let other = engine.new_chat(other).await.unwrap().id;
    assert!(
        !stage
            .prompt(other, "Do I own a boat?")
            .await
            .contains("Zebulon")
    );

    engine
        .edit_message(stage.message(TOLD).await, "I own nothing.".into())
        .await
        .unwrap();
    assert!(stage.memories().await.is_empty());
    assert!(
        !stage
            .prompt(next, "Do I own a boat?")
            .await
            .contains("Zebulon")
    );
}

/// Facts that were not said, are already known, or are empty are not stored.
#[tokio::test]
async fn stores_only_new_facts_that_were_said() {
    let stage = LearningSetup::learning("on").await;
    stage.exchange(TOLD, &[]).await;
    stage
        .exchange("Remember that I sleep until noon.", &[])
        .await;
    stage.exchanges(2).await;
    let facts = json!([
        { "person": "You", "text": "You own a boat called Titanic.", "type": "fact", "importance": 9 },
        { "person": "You", "text": "You sleep until noon.", "type": "preference", "importance": 9 },
        { "person": "You", "text": "You are nice.", "type": "note", "importance": 9 },
        { "person": "Ada", "text": "The lamp number 0 is lit.", "type": "fact", "importance": 1 },
    ]);
    stage.exchange("Fine.", &[&facts.to_string()]).await;
    let texts: Vec<String> = stage
        .memories()
        .await
        .into_iter()
        .map(|memory| memory.text)
        .collect();
    assert_eq!(texts, ["Traveller said: \"I sleep until noon\""]);
}

/// A message interrupts learning, which continues later or after a restart.
#[tokio::test]
async fn message_interrupts_learning_until_later() {
    let stage = LearningSetup::learning("on").await;
    stage.exchange(TOLD, &[]).await;
    stage.exchanges(3).await;
    let (gate, again) = (ReplyGate::new(), ReplyGate::new());
    stage
        .app
        .model
        .reply("Hm.")
        .play(ReplyScript::new().words("[").gate(&gate).words("never"));
    stage
        .app
        .model
        .reply("I see.")
        .play(ReplyScript::new().gate(&again).words("never"));
    stage.app.send(stage.chat, "Fine.").await;
    gate.reached().await;
    stage.app.send(stage.chat, "And now?").await;
    again.reached().await;
    assert!(stage.memories().await.is_empty());

    let LearningSetup {
        app,
        character,
        chat,
    } = stage;
    let stage = LearningSetup {
        app: app.restart().await,
        character,
        chat,
    };
    stage.app.model.reply(&fact(FACT, 7));
    stage.app.engine.warm_up_in_background();
    stage.app.engine.settle().await;
    assert_eq!(stage.asked("worth remembering").len(), 3);
    assert_eq!(stage.memories().await.len(), 1);
}

/// Everything that left the window is covered by keyframes. The digest contains exactly the last
/// two that left it.
#[tokio::test]
async fn keyframes_cover_what_leaves_the_window() {
    let stage = LearningSetup::learning("off").await;
    stage.ceiling(20).await;
    stage.exchanges(40).await;
    let kept = stage.keyframes();
    assert!(
        kept.windows(2).all(|pair| pair[0].1 + 1 == pair[1].0),
        "{kept:?}"
    );
    assert_eq!((kept[0].0, kept.len()), (0, 4), "{kept:?}");

    let report = stage
        .app
        .engine
        .preview_prompt(stage.chat, "And now?".into(), WhatIf::default())
        .await
        .unwrap();
    let told: Vec<&str> = report
        .blocks
        .iter()
        .filter(|block| block.kept && block.kind == "keyframe")
        .map(|block| &*block.text)
        .collect();
    assert_eq!(told.len(), 2, "{}", report.text);
    let origin = report
        .blocks
        .iter()
        .find(|block| block.kept && block.kind == "keyframe")
        .unwrap()
        .origin
        .clone();
    let first = stage
        .app
        .engine
        .whole_chat(stage.chat)
        .await
        .unwrap()
        .page
        .messages[20]
        .id;
    let engine::api::Origin::Keyframe {
        first: Some(leads_to),
        ..
    } = origin
    else {
        panic!("{origin:?}")
    };
    assert_eq!(
        leads_to,
        first.to_string(),
        "the X-ray links to the first message of the keyframe"
    );
    // 81 messages: the second keyframe covers 21 to 40, lamps 10 to 19; the third covers lamps 20
    // to 29.
    assert!(
        told[0].contains("number 1") && told[1].contains("number 2"),
        "{told:?}"
    );
    assert!(
        !told.iter().any(|text| text.contains("number 3")),
        "{told:?}"
    );
    assert!(report.text.contains("The story so far:"), "{}", report.text);

    let shown = stage.app.engine.keyframes(stage.character).await.unwrap();
    assert_eq!(
        (shown.len(), shown[3].messages, shown[3].chat),
        (4, 20, stage.chat)
    );
    assert!(
        shown[0].text.contains("number 3") && shown[3].text.contains("number 0"),
        "{shown:?}"
    );
    assert_eq!(
        shown[2].message, first,
        "the second links to its first message"
    );
}

/// A window that is trimmed before it has twenty messages is covered at the trim.
#[tokio::test]
async fn small_window_is_covered_when_trimmed() {
    let stage = LearningSetup::learning("off").await;
    stage.ceiling(8).await;
    stage.exchanges(8).await;
    let kept = stage.keyframes();
    assert!(
        !kept.is_empty()
            && kept
                .iter()
                .all(|(_, last, fallback)| *last < 17 && *fallback),
        "{kept:?}"
    );
    assert_eq!(kept[0].0, 0);
    let prompt = stage.prompt(stage.chat, "And now?").await;
    assert!(
        prompt.contains("- Traveller: The lamp number 0 is lit now. Traveller: The lamp number 1"),
        "{prompt}"
    );
}

/// After an edit, a deletion or another swipe, the summary is in no later prompt.
#[tokio::test]
async fn summary_is_removed_with_its_messages() {
    const PARROT: &str = "My parrot is called KORALLE.";
    for change in 0..2 {
        let stage = LearningSetup::learning("off").await;
        stage.ceiling(10).await;
        stage.exchange(PARROT, &[]).await;
        stage.exchanges(5).await;
        let prompt = stage.prompt(stage.chat, "Well?").await;
        let (_, story) = prompt
            .split_once("The story so far:")
            .unwrap_or_else(|| panic!("no story:\n{prompt}"));
        assert!(story.contains("KORALLE"), "{prompt}");
        let (engine, message) = (&stage.app.engine, stage.message(PARROT).await);
        match change {
            0 => {
                _ = engine
                    .edit_message(message, "I have no parrot.".into())
                    .await
                    .unwrap()
            }
            _ => engine.delete_message(message).await.unwrap(),
        }
        let prompt = stage.prompt(stage.chat, "Well?").await;
        assert!(!prompt.contains("KORALLE"), "change {change}:\n{prompt}");
        stage.exchanges(1).await;
        assert_eq!(stage.keyframes()[0].0, 0, "the range is covered again");
    }
}

/// A keyframe from a model is also a memory for the pair's other chats, until its messages change.
#[tokio::test]
async fn keyframe_is_recalled_in_the_pairs_next_chat() {
    const SUMMARY: &str = "You told Ada of the boat Zebulon.";
    let stage = LearningSetup::summed_up(SUMMARY).await;
    assert_eq!(stage.keyframes(), [(0, 19, false)]);
    let [memory] = &stage.memories().await[..] else {
        panic!("not one memory")
    };
    assert_eq!(
        (
            memory.kind.as_str(),
            memory.text.as_str(),
            memory.importance
        ),
        ("event", SUMMARY, 8)
    );
    assert_eq!(memory.sources.len(), 20);

    let engine = &stage.app.engine;
    let next = engine.new_chat(stage.character).await.unwrap().id;
    assert!(
        stage
            .prompt(next, "What did I tell you of the boat?")
            .await
            .contains(SUMMARY)
    );
    // A new chat begins with a summary of the previous one, but no chat with its own.
    let greeted = stage.prompt(next, "Good morning.").await;
    assert!(
        greeted.contains(&format!(
            "Last session:\n- 21 November 2026, 8/10: {SUMMARY}"
        )),
        "{greeted}"
    );
    assert!(
        !stage
            .prompt(stage.chat, "Good morning.")
            .await
            .contains("Last session:")
    );
    engine
        .delete_message(stage.message(TOLD).await)
        .await
        .unwrap();
    assert!(
        !stage
            .prompt(next, "What did I tell you of the boat?")
            .await
            .contains("Zebulon")
    );
    assert!(stage.memories().await.is_empty() && stage.keyframes().is_empty());
}

/// A stopped reply triggers neither learning nor a title.
#[tokio::test]
async fn stopped_reply_triggers_no_learning() {
    let stage = LearningSetup::learning("on").await;
    stage.exchanges(4).await;
    let gate = ReplyGate::new();
    stage
        .app
        .model
        .play(ReplyScript::new().words("Well, ").gate(&gate));
    let mut events = stage.app.engine.subscribe();
    stage
        .app
        .engine
        .send_message(stage.chat, "Fine.".into())
        .await
        .unwrap();
    gate.reached().await;
    stage.app.engine.stop(stage.chat).await.unwrap();
    ended(&mut events, stage.chat).await;
    stage.app.engine.settle().await;
    assert_eq!(stage.app.model.requests().len(), 5);
}

/// Forgotten text is in no summary, not even in one of twenty messages.
#[tokio::test]
async fn summary_is_removed_with_forgotten_text() {
    const SUMMARY: &str = "You told Ada of the boat Zebulon.";
    let stage = LearningSetup::learning("on").await;
    stage.exchange(TOLD, &[]).await;
    stage.exchanges(3).await;
    stage.exchange("Fine.", &[&fact(FACT, 7)]).await;
    stage.exchanges(4).await;
    stage.exchange("Fine.", &[&keyframe(SUMMARY), "[]"]).await;
    let memories = stage.memories().await;
    assert_eq!(memories.len(), 2, "{memories:?}");
    let learned = memories
        .iter()
        .find(|memory| memory.text != SUMMARY)
        .unwrap()
        .id;
    let engine = &stage.app.engine;
    let next = engine.new_chat(stage.character).await.unwrap().id;
    let asked = async || stage.prompt(next, "What did I tell you of the boat?").await;
    let told = asked().await;
    assert!(told.contains(SUMMARY) && told.contains(FACT), "{told}");
    engine.delete_memory(learned).await.unwrap();
    assert!(!asked().await.contains("Zebulon"));
    engine.restore_memory(learned).await.unwrap();
    let told = asked().await;
    assert!(told.contains(SUMMARY) && told.contains(FACT), "{told}");
}

/// A late edit removes what was learned from the message. The model is called once more, only for
/// that message.
#[tokio::test]
async fn late_edit_is_learned_again() {
    let stage = LearningSetup::learning("on").await;
    stage.exchange(TOLD, &[]).await;
    stage.exchanges(3).await;
    stage.exchange("Fine.", &[&fact(FACT, 8)]).await;
    for _ in 0..2 {
        stage.exchanges(4).await;
        stage
            .exchange("Fine.", &[&keyframe("You talked."), "[]"])
            .await;
    }
    assert_eq!(
        stage
            .memories()
            .await
            .iter()
            .filter(|memory| memory.text == FACT)
            .count(),
        1
    );

    let (asked, boat) = (
        stage.asked("worth remembering").len(),
        stage.message(TOLD).await,
    );
    stage
        .app
        .engine
        .edit_message(boat, TOLD.replace("Zebulon", "Quillon"))
        .await
        .unwrap();
    let learned = FACT.replace("Zebulon", "Quillon");
    stage
        .exchange(
            "Good night.",
            &[&keyframe("You talked."), &fact(&learned, 8)],
        )
        .await;
    assert_eq!(stage.asked("worth remembering").len(), asked + 1);
    let facts: Vec<String> = stage
        .memories()
        .await
        .into_iter()
        .map(|memory| memory.text)
        .collect();
    assert!(
        facts.contains(&learned) && !facts.contains(&FACT.to_owned()),
        "{facts:?}"
    );
    stage.exchange("Sleep well.", &[]).await;
    assert_eq!(stage.asked("worth remembering").len(), asked + 1, "once");
}

/// A regenerated reply does not get facts that were learned from the previous version.
#[tokio::test]
async fn regenerated_reply_lacks_facts_of_the_old_one() {
    let stage = LearningSetup::learning("on").await;
    stage.exchanges(4).await;
    stage.app.model.reply("She is the Zebulon.");
    stage
        .app
        .model
        .reply(&fact("Ada owns a boat called Zebulon.", 8).replace("You", "Ada"));
    stage
        .app
        .send(stage.chat, "Is there a boat that you own?")
        .await;
    stage.app.engine.settle().await;
    assert_eq!(
        stage.memories().await[0].sources.len(),
        2,
        "the question and the answer"
    );
    // A new epoch includes what is known by then.
    let lamp = stage.message("The lamp number 0 is lit now.").await;
    stage
        .app
        .engine
        .edit_message(lamp, "The lamp number 0 is out.".into())
        .await
        .unwrap();
    let again = WhatIf {
        regenerate: true,
        ..WhatIf::default()
    };
    let again = stage
        .app
        .engine
        .preview_prompt(stage.chat, String::new(), again)
        .await
        .unwrap()
        .text;
    assert!(!again.contains("Zebulon"), "{again}");
    let second = stage.app.engine.new_chat(stage.character).await.unwrap().id;
    assert!(
        stage
            .prompt(second, "Do you own a boat?")
            .await
            .contains("owns a boat called Zebulon")
    );
}

/// Forgetting a summary removes only the summary, not its messages.
#[tokio::test]
async fn forgetting_a_summary_keeps_its_messages() {
    const SUMMARY: &str = "You told Ada of the boat Zebulon.";
    let stage = LearningSetup::summed_up(SUMMARY).await;
    let summary = stage.memories().await.remove(0).id;
    let engine = &stage.app.engine;
    let next = engine.new_chat(stage.character).await.unwrap().id;
    let asked = async || stage.prompt(next, "What did I tell you of the boat?").await;

    engine.delete_memory(summary).await.unwrap();
    let told = asked().await;
    assert!(!told.contains(SUMMARY) && told.contains(TOLD), "{told}");
    stage.exchanges(1).await;
    assert_eq!(
        stage.keyframes(),
        [(0, 19, true)],
        "first sentences replace it"
    );
    assert_eq!(
        stage.asked("go on with this conversation").len(),
        1,
        "no model is called again"
    );

    engine.restore_memory(summary).await.unwrap();
    assert!(asked().await.contains(SUMMARY));
}

/// The record of a forgotten summary outlives the summary.
#[tokio::test]
async fn forgotten_summary_is_not_recreated() {
    let stage = LearningSetup::summed_up("You lit the lamps.").await;
    stage
        .app
        .engine
        .delete_memory(stage.memories().await.remove(0).id)
        .await
        .unwrap();

    let LearningSetup {
        app,
        character,
        chat,
    } = stage;
    let stage = LearningSetup {
        app: app.restart().await,
        character,
        chat,
    };
    stage.exchanges(2).await;
    assert_eq!(stage.keyframes(), [(0, 19, true)]);
    assert_eq!(stage.asked("go on with this conversation").len(), 1);
}

/// A fact that is learned late has the date of its message. If two facts contradict each other, the
/// one from the later message wins.
#[tokio::test]
async fn fact_has_the_date_of_its_message() {
    let stage = LearningSetup::learning("on").await;
    let says = |user: bool, text: &str| {
        let name = if user { "Traveller" } else { "Ada" };
        json!({ "name": name, "is_user": user, "mes": text, "send_date": "2024-03-05T10:00:00Z" })
            .to_string()
    };
    let header = json!({ "user_name": "Traveller", "character_name": "Ada" }).to_string();
    let mut lines = vec![
        header,
        says(false, "Good evening."),
        says(true, TOLD),
        says(false, "Is that so."),
    ];
    lines.extend((0..6).map(|number| says(number % 2 == 0, "The lamp is lit now.")));
    let report = stage.app.engine.import_chat_with(
        stage.character,
        "old.jsonl".into(),
        lines.join("\n").into_bytes(),
    );
    let old = report.await.unwrap().imported.remove(0).id.parse().unwrap();
    let stage = LearningSetup { chat: old, ..stage };
    stage.exchange("Fine.", &[&fact(FACT, 7)]).await;
    let learned = stage.memories().await.remove(0);
    assert_eq!(
        (learned.text.as_str(), &learned.created[..10]),
        (FACT, "2024-03-05")
    );
}

/// An edited message is processed again if facts were extracted from it recently.
#[tokio::test]
async fn edited_message_is_learned_again() {
    let stage = LearningSetup::learning("on").await;
    stage.exchange(TOLD, &[]).await;
    stage.exchanges(3).await;
    stage.exchange("Fine.", &[&fact(FACT, 7)]).await;
    let said = stage.message(TOLD).await;
    stage
        .app
        .engine
        .edit_message(said, "I own a boat that is called Korall.".into())
        .await
        .unwrap();
    assert!(stage.memories().await.is_empty());
    stage
        .exchange("Well.", &[&fact("You own a boat called Korall.", 7)])
        .await;
    let learned: Vec<String> = stage
        .memories()
        .await
        .into_iter()
        .map(|memory| memory.text)
        .collect();
    assert_eq!(learned, ["You own a boat called Korall."]);
}
