//! Imports of every kind of file. The content decides the kind, and the report states it.

use std::fs;
use std::io::{Cursor, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use engine::api::{CardFormat, ImportReport};
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use serde_json::{Value, json};
use tests::headless::Headless;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

async fn import(app: &Headless, file: &str, bytes: &[u8]) -> ImportReport {
    let path = app.dir.path().join("in").join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    app.engine.import_paths(vec![path]).await.unwrap()
}

async fn import_json(app: &Headless, file: &str, json: &Value) -> ImportReport {
    import(app, file, json.to_string().as_bytes()).await
}

/// Kinds and names of the imported items.
fn kinds(report: &ImportReport) -> Vec<String> {
    report
        .imported
        .iter()
        .map(|one| format!("{} {}", one.kind, one.name))
        .collect()
}

fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn picture(format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    DynamicImage::ImageRgb8(RgbImage::from_pixel(8, 6, Rgb([200, 100, 50])))
        .write_to(&mut bytes, format)
        .unwrap();
    bytes.into_inner()
}

fn v2(name: &str) -> String {
    format!(
        r#"{{"spec":"chara_card_v2","spec_version":"2.0","data":{{"name":"{name}","description":"d"}}}}"#
    )
}

#[tokio::test]
async fn names_unsupported_kinds_of_files() {
    let app = Headless::new().await;
    let (characters, templates) = (
        app.engine.list_characters().await.unwrap().len(),
        app.engine.list_templates().await.unwrap().len(),
    );
    for (file, json, what) in [
        (
            "theme.json",
            json!({"name":"Plain","blur_strength":10,"main_text_color":"x","chat_width":50}),
            "SillyTavern theme",
        ),
        (
            "think.json",
            json!({"name":"R1","prefix":"<think>","suffix":"</think>","separator":""}),
            "a SillyTavern reasoning preset",
        ),
        (
            "two.json",
            json!({"id":"1","name":"Two","members":["A.png"],"chat_id":"1","chats":["1"]}),
            "a SillyTavern group",
        ),
        (
            "kayra.json",
            json!({"presetVersion":3,"name":"Mine","parameters":{"temperature":1.2}}),
            "a NovelAI preset",
        ),
        (
            "clock.json",
            json!({"type":"script","id":"a","name":"Clock","content":"import 'x'"}),
            "a Tavern-Helper script",
        ),
        (
            "settings.json",
            json!({"power_user":{},"oai_settings":{}}),
            "SillyTavern settings",
        ),
        (
            "package.json",
            json!({"name":"x","version":"1","description":"y","dependencies":{}}),
            "package",
        ),
    ] {
        let report = import_json(&app, file, &json).await;
        assert_eq!(
            (report.imported.len(), report.refused.len()),
            (0, 1),
            "{file}: {report:?}"
        );
        let refused = &report.refused[0];
        assert_eq!(refused.kind, "unsupported", "{refused:?}");
        let way_out = ["not supported", "Import its chat"]
            .iter()
            .any(|words| refused.reason.contains(words));
        assert!(refused.reason.contains(what) && way_out, "{refused:?}");
    }
    for json in [
        json!({"name":"Mira"}),
        json!({"name":"x","version":1,"tags":[]}),
        json!([1]),
        json!({}),
    ] {
        let report = import_json(&app, "something.json", &json).await;
        assert_eq!(
            (report.imported.len(), report.refused.len()),
            (0, 1),
            "{json}: {report:?}"
        );
        assert!(
            report.refused[0]
                .reason
                .contains("a JSON file of an unknown kind"),
            "{report:?}"
        );
    }
    assert_eq!(
        app.engine.list_characters().await.unwrap().len(),
        characters
    );
    assert_eq!(app.engine.list_templates().await.unwrap().len(), templates);
}

#[tokio::test]
async fn entries_without_a_lorebook_become_one() {
    let app = Headless::new().await;
    let entry = json!({"uid":0,"key":["mill"],"comment":"x","content":"The mill.","order":100,"position":0});
    let report = import_json(&app, "mill.json", &entry).await;
    assert_eq!(kinds(&report), ["lorebook mill"], "{report:?}");
    let report = import_json(&app, "two.json", &json!([entry, entry])).await;
    assert_eq!(kinds(&report), ["lorebook two"], "{report:?}");
}

#[tokio::test]
async fn persona_backup_is_imported_once() {
    let app = Headless::new().await;
    let backup = json!({"personas":{"sam.png":"Sam","x.png":" ","ann.png":"Ann","y.png":7},"default_persona":"sam.png",
        "persona_descriptions":{"sam.png":{"description":"A baker.","position":0},"ann.png":{"lorebook":"Sea"}}});
    let report = import_json(&app, "personas.json", &backup).await;
    assert_eq!(kinds(&report), ["persona Sam", "persona Ann"], "{report:?}");
    assert!(
        report.imported[1].warnings[0].contains("\"Sea\""),
        "{report:?}"
    );
    let sam = app
        .engine
        .list_personas()
        .await
        .unwrap()
        .into_iter()
        .find(|one| one.name == "Sam")
        .unwrap();
    assert_eq!(sam.description, "A baker.");
    let again = import_json(&app, "personas.json", &backup).await;
    assert_eq!(
        (again.imported.len(), again.skipped.len()),
        (0, 2),
        "{again:?}"
    );
    let blank = import_json(
        &app,
        "none.json",
        &json!({"personas":{"a.png":""},"persona_descriptions":{}}),
    )
    .await;
    assert!(
        blank.refused[0]
            .reason
            .contains("this persona backup contains"),
        "{blank:?}"
    );
}

#[tokio::test]
async fn scripts_of_a_card_wait_for_permission() {
    let app = Headless::new().await;
    let script =
        json!({"id":"1","scriptName":"A","findRegex":"/a/g","replaceString":"b","placement":[2]});
    let card = json!({"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"Miller","description":"A.",
        "extensions":{"regex_scripts":[script, script]},
        "character_book":{"entries":[{"keys":["a"],"content":"b"}, null, "x"]}}});
    let report = import_json(&app, "miller.json", &card).await;
    let warnings = report.imported[0].warnings.join("\n");
    assert!(
        warnings.contains("2 regex scripts need your permission"),
        "{warnings}"
    );
    assert!(
        warnings.contains("its lorebook: entry 1 was skipped"),
        "{warnings}"
    );
}

