//! Contents of requests: every configured text is in the sent bytes, and nothing else.

use domain::ChatId;
use engine::api::{
    ApiError, Change, Origin, PersonaDraft, Placement, PromptBlock, PromptReport, SettingOwner,
    SettingValue, WhatIf, Zone,
};
use serde_json::{Value, json};
use tests::headless::{Headless, selected_text};

/// A card with every field that affects a prompt.
fn card() -> Value {
    json!({
        "spec": "chara_card_v3", "spec_version": "3.0",
        "data": {
            "name": "Ada", "description": "{{char}} keeps the lighthouse for {{user}}.", "personality": "dry",
            "scenario": "", "first_mes": "Evening, {{user}}.", "mes_example": "", "creator_notes": "never sent",
            "system_prompt": "", "post_history_instructions": "", "alternate_greetings": [], "tags": [],
            "creator": "nobody", "character_version": "1", "group_only_greetings": [],
            "extensions": { "depth_prompt": { "prompt": "Ada hates small talk.", "depth": 2, "role": "system" } },
            "character_book": { "name": "Rocks", "extensions": {}, "entries": [
                { "keys": ["reef"], "content": "The reef took the Marianne in 1911.", "extensions": {}, "enabled": true,
                  "insertion_order": 10, "use_regex": false },
                { "keys": [], "content": "The lamp burns whale oil.", "extensions": {}, "enabled": true,
                  "insertion_order": 5, "use_regex": false, "constant": true },
                { "keys": ["reef"], "content": "A disabled canary.", "extensions": {}, "enabled": false,
                  "insertion_order": 5, "use_regex": false }
            ] }
        }
    })
}

struct Lighthouse {
    app: Headless,
    chat: ChatId,
}

impl Lighthouse {
    async fn open() -> Self {
        Self::with(card()).await
    }

    async fn with(card: Value) -> Self {
        let app = Headless::new().await;
        let report = app
            .engine
            .import_bytes("ada.json".into(), card.to_string().into_bytes())
            .await
            .unwrap();
        let chat = app
            .engine
            .new_chat(report.imported[0].id.parse().unwrap())
            .await
            .unwrap()
            .id;
        Self { app, chat }
    }

    async fn set(&self, key: &str, value: &str) {
        self.set_in(self.chat, key, value).await;
    }

    async fn set_in(&self, chat: ChatId, key: &str, value: &str) {
        let owner = SettingOwner::Chat { id: chat };
        self.app
            .engine
            .set_setting(owner, key.into(), Some(SettingValue::Text(value.into())))
            .await
            .unwrap();
    }

    /// Returns all that the provider received for the last turn.
    fn sent(&self) -> String {
        let prompt = self.app.model.last_request().expect("a request").prompt;
        prompt
            .messages
            .iter()
            .map(|message| message.text.as_str())
            .collect::<Vec<_>>()
            .join("\n---\n")
    }

    async fn say(&self, text: &str) -> String {
        self.say_in(self.chat, text).await
    }

    async fn say_in(&self, chat: ChatId, text: &str) -> String {
        self.app.model.reply("Hm.");
        self.app.send(chat, text).await;
        self.sent()
    }

    /// Opens another chat with the character of this name, which is imported if it is missing.
    async fn chat_with(&self, name: &str) -> ChatId {
        let known = self.app.engine.list_characters().await.unwrap();
        let known = known
            .into_iter()
            .find(|character| character.name == name)
            .map(|character| character.id);
        let character = match known {
            Some(id) => id,
            None => {
                let mut card = card();
                card["data"]["name"] = json!(name);
                let report = self
                    .app
                    .engine
                    .import_bytes(format!("{name}.json"), card.to_string().into_bytes())
                    .await;
                report.unwrap().imported[0].id.parse().unwrap()
            }
        };
        self.app.engine.new_chat(character).await.unwrap().id
    }

    /// Returns the blocks with `text` in the last reply's manifest.
    async fn blocks(&self, chat: ChatId, text: &str) -> Vec<PromptBlock> {
        let messages = self
            .app
            .engine
            .whole_chat(chat)
            .await
            .unwrap()
            .page
            .messages;
        let reply = messages.last().unwrap();
        let report = self
            .app
            .engine
            .manifest(reply.swipes[reply.selected as usize].id)
            .await
            .unwrap();
        report
            .blocks
            .into_iter()
            .filter(|block| block.text.contains(text))
            .collect()
    }
}

