//! Parts of the prompt that a user switches: notes, and sections of the template.

use domain::{CharacterId, ChatId};
use engine::api::{PromptReport, SettingOwner, SettingValue, WhatIf};
use tests::headless::Headless;

struct Parts {
    app: Headless,
    chat: ChatId,
    character: CharacterId,
}

impl Parts {
    async fn open() -> Self {
        let app = Headless::new().await;
        let chat = app.first_chat().await;
        Self {
            app,
            chat: chat.id,
            character: chat.character,
        }
    }

    async fn put(&self, owner: SettingOwner, key: &str, value: SettingValue) {
        self.app
            .engine
            .set_setting(owner, key.into(), Some(value))
            .await
            .unwrap();
    }

    async fn write(&self, key: &str, text: &str) {
        self.put(
            SettingOwner::Chat { id: self.chat },
            key,
            SettingValue::Text(text.into()),
        )
        .await;
    }

    async fn write_for_character(&self, key: &str, text: &str) {
        let owner = SettingOwner::Character { id: self.character };
        self.put(owner, key, SettingValue::Text(text.into())).await;
    }

    async fn preview(&self) -> PromptReport {
        self.app
            .engine
            .preview_prompt(self.chat, "Hello".into(), WhatIf::default())
            .await
            .unwrap()
    }

    /// The places of these texts in the prompt.
    async fn places<const N: usize>(&self, texts: [&str; N]) -> [Option<usize>; N] {
        let prompt = self.preview().await.text;
        texts.map(|text| prompt.find(text))
    }
}

#[tokio::test]
async fn note_moves_to_the_chosen_place() {
    let parts = Parts::open().await;
    let description = parts
        .app
        .engine
        .get_character(parts.character)
        .await
        .unwrap()
        .fields
        .description;
    let start: String = description
        .lines()
        .next()
        .unwrap()
        .chars()
        .take(20)
        .collect();
    let start = start.replace("{{char}}", "");
    parts.write("author_note", "It is foggy tonight.").await;
    for (place, before) in [
        ("in-chat", false),
        ("before-character", true),
        ("after-character", false),
    ] {
        parts.write("author_note_place", place).await;
        let [note, card, input] = parts
            .places(["It is foggy tonight.", start.trim(), "Hello"])
            .await;
        assert_eq!(note.unwrap() < card.unwrap(), before, "{place}");
        assert!(note.unwrap() < input.unwrap(), "{place}");
    }
}

#[tokio::test]
async fn character_note_joins_or_replaces_the_note() {
    let parts = Parts::open().await;
    parts.write("author_note", "It is foggy.").await;
    parts
        .write_for_character("character_note", "She limps.")
        .await;
    for place in ["before", "after"] {
        parts
            .write_for_character("character_note_place", place)
            .await;
        let [of_chat, own] = parts.places(["It is foggy.", "She limps."]).await;
        assert_eq!(own.unwrap() < of_chat.unwrap(), place == "before");
    }
    parts
        .write_for_character("character_note_place", "replace")
        .await;
    let [of_chat, own] = parts.places(["It is foggy.", "She limps."]).await;
    assert!(of_chat.is_none() && own.is_some());
    let report = parts.preview().await;
    let left_out = report
        .blocks
        .iter()
        .find(|block| block.text == "It is foggy.")
        .unwrap();
    assert_eq!(left_out.dropped_code.as_deref(), Some("replacedNote"));
}

#[tokio::test]
async fn xray_says_why_a_note_waits() {
    let parts = Parts::open().await;
    parts.write("author_note", "It is foggy.").await;
    let owner = SettingOwner::Chat { id: parts.chat };
    parts
        .put(owner, "author_note_every_messages", SettingValue::Whole(2))
        .await;
    let report = parts.preview().await;
    assert!(!report.text.contains("It is foggy."));
    let waiting = report
        .blocks
        .iter()
        .find(|block| block.text == "It is foggy.")
        .unwrap();
    assert_eq!(waiting.dropped_code.as_deref(), Some("notThisTurn"));
}

#[tokio::test]
async fn section_is_left_out_of_one_chat() {
    let parts = Parts::open().await;
    let id = parts.chat;
    let before = parts.app.engine.prompt_sections(id).await.unwrap();
    let description = before
        .sections
        .iter()
        .find(|section| section.name == "description")
        .unwrap();
    assert!(description.is_on && !description.is_required);
    let after = parts
        .app
        .engine
        .set_prompt_section(id, "description".into(), false)
        .await
        .unwrap();
    assert!(
        after.tokens.unwrap() < before.tokens.unwrap(),
        "{before:?} {after:?}"
    );
    let fields = parts
        .app
        .engine
        .get_character(parts.character)
        .await
        .unwrap()
        .fields;
    let middle: String = fields.description.chars().skip(40).take(20).collect();
    assert!(!parts.preview().await.text.contains(&middle));
    let other = parts.app.engine.new_chat(parts.character).await.unwrap().id;
    assert!(
        parts
            .app
            .engine
            .prompt_sections(other)
            .await
            .unwrap()
            .sections
            .iter()
            .all(|section| section.is_on)
    );
    let back = parts
        .app
        .engine
        .set_prompt_section(id, "description".into(), true)
        .await
        .unwrap();
    assert_eq!(back, before);
    let rules = parts
        .app
        .engine
        .set_prompt_section(id, "rules".into(), false)
        .await;
    assert!(rules.is_err(), "a required section stays");
    assert!(
        parts
            .app
            .engine
            .set_prompt_section(id, "nonsense".into(), false)
            .await
            .is_err()
    );
}

#[tokio::test]
async fn lore_of_a_left_out_section_is_not_sent() {
    let parts = Parts::open().await;
    for section in ["loreBefore", "loreAfter", "memory"] {
        parts
            .app
            .engine
            .set_prompt_section(parts.chat, section.into(), false)
            .await
            .unwrap();
    }
    parts
        .app
        .engine
        .run_command(
            parts.chat,
            "/remember The key hangs behind the clock.".into(),
            Vec::new(),
        )
        .await
        .unwrap();
    let report = parts.preview().await;
    assert!(!report.text.contains("behind the clock"), "{}", report.text);
}
