//! Rules of the checklist (formats 2.2 to 2.4) that are about prompts and chats, each by its id, through the engine; and that
//! every rule of the checklist has a test that is named after it.

#![allow(clippy::unwrap_used, reason = "a failed helper fails the test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use engine::api::{CardFormat, Chat};
use serde_json::{Value, json};
use tests::headless::Headless;

/// A card with a word in every field that is found nowhere else.
fn card() -> Value {
    json!({ "spec": "chara_card_v3", "spec_version": "3.0", "data": {
        "name": "Ada", "nickname": "", "description": "DESCRIPTION of {{char}}.", "personality": "PERSONALITY of <BOT>.",
        "scenario": "SCENARIO with <USER>.", "first_mes": "Good evening, {{user}}.",
        "mes_example": "<START>\n{{user}}: Is there EXAMPLE oil?\nAda: Whale.", "creator_notes": "CREATORNOTES\nare long.",
        "system_prompt": "", "post_history_instructions": "", "alternate_greetings": ["ALTERNATE greeting."],
        "tags": ["TAG"], "creator": "CREATOR", "character_version": "VERSION", "group_only_greetings": ["GROUPONLY greeting."],
        "source": ["SOURCE"], "creator_notes_multilingual": { "de": "NOTIZEN" }, "creation_date": 1_700_000_000,
        "extensions": { "theirs": { "SECRET": 1 } },
        "character_book": { "name": "BOOKNAME", "extensions": {}, "entries": [
            { "keys": ["reef"], "content": "The REEF is sharp.", "extensions": {}, "enabled": true, "insertion_order": 1,
              "name": "ENTRYNAME", "comment": "COMMENT" },
        ] },
    } })
}

struct House {
    app: Headless,
    ada: String,
    chat: Chat,
}

impl House {
    async fn with(card: Value) -> Self {
        let app = Headless::new().await;
        let report = app.engine.import_bytes("ada.json".into(), card.to_string().into_bytes()).await.unwrap();
        let ada = report.imported[0].id.clone();
        let chat = app.engine.new_chat(ada.clone()).await.unwrap();
        Self { app, ada, chat }
    }

    /// All that the provider gets for the next message.
    async fn say(&self, text: &str) -> String {
        self.app.model.reply("Aye.");
        self.app.say(&self.chat.id, text).await;
        let prompt = self.app.model.last_request().unwrap().prompt;
        prompt.messages.iter().map(|message| message.text.as_str()).collect::<Vec<_>>().join("\n---\n")
    }

    async fn greetings(&self) -> Vec<String> {
        let page = self.app.engine.open_chat(self.chat.id.clone()).await.unwrap().page;
        page.messages[0].swipes.iter().map(|swipe| swipe.text.clone()).collect()
    }

    async fn exported(&self, format: CardFormat) -> Value {
        let file = self.app.engine.export_character(self.ada.clone(), format).await.unwrap();
        serde_json::from_slice(&file.bytes).unwrap()
    }
}

#[tokio::test]
async fn v1_04_v1_06_description_personality_scenario_and_examples_are_in_every_prompt() {
    let house = House::with(card()).await;
    for words in ["Hello.", "And again."] {
        let sent = house.say(words).await;
        for told in [
            "DESCRIPTION of Ada.",
            "PERSONALITY of Ada.",
            "SCENARIO with Traveller.",
            "Traveller: Is there EXAMPLE oil?",
        ] {
            assert!(sent.contains(told), "{told:?} is not in\n{sent}");
        }
        assert!(!sent.contains("<START>"), "{sent}");
    }
}

#[tokio::test]
async fn v1_05_v2_11_the_character_speaks_first_and_the_others_are_swipes() {
    let house = House::with(card()).await;
    assert_eq!(house.greetings().await, ["Good evening, Traveller.", "ALTERNATE greeting."]);
    assert_eq!(house.chat.page.messages[0].selected, 0);
}

#[tokio::test]
async fn v2_02_v2_15_v2_16_v2_17_what_is_for_people_is_in_no_prompt() {
    let house = House::with(card()).await;
    let sent = house.say("What of the reef?").await;
    assert!(sent.contains("The REEF is sharp."), "{sent}");
    let secrets = [
        "CREATORNOTES",
        "TAG",
        "CREATOR",
        "VERSION",
        "SOURCE",
        "NOTIZEN",
        "SECRET",
        "BOOKNAME",
        "ENTRYNAME",
        "COMMENT",
    ];
    for secret in secrets {
        assert!(!sent.contains(secret), "{secret} was sent:\n{sent}");
    }
}

#[tokio::test]
async fn v2_03_the_notes_are_shown_in_the_library() {
    let house = House::with(card()).await;
    let listed = house.app.engine.list_characters().await.unwrap();
    let ada = listed.iter().find(|one| one.id == house.ada).unwrap();
    assert!(ada.tagline.contains("CREATORNOTES"), "{ada:?}");
}

#[tokio::test]
async fn v2_05_v2_09_empty_prompts_leave_the_users() {
    let plain = House::with(card()).await.say("Hello.").await;
    let mut own = card();
    own["data"]["system_prompt"] = "RULES of the card.".into();
    own["data"]["post_history_instructions"] = "LAST of the card.".into();
    let replaced = House::with(own).await.say("Hello.").await;
    let rules = "You are Ada, talking with Traveller.";
    assert!(plain.contains(rules) && !plain.contains("of the card."), "{plain}");
    assert!(replaced.contains("RULES of the card.") && replaced.contains("LAST of the card."), "{replaced}");
}

