//! Macros over whole turns: chat values, persistence of variables, and unknown macros.

use domain::{ChatId, Timestamp};
use engine::api::{PromptReport, SettingOwner, SettingValue, WhatIf};
use engine::{Clock, Engine, Options};
use provider::fake::FakeProvider;
use serde_json::{Value, json};
use tempfile::TempDir;
use tests::headless::{NOW, ended, selected_text};

const HOUR: i64 = 3_600_000;

fn card(description: &str, entries: Value) -> Value {
    json!({
        "spec": "chara_card_v3", "spec_version": "3.0",
        "data": {
            "name": "Ada", "description": description, "personality": "", "scenario": "",
            "first_mes": "Evening. {{lamp}}", "mes_example": "", "creator_notes": "", "system_prompt": "",
            "post_history_instructions": "", "alternate_greetings": [], "tags": [], "creator": "",
            "character_version": "", "group_only_greetings": [], "extensions": {},
            "character_book": { "extensions": {}, "entries": entries }
        }
    })
}

fn entry(key: &str, content: &str) -> Value {
    json!({ "keys": [key], "content": content, "extensions": {}, "enabled": true, "insertion_order": 10, "use_regex": false })
}

/// A constant lorebook entry.
fn constant(content: &str) -> Value {
    let mut entry = entry("", content);
    entry["constant"] = true.into();
    entry
}

/// A chat with Ada at a time that the test sets.
struct Evening {
    dir: TempDir,
    model: FakeProvider,
    engine: Engine,
    chat: ChatId,
}

impl Evening {
    async fn with(description: &str, lore: &str) -> Self {
        Self::with_entries(description, json!([entry("reef", lore)])).await
    }

    async fn with_entries(description: &str, entries: Value) -> Self {
        let (dir, model) = (tempfile::tempdir().unwrap(), FakeProvider::new());
        let engine = open(&dir, &model, NOW).await;
        let card = card(description, entries).to_string().into_bytes();
        let report = engine.import_bytes("ada.json".into(), card).await.unwrap();
        let chat = engine
            .new_chat(report.imported[0].id.parse().unwrap())
            .await
            .unwrap()
            .id;
        Self {
            dir,
            model,
            engine,
            chat,
        }
    }

    /// Returns the same chat at another time.
    async fn at(self, now: Timestamp) -> Self {
        let Self {
            dir,
            model,
            engine,
            chat,
        } = self;
        engine.shutdown().await;
        drop(engine);
        let engine = open(&dir, &model, now).await;
        Self {
            dir,
            model,
            engine,
            chat,
        }
    }

    async fn set(&self, key: &str, value: SettingValue) {
        let owner = SettingOwner::Chat { id: self.chat };
        self.engine
            .set_setting(owner, key.into(), Some(value))
            .await
            .unwrap();
    }

    async fn note(&self, note: &str) {
        self.set("author_note", SettingValue::Text(note.into()))
            .await;
    }

    async fn say(&self, text: &str) -> String {
        self.model.reply("Hm.");
        let mut events = self.engine.subscribe();
        self.engine
            .send_message(self.chat, text.to_owned())
            .await
            .unwrap();
        ended(&mut events, self.chat).await;
        self.sent()
    }

    async fn regenerate(&self) -> String {
        self.model.reply("Hm?");
        let mut events = self.engine.subscribe();
        self.engine.regenerate(self.chat).await.unwrap();
        ended(&mut events, self.chat).await;
        self.sent()
    }

    /// Returns all that the provider received for the last turn.
    fn sent(&self) -> String {
        let prompt = self.model.last_request().expect("a request").prompt;
        prompt
            .messages
            .iter()
            .map(|message| message.text.as_str())
            .collect::<Vec<_>>()
            .join("\n---\n")
    }

    /// Returns each message as stored.
    async fn texts(&self) -> Vec<String> {
        let messages = self
            .engine
            .whole_chat(self.chat)
            .await
            .unwrap()
            .page
            .messages;
        messages
            .iter()
            .map(|message| selected_text(message).to_owned())
            .collect()
    }

    async fn last_user_text(&self) -> String {
        let texts = self.texts().await;
        texts[texts.len() - 2].clone()
    }

    async fn preview(&self, text: &str) -> PromptReport {
        self.engine
            .preview_prompt(self.chat, text.to_owned(), WhatIf::default())
            .await
            .unwrap()
    }

    /// Edits the chat's first message, which ends the epoch.
    async fn edit_greeting(&self, text: &str) {
        let greeting = self
            .engine
            .whole_chat(self.chat)
            .await
            .unwrap()
            .page
            .messages[0]
            .id;
        self.engine
            .edit_message(greeting, text.to_owned())
            .await
            .unwrap();
    }