#[tokio::test]
async fn request_contains_persona_lore_mode_and_settings() {
    let house = Lighthouse::open().await;
    let persona = PersonaDraft {
        id: None,
        name: "Wren".into(),
        description: "A mapmaker with a canary.".into(),
        instructions: String::new(),
        place: Default::default(),
    };
    let persona = house.app.engine.save_persona(persona).await.unwrap();
    house
        .app
        .engine
        .set_chat_persona(house.chat, persona.id)
        .await
        .unwrap();
    house.set("mode", "study").await;
    house.set("extra_instructions", "Mind the tides.").await;
    house.set("author_note", "It is foggy.").await;
    let sent = house.say("Tell me of the Reef.").await;
    for canary in [
        "Ada keeps the lighthouse for Wren.",
        "A mapmaker with a canary.",
        "The reef took the Marianne in 1911.",
        "The lamp burns whale oil.",
        "Wren is studying now.",
        "Mind the tides.",
        "It is foggy.",
        "Ada hates small talk.",
        "Tell me of the Reef.",
    ] {
        assert!(sent.contains(canary), "{canary:?} was not sent:\n{sent}");
    }
    for secret in ["never sent", "nobody", "A disabled canary.", "{{", "${"] {
        assert!(!sent.contains(secret), "{secret:?} was sent:\n{sent}");
    }
}

/// A card's prompts replace the user's, may embed them, and leave no macro unresolved.
#[tokio::test]
async fn card_prompts_replace_or_embed_ours() {
    let mut card = card();
    card["data"]["system_prompt"] = json!("Speak in rhyme. {{original}} {{User}} is tired.");
    card["data"]["post_history_instructions"] = json!("{{original}} {{char}} is brief.");
    let sent = Lighthouse::with(card).await.say("Hello.").await;
    let rules = sent.find("Speak in rhyme.").unwrap();
    let embedded = sent.find("You are Ada, talking with Traveller.").unwrap();
    let last = sent.find("Traveller is tired.").unwrap();
    assert!(rules < embedded && embedded < last, "{sent}");
    assert!(
        sent.contains("\n\nAda is brief.") && !sent.contains("{{"),
        "{sent}"
    );
}

/// Visible text is not sent again, and the prefix stays.
#[tokio::test]
async fn triggered_lore_is_sent_once_while_visible() {
    let house = Lighthouse::open().await;
    let before = house.say("Tell me of the reef.").await;
    let after = house.say("And the reef again?").await;
    assert_eq!(
        after.matches("The reef took the Marianne").count(),
        1,
        "{after}"
    );
    assert!(
        after.starts_with(&before),
        "the prefix changed:\n{before}\n=====\n{after}"
    );
    let quiet = Lighthouse::open().await.say("Nice weather.").await;
    assert!(!quiet.contains("Marianne"));
}

/// The preview equals the sent prompt.
#[tokio::test]
async fn preview_equals_the_sent_prompt() {
    let house = Lighthouse::open().await;
    house.say("Hello.").await;
    let text = "Tell me of the reef.".to_owned();
    let preview = house
        .app
        .engine
        .preview_prompt(house.chat, text.clone(), WhatIf::default())
        .await
        .unwrap();
    house.say(&text).await;
    let sent = house.app.model.last_request().unwrap().prompt;
    let previewed: Vec<_> = preview
        .messages
        .iter()
        .map(|message| message.text.as_str())
        .collect();
    let wired: Vec<_> = sent
        .messages
        .iter()
        .map(|message| message.text.as_str())
        .collect();
    assert_eq!(previewed, wired);
}

