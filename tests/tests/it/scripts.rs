//! Regex scripts in SillyTavern's format over whole turns: stored, displayed and sent text, and
//! notices.

use domain::{CharacterId, ChatId};
use engine::api::{PromptReport, RegexScriptRow, ScriptTrial, SettingOwner, SettingValue, WhatIf};
use provider::{ProviderError, ProviderErrorKind};
use serde_json::{Value, json};
use tests::headless::{Headless, ended, selected_text};

fn card(scripts: Value) -> Value {
    json!({
        "spec": "chara_card_v3", "spec_version": "3.0",
        "data": {
            "name": "Ada", "description": "Ada keeps the lighthouse.", "personality": "", "scenario": "",
            "first_mes": "Teh lamp is lit, {{user}}.", "mes_example": "", "creator_notes": "", "system_prompt": "",
            "post_history_instructions": "", "alternate_greetings": [], "tags": [], "creator": "",
            "character_version": "1", "group_only_greetings": [], "extensions": { "regex_scripts": scripts },
            "character_book": { "name": "Rocks", "extensions": {}, "entries": [
                { "keys": ["reef"], "content": "Teh reef took the Marianne.", "extensions": {}, "enabled": true,
                  "insertion_order": 10, "use_regex": false }
            ] }
        }
    })
}

/// Creates a script with default values except these.
fn script(name: &str, find: &str, replace: &str, more: Value) -> RegexScriptRow {
    let mut json = json!({ "scriptName": name, "findRegex": find, "replaceString": replace, "placement": [1, 2] });
    json.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    RegexScriptRow {
        id: String::new(),
        name: name.into(),
        json: json.to_string(),
        enabled: true,
        problem: None,
    }
}

struct House {
    app: Headless,
    character: CharacterId,
    chat: ChatId,
}

impl House {
    async fn open(scripts: &[RegexScriptRow]) -> Self {
        Self::with_card(card(json!([])), scripts).await
    }

    async fn with_card(card: Value, scripts: &[RegexScriptRow]) -> Self {
        let app = Headless::new().await;
        for script in scripts {
            app.engine.save_regex_script(script.clone()).await.unwrap();
        }
        let report = app
            .engine
            .import_bytes("ada.json".into(), card.to_string().into_bytes())
            .await
            .unwrap();
        let character = report.imported[0].id.parse().unwrap();
        let chat = app.engine.new_chat(character).await.unwrap().id;
        Self {
            app,
            character,
            chat,
        }
    }

    /// Sends `text` with the reply `reply` and returns all that the provider received.
    async fn say(&self, text: &str, reply: &str) -> String {
        self.app.model.reply(reply);
        self.app.send(self.chat, text).await;
        let prompt = self.app.model.last_request().unwrap().prompt;
        prompt
            .messages
            .iter()
            .map(|message| message.text.as_str())
            .collect::<Vec<_>>()
            .join("\n---\n")
    }

    async fn stored(&self) -> Vec<String> {
        self.app.transcript(self.chat).await
    }

    /// Edits the last message to `text` and returns the stored text.
    async fn edit_last(&self, text: &str) -> String {
        let chat = self.app.engine.whole_chat(self.chat).await.unwrap();
        let last = chat.page.messages.last().unwrap().id;
        selected_text(
            &self
                .app
                .engine
                .edit_message(last, text.into())
                .await
                .unwrap(),
        )
        .to_owned()
    }

    async fn report(&self) -> PromptReport {
        let chat = self.app.engine.whole_chat(self.chat).await.unwrap();
        let reply = chat.page.messages.last().unwrap();
        self.app
            .engine
            .manifest(reply.swipes[reply.selected as usize].id)
            .await
            .unwrap()
    }

