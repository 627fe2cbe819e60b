//! Emotions of replies, the pictures that show them, and backgrounds.

use std::io::{Cursor, Write as _};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use engine::api::{ApiError, Event, SettingOwner, SettingValue, WhatIf};
use image::{ImageFormat, RgbImage};
use provider::fake::ReplyScript;
use serde_json::{Value, json};
use tests::headless::{Headless, selected_text};
use zip::write::SimpleFileOptions;

fn picture(shade: u8) -> Vec<u8> {
    let mut png = Cursor::new(Vec::new());
    RgbImage::from_pixel(8, 8, image::Rgb([shade; 3]))
        .write_to(&mut png, ImageFormat::Png)
        .unwrap();
    png.into_inner()
}

fn charx(names: &[(&str, &str)]) -> Vec<u8> {
    let asset = |(at, (kind, name)): (usize, &(&str, &str))| -> Value {
        json!({ "type": kind, "name": name, "ext": "png", "uri": format!("embeded://{at}.png") })
    };
    let assets: Vec<Value> = names.iter().enumerate().map(asset).collect();
    let data = json!({ "name": "Mira", "first_mes": "Hello.", "group_only_greetings": [], "assets": assets });
    let card = json!({ "spec": "chara_card_v3", "spec_version": "3.0", "data": data }).to_string();
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    archive
        .start_file("card.json", SimpleFileOptions::default())
        .unwrap();
    archive.write_all(card.as_bytes()).unwrap();
    for at in 0..names.len() {
        archive
            .start_file(format!("{at}.png"), SimpleFileOptions::default())
            .unwrap();
        archive.write_all(&picture(20 * (at as u8 + 1))).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

async fn set(app: &Headless, key: &str, value: SettingValue) {
    app.engine
        .set_setting(SettingOwner::Global, key.into(), Some(value))
        .await
        .unwrap();
}

/// The tag arrives in three chunks. It is in no event, not in the stored text, and not in the next
/// prompt.
#[tokio::test]
async fn split_emotion_tag_is_recognized_and_never_shown() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    set(
        &app,
        "emotion_labels",
        SettingValue::Text("happy, sad".into()),
    )
    .await;
    app.model
        .play(
            ReplyScript::new()
                .text("<emo")
                .text("tion=ha")
                .text("ppy> Come")
                .text(" in."),
        )
        .reply("Sit.");
    let mut events = app.engine.subscribe();
    let (reply, _) = app.send(chat, "Hello.").await;
    let reply = reply.unwrap();
    let emotion = reply.swipes[0].emotion.clone().unwrap();
    assert_eq!(
        (emotion.label.as_str(), emotion.unknown_tag),
        ("happy", None)
    );
    assert_eq!(
        (selected_text(&reply), reply.swipes[0].text.as_str()),
        ("Come in.", "Come in.")
    );
    let mut streamed = String::new();
    loop {
        match events.next().await.unwrap() {
            Event::Token { text, .. } => streamed += &text,
            Event::Ended { message, .. } => {
                assert_eq!(
                    message.unwrap().swipes[0].emotion.as_ref().unwrap().label,
                    "happy"
                );
                break;
            }
            _ => {}
        }
    }
    assert_eq!(streamed.trim(), "Come in.");
    app.send(chat, "Thanks.").await;
    let sent = app.model.last_request().unwrap().prompt;
    assert!(
        sent.messages
            .iter()
            .all(|message| !message.text.contains("<emotion")),
        "not sent again"
    );
    let app = app.restart().await;
    let stored = app.engine.whole_chat(chat).await.unwrap().page.messages;
    assert_eq!(stored[2].swipes[0].emotion.as_ref().unwrap().label, "happy");
}

#[tokio::test]
async fn reply_without_known_emotion_is_neutral() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let cases = [
        ("Come in.", None),
        ("<emotion=elated>Come in.", Some("elated")),
        ("joy", None),
    ];
    for (reply, unknown) in cases {
        app.model.reply(reply);
        let (message, _) = app.send(chat, "Hello.").await;
        let message = message.unwrap();
        let emotion = message.swipes[0].emotion.clone().unwrap();
        assert_eq!(
            (emotion.label.as_str(), emotion.unknown_tag.as_deref()),
            ("neutral", unknown),
            "{reply}"
        );
        assert!(
            !selected_text(&message).is_empty(),
            "a bare word stays visible"
        );
    }
}

/// Only with the switch on does the prompt ask for tags, always with the same bytes in the head.
#[tokio::test]
async fn prompt_asks_for_tags_only_on_request() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let prompt = async |app: &Headless| {
        let preview = app
            .engine
            .preview_prompt(chat, "Hello.".into(), WhatIf::default())
            .await
            .unwrap();
        preview.text
    };
    assert!(!prompt(&app).await.contains("<emotion="));
    set(&app, "emotion_tags", SettingValue::Switch(true)).await;
    assert!(prompt(&app).await.contains("<emotion=joy>"));
}

