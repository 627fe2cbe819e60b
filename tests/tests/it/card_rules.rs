//! Card rules that concern prompts and chats, through the engine.

use domain::CharacterId;
use engine::api::{CardFormat, Chat};
use serde_json::{Value, json};
use tests::headless::Headless;

/// A card with a unique word in every field.
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
    ada: CharacterId,
    chat: Chat,
}

impl House {
    async fn with(card: Value) -> Self {
        let app = Headless::new().await;
        let report = app
            .engine
            .import_bytes("ada.json".into(), card.to_string().into_bytes())
            .await
            .unwrap();
        let ada = report.imported[0].id.parse().unwrap();
        let chat = app.engine.new_chat(ada).await.unwrap();
        Self { app, ada, chat }
    }

    /// Sends a message and returns all that the provider received.
    async fn say(&self, text: &str) -> String {
        self.app.model.reply("Aye.");
        self.app.send(self.chat.id, text).await;
        let prompt = self.app.model.last_request().unwrap().prompt;
        prompt
            .messages
            .iter()
            .map(|message| message.text.as_str())
            .collect::<Vec<_>>()
            .join("\n---\n")
    }

    async fn greetings(&self) -> Vec<String> {
        let page = self.app.engine.open_chat(self.chat.id).await.unwrap().page;
        page.messages[0]
            .swipes
            .iter()
            .map(|swipe| swipe.text.clone())
            .collect()
    }

    async fn exported(&self, format: CardFormat) -> Value {
        let file = self
            .app
            .engine
            .export_character(self.ada, format)
            .await
            .unwrap();
        serde_json::from_slice(&file.bytes).unwrap()
    }
}

#[tokio::test]
async fn prompt_contains_card_fields_and_examples() {
    let house = House::with(card()).await;
    for words in ["Hello.", "And again."] {
        let sent = house.say(words).await;
        for told in [
            "DESCRIPTION of Ada.",
            "PERSONALITY of Ada.",
            "SCENARIO with Traveller.",
            "Traveller: Is there EXAMPLE oil?",
        ] {
            assert!(sent.contains(told), "{told:?} is missing in\n{sent}");
        }
        assert!(!sent.contains("<START>"), "{sent}");
    }
}

#[tokio::test]
async fn greeting_comes_first_and_others_are_swipes() {
    let house = House::with(card()).await;
    assert_eq!(
        house.greetings().await,
        ["Good evening, Traveller.", "ALTERNATE greeting."]
    );
    assert_eq!(house.chat.page.messages[0].selected, 0);
}

