//! Cards with embedded files through the engine: import, display and export.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Read as _, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::{CharacterId, ChatId};
use engine::api::{
    CardFormat, CharacterFields, ImportReport, LayeredSetting, SettingLayer, SettingOwner,
};
use serde_json::{Value, json};
use tests::headless::Headless;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

const CARD: &str = r#"{"spec":"chara_card_v3","spec_version":"3.0","data":{"name":"Wren","description":"A bird.","assets":[
    {"type":"icon","uri":"embeded://assets/icon/images/wren.png","name":"main","ext":"png"},
    {"type":"x_song","uri":"embeded://assets/other/audio/song.mp3","name":"song","ext":"mp3"}],
    "extensions":{"theirs":{"deep":[1,2.5,null]}}}}"#;

fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn members(archive: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut zip = ZipArchive::new(Cursor::new(archive)).unwrap();
    let mut all = BTreeMap::new();
    for at in 0..zip.len() {
        let (mut member, mut bytes) = (zip.by_index(at).unwrap(), Vec::new());
        member.read_to_end(&mut bytes).unwrap();
        all.insert(member.name().unwrap().into_owned(), bytes);
    }
    all
}

/// A picture from the app's library with its dimensions in the header.
async fn picture(app: &Headless, name: &str) -> Vec<u8> {
    let card = CharacterFields {
        name: name.into(),
        ..CharacterFields::default()
    };
    let id = app.engine.create_character(card).await.unwrap().id;
    app.engine
        .export_character(id, CardFormat::Png)
        .await
        .unwrap()
        .bytes
}

async fn import(app: &Headless, file: &str, bytes: &[u8]) -> ImportReport {
    let path = app.dir.path().join(file);
    fs::write(&path, bytes).unwrap();
    app.engine.import_paths(vec![path]).await.unwrap()
}

/// Returns the chunks of a PNG that are not text.
fn pixels(png: &[u8]) -> Vec<Vec<u8>> {
    let (mut found, mut rest) = (Vec::new(), &png[8..]);
    while let Some((length, _)) = rest.split_first_chunk::<4>() {
        let (chunk, behind) = rest.split_at(12 + u32::from_be_bytes(*length) as usize);
        if &chunk[4..8] != b"tEXt" {
            found.push(chunk.to_vec());
        }
        rest = behind;
    }
    found
}

#[tokio::test]
async fn charx_survives_import_and_export() {
    let app = Headless::new().await;
    let icon = picture(&app, "Icon").await;
    let source = archive(&[
        ("card.json", CARD.as_bytes()),
        ("assets/icon/images/wren.png", &icon),
        ("assets/other/audio/song.mp3", &[7; 3_000]),
        ("module.risum", b"o\0secret"),
    ]);
    let report = import(&app, "wren.charx", &source).await;
    let [wren] = &report.imported[..] else {
        panic!("{report:?}")
    };
    assert_eq!(
        (wren.name.as_str(), wren.kind.as_str()),
        ("Wren", "character")
    );
    assert!(wren.warnings[0].contains("module.risum"), "{report:?}");
    let id: CharacterId = wren.id.parse().unwrap();
    assert!(
        app.engine
            .get_character(id)
            .await
            .unwrap()
            .picture
            .is_some()
    );

    let charx = app
        .engine
        .export_character(id, CardFormat::Charx)
        .await
        .unwrap();
    assert_eq!(
        (charx.file_name.as_str(), charx.warnings),
        ("Wren.charx", vec![])
    );
    let (before, mut after) = (members(&source), members(&charx.bytes));
    let card: Value = serde_json::from_slice(&after.remove("card.json").unwrap()).unwrap();
    assert_eq!(
        card["data"]["extensions"]["theirs"]["deep"],
        json!([1, 2.5, null])
    );
    assert_eq!(card["data"]["assets"].as_array().unwrap().len(), 2);
    assert!(after.iter().all(|(name, bytes)| before[name] == *bytes) && after.len() == 3);

    let png = app
        .engine
        .export_character(id, CardFormat::Png)
        .await
        .unwrap();
    assert_eq!(pixels(&png.bytes), pixels(&icon), "the icon's own pixels");
    assert!(
        png.warnings[0].contains("in this format: 1;"),
        "{:?}",
        png.warnings
    );
    let again = import(&app, "again.charx", &source).await;
    assert_eq!(
        (again.imported.len(), again.skipped.len()),
        (0, 1),
        "{again:?}"
    );
}