    async fn manifest(&self) -> PromptReport {
        let messages = self
            .engine
            .whole_chat(self.chat)
            .await
            .unwrap()
            .page
            .messages;
        let reply = messages.last().unwrap();
        self.engine
            .manifest(reply.swipes[reply.selected as usize].id)
            .await
            .unwrap()
    }
}

async fn open(dir: &TempDir, model: &FakeProvider, now: Timestamp) -> Engine {
    let options = Options {
        data_dir: dir.path().to_owned(),
        without_keychain: true,
        clock: Clock::stopped(now),
        provider: Some(std::sync::Arc::new(model.clone())),
        ..Options::default()
    };
    Engine::open(options)
        .await
        .unwrap_or_else(|error| panic!("{error}"))
}

#[tokio::test]
async fn message_ids_cover_the_whole_chat() {
    let evening = Evening::with("A keeper.", "").await;
    evening
        .note("Note: {{lastMessageId}} of {{allChatRange}} from {{firstIncludedMessageId}}.")
        .await;
    evening
        .set("context_limit", SettingValue::Whole(1_500))
        .await;
    let long = "We talked about the weather, the sea, the gulls and the price of oil. ".repeat(6);
    for _ in 0..20 {
        evening.say(&long).await;
    }
    let sent = evening
        .say("Which is it? {{lastMessageId}} {{allChatRange}}")
        .await;
    let last = evening.texts().await.len() - 2;
    assert_eq!(last, 41, "the greeting, twenty exchanges and the question");
    assert_eq!(
        evening.last_user_text().await,
        format!("Which is it? {} 0-{}", last - 1, last - 1)
    );
    assert!(
        sent.contains(&format!("Note: {last} of 0-{last} from ")),
        "{sent}"
    );
    assert!(
        !sent.contains("from 0."),
        "the window never moved, so this shows little:\n{sent}"
    );
}

#[tokio::test]
async fn idle_time_counts_from_the_users_last_message() {
    let evening = Evening::with(
        "A keeper, away {{idleDuration}}.",
        "Reef: {{idleDuration}}.",
    )
    .await;
    evening.note("Note: {{idleDuration}}.").await;
    let first = evening.say("Hello.").await;
    assert!(
        first.contains("away just now.") && first.contains("Note: just now."),
        "{first}"
    );
    let evening = evening.at(Timestamp(NOW.0 + 3 * HOUR)).await;
    let sent = evening
        .say("I am back at the reef after {{idleDuration}}.")
        .await;
    for told in [
        "Note: 3 hours.",
        "Reef: 3 hours.",
        "after 3 hours.",
        "away just now.",
    ] {
        assert!(sent.contains(told), "{told:?} is missing:\n{sent}");
    }
}

#[tokio::test]
async fn macros_show_reply_kind_and_swipe() {
    let evening = Evening::with("A keeper.", "").await;
    // With other placements, a note stays unchanged in the message that it was sent with.
    evening
        .set("placement", SettingValue::Text("classic".into()))
        .await;
    evening
        .note("Note: {{lastGenerationType}} {{currentSwipeId}}/{{lastSwipeId}} [{{input}}]")
        .await;
    let sent = evening.say("Hello.").await;
    assert!(sent.contains("Note: normal 1/1 []"), "{sent}");
    evening
        .engine
        .save_draft(evening.chat, "half a thought".into())
        .await
        .unwrap();
    let sent = evening.regenerate().await;
    assert!(sent.contains("Note: swipe 2/1 [half a thought]"), "{sent}");
    let sent = evening.regenerate().await;
    assert!(sent.contains("Note: swipe 3/2 [half a thought]"), "{sent}");
}

#[tokio::test]
async fn variables_of_card_and_lore_persist() {
    let description = "Moods. {{setvar::mood::calm}}{{setglobalvar::town::Cove}}";
    let evening = Evening::with(description, "The reef was named {{incvar::named}} times.").await;
    assert!(
        evening
            .preview("The reef?")
            .await
            .text
            .contains("named 1 times")
    );
    let sent = evening.say("The reef?").await;
    assert!(
        sent.contains("named 1 times"),
        "the preview counted:\n{sent}"
    );
    evening
        .say("{{getvar::mood}} {{getglobalvar::town}} {{getvar::named}}")
        .await;
    assert_eq!(evening.last_user_text().await, "calm Cove 1");
    evening.say("{{setvar::named::8}}And again the reef.").await;
    evening.say("{{getvar::named}}").await;
    assert_eq!(evening.last_user_text().await, "9");
}