#[tokio::test]
async fn prompt_contains_no_creator_metadata() {
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
async fn library_shows_creator_notes() {
    let house = House::with(card()).await;
    let listed = house.app.engine.list_characters().await.unwrap();
    let ada = listed.iter().find(|one| one.id == house.ada).unwrap();
    assert!(ada.tagline.contains("CREATORNOTES"), "{ada:?}");
}

#[tokio::test]
async fn empty_card_prompts_keep_the_users_prompts() {
    let plain = House::with(card()).await.say("Hello.").await;
    let mut own = card();
    own["data"]["system_prompt"] = "RULES of the card.".into();
    own["data"]["post_history_instructions"] = "LAST of the card.".into();
    let replaced = House::with(own).await.say("Hello.").await;
    let rules = "You are Ada, talking with Traveller.";
    assert!(
        plain.contains(rules) && !plain.contains("of the card."),
        "{plain}"
    );
    assert!(
        replaced.contains("RULES of the card.") && replaced.contains("LAST of the card."),
        "{replaced}"
    );
}

/// Other combinations of the two are not the default.
#[tokio::test]
async fn card_prompt_replaces_the_users_prompt() {
    let mut own = card();
    own["data"]["system_prompt"] = "RULES of the card.".into();
    let sent = House::with(own).await.say("Hello.").await;
    assert!(
        !sent.contains("You are Ada, talking with Traveller."),
        "{sent}"
    );
}

#[tokio::test]
async fn card_lorebook_is_active_from_the_start() {
    let sent = House::with(card()).await.say("Mind the reef.").await;
    assert!(sent.contains("The REEF is sharp."), "{sent}");
}

#[tokio::test]
async fn card_and_user_lorebooks_are_both_active() {
    let house = House::with(card()).await;
    let world = json!({ "entries": { "0": { "uid": 0, "key": ["reef"], "content": "Ships AVOID it.", "position": 0 } } });
    let report = house
        .app
        .engine
        .import_bytes("sea.json".into(), world.to_string().into_bytes())
        .await
        .unwrap();
    let bindings = vec![engine::api::LorebookBinding::Global];
    house
        .app
        .engine
        .bind_lorebook(report.imported[0].id.parse().unwrap(), bindings)
        .await
        .unwrap();
    let sent = house.say("Mind the reef.").await;
    assert!(
        sent.contains("The REEF is sharp.") && sent.contains("Ships AVOID it."),
        "{sent}"
    );
}

#[tokio::test]
async fn group_greetings_are_kept_but_are_not_swipes() {
    let house = House::with(card()).await;
    assert!(
        house
            .greetings()
            .await
            .iter()
            .all(|greeting| !greeting.contains("GROUPONLY"))
    );
    assert_eq!(
        house.exported(CardFormat::JsonV3).await["data"]["group_only_greetings"],
        json!(["GROUPONLY greeting."])
    );
}

#[tokio::test]
async fn export_sets_modification_and_keeps_creation_date() {
    let exported = House::with(card()).await.exported(CardFormat::JsonV3).await;
    assert_eq!(exported["data"]["creation_date"], 1_700_000_000);
    assert_eq!(
        exported["data"]["modification_date"],
        tests::headless::NOW.0 / 1_000
    );
}

/// The V3 decorators `@@is_greeting` and `@@is_user_icon` follow the displayed greeting and the
/// user's persona in a real chat.
#[tokio::test]
async fn is_greeting_follows_the_displayed_greeting() {
    let mut lit = card();
    let entry = |content: &str| json!({ "keys": ["lamp"], "content": content, "extensions": {}, "enabled": true, "insertion_order": 1 });
    lit["data"]["character_book"]["entries"] = json!([
        entry("@@is_greeting 0\nFIRST evening."),
        entry("@@is_greeting 1\nOTHER evening.")
    ]);
    let house = House::with(lit.clone()).await;
    let sent = house.say("The lamp.").await;
    assert!(
        sent.contains("FIRST evening.") && !sent.contains("OTHER evening."),
        "{sent}"
    );

    let other = House::with(lit).await;
    let greeting = other.chat.page.messages[0].id;
    other.app.engine.select_swipe(greeting, 1).await.unwrap();
    let sent = other.say("The lamp.").await;
    assert!(
        sent.contains("OTHER evening.") && !sent.contains("FIRST evening."),
        "{sent}"
    );
}

#[tokio::test]
async fn is_user_icon_follows_the_persona() {
    let mut lit = card();
    let icon = |name: &str| json!({ "type": "user_icon", "name": name, "uri": "ccdefault:", "ext": "png" });
    lit["data"]["assets"] = json!([icon("Traveller"), icon("Captain")]);
    let entry = |content: &str| json!({ "keys": ["lamp"], "content": content, "extensions": {}, "enabled": true, "insertion_order": 1 });
    lit["data"]["character_book"]["entries"] = json!([
        entry("@@is_user_icon Traveller\nYOU travel."),
        entry("@@is_user_icon Captain\nYOU command.")
    ]);
    let sent = House::with(lit).await.say("The lamp.").await;
    assert!(
        sent.contains("YOU travel.") && !sent.contains("YOU command."),
        "{sent}"
    );
}