#[tokio::test]
async fn error_for_damaged_json_has_kind_and_position() {
    let app = Headless::new().await;
    for (json, reason) in [
        (
            "{\"entries\":{\n \"0\": {\"key\": [}",
            "the lorebook is not valid JSON, line 2, column 16",
        ),
        (
            "{\"spec\":\"chara_card_v2\",\"data\":{\"name\":",
            "the card is not valid JSON, line 1",
        ),
        ("{\"prompts\":[{]", "the preset is not valid JSON, line 1"),
        (
            "[{\"findRegex\":\"/a\",]",
            "the regex script is not valid JSON, line 1",
        ),
    ] {
        let report = import(&app, "bad.json", json.as_bytes()).await;
        assert!(report.refused[0].reason.starts_with(reason), "{report:?}");
        assert_eq!(report.refused[0].kind, "malformed");
    }
}

#[tokio::test]
async fn truncated_emoji_damages_only_itself() {
    let app = Headless::new().await;
    for (file, json, expected) in [
        ("card.json", v2("Mira \\ud83d"), "character Mira \u{fffd}"),
        (
            "book.json",
            r#"{"name":"Sea \ud83d","entries":{"0":{"key":["a"],"content":"\udc00"}}}"#.to_owned(),
            "lorebook Sea \u{fffd}",
        ),
        (
            "preset.json",
            r#"{"name":"Warm \ud83d","temp":0.7,"top_p":NaN}"#.to_owned(),
            "samplerPreset Warm \u{fffd}",
        ),
        (
            "script.json",
            r#"{"scriptName":"Hide \ud83d","findRegex":"/a/","replaceString":"\ud83d"}"#.to_owned(),
            "regexScript Hide \u{fffd}",
        ),
        (
            "personas.json",
            r#"{"personas":{"a.png":"Sam \ud83d"},"persona_descriptions":{}}"#.to_owned(),
            "persona Sam \u{fffd}",
        ),
        (
            "replies.json",
            r#"{"name":"Doors \ud83d","qrList":[]}"#.to_owned(),
            "quickReplies Doors \u{fffd}",
        ),
    ] {
        let report = import(&app, file, json.as_bytes()).await;
        assert_eq!(kinds(&report), [expected], "{report:?}");
        let told = report.imported[0]
            .warnings
            .iter()
            .any(|told| told.contains("half of a character"));
        assert!(told, "{file}: {report:?}");
    }
}