/// The X-ray's "what if" sends and stores nothing.
#[tokio::test]
async fn what_if_excludes_a_block_and_changes_nothing() {
    let house = Lighthouse::open().await;
    house.say("Tell me of the reef.").await;
    let plain = house
        .app
        .engine
        .preview_prompt(house.chat, String::new(), WhatIf::default())
        .await
        .unwrap();
    let lamp = plain
        .blocks
        .iter()
        .find(|block| block.text.contains("whale oil"))
        .unwrap();
    assert_eq!(
        (lamp.kind.as_str(), lamp.reason.as_str(), lamp.kept),
        ("lore", "always on", true)
    );
    let what_if = WhatIf {
        without: vec![lamp.key.clone()],
        ..WhatIf::default()
    };
    let without = house
        .app
        .engine
        .preview_prompt(house.chat, String::new(), what_if)
        .await
        .unwrap();
    assert!(!without.text.contains("whale oil") && without.tokens.total < plain.tokens.total);
    let again = house
        .app
        .engine
        .preview_prompt(house.chat, String::new(), WhatIf::default())
        .await
        .unwrap();
    assert_eq!(again.text, plain.text);
    assert_eq!(house.app.model.requests().len(), 1);
}

/// Earlier messages and their blocks can be excluded too.
#[tokio::test]
async fn what_if_excludes_earlier_messages() {
    let house = Lighthouse::open().await;
    house.say("Tell me of the reef.").await;
    let preview = async |without: Vec<String>| {
        let what_if = WhatIf {
            without,
            ..WhatIf::default()
        };
        house
            .app
            .engine
            .preview_prompt(house.chat, "And now?".into(), what_if)
            .await
            .unwrap()
    };
    let plain = preview(Vec::new()).await;
    for text in ["The reef took the Marianne", "Tell me of the reef."] {
        let block = plain
            .blocks
            .iter()
            .find(|block| block.kept && block.text.contains(text))
            .unwrap();
        let without = preview(vec![block.key.clone()]).await;
        assert!(
            !without.text.contains(text) && without.text.contains("And now?"),
            "{}",
            without.text
        );
        assert!(without.tokens.total < plain.tokens.total);
    }
    assert_eq!(preview(Vec::new()).await.text, plain.text);
}

/// The preview with classic placement equals the prompt after changing the setting.
#[tokio::test]
async fn previews_another_placement() {
    let mut card = card();
    card["data"]["post_history_instructions"] = "Answer in rhyme.".into();
    let house = Lighthouse::with(card).await;
    house.say("Tell me of the reef.").await;
    let preview = async |placement| {
        let what_if = WhatIf {
            placement,
            ..WhatIf::default()
        };
        house
            .app
            .engine
            .preview_prompt(house.chat, "And now?".into(), what_if)
            .await
            .unwrap()
    };
    let first = |report: &PromptReport| report.messages[0].text.contains("Answer in rhyme.");
    let seen = preview(Some(Placement::Classic)).await;
    assert!(first(&preview(None).await) && !first(&seen));
    assert!(
        seen.messages
            .last()
            .unwrap()
            .text
            .contains("Answer in rhyme."),
        "{seen:?}"
    );
    house.set("placement", "classic").await;
    assert_eq!(preview(None).await.text, seen.text);
}

/// The next prompt is compared with the last one too.
#[tokio::test]
async fn compares_the_next_prompt_with_the_last() {
    let house = Lighthouse::open().await;
    let compare = |text: &str| house.app.engine.compare_next(house.chat, text.to_owned());
    let first = compare("Hello.").await.unwrap();
    assert_eq!(
        (first.previous, first.parts.len(), first.parts[0].change),
        (None, 1, Change::Added)
    );
    house.say("Hello.").await;
    let next = compare("Tell me of the reef.").await.unwrap();
    let added: Vec<_> = next
        .parts
        .iter()
        .filter(|part| part.change == Change::Added)
        .collect();
    assert!(
        next.previous.is_some() && next.parts[0].change == Change::Same,
        "{next:?}"
    );
    assert!(
        added
            .iter()
            .any(|part| part.text.contains("Tell me of the reef.")),
        "{added:?}"
    );
    assert!(
        added
            .iter()
            .any(|part| part.text.contains("The reef took the Marianne")),
        "{added:?}"
    );
    // An empty text also previews the next turn, which includes the reply.
    assert!(
        compare("")
            .await
            .unwrap()
            .parts
            .iter()
            .any(|part| part.change == Change::Added)
    );
}

