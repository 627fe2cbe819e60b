//! Text overrides of a chat, and the source of the instructions that are sent.

use domain::{CharacterId, ChatId};
use engine::api::{
    ApiError, CardField, Origin, PersonaDraft, PromptReport, SettingOwner, SettingValue, WhatIf,
};
use serde_json::json;
use tests::headless::Headless;

/// Ada, with two chats with Wren.
struct Lighthouse {
    app: Headless,
    ada: CharacterId,
    mira: CharacterId,
    chat: ChatId,
    other: ChatId,
}

impl Lighthouse {
    async fn open() -> Self {
        let app = Headless::new().await;
        let mira = app.first_chat().await.character;
        let card = json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": {
            "name": "Ada", "description": "Ada keeps the lighthouse.", "personality": "dry", "scenario": "A calm night.",
            "first_mes": "Hello.", "mes_example": "<START>\nAda: Mind the step.", "creator_notes": "",
            "system_prompt": "The card instructs.", "post_history_instructions": "The card ends.",
            "alternate_greetings": [], "tags": [], "creator": "", "character_version": "", "extensions": {} } });
        let report = app
            .engine
            .import_bytes("ada.json".into(), card.to_string().into_bytes())
            .await
            .unwrap();
        let ada = report.imported[0].id.parse().unwrap();
        let (chat, other) = (
            app.engine.new_chat(ada).await.unwrap().id,
            app.engine.new_chat(ada).await.unwrap().id,
        );
        Self {
            app,
            ada,
            mira,
            chat,
            other,
        }
    }

    async fn put(&self, field: CardField, text: &str) {
        self.app
            .engine
            .set_chat_text(self.chat, field, Some(text.into()))
            .await
            .unwrap();
    }

    async fn take_back(&self, field: CardField) {
        self.app
            .engine
            .set_chat_text(self.chat, field, None)
            .await
            .unwrap();
    }

    async fn own(&self, field: CardField) -> Option<String> {
        let texts = self.app.engine.chat_texts(self.chat).await.unwrap();
        texts
            .into_iter()
            .find(|text| text.field == field)
            .unwrap()
            .own
    }

    async fn edit_card(&self, edit: impl FnOnce(&mut engine::api::CharacterFields)) {
        let mut fields = self
            .app
            .engine
            .get_character(self.ada)
            .await
            .unwrap()
            .fields;
        edit(&mut fields);
        self.app
            .engine
            .update_character(self.ada, fields)
            .await
            .unwrap();
    }

    async fn persona(&self, instructions: &str) {
        let persona = PersonaDraft {
            id: None,
            name: "Wren".into(),
            description: "Wren draws maps.".into(),
            instructions: instructions.into(),
            place: Default::default(),
        };
        let persona = self.app.engine.save_persona(persona).await.unwrap();
        self.app
            .engine
            .set_chat_persona(self.chat, persona.id)
            .await
            .unwrap();
    }

    async fn preview(&self, chat: ChatId) -> PromptReport {
        self.app
            .engine
            .preview_prompt(chat, "Hm?".into(), WhatIf::default())
            .await
            .unwrap()
    }

    /// Sends a message and returns the head of the prompt.
    async fn head(&self) -> String {
        self.app.model.reply("Hm.");
        self.app.send(self.chat, "Hm?").await;
        self.app
            .model
            .last_request()
            .unwrap()
            .prompt
            .messages
            .remove(0)
            .text
    }

    /// Returns the prompt report of the last reply.
    async fn sent(&self) -> PromptReport {
        let messages = self
            .app
            .engine
            .whole_chat(self.chat)
            .await
            .unwrap()
            .page
            .messages;
        self.app
            .engine
            .manifest(messages.last().unwrap().swipes[0].id)
            .await
            .unwrap()
    }
}

/// Returns the origin of the block with `text`.
fn origin(report: &PromptReport, text: &str) -> Origin {
    report
        .blocks
        .iter()
        .find(|block| block.text.contains(text))
        .unwrap()
        .origin
        .clone()
}