/// Between epochs every prompt begins with the previous one, even if macros in the head change
/// variables.
#[tokio::test]
async fn counter_in_the_head_changes_once_per_epoch() {
    let evening = Evening::with("Told {{incvar::told}} times.", "").await;
    let before = evening.say("Hello.").await;
    assert!(before.contains("Told 1 times."), "{before}");
    let evening = evening.at(Timestamp(NOW.0 + HOUR)).await;
    let sent = evening.say("So it goes: {{getvar::told}}").await;
    assert!(
        sent.starts_with(&before) && sent.contains("So it goes: 1"),
        "{sent}"
    );
    evening.edit_greeting("Good evening.").await;
    let sent = evening.say("A new epoch.").await;
    assert!(sent.contains("Told 2 times."), "{sent}");
}

/// Returns the line of the constant entry.
fn told(prompt: &str) -> &str {
    prompt
        .lines()
        .find(|line| line.starts_with("It is "))
        .unwrap_or_else(|| panic!("no such line in\n{prompt}"))
}

/// Constant lore is part of the head and keeps its text from the start of the epoch.
#[tokio::test]
async fn constant_lore_with_time_and_chance_is_stable() {
    let says = "It is {{time}}, {{idle_duration}}. {{random::ash::birch::cedar::dogwood}} {{roll:1000}} {{incvar::told}}";
    let mut evening = Evening::with_entries("A keeper.", json!([constant(says)])).await;
    let mut before = evening.say("Hello.").await;
    let first = told(&before).to_owned();
    for turn in 1..20 {
        evening = evening.at(Timestamp(NOW.0 + turn * HOUR)).await;
        let words = format!("Turn {turn}.");
        let preview = evening.preview(&words).await;
        let sent = evening.say(&words).await;
        let manifest = evening.manifest().await;
        assert!(
            sent.starts_with(&before),
            "turn {turn} changes the prefix:\n{sent}"
        );
        assert_eq!(
            (manifest.epoch, manifest.new_epoch.as_deref()),
            (1, None),
            "turn {turn}"
        );
        assert_eq!(
            (preview.text, preview.new_epoch),
            (manifest.text, None),
            "turn {turn}"
        );
        before = sent;
    }
    assert_eq!(told(&before), first);
    evening.edit_greeting("Good evening.").await;
    let sent = evening.say("A new epoch.").await;
    assert_ne!(told(&sent), first);
    assert!(
        first.ends_with(" 1") && told(&sent).ends_with(" 2"),
        "{first}; {}",
        told(&sent)
    );
}

#[tokio::test]
async fn classic_placement_updates_time_in_constant_lore() {
    let evening = Evening::with_entries("A keeper.", json!([constant("It is {{time}}.")])).await;
    evening
        .set("placement", SettingValue::Text("classic".into()))
        .await;
    let first = told(&evening.say("Hello.").await).to_owned();
    let evening = evening.at(Timestamp(NOW.0 + HOUR)).await;
    assert_ne!(told(&evening.say("Still there?").await), first);
}

/// Entries in the head and in the turn share variables in both directions.
#[tokio::test]
async fn head_and_turn_entries_share_variables() {
    let entries = json!([
        constant("{{setvar::mood::calm}}It is set."),
        entry("reef", "Mood: {{getvar::mood}}, {{incvar::named}}."),
    ]);
    let evening = Evening::with_entries("Named {{getvar::named}}.", entries).await;
    let sent = evening.say("The reef?").await;
    assert!(
        sent.contains("Mood: calm, 1.") && sent.contains("Named 1."),
        "{sent}"
    );
    evening.say("{{getvar::mood}} {{getvar::named}}").await;
    assert_eq!(evening.last_user_text().await, "calm 1");
}

/// The preview shows the results of probability for unsent text and for its lore.
#[tokio::test]
async fn preview_shows_results_of_chance() {
    let evening = Evening::with(
        "A keeper.",
        "Waves: {{roll:100000}}. {{random::a::b::c::d::e::f}}",
    )
    .await;
    evening.note("Wind: {{roll:100000}}.").await;
    for _ in 0..3 {
        let words = "The reef, {{roll:100000}} times.";
        let preview = evening.preview(words).await;
        evening.say(words).await;
        assert_eq!(preview.text, evening.manifest().await.text);
    }
}