#[tokio::test]
async fn exports_the_replaced_picture() {
    let app = Headless::new().await;
    let (old, new) = (
        picture(&app, "Old").await,
        include_bytes!("../../../src-tauri/icons/32x32.png"),
    );
    let source = archive(&[
        ("card.json", CARD.as_bytes()),
        ("assets/icon/images/wren.png", &old),
    ]);
    let id = import(&app, "wren.charx", &source).await.imported[0]
        .id
        .parse()
        .unwrap();
    app.engine
        .set_character_picture(id, STANDARD.encode(new))
        .await
        .unwrap();
    let charx = app
        .engine
        .export_character(id, CardFormat::Charx)
        .await
        .unwrap()
        .bytes;
    let names: Vec<String> = members(&charx).into_keys().collect();
    assert_eq!(names, ["assets/icon/images/main.png", "card.json"]);
}

#[tokio::test]
async fn finds_a_card_after_a_photograph() {
    let app = Headless::new().await;
    let photograph = b"\xff\xd8\xff\xe0 no picture at all".to_vec();
    let both = [
        photograph.clone(),
        archive(&[("card.json", CARD.as_bytes())]),
    ]
    .concat();
    let report = import(&app, "wren.jpg", &both).await;
    assert_eq!(report.imported[0].name, "Wren", "{report:?}");
    assert_eq!(
        import(&app, "photo.jpg", &photograph).await.refused[0].kind,
        "unknownFormat"
    );
}

#[tokio::test]
async fn refuses_hostile_archives_by_name() {
    let app = Headless::new().await;
    let before = app.engine.list_characters().await.unwrap().len();
    let slip = archive(&[("card.json", CARD.as_bytes()), ("../../evil.sh", b"x")]);
    let bomb = archive(&[("card.json", CARD.as_bytes()), ("bomb", &vec![0; 8 << 20])]);
    for (name, bytes, kind) in [
        ("slip.charx", &slip[..], "unsafeArchive"),
        ("bomb.charx", &bomb, "tooLarge"),
        ("half.charx", &slip[..slip.len() / 2], "damaged"),
        (
            "other.zip",
            &archive(&[("readme.txt", b"x")]),
            "unknownFormat",
        ),
    ] {
        let report = import(&app, name, bytes).await;
        assert_eq!(
            (
                report.refused[0].file.as_str(),
                report.refused[0].kind.as_str()
            ),
            (name, kind),
            "{report:?}"
        );
        assert!(report.refused[0].reason.len() > 20, "{report:?}");
    }
    assert_eq!(app.engine.list_characters().await.unwrap().len(), before);
    assert!(!app.dir.path().join("evil.sh").exists());
}

/// A Backyard archive with two scenarios, the second with a chat and other sampler settings.
fn byaf() -> Vec<u8> {
    let scenario = |title: &str, greeting: &str, temperature: f64, messages: Value| {
        let scenario = json!({"schemaVersion": 1, "title": title, "formattingInstructions": "Be brief.", "minP": 0.2,
            "minPEnabled": true, "temperature": temperature, "repeatPenalty": 1.2, "repeatLastN": 256, "topK": 30,
            "topP": 0.8, "exampleMessages": [], "firstMessages": [{"characterID": "c1", "text": greeting}],
            "narrative": format!("At the {title}."), "promptTemplate": null, "grammar": null, "messages": messages});
        scenario.to_string()
    };
    let at = "2025-06-12T19:03:56.873Z";
    let output = |text: &str, active: &str| json!({"text": text, "createdAt": at, "updatedAt": at, "activeTimestamp": active});
    let messages = json!([{"type": "human", "createdAt": at, "updatedAt": at, "text": "Hello."},
        {"type": "ai", "outputs": [output("One.", "2025-06-13T00:00:00.000Z"), output("Two.", "2025-06-12T00:00:00.000Z")]}]);
    let character = json!({"schemaVersion": 1, "id": "c1", "name": "Wren", "displayName": "Wren Hollow", "persona": "A bird.",
        "loreItems": [{"key": "lamp", "value": "Lit."}], "images": []});
    let manifest = json!({"schemaVersion": 1, "createdAt": at, "characters": ["characters/c1/character.json"],
        "scenarios": ["scenarios/1.json", "scenarios/2.json"]});
    archive(&[
        ("manifest.json", manifest.to_string().as_bytes()),
        (
            "characters/c1/character.json",
            character.to_string().as_bytes(),
        ),
        (
            "scenarios/1.json",
            scenario("mill", "Come in, {user}.", 0.7, json!([])).as_bytes(),
        ),
        (
            "scenarios/2.json",
            scenario("pier", "Ahoy!", 1.4, messages).as_bytes(),
        ),
    ])
}