/// An unsaved template is previewed in the whole prompt, with lore, notes and history.
#[tokio::test]
async fn previews_an_unsaved_template() {
    let house = Lighthouse::open().await;
    house.set("author_note", "It is foggy.").await;
    let engine = &house.app.engine;
    let base = engine
        .get_template("base-roleplay".into())
        .await
        .unwrap()
        .json;
    let preview = |json: String| {
        let what_if = WhatIf {
            template_json: Some(json),
            ..WhatIf::default()
        };
        engine.preview_prompt(house.chat, "Tell me of the reef.".into(), what_if)
    };
    let report = preview(base.replace("You are ${character.name}", "You play ${character.name}"))
        .await
        .unwrap();
    for text in [
        "You play Ada",
        "The reef took the Marianne",
        "The lamp burns whale oil.",
        "It is foggy.",
        "Evening, ",
    ] {
        assert!(
            report.text.contains(text),
            "{text:?} is missing:\n{}",
            report.text
        );
    }
    assert!(house.say("Hi.").await.contains("You are Ada"));
    assert!(matches!(
        preview("{}".into()).await,
        Err(ApiError::BadInput { .. })
    ));
}

/// A lore block links to its entry; the card's list and the prompt use the same key.
#[tokio::test]
async fn lore_block_links_to_its_entry() {
    let house = Lighthouse::open().await;
    house.say("Tell me of the reef.").await;
    let block = house.blocks(house.chat, "The reef took").await.remove(0);
    let character = house
        .app
        .engine
        .open_chat(house.chat)
        .await
        .unwrap()
        .character;
    let lore = house.app.engine.card_lore(character).await.unwrap();
    let found = lore
        .iter()
        .find(|entry| matches!(&block.origin, Origin::Lore { entry: id, .. } if *id == entry.id));
    assert_eq!(
        found.map(|entry| entry.content.as_str()),
        Some("The reef took the Marianne in 1911.")
    );
    let flags: Vec<_> = lore
        .iter()
        .map(|entry| (entry.constant, entry.enabled))
        .collect();
    assert_eq!(flags, [(false, true), (true, true), (false, false)]);
}

/// A pinned message is always sent verbatim.
#[tokio::test]
async fn pinned_message_is_sent_after_leaving_the_window() {
    let house = Lighthouse::open().await;
    house.set("context_limit", "auto").await;
    let owner = SettingOwner::Chat { id: house.chat };
    house
        .app
        .engine
        .set_setting(
            owner,
            "context_limit".into(),
            Some(SettingValue::Whole(1_500)),
        )
        .await
        .unwrap();
    house.say("The password is CANARY-7731.").await;
    let chat = house.app.engine.whole_chat(house.chat).await.unwrap();
    let told = chat
        .page
        .messages
        .iter()
        .find(|message| selected_text(message).contains("CANARY"))
        .unwrap();
    assert!(
        house
            .app
            .engine
            .pin_message(told.id, true)
            .await
            .unwrap()
            .pinned
    );
    let long = "We talked about the weather, the sea, the gulls and the price of oil. ".repeat(6);
    let mut left = false;
    for _ in 0..20 {
        let sent = house.say(&long).await;
        assert!(
            sent.contains("CANARY-7731"),
            "the pinned message is gone:\n{sent}"
        );
        let anchor = house.app.engine.open_chat(house.chat).await.unwrap().anchor;
        left |= anchor.is_some_and(|anchor| anchor > told.id);
    }
    assert!(
        left,
        "the message never left the window, so the test proves nothing"
    );
}

