//! Each character of a group knows only what it witnessed. What was said while one was away reaches
//! no prompt of that character, in any block; the others and the narrator know it.

#![allow(clippy::print_stdout, reason = "the figures of the bench")]

use domain::{CharacterId, ChatId};
use engine::api::{
    CharacterFields, EndReason, Event, GroupOptions, LorebookBinding, MemoryScope, Message,
    PromptReport, SettingOwner, SettingValue, TurnOrder, WhatIf,
};
use serde_json::json;
use tests::headless::{Headless, ended, fact};

/// A word that occurs nowhere else.
const SECRET: &str = "Zanzibarium";

/// Mira's table with Ada and Bo.
struct Table {
    app: Headless,
    chat: ChatId,
    mira: CharacterId,
    ada: CharacterId,
    bo: CharacterId,
}

impl Table {
    async fn open() -> Self {
        let app = Headless::new().await;
        let mut ids = Vec::new();
        for name in ["Mira", "Ada", "Bo"] {
            let fields = CharacterFields {
                name: name.into(),
                description: format!("{name} sits at the table."),
                ..CharacterFields::default()
            };
            ids.push(app.engine.create_character(fields).await.unwrap().id);
        }
        let chat = app
            .engine
            .new_group("The table".into(), ids.clone())
            .await
            .unwrap()
            .id;
        let [mira, ada, bo] = ids.try_into().unwrap();
        let table = Self {
            app,
            chat,
            mira,
            ada,
            bo,
        };
        table.take_turns(TurnOrder::Natural, false).await;
        table
    }

    async fn away(&self, member: CharacterId, away: bool) {
        self.app
            .engine
            .set_member(self.chat, member, false, away)
            .await
            .unwrap();
    }

    async fn take_turns(&self, order: TurnOrder, several_replies: bool) {
        let options = GroupOptions {
            order,
            self_responses: false,
            several_replies,
            auto_delay: 0,
        };
        self.app.engine.set_group(self.chat, options).await.unwrap();
    }

    async fn set(&self, key: &str, value: SettingValue) {
        let owner = SettingOwner::Chat { id: self.chat };
        self.app
            .engine
            .set_setting(owner, key.into(), Some(value))
            .await
            .unwrap();
    }

    /// The user speaks and one of those present answers.
    async fn say(&self, text: &str) -> Message {
        self.app.model.reply("Hm, I see.");
        let (reply, reason) = self.app.send(self.chat, text).await;
        assert_eq!(reason, EndReason::Stop);
        reply.unwrap()
    }

    /// Lets a character speak, or the narrator, and returns the whole prompt of this turn.
    async fn prompt_of(&self, speaker: Option<CharacterId>) -> String {
        self.app.model.reply("Well.");
        let mut events = self.app.engine.subscribe();
        self.app
            .engine
            .let_speak(self.chat, speaker.map(|speaker| speaker.to_string()))
            .await
            .unwrap();
        ended(&mut events, self.chat).await;
        self.last_prompt()
    }