    async fn classic(&self) {
        let owner = SettingOwner::Chat { id: self.chat };
        let classic = Some(SettingValue::Text("classic".into()));
        self.app
            .engine
            .set_setting(owner, "placement".into(), classic)
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn scripts_change_what_is_stored_or_only_what_is_sent() {
    let stored = script("stored", "/teh/gi", "the", json!({}));
    let house = House::open(&[
        stored,
        script(
            "sent",
            "/secret/gi",
            "[hidden]",
            json!({ "promptOnly": true }),
        ),
    ])
    .await;
    let broken = script("broken", "/(/", "", json!({}));
    assert!(house.app.engine.save_regex_script(broken).await.is_err());
    let sent = house.say("Open teh Secret door.", "Teh door opens.").await;
    assert!(sent.contains("Open the [hidden] door."), "{sent}");
    let lines = house.stored().await;
    assert!(
        lines[0].ends_with("the lamp is lit, Traveller."),
        "scripts for replies apply to greetings: {lines:?}"
    );
    assert!(lines[1].ends_with("Open the Secret door."), "{lines:?}");
    assert!(lines[2].ends_with("the door opens."), "{lines:?}");
}

#[tokio::test]
async fn a_cards_scripts_run_only_after_consent() {
    let of_card = script("card's", "/fog/g", "mist", json!({}));
    let house = House::with_card(
        card(json!([
            serde_json::from_str::<Value>(&of_card.json).unwrap()
        ])),
        &[],
    )
    .await;
    let engine = &house.app.engine;
    let listed = engine.card_scripts(house.character).await.unwrap();
    assert_eq!(
        (
            listed.allowed,
            listed.scripts.len(),
            listed.scripts[0].name.as_str()
        ),
        (false, 1, "card's")
    );
    assert!(house.say("No fog.", "Fine fog.").await.contains("No fog."));
    engine
        .allow_card_scripts(house.character, true)
        .await
        .unwrap();
    let sent = house.say("Thick fog.", "More fog.").await;
    assert!(
        sent.contains("No fog.") && sent.contains("Thick mist."),
        "{sent}"
    );
    assert!(house.stored().await.last().unwrap().ends_with("More mist."));
    engine
        .allow_card_scripts(house.character, false)
        .await
        .unwrap();
    assert!(house.say("Thin fog.", "Hm.").await.contains("Thin fog."));
}

/// Without `runOnEdit` a script does not change an edited text.
#[tokio::test]
async fn edits_run_only_scripts_for_edits() {
    let on_edit = script("both", "/teh/g", "the", json!({ "runOnEdit": true }));
    let house = House::open(&[on_edit, script("new only", "/fog/g", "mist", json!({}))]).await;
    house.say("teh fog", "teh fog").await;
    let edited = house
        .edit_last("<think>\nteh fog\n</think>\nteh fog again")
        .await;
    assert_eq!(
        edited, "<think>\nteh fog\n</think>\nthe fog again",
        "thoughts have separate scripts"
    );
    let chat = house.app.engine.whole_chat(house.chat).await.unwrap();
    let mine = chat.page.messages[1].id;
    assert_eq!(selected_text(&chat.page.messages[1]), "the mist");
    assert_eq!(
        selected_text(
            &house
                .app
                .engine
                .edit_message(mine, "teh fog".into())
                .await
                .unwrap()
        ),
        "the fog"
    );
    let nothing = script("nothing", "/gone/", "", json!({ "runOnEdit": true }));
    house.app.engine.save_regex_script(nothing).await.unwrap();
    assert!(
        house
            .app
            .engine
            .edit_message(mine, "gone".into())
            .await
            .is_err(),
        "a message is never empty"
    );
}

/// The existing part of a continued reply was already processed by the scripts.
#[tokio::test]
async fn continuing_a_reply_keeps_its_existing_text() {
    let house = House::open(&[script("doubled", "/oil/g", "oil oil", json!({}))]).await;
    house.say("What burns?", "Whale oil,").await;
    assert!(
        house
            .stored()
            .await
            .last()
            .unwrap()
            .ends_with("Whale oil oil,")
    );
    house.app.model.reply(" and olive oil.");
    let mut events = house.app.engine.subscribe();
    house.app.engine.continue_reply(house.chat).await.unwrap();
    ended(&mut events, house.chat).await;
    assert!(
        house
            .stored()
            .await
            .last()
            .unwrap()
            .ends_with("Whale oil oil, and olive oil oil.")
    );
}

/// Scripts rewrite lore for the prompt, and the X-ray names the script.
#[tokio::test]
async fn the_xray_names_the_scripts_that_rewrote_a_block() {
    let lore = script("Spelling", "/Teh/g", "The", json!({ "placement": [5] }));
    let house = House::open(&[
        lore,
        script("Veil", "/gold/g", "[hidden]", json!({ "promptOnly": true })),
    ])
    .await;
    let sent = house.say("Is there gold on the reef?", "Hm.").await;
    assert!(
        sent.contains("The reef took the Marianne.") && sent.contains("[hidden] on the reef"),
        "{sent}"
    );
    let report = house.report().await;
    let reason = |text: &str| {
        &report
            .blocks
            .iter()
            .find(|block| block.text.contains(text))
            .unwrap()
            .reason
    };
    assert!(
        reason("Marianne").ends_with("; rewritten by the script \"Spelling\""),
        "{}",
        reason("Marianne")
    );
    assert_eq!(
        reason("[hidden]"),
        "your message; rewritten by the script \"Veil\""
    );
    assert!(!reason("lamp is lit").contains("rewritten"));
}

/// A script that applies to messages at depth 20 or more.
fn of_depth_20() -> RegexScriptRow {
    script(
        "Deep",
        "/gold/g",
        "[hidden]",
        json!({ "promptOnly": true, "minDepth": 20 }),
    )
}

/// Sent text stays unchanged until the epoch ends.
#[tokio::test]
async fn depth_script_applies_at_the_next_epoch() {
    let house = House::open(&[of_depth_20()]).await;
    let mut before = house.say("gold 0", "gold").await;
    for turn in 1..15 {
        let sent = house.say(&format!("gold {turn}"), "gold").await;
        assert!(
            sent.starts_with(&before),
            "turn {turn} changed the prefix:\n{before}\n=====\n{sent}"
        );
        assert_eq!(house.report().await.new_epoch, None);
        before = sent;
    }
    assert!(!before.contains("[hidden]"));
    // An edit begins a new epoch, which uses the depths of that time.
    house.edit_last("gold, I said").await;
    for turn in [15, 16] {
        let sent = house.say(&format!("gold {turn}"), "gold").await;
        assert!(
            sent.contains("[hidden] 5") && sent.contains("gold 6"),
            "{sent}"
        );
        assert_eq!(house.report().await.new_epoch.is_some(), turn == 15);
        let again = WhatIf {
            regenerate: true,
            ..WhatIf::default()
        };
        let preview = house
            .app
            .engine
            .preview_prompt(house.chat, String::new(), again)
            .await;
        assert_eq!(
            preview.unwrap().text,
            house.report().await.text,
            "regenerating sends the same prompt"
        );
    }
}

/// Classic placement calculates depths on every turn, like SillyTavern. Its cost does not appear as
/// an edit.
#[tokio::test]
async fn under_classic_placement_depths_are_exact() {
    let house = House::open(&[of_depth_20()]).await;
    house.classic().await;
    for turn in 0..15_u32 {
        let sent = house.say(&format!("gold {turn}."), "gold").await;
        for told in 0..=turn {
            let deep = (turn - told) * 2 >= 20;
            assert_eq!(
                sent.contains(&format!("[hidden] {told}.")),
                deep,
                "gold {told} at turn {turn}:\n{sent}"
            );
        }
        assert_eq!(
            house.report().await.new_epoch.is_some(),
            turn == 0,
            "turn {turn}"
        );
    }
}

/// Each script processes the result of the previous one.
#[tokio::test]
async fn the_order_of_scripts_can_be_changed() {
    let house = House::open(&[
        script("a", "/a/g", "b", json!({})),
        script("b", "/b/g", "c", json!({})),
    ])
    .await;
    let engine = &house.app.engine;
    assert!(house.say("a lamp", "Hm.").await.contains("c lcmp"));
    let ids: Vec<String> = engine
        .list_regex_scripts()
        .await
        .unwrap()
        .into_iter()
        .map(|script| script.id)
        .collect();
    let turned = engine
        .order_regex_scripts(vec![ids[1].clone()])
        .await
        .unwrap();
    assert_eq!(
        turned
            .iter()
            .map(|script| script.name.as_str())
            .collect::<Vec<_>>(),
        ["b", "a"]
    );
    assert!(house.say("a lamp", "Hm.").await.ends_with("b lbmp"));
    let last = engine
        .save_regex_script(script("c", "/b/g", "d", json!({})))
        .await
        .unwrap();
    assert_eq!(
        engine
            .list_regex_scripts()
            .await
            .unwrap()
            .last()
            .unwrap()
            .id,
        last.id,
        "a new one comes last"
    );
}

#[tokio::test]
async fn script_can_be_tested_before_saving() {
    let house = House::open(&[]).await;
    let trial = async |find: &str, sample: &str, chat: Option<ChatId>| {
        let more = json!({ "placement": [5], "promptOnly": true, "minDepth": 9, "substituteRegex": 2, "disabled": true });
        let json = script("new", find, "<{{char}}>", more).json;
        house
            .app
            .engine
            .try_regex_script(json, sample.into(), chat)
            .await
            .unwrap()
    };
    let tried = |text: &str, hits| ScriptTrial {
        text: text.into(),
        hits,
        problem: None,
        overrun: false,
    };
    let chat = Some(house.chat);
    assert_eq!(
        trial("/fog/g", "fog on fog", chat).await,
        tried("<Ada> on <Ada>", 2)
    );
    assert_eq!(
        trial("/{{char}}/", "Ada and Ada", chat).await,
        tried("<Ada> and Ada", 1)
    );
    assert_eq!(trial("/fog/", "sun", None).await, tried("sun", 0));
    let broken = trial("/(/", "sun", None).await;
    assert!(
        broken.problem.is_some() && !broken.overrun && broken.text == "sun",
        "{broken:?}"
    );
    let endless = trial(r"/(?=(a+)+$)\1b/", &"a".repeat(1_000), None).await;
    assert!(endless.problem.is_some() && endless.overrun, "{endless:?}");
    assert!(
        house
            .app
            .engine
            .list_regex_scripts()
            .await
            .unwrap()
            .is_empty()
    );
    assert!(
        house
            .app
            .engine
            .try_regex_script("no script".into(), String::new(), None)
            .await
            .is_err()
    );
}

/// Experience points that a reply mentions are counted and removed.
async fn counting(more: Value) -> House {
    let find = "/\\[xp:(\\d+)\\]/g";
    House::open(&[script("XP", find, "{{addvar::xp::$1}}", more)]).await
}

impl House {
    async fn xp(&self) -> String {
        let stored = self.say("XP {{getvar::xp}}.", "Ok.").await;
        let last = stored.lines().last().unwrap_or_default().to_owned();
        let chat = self.app.engine.whole_chat(self.chat).await.unwrap();
        // The question and its reply leave no trace.
        let question = chat.page.messages[chat.page.messages.len() - 2].id;
        self.app.engine.delete_from(question).await.unwrap();
        last
    }

    async fn last(&self) -> engine::api::Message {
        self.app
            .engine
            .whole_chat(self.chat)
            .await
            .unwrap()
            .page
            .messages
            .pop()
            .unwrap()
    }

    async fn again(&self, reply: &str) {
        self.app.model.reply(reply);
        let mut events = self.app.engine.subscribe();
        self.app.engine.regenerate(self.chat).await.unwrap();
        ended(&mut events, self.chat).await;
    }
}

#[tokio::test]
async fn variables_count_once_per_version() {
    let house = counting(json!({})).await;
    house.say("{{setvar::xp::900}}Hi.", "Good. [xp:20]").await;
    assert_eq!(house.xp().await, "XP 920.");
    house.again("Better. [xp:50]").await;
    assert_eq!(
        house.xp().await,
        "XP 950.",
        "the first version no longer counts"
    );
    house.again("Best.").await;
    assert_eq!(house.xp().await, "XP 900.");
    let message = house.last().await.id;
    house.app.engine.select_swipe(message, 0).await.unwrap();
    assert_eq!(house.xp().await, "XP 920.");
    house.app.model.reply(" More. [xp:5]");
    let mut events = house.app.engine.subscribe();
    house.app.engine.continue_reply(house.chat).await.unwrap();
    ended(&mut events, house.chat).await;
    assert_eq!(house.xp().await, "XP 925.", "the continued part counts too");
    house.app.engine.delete_swipe(message, 0).await.unwrap();
    assert_eq!(house.xp().await, "XP 950.", "the next version is shown");
    house.app.engine.delete_message(message).await.unwrap();
    assert_eq!(house.xp().await, "XP 900.");
    house.app.engine.restore_message(message).await.unwrap();
    assert_eq!(house.xp().await, "XP 950.");
}

#[tokio::test]
async fn edits_count_only_what_is_new() {
    let find = "/\\[xp:(\\d+)\\]/g";
    let keeps = script(
        "Kept",
        find,
        "[xp:$1]{{addvar::xp::$1}}",
        json!({ "runOnEdit": true }),
    );
    let house = House::open(&[keeps]).await;
    house.say("{{setvar::xp::0}}Hi.", "Good. [xp:20]").await;
    assert_eq!(house.xp().await, "XP 20.");
    let message = house.last().await.id;
    house
        .app
        .engine
        .edit_message(message, "Very good. [xp:20]".into())
        .await
        .unwrap();
    assert_eq!(house.xp().await, "XP 20.", "the same mark counts once");
    house
        .app
        .engine
        .edit_message(message, "Very good. [xp:30]".into())
        .await
        .unwrap();
    assert_eq!(house.xp().await, "XP 30.");
    house.again("Bad.").await;
    assert_eq!(house.xp().await, "XP 0.", "the edit belongs to its version");
    house.app.engine.select_swipe(message, 0).await.unwrap();
    assert_eq!(house.xp().await, "XP 30.");
}

#[tokio::test]
async fn failed_regeneration_keeps_variables() {
    let house = counting(json!({})).await;
    house.say("{{setvar::xp::900}}Hi.", "Good. [xp:20]").await;
    let refused = ProviderError::new(
        ProviderErrorKind::Unreachable,
        "nothing listens there",
        "start it",
    );
    house.app.model.fail(refused);
    let mut events = house.app.engine.subscribe();
    house.app.engine.regenerate(house.chat).await.unwrap();
    ended(&mut events, house.chat).await;
    assert_eq!(house.xp().await, "XP 920.");
}