/// A lore section that the template disables sends nothing and reports it.
#[tokio::test]
async fn lore_without_a_section_is_not_sent() {
    let entries = json!([constant("The sea is cold."), entry("reef", "It is sharp.")]);
    let evening = Evening::with_entries("A keeper.", entries).await;
    let prompt = async |section: Value| {
        let template = json!({ "schema": "inglenook.promptTemplate", "version": 2, "id": "own", "name": "Own",
            "extends": "base-roleplay", "sections": [section] });
        let what_if = WhatIf {
            template_json: Some(template.to_string()),
            ..WhatIf::default()
        };
        evening
            .engine
            .preview_prompt(evening.chat, "The reef?".into(), what_if)
            .await
            .unwrap()
    };
    for off in [
        json!({ "condition": "!always" }),
        json!({ "exclude": true }),
    ] {
        let mut section = json!({ "name": "loreAfter" });
        section
            .as_object_mut()
            .unwrap()
            .extend(off.as_object().unwrap().clone());
        let sent = prompt(section).await;
        assert!(
            !sent.text.contains("The sea is cold.") && !sent.text.contains("It is sharp."),
            "{}",
            sent.text
        );
        let told = sent
            .blocks
            .iter()
            .filter(|block| block.kind == "lore")
            .map(|block| block.dropped_reason.as_deref());
        let why = Some("the template's section for it is switched off");
        assert_eq!(told.collect::<Vec<_>>(), [why, why]);
    }
    let sent = prompt(json!({ "name": "loreAfter", "condition": "lore.after" })).await;
    assert!(
        sent.text.contains("The sea is cold.") && sent.text.contains("It is sharp."),
        "{}",
        sent.text
    );
}

#[tokio::test]
async fn hidden_key_triggers_lore_and_is_not_sent() {
    let entries = json!([
        constant("The door is shut.{{hidden_key:cellar}}"),
        entry("cellar", "It smells of brine.")
    ]);
    let evening = Evening::with_entries("A keeper.", entries).await;
    let sent = evening.say("Hello.").await;
    assert!(
        sent.contains("The door is shut.") && sent.contains("It smells of brine."),
        "{sent}"
    );
    assert!(!sent.to_lowercase().contains("cellar"), "{sent}");
}

#[tokio::test]
async fn reports_unknown_macros_in_every_text() {
    let evening = Evening::with(
        "A keeper. {{currentSwipeId}}{{rigging}}",
        "The {{mast}} reef.",
    )
    .await;
    let sent = evening.say("The reef, {{sail}}?").await;
    for text in [
        "Evening. {{lamp}}",
        "The {{mast}} reef.",
        "The reef, {{sail}}?",
    ] {
        assert!(sent.contains(text), "{text:?} is missing:\n{sent}");
    }
    let notices = evening.manifest().await.notices.join("\n");
    for told in [
        "messages stay as text: lamp, sail",
        "lorebook stay as text: mast",
        "stay as text: rigging",
    ] {
        assert!(
            notices.contains(told),
            "{told:?} was not reported:\n{notices}"
        );
    }
    assert!(notices.contains("left out: currentswipeid"), "{notices}");
}

#[tokio::test]
async fn editing_a_message_resolves_its_macros() {
    let evening = Evening::with("A keeper.", "").await;
    evening.say("Hello.").await;
    let messages = evening
        .engine
        .whole_chat(evening.chat)
        .await
        .unwrap()
        .page
        .messages;
    let (asked, reply) = (messages[1].id, messages[2].id);
    let asked = evening
        .engine
        .edit_message(asked, "{{setvar::hat::red}}I wave at {{char}}.".into())
        .await
        .unwrap();
    assert_eq!(selected_text(&asked), "I wave at Ada.");
    let reply = evening
        .engine
        .edit_message(
            reply,
            "{{user}} waves his {{getvar::hat}} hat. {{what}}".into(),
        )
        .await;
    assert_eq!(
        selected_text(&reply.unwrap()),
        "Traveller waves his red hat. {{what}}"
    );
    assert!(
        evening
            .engine
            .edit_message(messages[1].id, "{{// nothing}} ".into())
            .await
            .is_err()
    );
    assert_eq!(evening.texts().await[1], "I wave at Ada.");
}

/// The preview equals the sent prompt, including macros in the message.
#[tokio::test]
async fn preview_resolves_macros_of_the_message() {
    let evening = Evening::with("A keeper.", "").await;
    let chat = evening.chat;
    let preview = evening
        .engine
        .preview_prompt(chat, "I wave at {{char}}.".into(), WhatIf::default())
        .await
        .unwrap();
    assert!(preview.text.contains("I wave at Ada."), "{}", preview.text);
}