/// Returns the values of the owner's own layer by key.
async fn own_settings(
    app: &Headless,
    owner: SettingOwner,
    layer: SettingLayer,
) -> BTreeMap<String, String> {
    let all = app
        .engine
        .layered_settings(owner)
        .await
        .unwrap()
        .settings
        .into_iter();
    let own = |setting: LayeredSetting| {
        let said = setting.layers.into_iter().find(|at| at.layer == layer)?;
        Some((
            setting.key,
            serde_json::to_string(&said.value.unwrap()).unwrap(),
        ))
    };
    all.filter_map(own).collect()
}

#[tokio::test]
async fn backyard_character_includes_chats_and_samplers() {
    let app = Headless::new().await;
    let report = import(&app, "wren.byaf", &byaf()).await;
    let [wren, chat] = &report.imported[..] else {
        panic!("{report:?}")
    };
    assert_eq!(
        (wren.kind.as_str(), chat.kind.as_str(), chat.name.as_str()),
        ("character", "chat", "pier")
    );
    assert_eq!((&wren.warnings, &chat.warnings), (&vec![], &vec![]));
    let (wren, chat): (CharacterId, ChatId) = (wren.id.parse().unwrap(), chat.id.parse().unwrap());
    let fields = app.engine.get_character(wren).await.unwrap().fields;
    assert_eq!(
        (fields.name.as_str(), fields.nickname.as_str()),
        ("Wren Hollow", "Wren")
    );
    assert_eq!(
        (fields.scenario.as_str(), fields.alternate_greetings),
        ("At the mill.", vec!["Ahoy!".to_owned()])
    );

    assert_eq!(
        app.transcript(chat).await.join(" / "),
        "Wren: Ahoy! / Traveller: Hello. / Wren: One."
    );
    let messages = app.engine.whole_chat(chat).await.unwrap().page.messages;
    assert_eq!(
        messages[2]
            .swipes
            .iter()
            .map(|swipe| swipe.text.as_str())
            .collect::<Vec<_>>(),
        ["One.", "Two."]
    );
    let texts = app.engine.chat_texts(chat).await.unwrap();
    let own: Vec<_> = texts.into_iter().filter_map(|text| text.own).collect();
    assert_eq!(
        own,
        ["At the pier."],
        "only the texts that differ from the card"
    );

    let of_wren = own_settings(
        &app,
        SettingOwner::Character { id: wren },
        SettingLayer::Character,
    )
    .await;
    assert_eq!(
        of_wren.keys().map(String::as_str).collect::<Vec<_>>(),
        [
            "min_p",
            "repeat_penalty",
            "repeat_range",
            "temperature",
            "top_k",
            "top_p"
        ]
    );
    assert!(of_wren["temperature"].contains("0.7"), "{of_wren:?}");
    let of_chat = own_settings(&app, SettingOwner::Chat { id: chat }, SettingLayer::Chat).await;
    assert!(of_chat["temperature"].contains("1.4"), "{of_chat:?}");

    let again = import(&app, "again.byaf", &byaf()).await;
    assert_eq!(
        (again.imported.len(), again.skipped.len()),
        (0, 1),
        "{again:?}"
    );
}