/// V2-07: other ways to combine the two are nobody's default.
#[tokio::test]
async fn v2_07_a_cards_prompt_stands_alone() {
    let mut own = card();
    own["data"]["system_prompt"] = "RULES of the card.".into();
    let sent = House::with(own).await.say("Hello.").await;
    assert!(!sent.contains("You are Ada, talking with Traveller."), "{sent}");
}

#[tokio::test]
async fn v2_12_v3_20_a_cards_own_book_counts_from_the_start() {
    let sent = House::with(card()).await.say("Mind the reef.").await;
    assert!(sent.contains("The REEF is sharp."), "{sent}");
}

#[tokio::test]
async fn v2_14_a_cards_book_and_the_users_count_together() {
    let house = House::with(card()).await;
    let world =
        json!({ "entries": { "0": { "uid": 0, "key": ["reef"], "content": "Ships AVOID it.", "position": 0 } } });
    let report = house.app.engine.import_bytes("sea.json".into(), world.to_string().into_bytes()).await.unwrap();
    let bindings = vec![engine::api::LorebookBinding::Global];
    house.app.engine.bind_lorebook(report.imported[0].id.clone(), bindings).await.unwrap();
    let sent = house.say("Mind the reef.").await;
    assert!(sent.contains("The REEF is sharp.") && sent.contains("Ships AVOID it."), "{sent}");
}

#[tokio::test]
async fn v3_17_greetings_for_groups_are_kept_and_no_swipes_of_a_chat_of_two() {
    let house = House::with(card()).await;
    assert!(house.greetings().await.iter().all(|greeting| !greeting.contains("GROUPONLY")));
    assert_eq!(
        house.exported(CardFormat::JsonV3).await["data"]["group_only_greetings"],
        json!(["GROUPONLY greeting."])
    );
}

#[tokio::test]
async fn v3_19_an_export_says_when_it_was_made_and_leaves_the_beginning() {
    let exported = House::with(card()).await.exported(CardFormat::JsonV3).await;
    assert_eq!(exported["data"]["creation_date"], 1_700_000_000);
    assert_eq!(exported["data"]["modification_date"], tests::headless::NOW.0 / 1_000);
}

/// `@@is_greeting` and `@@is_user_icon` of V3, in chats that are real: the greeting that is shown counts, and who the user is.
#[tokio::test]
async fn dc_is_greeting_follows_the_greeting_that_is_shown() {
    let mut lit = card();
    let entry = |content: &str| json!({ "keys": ["lamp"], "content": content, "extensions": {}, "enabled": true, "insertion_order": 1 });
    lit["data"]["character_book"]["entries"] =
        json!([entry("@@is_greeting 0\nFIRST evening."), entry("@@is_greeting 1\nOTHER evening.")]);
    let house = House::with(lit.clone()).await;
    let sent = house.say("The lamp.").await;
    assert!(sent.contains("FIRST evening.") && !sent.contains("OTHER evening."), "{sent}");

    let other = House::with(lit).await;
    let greeting = other.chat.page.messages[0].id.clone();
    other.app.engine.select_swipe(greeting, 1).await.unwrap();
    let sent = other.say("The lamp.").await;
    assert!(sent.contains("OTHER evening.") && !sent.contains("FIRST evening."), "{sent}");
}

#[tokio::test]
async fn dc_is_user_icon_asks_whom_the_user_plays() {
    let mut lit = card();
    let icon = |name: &str| json!({ "type": "user_icon", "name": name, "uri": "ccdefault:", "ext": "png" });
    lit["data"]["assets"] = json!([icon("Traveller"), icon("Captain")]);
    let entry = |content: &str| json!({ "keys": ["lamp"], "content": content, "extensions": {}, "enabled": true, "insertion_order": 1 });
    lit["data"]["character_book"]["entries"] =
        json!([entry("@@is_user_icon Traveller\nYOU travel."), entry("@@is_user_icon Captain\nYOU command.")]);
    let sent = House::with(lit).await.say("The lamp.").await;
    assert!(sent.contains("YOU travel.") && !sent.contains("YOU command."), "{sent}");
}

/// The checklist's rules by kind, and how many there are of each.
const RULES: [(&str, usize); 9] =
    [("ct", 13), ("v1", 7), ("v2", 20), ("b2", 7), ("v3", 20), ("lb", 14), ("dc", 5), ("mc", 9), ("rt", 7)];

/// Ids in the names of functions below a folder.
fn named(folder: &Path, found: &mut BTreeSet<(String, usize)>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() && !entry.ends_with("target") && !entry.ends_with("node_modules") {
            named(&entry, found);
        } else if entry.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(entry).unwrap();
            for name in text.lines().filter_map(|line| line.trim().split_once("fn ")?.1.split('(').next()) {
                let words: Vec<&str> = name.split('_').collect();
                let pairs = words.windows(2).filter_map(|pair| Some((pair[0].to_owned(), pair[1].parse().ok()?)));
                found.extend(pairs.filter(|(kind, _)| RULES.iter().any(|(rule, _)| rule == kind)));
            }
        }
    }
}

#[test]
fn every_rule_of_the_checklist_has_a_test_named_after_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = BTreeSet::new();
    named(&root.join("src-tauri/crates"), &mut found);
    named(&root.join("tests/tests"), &mut found);
    let all = RULES.iter().flat_map(|(kind, count)| (1..=*count).map(|number| ((*kind).to_owned(), number)));
    let missing: Vec<_> = all.filter(|rule| !found.contains(rule)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