/// A fact from one chat is sent in another chat with the same character if the message calls for
/// it. It is marked as a memory, sent to no other character, and removed once it is forgotten.
#[tokio::test]
async fn remembered_fact_is_sent_until_forgotten() {
    const CANARY: &str = "ZEPHYRINE";
    const QUESTION: &str = "What is the name of my boat?";
    let house = Lighthouse::open().await;
    let later = house.chat_with("Ada").await;
    house.say_in(later, "Good evening.").await;
    house
        .say("Remember that I own a boat named ZEPHYRINE.")
        .await;
    assert!(
        !house.say_in(later, "Nice weather.").await.contains(CANARY),
        "the message does not call for it"
    );

    let sent = house.say_in(later, QUESTION).await;
    assert_eq!(sent.matches(CANARY).count(), 1, "{sent}");
    let engine = &house.app.engine;
    let character = engine.open_chat(later).await.unwrap().character;
    let memory = engine
        .list_memories(character, String::new())
        .await
        .unwrap()
        .remove(0);
    let blocks = house.blocks(later, CANARY).await;
    let [block] = blocks.as_slice() else {
        panic!("not one block: {blocks:?}")
    };
    assert_eq!(
        (&block.origin, block.zone, block.kept),
        (
            &Origin::Memory {
                id: memory.id.to_string()
            },
            Zone::Input,
            true
        )
    );
    assert!(
        block.kind == "fact" && block.reason.contains("words of this turn"),
        "{block:?}"
    );
    let new = house.chat_with("Ada").await;
    assert!(house.say_in(new, QUESTION).await.contains(CANARY));

    let stranger = house.chat_with("Bo").await;
    let sent = house.say_in(stranger, QUESTION).await;
    assert!(
        sent.contains("You are Bo") && !sent.contains(CANARY),
        "{sent}"
    );

    engine.delete_memory(memory.id).await.unwrap();
    for chat in [later, new, house.chat_with("Ada").await] {
        let sent = house.say_in(chat, "My boat's name, once more?").await;
        assert!(
            sent.contains("once more?") && !sent.contains(CANARY),
            "{sent}"
        );
    }
}

/// A new scene forgets nothing and sends nothing of the old one.
#[tokio::test]
async fn a_new_scene_starts_with_an_empty_window() {
    let house = Lighthouse::open().await;
    house.say("The old canary.").await;
    house.app.engine.new_scene(house.chat).await.unwrap();
    let sent = house.say("A new day.").await;
    assert!(
        !sent.contains("The old canary.") && sent.contains("A new day."),
        "{sent}"
    );
    assert!(
        house
            .app
            .transcript(house.chat)
            .await
            .iter()
            .any(|line| line.contains("The old canary."))
    );
}

/// Macros are resolved once on sending, so that the cached history does not change.
#[tokio::test]
async fn user_macros_are_resolved_once_and_stored() {
    let house = Lighthouse::open().await;
    let sent = house
        .say("I roll {{roll:d6}} and wave at {{char}}. {{nobody knows this}}")
        .await;
    assert!(
        sent.contains("wave at Ada.")
            && !sent.contains("{{roll")
            && sent.contains("{{nobody knows this}}"),
        "{sent}"
    );
    let after = house.say("Again.").await;
    assert!(
        after.starts_with(&sent),
        "the stored text changed:\n{after}"
    );
}

/// SillyTavern presets are imported as templates, with notes on unsupported parts, and can be
/// selected at once.
#[tokio::test]
async fn imported_preset_composes_the_prompt() {
    let house = Lighthouse::open().await;
    let preset = json!({
        "temperature": 0.9,
        "prompts": [
            { "identifier": "main", "name": "Main", "role": "system", "content": "Write {{char}}'s next line. CANARY-MAIN",
              "system_prompt": true },
            { "identifier": "charDescription", "name": "Description", "marker": true, "system_prompt": true },
            { "identifier": "chatHistory", "name": "History", "marker": true, "system_prompt": true }
        ],
        "prompt_order": [{ "character_id": 100_001, "order": [
            { "identifier": "main", "enabled": true },
            { "identifier": "charDescription", "enabled": true },
            { "identifier": "chatHistory", "enabled": true }
        ]}]
    });
    let engine = &house.app.engine;
    let report = engine
        .import_bytes("Lantern.json".into(), preset.to_string().into_bytes())
        .await
        .unwrap();
    let template = report
        .imported
        .iter()
        .find(|one| one.kind == "template")
        .expect("an imported template");
    assert!(
        report.refused.is_empty() && !template.warnings.is_empty(),
        "{report:?}"
    );
    house.set("template", &template.id).await;
    let sent = house.say("Hello.").await;
    assert!(
        sent.contains("Write Ada's next line. CANARY-MAIN"),
        "{sent}"
    );
    assert!(
        sent.contains("Ada keeps the lighthouse for Traveller."),
        "{sent}"
    );
    house.set("extra_instructions", "Mind the tides.").await;
    house.set("session_goal", "light the lamp").await;
    house.set("mode", "study").await;
    house
        .say("Remember that I own a boat named ZEPHYRINE.")
        .await;
    let later = house.chat_with("Ada").await;
    house.set_in(later, "template", &template.id).await;
    assert!(
        house
            .say_in(later, "What is the name of my boat?")
            .await
            .contains("ZEPHYRINE"),
        "memory works"
    );
    let sent = house.say("Go on.").await;
    for set in [
        "Mind the tides.",
        "towards this: light the lamp",
        "Traveller is studying now.",
    ] {
        assert!(sent.contains(set), "{set:?} was not sent:\n{sent}");
    }
}