#[tokio::test]
async fn utf_16_is_read_in_every_kind_of_file() {
    let app = Headless::new().await;
    for (file, json, expected) in [
        ("card.json", v2("Zoé 😀"), "character Zoé 😀"),
        (
            "book.json",
            r#"{"name":"Sea","entries":{"0":{"key":["a"],"content":"x"}}}"#.to_owned(),
            "lorebook Sea",
        ),
        (
            "preset.json",
            r#"{"name":"Warm","temp":0.7}"#.to_owned(),
            "samplerPreset Warm",
        ),
    ] {
        let bytes: Vec<u8> = format!("\u{feff}{json}")
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(kinds(&import(&app, file, &bytes).await), [expected]);
    }
}

#[tokio::test]
async fn card_without_a_name_gets_the_file_name() {
    let app = Headless::new().await;
    let report = import(&app, "old copy (Marta).json", v2("").as_bytes()).await;
    assert_eq!(kinds(&report), ["character old copy (Marta)"], "{report:?}");
    assert!(
        report.imported[0].warnings[0].contains("after its file"),
        "{report:?}"
    );
}

#[tokio::test]
async fn imports_each_file_of_an_archive() {
    let app = Headless::new().await;
    let chat = "{\"user_name\":\"Tom\",\"character_name\":\"Archie\"}\n{\"name\":\"Archie\",\"mes\":\"Hi.\"}\n";
    let book = r#"{"name":"Sea","entries":{"0":{"key":["a"],"content":"x"}}}"#;
    let inner = archive(&[("card.json", v2("Inner").as_bytes())]);
    let packed = archive(&[
        ("__MACOSX/._Archie.json", b"x"),
        ("chats/talk.jsonl", chat.as_bytes()),
        ("Archie.json", v2("Archie").as_bytes()),
        ("extra.png", &picture(ImageFormat::Png)),
        ("deep/sea.json", book.as_bytes()),
        ("inner.charx", &inner),
        ("broken.json", b"{\"first_mes\":"),
    ]);
    let report = import(&app, "pack.zip", &packed).await;
    let mut found = kinds(&report);
    found.sort();
    assert_eq!(
        found,
        [
            "character Archie",
            "character Inner",
            "chat talk",
            "lorebook Sea"
        ],
        "{report:?}"
    );
    assert_eq!(
        (report.refused.len(), report.refused[0].file.as_str()),
        (1, "broken.json"),
        "{report:?}"
    );
    assert!(
        report.skipped.iter().any(|one| one.file == "extra.png"),
        "{report:?}"
    );
}

fn card_with_icon(ending: &str) -> Vec<u8> {
    json!({"spec":"chara_card_v3","spec_version":"3.0","data":{"name":"Jay","description":"d","assets":[
        {"type":"icon","name":"main","uri":format!("embeded://icon.{ending}"),"ext":ending}]}})
    .to_string()
    .into_bytes()
}