/// Without the setting, and in a group, no prompt mentions pictures. Icons and expressions are
/// never offered.
#[tokio::test]
async fn model_learns_pictures_only_on_request() {
    let app = Headless::new().await;
    let assets = [
        ("icon", "main"),
        ("emotion", "joy"),
        ("background", "harbour"),
        ("x_map", "coast"),
    ];
    let report = app
        .engine
        .import_bytes("mira.charx".into(), charx(&assets))
        .await
        .unwrap();
    let chat = app
        .engine
        .new_chat(report.imported[0].id.parse().unwrap())
        .await
        .unwrap()
        .id;
    let prompt = async || {
        app.engine
            .preview_prompt(chat, "Hello.".into(), WhatIf::default())
            .await
            .unwrap()
            .text
    };
    assert!(!prompt().await.contains("${image."));
    set(&app, "picture_tags", SettingValue::Switch(true)).await;
    let text = prompt().await;
    assert!(
        text.contains("${image.TAG}") && text.contains("Picture tags: harbour, coast"),
        "{text}"
    );
    let otto = app
        .engine
        .list_characters()
        .await
        .unwrap()
        .into_iter()
        .find(|one| one.name != "Mira")
        .unwrap()
        .id;
    app.engine.set_members(chat, vec![otto]).await.unwrap();
    assert!(!prompt().await.contains("${image."));
}

#[tokio::test]
async fn sprite_falls_back_to_neutral_and_then_to_none() {
    let app = Headless::new().await;
    let assets = [
        ("icon", "main"),
        ("emotion", "neutral"),
        ("emotion", "Joy"),
        ("emotion", "joy-2"),
    ];
    let report = app
        .engine
        .import_bytes("mira.charx".into(), charx(&assets))
        .await
        .unwrap();
    let mira = report.imported[0].id.parse().unwrap();
    let emotions = app
        .engine
        .sprites(mira)
        .await
        .unwrap()
        .into_iter()
        .map(|sprite| sprite.emotion);
    assert_eq!(emotions.collect::<Vec<_>>(), ["neutral", "joy", "joy"]);
    let shade = async |emotion: &str, variant| {
        let hash = app
            .engine
            .sprite(mira, emotion.into(), variant)
            .await
            .unwrap()?;
        let bytes = app.engine.asset(hash).await.unwrap().bytes;
        Some(
            image::load_from_memory(&bytes)
                .unwrap()
                .to_rgb8()
                .get_pixel(0, 0)
                .0[0],
        )
    };
    let near = |found: Option<u8>, wanted: u8| {
        assert!(found.unwrap().abs_diff(wanted) < 4, "{found:?} {wanted}")
    };
    near(shade("joy", 0).await, 60);
    near(shade("joy", 1).await, 80);
    near(shade("fear", 0).await, 40);
    let named = app
        .engine
        .card_picture(mira, "JOY.png".into())
        .await
        .unwrap();
    assert!(
        named.is_some()
            && app
                .engine
                .card_picture(mira, "sea".into())
                .await
                .unwrap()
                .is_none()
    );
    let otto = app
        .engine
        .list_characters()
        .await
        .unwrap()
        .into_iter()
        .find(|one| one.name != "Mira")
        .unwrap()
        .id;
    assert_eq!(
        app.engine.sprite(otto, "joy".into(), 0).await.unwrap(),
        None
    );
}

#[tokio::test]
async fn background_is_measured_once_and_removable() {
    let app = Headless::new().await;
    let add = |bytes: Vec<u8>| {
        app.engine
            .add_background("folder/sea.png".into(), BASE64_STANDARD.encode(bytes))
    };
    let black = add(picture(0)).await.unwrap();
    assert_eq!(
        (black.name.as_str(), black.darkest, black.lightest),
        ("sea.png", 0.0, 0.0)
    );
    let white = add(picture(255)).await.unwrap();
    assert!(white.darkest > 0.98, "{white:?}");
    let refused = add(b"<svg onload=alert(1)>".to_vec()).await;
    assert!(
        matches!(refused, Err(ApiError::BadInput { .. })),
        "{refused:?}"
    );
    let owner = SettingOwner::Chat {
        id: app.first_chat().await.id,
    };
    let set = app
        .engine
        .set_setting(
            owner,
            "background".into(),
            Some(SettingValue::Text(black.picture.clone())),
        )
        .await;
    assert!(
        set.unwrap()
            .settings
            .iter()
            .any(|setting| setting.key == "background")
    );
    app.engine
        .remove_background(white.picture.clone())
        .await
        .unwrap();
    assert_eq!(app.engine.list_backgrounds().await.unwrap(), [black]);
    let again = app.engine.remove_background(white.picture).await;
    assert!(matches!(again, Err(ApiError::NotFound { .. })), "{again:?}");
}