    fn last_prompt(&self) -> String {
        let prompt = self.app.model.last_request().expect("a request").prompt;
        prompt
            .messages
            .into_iter()
            .map(|message| message.text)
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// The report of the newest reply.
    async fn report(&self) -> PromptReport {
        let chat = self.app.engine.whole_chat(self.chat).await.unwrap();
        let last = chat.page.messages.last().unwrap();
        self.app
            .engine
            .manifest(last.swipes[last.selected as usize].id)
            .await
            .unwrap()
    }

    /// The secret is told while Ada is away; then Ada comes back.
    async fn tell_secret(&self) {
        self.say("Good evening, all.").await;
        self.away(self.ada, true).await;
        assert_ne!(
            self.say(&format!(
                "While Ada is out: the treasure is called {SECRET}."
            ))
            .await
            .name,
            "Ada"
        );
        self.away(self.ada, false).await;
    }
}

#[tokio::test]
async fn one_who_was_away_does_not_know_the_window() {
    let table = Table::open().await;
    table.tell_secret().await;
    let ada = table.prompt_of(Some(table.ada)).await;
    assert!(
        !ada.contains(SECRET) && ada.contains("Good evening, all."),
        "{ada}"
    );
    assert!(
        ada.contains("(Ada goes away.)") && ada.contains("(Ada comes back.)"),
        "{ada}"
    );
    for knows in [Some(table.bo), Some(table.mira), None] {
        assert!(table.prompt_of(knows).await.contains(SECRET), "{knows:?}");
    }
    assert!(
        !table.prompt_of(Some(table.ada)).await.contains(SECRET),
        "her window stays her own"
    );
    table.say(&format!("Ada, it is {SECRET}.")).await;
    assert!(table.last_prompt().contains(SECRET), "told later");
}

#[tokio::test]
async fn one_who_was_away_does_not_recall_the_secret() {
    let table = Table::open().await;
    table.tell_secret().await;
    let id = table.app.engine.whole_chat(table.chat).await.unwrap();
    let told = id
        .page
        .messages
        .iter()
        .find(|message| message.swipes[0].text.contains(SECRET))
        .unwrap();
    table.app.engine.pin_message(told.id, true).await.unwrap();
    for turn in 0..4 {
        table
            .say(&format!("Small talk number {turn} about the weather."))
            .await;
    }
    table.app.engine.new_scene(table.chat).await.unwrap();
    table.say("Bo, what was the treasure called?").await;
    assert!(
        table.last_prompt().contains(SECRET),
        "Bo recalls it:\n{}",
        table.last_prompt()
    );
    for _ in 0..2 {
        table.say("Ada, what was the treasure called?").await;
        assert!(
            !table.last_prompt().contains(SECRET),
            "{}",
            table.last_prompt()
        );
    }
}

#[tokio::test]
async fn one_who_was_away_does_not_know_what_was_to_be_remembered() {
    let table = Table::open().await;
    table.say("Good evening.").await;
    table.away(table.ada, true).await;
    table
        .say(&format!("Remember that the password is {SECRET}."))
        .await;
    table.away(table.ada, false).await;
    table.app.engine.new_scene(table.chat).await.unwrap();
    table.say("Mira, what is the password?").await;
    assert!(
        table.last_prompt().contains(SECRET),
        "{}",
        table.last_prompt()
    );
    table.say("Ada, what is the password?").await;
    assert!(
        !table.last_prompt().contains(SECRET),
        "{}",
        table.last_prompt()
    );
    let mine = table.app.engine.new_chat(table.ada).await.unwrap().id;
    table.app.model.reply("No idea.");
    table.app.send(mine, "What is the password?").await;
    assert!(
        !table.last_prompt().contains(SECRET),
        "not in a chat of her own either"
    );
}

/// A window of 2k tokens leaves summaries, pinned lines and excerpts behind.
#[tokio::test]
async fn summaries_keep_the_secret_from_who_was_away() {
    let table = Table::open().await;
    table.set("context_limit", SettingValue::Whole(2_000)).await;
    table.set("max_tokens", SettingValue::Whole(100)).await;
    table
        .set("keyframe_every_messages", SettingValue::Whole(5))
        .await;
    table.tell_secret().await;
    let long =
        "The wind went round the house all night, and the shutters knocked against the wall. "
            .repeat(6);
    for turn in 0..14 {
        table.say(&format!("{long} That was night {turn}.")).await;
        let ada = table.prompt_of(Some(table.ada)).await;
        assert!(!ada.contains(SECRET), "turn {turn}:\n{ada}");
    }
}

#[tokio::test]
async fn lore_that_the_secret_triggers_stays_away() {
    let table = Table::open().await;
    let engine = &table.app.engine;
    let file = json!({ "entries": { "0": { "uid": 0, "key": [SECRET], "content": "It glows in the dark.", "sticky": 9,
        "position": 0, "probability": 100, "useProbability": true } } });
    let report = engine
        .import_bytes("Treasures.json".into(), file.to_string().into_bytes())
        .await
        .unwrap();
    let book = report.imported[0].id.parse().unwrap();
    engine
        .bind_lorebook(book, vec![LorebookBinding::Chat { id: table.chat }])
        .await
        .unwrap();
    table.tell_secret().await;
    assert!(
        table
            .prompt_of(Some(table.bo))
            .await
            .contains("It glows in the dark.")
    );
    assert!(
        !table
            .prompt_of(Some(table.ada))
            .await
            .contains("It glows in the dark.")
    );
}

#[tokio::test]
async fn newcomer_knows_nothing_from_before() {
    let table = Table::open().await;
    let cy = table.app.character("Cy").await;
    table
        .say(&format!("The treasure is called {SECRET}."))
        .await;
    let members = vec![table.ada, table.bo, cy];
    table
        .app
        .engine
        .set_members(table.chat, members)
        .await
        .unwrap();
    assert!(
        table
            .app
            .transcript(table.chat)
            .await
            .contains(&": (Cy joins.)".to_owned())
    );
    assert!(!table.prompt_of(Some(cy)).await.contains(SECRET));
    let group = table
        .app
        .engine
        .open_chat(table.chat)
        .await
        .unwrap()
        .group
        .unwrap();
    assert!(group.members[3].missed > 0 && group.members[0].missed == 0);
    table
        .app
        .engine
        .let_member_know(table.chat, cy)
        .await
        .unwrap();
    assert!(table.prompt_of(Some(cy)).await.contains(SECRET));
}

/// A member who leaves and returns has missed only the time in between.
#[tokio::test]
async fn one_who_left_hears_nothing_until_back() {
    let table = Table::open().await;
    table.say("The boat is called Petrel.").await;
    let engine = &table.app.engine;
    engine
        .set_members(table.chat, vec![table.bo])
        .await
        .unwrap();
    table
        .say(&format!("The treasure is called {SECRET}."))
        .await;
    engine
        .set_members(table.chat, vec![table.ada, table.bo])
        .await
        .unwrap();
    let ada = table.prompt_of(Some(table.ada)).await;
    assert!(!ada.contains(SECRET) && ada.contains("Petrel"), "{ada}");
}

/// Memories of one character stay out of the prompts of the others, and out of the digest that all
/// share.
#[tokio::test]
async fn private_memories_are_sent_for_one_turn_only() {
    let table = Table::open().await;
    let engine = &table.app.engine;
    let secret = fact(
        table.mira,
        &format!("Mira keeps the {SECRET} in her drawer."),
        9,
    );
    engine
        .save_memory(engine::api::MemoryDraft {
            scope: MemoryScope::Character,
            ..secret
        })
        .await
        .unwrap();
    table.say("Mira, what do you keep?").await;
    assert!(
        table.last_prompt().contains(SECRET),
        "{}",
        table.last_prompt()
    );
    let report = table.report().await;
    let block = report
        .blocks
        .iter()
        .find(|block| block.kept && block.text.contains(SECRET))
        .unwrap();
    assert_eq!(block.known_to.as_deref(), Some("Mira"));
    assert_eq!(report.blocks[0].known_to, None, "the head is known to all");
    table.say("Bo, what does Mira keep?").await;
    assert!(
        !table.last_prompt().contains(SECRET),
        "{}",
        table.last_prompt()
    );
}

#[tokio::test]
async fn muted_members_hear_but_do_not_speak() {
    let table = Table::open().await;
    table
        .app
        .engine
        .set_member(table.chat, table.ada, true, false)
        .await
        .unwrap();
    for turn in 0..6 {
        assert_ne!(
            table
                .say(&format!("Turn {turn}: {SECRET}. Ada?"))
                .await
                .name,
            "Ada"
        );
    }
    assert!(
        table.prompt_of(Some(table.ada)).await.contains(SECRET),
        "click to speak"
    );
    table.away(table.bo, true).await;
    let refused = table
        .app
        .engine
        .let_speak(table.chat, Some(table.bo.to_string()))
        .await;
    assert!(refused.is_err(), "nobody speaks while away");
}

/// Saved caches and windows of one character do not mix with those of the others.
#[tokio::test]
async fn one_who_missed_something_has_a_sequence_of_its_own() {
    let table = Table::open().await;
    table.tell_secret().await;
    table.prompt_of(Some(table.ada)).await;
    let hers = table.app.model.last_request().unwrap().cache_key;
    table.prompt_of(Some(table.bo)).await;
    let shared = table.app.model.last_request().unwrap().cache_key;
    assert_eq!(
        (shared, hers),
        (
            table.chat.to_string(),
            format!("{} {}", table.chat, table.ada)
        )
    );
    let preview = table
        .app
        .engine
        .preview_prompt(table.chat, "Ada?".into(), WhatIf::default())
        .await
        .unwrap();
    assert!(!preview.text.contains(SECRET));
    let window: Vec<_> = preview
        .blocks
        .iter()
        .filter(|block| block.kind == "message" && block.kept)
        .collect();
    assert!(
        window
            .iter()
            .all(|block| block.known_to.as_deref() == Some("Ada"))
    );
}

/// The exported file is read by the import of group files, and fields of other apps come back.
#[tokio::test]
async fn group_file_names_members_order_and_muted() {
    let table = Table::open().await;
    let order = engine::api::TurnOrder::Pooled;
    let options = engine::api::GroupOptions {
        order,
        self_responses: true,
        several_replies: false,
        auto_delay: 9,
    };
    table
        .app
        .engine
        .set_group(table.chat, options)
        .await
        .unwrap();
    table
        .app
        .engine
        .set_member(table.chat, table.bo, true, false)
        .await
        .unwrap();
    let format = engine::api::ChatFileFormat::Group;
    let file = table
        .app
        .engine
        .export_chat(table.chat, format)
        .await
        .unwrap();
    let group: serde_json::Value = serde_json::from_slice(&file.bytes).unwrap();
    assert_eq!(
        (file.file_name.as_str(), &group["name"]),
        ("The-table.json", &json!("The table"))
    );
    assert_eq!(group["members"], json!(["Mira.png", "Ada.png", "Bo.png"]));
    assert_eq!(group["disabled_members"], json!(["Bo.png"]));
    assert_eq!(
        (&group["activation_strategy"], &group["auto_mode_delay"]),
        (&json!(3), &json!(9))
    );
    let alone = table.app.engine.new_chat(table.mira).await.unwrap().id;
    assert!(table.app.engine.export_chat(alone, format).await.is_err());
}

/// While all are present, they share one window, whoever speaks. The scripted provider reads every
/// reply again, so the floor is below the goal of 85 % for a real model, and slightly below the
/// measured 80.3 %. If prompts only grew, without new epochs and private blocks, it would be 93.5
/// %.
#[tokio::test]
async fn group_of_eight_reuses_most_of_its_prompts() {
    let run = tests::reuse::group(100, false).await;
    println!(
        "all present: {:.3} of {:.3} possible",
        run.shared.share(),
        run.limit.share()
    );
    assert!(run.shared.share() >= 0.795, "{:.3}", run.shared.share());
    assert!(
        run.shared.share() / run.limit.share() >= 0.85,
        "of what is possible"
    );
    let absent = tests::reuse::group(100, true).await;
    println!(
        "one was away: {:.3} shared, {:.3} alone",
        absent.shared.share(),
        absent.alone.share()
    );
    assert!(absent.alone.share() > 0.0);
}

#[tokio::test]
async fn manual_order_stores_the_message_without_a_reply() {
    let table = Table::open().await;
    let order = engine::api::TurnOrder::Manual;
    let options = engine::api::GroupOptions {
        order,
        self_responses: false,
        several_replies: false,
        auto_delay: 5,
    };
    table
        .app
        .engine
        .set_group(table.chat, options)
        .await
        .unwrap();
    let started = table
        .app
        .engine
        .send_message(table.chat, "Hello?".into())
        .await
        .unwrap();
    assert!(started.reply.is_none() && started.sent.is_some());
    assert!(
        table
            .app
            .engine
            .speak_next(table.chat)
            .await
            .unwrap()
            .is_none()
    );
    assert!(table.prompt_of(Some(table.bo)).await.contains("Hello?"));
}

#[tokio::test]
async fn director_chooses_by_name_or_not_at_all() {
    let table = Table::open().await;
    let order = engine::api::TurnOrder::Director;
    let options = engine::api::GroupOptions {
        order,
        self_responses: false,
        several_replies: false,
        auto_delay: 0,
    };
    table
        .app
        .engine
        .set_group(table.chat, options)
        .await
        .unwrap();
    table.app.model.reply("Bo, I think.");
    assert_eq!(table.say("Good evening.").await.name, "Bo");
    table.app.model.reply("Somebody else.");
    assert_ne!(
        table.say("And now?").await.name,
        "",
        "the natural order applies"
    );
    assert_eq!(
        table.say("Ada, what do you say?").await.name,
        "Ada",
        "no question if somebody is named"
    );
}

#[tokio::test]
async fn characters_go_on_without_the_user() {
    let table = Table::open().await;
    let order = engine::api::TurnOrder::Pooled;
    let options = engine::api::GroupOptions {
        order,
        self_responses: false,
        several_replies: false,
        auto_delay: 0,
    };
    table
        .app
        .engine
        .set_group(table.chat, options)
        .await
        .unwrap();
    let mut names = vec![table.say("Introduce yourselves.").await.name];
    for _ in 0..2 {
        table.app.model.reply("Me too.");
        let mut events = table.app.engine.subscribe();
        assert!(
            table
                .app
                .engine
                .speak_next(table.chat)
                .await
                .unwrap()
                .is_some()
        );
        names.push(next_reply(&mut events, table.chat).await);
    }
    names.sort();
    assert_eq!(names, ["Ada", "Bo", "Mira"]);
    assert!(
        table
            .app
            .engine
            .speak_next(table.chat)
            .await
            .unwrap()
            .is_none(),
        "everybody has spoken"
    );
}

async fn next_reply(events: &mut engine::Events, chat: ChatId) -> String {
    loop {
        if let Event::Ended {
            chat: of, message, ..
        } = events.next().await.expect("the engine lives")
            && of == chat
        {
            return message.unwrap().name;
        }
    }
}
