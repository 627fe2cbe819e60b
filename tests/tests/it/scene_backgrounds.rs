//! Backgrounds that the words of a chat's scene select.

use std::io::Cursor;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use domain::{CharacterId, ChatId};
use engine::api::{ApiError, Background, CardField, SettingOwner, SettingValue};
use image::{ImageFormat, RgbImage};
use tests::headless::Headless;

struct Stage {
    app: Headless,
    character: CharacterId,
    chat: ChatId,
}

impl Stage {
    async fn open() -> Self {
        let app = Headless::new().await;
        let chat = app.first_chat().await;
        Self {
            app,
            character: chat.character,
            chat: chat.id,
        }
    }

    async fn add(&self, name: &str, shade: u8, words: &str) -> Background {
        let mut png = Cursor::new(Vec::new());
        RgbImage::from_pixel(8, 8, image::Rgb([shade; 3]))
            .write_to(&mut png, ImageFormat::Png)
            .unwrap();
        let added = self
            .app
            .engine
            .add_background(name.into(), BASE64_STANDARD.encode(png.into_inner()))
            .await
            .unwrap();
        assert_eq!(added.scene_words, "", "no words of its own");
        self.app
            .engine
            .set_scene_words(added.picture, words.into())
            .await
            .unwrap()
    }

    /// Name of the shown background, and the word of the scene that selects it.
    async fn shown(&self) -> Option<(String, Option<String>)> {
        let shown = self.app.engine.chat_background(self.chat).await.unwrap()?;
        Some((shown.background.name, shown.scene_word))
    }

    async fn run(&self, command: &str) {
        self.app
            .engine
            .run_command(self.chat, command.into(), Vec::new())
            .await
            .unwrap();
    }

    async fn set_scenario(&self, text: &str) {
        let (chat, text) = (self.chat, Some(text.to_owned()));
        self.app
            .engine
            .set_chat_text(chat, CardField::Scenario, text)
            .await
            .unwrap();
    }

    async fn set_chat(&self, key: &str, value: Option<&str>) {
        self.set(SettingOwner::Chat { id: self.chat }, key, value)
            .await;
    }

    async fn set(&self, owner: SettingOwner, key: &str, value: Option<&str>) {
        let value = value.map(|value| SettingValue::Text(value.into()));
        self.app
            .engine
            .set_setting(owner, key.into(), value)
            .await
            .unwrap();
    }
}

fn by_word(name: &str, word: &str) -> Option<(String, Option<String>)> {
    Some((name.to_owned(), Some(word.to_owned())))
}

#[tokio::test]
async fn scene_selects_the_background() {
    let stage = Stage::open().await;
    let tavern = stage.add("tavern.png", 0, "Tavern, tavern ,old inn").await;
    assert_eq!(tavern.scene_words, "Tavern, old inn");
    let sea = stage.add("sea.png", 200, "sea; inn").await;
    stage.set_scenario("A bare hill in all seasons.").await;
    assert_eq!(stage.shown().await, None);

    stage.set_scenario("They sail the SEA.").await;
    assert_eq!(stage.shown().await, by_word("sea.png", "sea"));
    stage.set_chat("scene", Some("In a crowded tavern.")).await;
    assert_eq!(
        stage.shown().await,
        by_word("tavern.png", "Tavern"),
        "the scene takes precedence over the scenario"
    );

    stage.run("/scene The sea roars.").await;
    assert_eq!(
        stage.shown().await,
        by_word("sea.png", "sea"),
        "what opens the scene takes precedence over both"
    );
    stage.run("/scene They enter the Old Inn.").await;
    assert_eq!(
        stage.shown().await,
        by_word("tavern.png", "old inn"),
        "the longest word wins"
    );
    stage
        .app
        .engine
        .remove_background(tavern.picture)
        .await
        .unwrap();
    assert_eq!(stage.shown().await, by_word("sea.png", "inn"));
    stage
        .app
        .engine
        .set_scene_words(sea.picture, String::new())
        .await
        .unwrap();
    assert_eq!(stage.shown().await, None);
}

#[tokio::test]
async fn own_background_takes_precedence_over_scene() {
    let stage = Stage::open().await;
    let tavern = stage.add("tavern.png", 0, "tavern").await;
    let sea = stage.add("sea.png", 200, "").await;
    let character = SettingOwner::Character {
        id: stage.character,
    };
    stage.set(character, "background", Some(&sea.picture)).await;
    assert_eq!(
        stage.shown().await,
        Some(("sea.png".to_owned(), None)),
        "no word matches"
    );

    stage.run("/scene They enter the tavern.").await;
    assert_eq!(
        stage.shown().await,
        by_word("tavern.png", "tavern"),
        "the scene takes precedence over the character"
    );
    stage.set_chat("background", Some("none")).await;
    assert_eq!(stage.shown().await, None, "a chat can show no background");
    stage.set_chat("background", Some(&sea.picture)).await;
    assert_eq!(stage.shown().await, Some(("sea.png".to_owned(), None)));
    stage.set_chat("background", None).await;
    assert_eq!(stage.shown().await, by_word("tavern.png", "tavern"));

    let app = stage.app.restart().await;
    let shown = app
        .engine
        .chat_background(stage.chat)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(shown.background.picture, tavern.picture, "words are stored");
}

#[tokio::test]
async fn refuses_too_many_scene_words() {
    let stage = Stage::open().await;
    let tavern = stage.add("tavern.png", 0, "tavern").await;
    let many = (0..51)
        .map(|number| number.to_string())
        .collect::<Vec<_>>()
        .join(",");
    for words in [many, "x".repeat(61)] {
        let refused = stage
            .app
            .engine
            .set_scene_words(tavern.picture.clone(), words)
            .await;
        assert!(
            matches!(refused, Err(ApiError::BadInput { .. })),
            "{refused:?}"
        );
    }
    let unknown = stage
        .app
        .engine
        .set_scene_words("0".repeat(64), "sea".into())
        .await;
    assert!(
        matches!(unknown, Err(ApiError::NotFound { .. })),
        "{unknown:?}"
    );
    assert_eq!(
        stage.app.engine.list_backgrounds().await.unwrap()[0].scene_words,
        "tavern"
    );
}