#[tokio::test]
async fn an_icon_of_any_kind_is_the_picture_of_a_png_export() {
    for (ending, format) in [
        ("jpg", ImageFormat::Jpeg),
        ("webp", ImageFormat::WebP),
        ("png", ImageFormat::Png),
    ] {
        let app = Headless::new().await;
        let packed = archive(&[
            ("card.json", &card_with_icon(ending)),
            (&format!("icon.{ending}"), &picture(format)),
        ]);
        let behind = [
            picture(ImageFormat::Jpeg),
            archive(&[("card.json", v2("Behind").as_bytes())]),
        ]
        .concat();
        for file in [packed, behind] {
            let report = import(&app, "jay.charx", &file).await;
            let id = report.imported[0].id.parse().unwrap();
            let exported = app
                .engine
                .export_character(id, CardFormat::Png)
                .await
                .unwrap();
            let shown = image::load_from_memory_with_format(&exported.bytes, ImageFormat::Png)
                .unwrap()
                .to_rgb8();
            assert_eq!(
                (shown.width(), shown.height(), exported.warnings.len()),
                (8, 6, 0),
                "{ending}"
            );
            assert!(shown.get_pixel(3, 3).0[0].abs_diff(200) < 20, "{ending}");
        }
    }
}

#[tokio::test]
async fn reports_unreadable_picture_on_import_and_export() {
    let app = Headless::new().await;
    let packed = archive(&[
        ("card.json", &card_with_icon("gif")),
        ("icon.gif", b"GIF89a rubbish"),
    ]);
    let report = import(&app, "jay.charx", &packed).await;
    assert!(
        report.imported[0]
            .warnings
            .iter()
            .any(|told| told.contains("picture cannot be read")),
        "{report:?}"
    );
    let exported = app
        .engine
        .export_character(report.imported[0].id.parse().unwrap(), CardFormat::Png)
        .await
        .unwrap();
    assert!(
        exported
            .warnings
            .iter()
            .any(|told| told.contains("picture cannot be read")),
        "{:?}",
        exported.warnings
    );
}

#[tokio::test]
async fn card_in_a_damaged_picture_is_kept() {
    let app = Headless::new().await;
    let data = format!("tEXtchara\0{}", STANDARD.encode(v2("Mira")));
    // The wrong checksum adds one warning.
    let text = [
        &(data.len() as u32 - 4).to_be_bytes()[..],
        data.as_bytes(),
        &[0; 4],
    ]
    .concat();
    let whole = picture(ImageFormat::Png);
    // The card follows the header, and the pixels are cut off.
    let cut = [&whole[..33], &text, &whole[33..60]].concat();
    let mut bad_pixels = [&whole[..33], &text, &whole[33..]].concat();
    let at = bad_pixels
        .windows(4)
        .position(|kind| kind == b"IDAT")
        .unwrap();
    bad_pixels[at + 8] ^= 0xff;
    for (name, file) in [("cut.png", cut), ("pixels.png", bad_pixels)] {
        let report = import(&app, name, &file).await;
        assert_eq!(kinds(&report), ["character Mira"], "{report:?}");
        assert!(
            report.imported[0]
                .warnings
                .iter()
                .any(|told| told.contains("picture")),
            "{report:?}"
        );
        let exported = app
            .engine
            .export_character(report.imported[0].id.parse().unwrap(), CardFormat::Png)
            .await
            .unwrap();
        assert!(image::load_from_memory(&exported.bytes).is_ok(), "{name}");
    }
}

#[tokio::test]
async fn presets_are_read_up_to_eight_mebibytes() {
    let app = Headless::new().await;
    let preset = |size: usize| json!({"temperature":1,"prompts":[{"identifier":"main","name":"Main","role":"system","content":"m".repeat(size)}]});
    let report = import_json(&app, "large.json", &preset(1 << 20)).await;
    assert!(
        kinds(&report).contains(&"template large".to_owned()),
        "{report:?}"
    );
    let template = report
        .imported
        .iter()
        .find(|one| one.kind == "template")
        .unwrap();
    assert!(
        app.engine
            .list_templates()
            .await
            .unwrap()
            .iter()
            .any(|one| one.id == template.id)
    );
    let report = import_json(&app, "huge.json", &preset(8 << 20)).await;
    assert_eq!(
        (report.imported.len(), report.refused[0].kind.as_str()),
        (0, "tooLarge"),
        "{report:?}"
    );
    assert!(
        report.refused[0].reason.contains("larger than 8 MiB"),
        "{report:?}"
    );
}