/// A preset's format and lore placement apply, and each entry stays a block with its source.
#[tokio::test]
async fn preset_defines_lore_format_and_placement() {
    let house = Lighthouse::open().await;
    let marker =
        |identifier: &str| json!({ "identifier": identifier, "name": identifier, "marker": true });
    let main = json!({ "identifier": "main", "name": "Main", "role": "system", "content": "Play {{char}}." });
    let names = [
        "main",
        "worldInfoAfter",
        "charDescription",
        "charPersonality",
        "chatHistory",
    ];
    let preset = json!({
        "temperature": 0.9, "wi_format": "[Of {{char}}'s world: {0}]",
        "prompts": names.map(|name| if name == "main" { main.clone() } else { marker(name) }),
        "prompt_order": [{ "character_id": 100_001,
            "order": names.map(|name| json!({ "identifier": name, "enabled": true })) }]
    });
    let report = house
        .app
        .engine
        .import_bytes("Lantern.json".into(), preset.to_string().into_bytes())
        .await
        .unwrap();
    house.set("template", &report.imported[0].id).await;
    let sent = house.say("Hello.").await;
    assert!(
        sent.starts_with("Play Ada.\n\n[Of Ada's world: The lamp burns whale oil.]\n\nAda keeps"),
        "{sent}"
    );
    let blocks = house.blocks(house.chat, "whale oil").await;
    assert!(
        matches!(
            blocks[..],
            [PromptBlock {
                origin: Origin::Lore { .. },
                zone: Zone::Head,
                ..
            }]
        ),
        "{blocks:?}"
    );

    let json = house
        .app
        .engine
        .get_template(report.imported[0].id.clone())
        .await
        .unwrap()
        .json;
    let rendered = house
        .app
        .engine
        .render_template(json, house.chat)
        .await
        .unwrap();
    assert!(
        rendered
            .text
            .contains("[Of Ada's world: The lamp burns whale oil.]"),
        "{}",
        rendered.text
    );
    house.set("placement", "classic").await;
    let sent = house.say("Tell me of the reef.").await;
    let both = [
        "[Of Ada's world: The lamp burns whale oil.",
        "The reef took the Marianne in 1911.]",
    ];
    assert!(both.iter().all(|part| sent.contains(part)), "{sent}");
}

/// An older template includes memories next to its rules. They are sent as blocks with sources, and
/// the head stays unchanged, so prompts stay append-only.
#[tokio::test]
async fn older_template_sends_memories_as_blocks() {
    let house = Lighthouse::open().await;
    let old = json!({"schema": "olio.llm.promptTemplate", "name": "Old", "sections": {
        "identity": {"order": 10, "content": ["You are ${system.firstName}."]},
        "memory": {"order": 20, "content": ["Known: ${memory.context}"]}}});
    let report = house
        .app
        .engine
        .import_bytes("old.json".into(), old.to_string().into_bytes())
        .await
        .unwrap();
    let warnings = &report.imported[0].warnings;
    assert!(
        warnings
            .iter()
            .any(|warning| warning.contains("choosing a mode has no effect")),
        "{warnings:?}"
    );
    let later = house.chat_with("Ada").await;
    house
        .set_in(later, "template", &report.imported[0].id)
        .await;
    let before = house.say_in(later, "Nice weather.").await;
    house
        .say("Remember that I own a boat named ZEPHYRINE.")
        .await;
    let sent = house.say_in(later, "What is the name of my boat?").await;
    assert!(
        before.starts_with("You are Ada.") && sent.starts_with(&before),
        "the head changed:\n{sent}"
    );
    let blocks = house.blocks(later, "ZEPHYRINE").await;
    let [block] = blocks.as_slice() else {
        panic!("not one block: {blocks:?}\n{sent}")
    };
    assert!(
        matches!(block.origin, Origin::Memory { .. }) && block.zone == Zone::Input,
        "{block:?}"
    );
}

