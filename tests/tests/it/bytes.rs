//! Exact request bytes that an endpoint receives.

use domain::{CharacterId, ChatId};
use engine::Engine;
use engine::api::{EndReason, LayeredSetting, ModelRef, PersonaDraft, SettingOwner, SettingValue};
use serde_json::{Value, json};
use tempfile::TempDir;
use tests::headless::{Headless, ended};
use tests::recorder::{Recorder, holds};

/// A card with macros in every text.
fn card() -> Value {
    json!({
        "spec": "chara_card_v3", "spec_version": "3.0",
        "data": {
            "name": "Ada", "description": "{{char}} keeps the lighthouse for {{user}}.",
            "personality": "{{char}} is dry.", "scenario": "{{user}} comes ashore.",
            "first_mes": "Evening, {{user}}.", "mes_example": "<START>\n{{user}}: Oil?\n{{char}}: Whale.",
            "creator_notes": "", "system_prompt": "", "post_history_instructions": "", "alternate_greetings": [],
            "tags": [], "creator": "", "character_version": "", "group_only_greetings": [], "extensions": {},
            "character_book": { "extensions": {}, "entries": [
                { "keys": ["reef"], "content": "The reef took {{user}}'s boat in 1911.", "extensions": {}, "enabled": true,
                  "insertion_order": 10, "use_regex": false }
            ] }
        }
    })
}

/// An engine whose only model is the recording endpoint.
struct Wired {
    engine: Engine,
    endpoint: Recorder,
    model: ModelRef,
    character: CharacterId,
    _dir: TempDir,
}

impl Wired {
    async fn with(card: Value) -> Self {
        let Headless { engine, dir, .. } = Headless::without_provider().await;
        let endpoint = Recorder::start().await;
        let model = endpoint.join(&engine, "tiny").await;
        let report = engine
            .import_bytes("ada.json".into(), card.to_string().into_bytes())
            .await
            .unwrap();
        Self {
            engine,
            endpoint,
            model,
            character: report.imported[0].id.parse().unwrap(),
            _dir: dir,
        }
    }

    async fn chat(&self) -> ChatId {
        let chat = self.engine.new_chat(self.character).await.unwrap().id;
        self.engine
            .set_chat_model(chat, Some(self.model.clone()))
            .await
            .unwrap();
        chat
    }

    async fn set(&self, chat: ChatId, key: &str, value: &str) {
        let owner = SettingOwner::Chat { id: chat };
        self.engine
            .set_setting(owner, key.into(), Some(SettingValue::Text(value.into())))
            .await
            .unwrap();
    }

    /// Sends `text` and returns the body of its request.
    async fn say(&self, chat: ChatId, text: &str) -> Vec<u8> {
        let mut events = self.engine.subscribe();
        self.engine
            .send_message(chat, text.to_owned())
            .await
            .unwrap();
        let (reply, reason) = ended(&mut events, chat).await;
        assert!(
            reply.is_some() && matches!(reason, EndReason::Stop),
            "{reason:?}"
        );
        self.endpoint.body_with(text).expect("the message was sent")
    }
}

#[track_caller]
fn assert_holds(body: &[u8], canaries: &[&str]) {
    for canary in canaries {
        assert!(
            holds(body, canary),
            "{canary:?} was not sent:\n{}",
            String::from_utf8_lossy(body)
        );
    }
    assert!(
        !holds(body, "{{"),
        "a macro was sent:\n{}",
        String::from_utf8_lossy(body)
    );
}

#[tokio::test]
async fn request_contains_memory_lore_persona_and_mode() {
    let wired = Wired::with(card()).await;
    let told = wired.chat().await;
    let persona = PersonaDraft {
        id: None,
        name: "Wren".into(),
        description: "{{user}} draws maps.".into(),
        instructions: String::new(),
        place: Default::default(),
    };
    let persona = wired.engine.save_persona(persona).await.unwrap().id;
    wired.engine.set_chat_persona(told, persona).await.unwrap();
    wired
        .say(told, "Remember that I own a boat named ZEPHYRINE.")
        .await;
    let chat = wired.chat().await;
    wired.engine.set_chat_persona(chat, persona).await.unwrap();
    wired.set(chat, "mode", "study").await;
    let body = wired
        .say(chat, "What is the name of my boat, and where is the reef?")
        .await;
    assert_holds(
        &body,
        &[
            "ZEPHYRINE",
            "The reef took Wren's boat in 1911.",
            "Wren draws maps.",
            "Wren is studying now.",
            "Ada keeps the lighthouse for Wren.",
        ],
    );
}