#[tokio::test]
async fn overrides_apply_to_one_chat_only() {
    let house = Lighthouse::open().await;
    let elsewhere = house.preview(house.other).await.text;
    for (field, card, own) in [
        (
            CardField::Description,
            "Ada keeps the lighthouse.",
            "{{char}} keeps an inn for {{user}}.",
        ),
        (CardField::Personality, "dry", "merry"),
        (CardField::Scenario, "A calm night.", "A storm."),
        (
            CardField::MessageExamples,
            "Mind the step.",
            "<START>\nAda: Have a seat.",
        ),
        (
            CardField::SystemPrompt,
            "The card instructs.",
            "The chat instructs. {{original}}",
        ),
        (
            CardField::PostHistoryInstructions,
            "The card ends.",
            "The chat ends.",
        ),
    ] {
        assert!(house.head().await.contains(card));
        house.put(field, own).await;
        assert!(!house.head().await.contains(card), "{field:?}");
    }
    let head = house.head().await;
    for own in [
        "Ada keeps an inn for Traveller.",
        "Personality: merry",
        "Scenario: A storm.",
        "Ada: Have a seat.",
        "The chat instructs. You are Ada, talking with Traveller.",
        "The chat ends.",
    ] {
        assert!(head.contains(own), "{own:?} was not sent:\n{head}");
    }
    assert_eq!(house.preview(house.other).await.text, elsewhere);
    let card = house
        .app
        .engine
        .get_character(house.ada)
        .await
        .unwrap()
        .fields;
    assert_eq!(
        (card.scenario.as_str(), card.system_prompt.as_str()),
        ("A calm night.", "The card instructs.")
    );
}

#[tokio::test]
async fn overrides_survive_restart_and_card_edits() {
    let house = Lighthouse::open().await;
    house.put(CardField::Scenario, "A storm.").await;
    let head = house.head().await;
    let house = Lighthouse {
        app: house.app.restart().await,
        ..house
    };
    assert_eq!(house.head().await, head);
    house.edit_card(|card| card.scenario = "Fog.".into()).await;
    assert_eq!(house.head().await, head);
    house.take_back(CardField::Scenario).await;
    assert_eq!(house.own(CardField::Scenario).await, None);
    assert_eq!(house.head().await, head.replace("A storm.", "Fog."));
}

#[tokio::test]
async fn empty_override_omits_the_cards_text() {
    let house = Lighthouse::open().await;
    house.put(CardField::Scenario, "").await;
    house.put(CardField::SystemPrompt, "").await;
    let head = house.head().await;
    assert!(
        !head.contains("Scenario:") && !head.contains("The card instructs."),
        "{head}"
    );
    assert!(
        head.contains("You are Ada, talking with Traveller."),
        "the template's own instructions are sent:\n{head}"
    );
    assert_eq!(house.own(CardField::Scenario).await.as_deref(), Some(""));
}

/// An override equal to the card's text is not stored, so that the chat follows the card again.
#[tokio::test]
async fn override_equal_to_the_card_is_not_stored() {
    let house = Lighthouse::open().await;
    house.put(CardField::Scenario, "A storm.").await;
    house.put(CardField::Scenario, "A calm night.").await;
    assert_eq!(house.own(CardField::Scenario).await, None);
    house.edit_card(|card| card.scenario = "Fog.".into()).await;
    assert!(house.head().await.contains("Scenario: Fog."));
}

/// An epoch begins exactly when the bytes of the head change.
#[tokio::test]
async fn epoch_begins_only_if_the_head_changes() {
    let house = Lighthouse::open().await;
    house.head().await;
    let before = house.sent().await;
    house
        .put(CardField::Scenario, "A {{getvar::weather}}calm night.")
        .await;
    assert_eq!(
        house.preview(house.chat).await.new_epoch,
        None,
        "the head is unchanged"
    );
    house.put(CardField::Scenario, "A storm.").await;
    house.head().await;
    let stormy = house.sent().await;
    assert_eq!(stormy.epoch, before.epoch + 1);
    house.head().await;
    assert_eq!(
        (house.sent().await.epoch, house.sent().await.new_epoch),
        (stormy.epoch, None)
    );

    // With classic placement, the post-history text is not part of the head.
    let chat = SettingOwner::Chat { id: house.chat };
    let classic = SettingValue::Text("classic".into());
    house
        .app
        .engine
        .set_setting(chat, "placement".into(), Some(classic))
        .await
        .unwrap();
    house.head().await;
    house
        .put(CardField::PostHistoryInstructions, "The chat ends.")
        .await;
    let report = house.preview(house.chat).await;
    assert!(report.text.contains("The chat ends."));
    assert_eq!(report.new_epoch, None);
}