/// The built-in group template also works for a single character.
#[tokio::test]
async fn group_template_works_for_one_character() {
    let house = Lighthouse::open().await;
    house.set("template", "group-scene").await;
    let sent = house.say("Good evening.").await;
    assert!(
        sent.starts_with("This is a scene with Ada and Traveller.\n\n1. Write only for Ada,"),
        "{sent}"
    );
}

/// A template can be rendered for a chat before it is saved, and errors name the section.
#[tokio::test]
async fn template_is_checked_and_rendered_unsaved() {
    let house = Lighthouse::open().await;
    let engine = &house.app.engine;
    let before = engine.list_templates().await.unwrap();
    assert!(
        before.len() >= 7
            && before
                .iter()
                .all(|template| template.built_in && !template.changed)
    );
    let base = engine.get_template("base-roleplay".into()).await.unwrap();
    let rendered = engine
        .render_template(base.json.clone(), house.chat)
        .await
        .unwrap();
    assert!(
        rendered.text.contains("Ada keeps the lighthouse") && rendered.tokens > 20,
        "{rendered:?}"
    );
    assert_eq!(rendered.problems, []);
    let vain = base.json.replace(
        "You are ${character.name}",
        "{{nosuchthing}} You are ${character.name}",
    );
    let rendered = engine.render_template(vain, house.chat).await.unwrap();
    let sections: Vec<_> = rendered
        .problems
        .iter()
        .map(|one| one.section.as_deref())
        .collect();
    assert_eq!(
        sections,
        [Some("identity")],
        "the preview warns about text without effect"
    );
    let broken = base
        .json
        .replace("${character.description}", "${character.nonsense}");
    let problems = engine.check_template(broken.clone()).await.unwrap();
    assert_eq!(
        problems[0].section.as_deref(),
        Some("description"),
        "{problems:?}"
    );
    assert!(engine.save_template(String::new(), broken).await.is_err());
    assert_eq!(engine.list_templates().await.unwrap(), before);

    let changed = base
        .json
        .replace("You are ${character.name}", "You play ${character.name}");
    assert!(
        engine
            .save_template("base-roleplay".into(), changed)
            .await
            .unwrap()
            .summary
            .changed
    );
    assert!(house.say("Hi.").await.contains("You play Ada"));
    engine
        .delete_template("base-roleplay".into())
        .await
        .unwrap();
    assert!(house.say("Hi.").await.contains("You are Ada"));
}

/// With an empty composer, the X-ray shows the next turn, not the last one.
#[tokio::test]
async fn empty_composer_previews_the_next_turn() {
    let house = Lighthouse::open().await;
    house.say("Tell me of the reef.").await;
    let preview = async |text: &str| {
        house
            .app
            .engine
            .preview_prompt(house.chat, text.into(), WhatIf::default())
            .await
            .unwrap()
    };
    let again = WhatIf {
        regenerate: true,
        ..WhatIf::default()
    };
    let again = house
        .app
        .engine
        .preview_prompt(house.chat, String::new(), again)
        .await
        .unwrap();
    let reply = house.app.transcript(house.chat).await.pop().unwrap();
    let (_, reply) = reply.split_once(": ").unwrap();
    for text in ["", "And then?"] {
        assert!(preview(text).await.text.contains(reply), "{text}");
    }
    assert!(!again.text.contains(reply), "{}", again.text);
}

/// The share of reused tokens is the same in the X-ray and below the reply.
#[tokio::test]
async fn xray_and_reply_show_the_same_share() {
    let house = Lighthouse::open().await;
    house.say("Tell me of the reef.").await;
    let chat = house.app.engine.whole_chat(house.chat).await.unwrap();
    let swipe = chat.page.messages.last().unwrap().swipes[0].clone();
    let figures = swipe.figures.unwrap();
    let measured = house
        .app
        .engine
        .manifest(swipe.id)
        .await
        .unwrap()
        .tokens
        .measured;
    assert_eq!(
        measured.map(|of| (Some(of.tokens), Some(of.reused))),
        Some((figures.prompt, figures.reused))
    );
}