/// Memory, history and settings belong to the chat, whichever model replies.
#[tokio::test]
async fn chat_continues_with_another_endpoint() {
    let wired = Wired::with(card()).await;
    let chat = wired.chat().await;
    wired
        .set(chat, "extra_instructions", "Mind the tides.")
        .await;
    wired
        .say(chat, "Remember that I own a boat named ZEPHYRINE.")
        .await;
    let before = wired.say(chat, "Is it foggy?").await;
    let settings = wired
        .engine
        .layered_settings(SettingOwner::Chat { id: chat })
        .await
        .unwrap()
        .settings;
    let other = Recorder::start().await;
    let model = other.join(&wired.engine, "vast").await;
    wired
        .engine
        .set_chat_model(chat, Some(model))
        .await
        .unwrap();
    let mut events = wired.engine.subscribe();
    wired
        .engine
        .send_message(chat, "And now?".into())
        .await
        .unwrap();
    ended(&mut events, chat).await;
    let after = other
        .body_with("And now?")
        .expect("the message was sent to the other endpoint");
    assert!(
        wired.endpoint.body_with("And now?").is_none(),
        "only the new endpoint gets the request"
    );

    let [before, after] =
        [before, after].map(|body| serde_json::from_slice::<Value>(&body).unwrap());
    let [said, now] = [&before, &after].map(|body| body["messages"].as_array().unwrap());
    assert_eq!(
        now[..said.len()],
        said[..],
        "the same head, and the same history"
    );
    assert_eq!(
        (&before["model"], &after["model"]),
        (&json!("tiny"), &json!("vast"))
    );
    let kept = wired
        .engine
        .layered_settings(SettingOwner::Chat { id: chat })
        .await
        .unwrap()
        .settings;
    // The list of choices has grown.
    let set = |settings: Vec<LayeredSetting>| -> Vec<_> {
        settings
            .into_iter()
            .map(|setting| (setting.key, setting.value, setting.origin, setting.layers))
            .collect()
    };
    assert_eq!(set(kept), set(settings));
}

/// Includes macros that insert whole card texts, which contain macros themselves.
#[tokio::test]
async fn imported_preset_sends_no_unresolved_macro() {
    let mut card = card();
    card["data"]["system_prompt"] = json!("{{original}} Speak in rhyme, {{char}}.");
    let wired = Wired::with(card).await;
    let preset = json!({
        "prompts": [
            { "identifier": "main", "name": "Main", "role": "system", "system_prompt": true,
              "content": "Write {{char}}'s next line to {{user}}. {{scenario}}" },
            { "identifier": "cast", "name": "Cast", "role": "system", "system_prompt": false,
              "content": "Cast: {{description}} {{personality}} {{persona}}\nSo they talk: {{mesExamples}}" },
            { "identifier": "chatHistory", "name": "History", "marker": true, "system_prompt": true },
            { "identifier": "last", "name": "Last", "role": "system", "system_prompt": false,
              "injection_position": 1, "injection_depth": 0, "content": "{{char}} first said: {{charFirstMessage}}" }
        ],
        "prompt_order": [{ "character_id": 100_001, "order": [
            { "identifier": "main", "enabled": true },
            { "identifier": "cast", "enabled": true },
            { "identifier": "chatHistory", "enabled": true },
            { "identifier": "last", "enabled": true }
        ]}]
    });
    let report = wired
        .engine
        .import_bytes("Lantern.json".into(), preset.to_string().into_bytes())
        .await
        .unwrap();
    let template = report
        .imported
        .iter()
        .find(|one| one.kind == "template")
        .expect("an imported template")
        .id
        .clone();
    let chat = wired.chat().await;
    wired.set(chat, "template", &template).await;
    let body = wired.say(chat, "Good evening.").await;
    assert_holds(
        &body,
        &[
            "Write Ada's next line to Traveller. Traveller comes ashore. Speak in rhyme, Ada.",
            "Cast: Ada keeps the lighthouse for Traveller. Ada is dry.",
            "Traveller: Oil?",
            "Ada: Whale.",
            "Ada first said: Evening, Traveller.",
        ],
    );
}