/// Precedence of instructions: persona, then chat, then card, in all eight combinations. The
/// description is always sent.
#[tokio::test]
async fn persona_overrides_chat_and_chat_overrides_card() {
    let all = [
        "The persona instructs.",
        "The chat instructs.",
        "The card instructs.",
        "You are Ada, talking with Wren.",
    ];
    for persona in [true, false] {
        for chat in [true, false] {
            for card in [true, false] {
                let house = Lighthouse::open().await;
                house.persona(if persona { all[0] } else { "" }).await;
                if chat {
                    house.put(CardField::SystemPrompt, all[1]).await;
                }
                if !card {
                    house.edit_card(|card| card.system_prompt.clear()).await;
                }
                let head = house.head().await;
                let expected = [persona, chat, card, true]
                    .into_iter()
                    .position(|there| there)
                    .unwrap();
                for (place, text) in all.into_iter().enumerate() {
                    assert_eq!(
                        head.contains(text),
                        place == expected,
                        "{persona} {chat} {card}: {text}\n{head}"
                    );
                }
                assert!(
                    head.contains("Ada keeps the lighthouse.") && head.contains("Wren draws maps."),
                    "{head}"
                );
                assert!(head.contains("The card ends."), "{head}");
            }
        }
    }
}

#[tokio::test]
async fn xray_shows_the_origin_of_overrides() {
    let house = Lighthouse::open().await;
    let card = |field: &str| Origin::Card {
        character: house.ada.to_string(),
        field: field.into(),
    };
    let chats = |field: &str| Origin::ChatText {
        field: field.into(),
    };
    let report = house.preview(house.chat).await;
    assert_eq!(origin(&report, "A calm night."), card("scenario"));
    assert_eq!(
        origin(&report, "The card instructs."),
        card("system_prompt")
    );
    house.put(CardField::Scenario, "A storm.").await;
    house
        .put(CardField::SystemPrompt, "The chat instructs.")
        .await;
    let report = house.preview(house.chat).await;
    assert_eq!(origin(&report, "A storm."), chats("scenario"));
    assert_eq!(
        origin(&report, "The chat instructs."),
        chats("system_prompt")
    );
    assert_eq!(
        origin(&report, "The card ends."),
        card("post_history_instructions")
    );
    house.persona("The persona instructs.").await;
    let report = house.preview(house.chat).await;
    assert!(matches!(
        origin(&report, "The persona instructs."),
        Origin::Persona { .. }
    ));
}

/// A card's instructions apply to that card only, but the chat's overrides apply to every
/// participant.
#[tokio::test]
async fn group_scene_uses_chat_overrides_only() {
    let house = Lighthouse::open().await;
    house
        .app
        .engine
        .set_members(house.chat, vec![house.mira])
        .await
        .unwrap();
    let head = house.head().await;
    assert!(
        !head.contains("The card instructs.") && !head.contains("The card ends."),
        "{head}"
    );
    house.put(CardField::Description, "Ada keeps an inn.").await;
    house
        .put(CardField::SystemPrompt, "The chat instructs.")
        .await;
    house
        .put(CardField::PostHistoryInstructions, "The chat ends.")
        .await;
    let head = house.head().await;
    for own in ["Ada keeps an inn.", "The chat instructs.", "The chat ends."] {
        assert!(head.contains(own), "{own:?} was not sent:\n{head}");
    }
    assert!(!head.contains("Ada keeps the lighthouse."));
}

/// A macro in an override resolves to the chat's texts.
#[tokio::test]
async fn macros_resolve_to_overrides() {
    let house = Lighthouse::open().await;
    house.put(CardField::Scenario, "a storm").await;
    house.app.model.reply("Yes.");
    house.app.send(house.chat, "Is this {{scenario}}?").await;
    assert!(
        house
            .app
            .transcript(house.chat)
            .await
            .contains(&"Traveller: Is this a storm?".to_owned())
    );
}

#[tokio::test]
async fn refuses_invalid_overrides() {
    let house = Lighthouse::open().await;
    let nowhere = house
        .app
        .engine
        .chat_texts(ChatId(house.ada.0))
        .await
        .unwrap_err();
    assert!(matches!(nowhere, ApiError::NotFound { .. }), "{nowhere:?}");
    let long = "x".repeat(domain::card::MAX_JSON + 1);
    let refused = house
        .app
        .engine
        .set_chat_text(house.chat, CardField::Scenario, Some(long))
        .await
        .unwrap_err();
    assert!(matches!(refused, ApiError::BadInput { .. }), "{refused:?}");
    assert_eq!(house.own(CardField::Scenario).await, None);
}
