//! CHARX: reading archives, copying members, and writing.

use domain::card::{Card, CardError, CardVersion, Warning, picture as picture_of};
use serde_json::{Value, json};

use super::archives::{Listed, all_but_the_card, archive, listed, members};
use super::support::{assert_keeps, card_chunk, chunks, picture, read_clean, text_chunk, v3};

fn with_assets(assets: Value) -> String {
    json!({"spec": "chara_card_v3", "spec_version": "3.0", "data": {"name": "Mira", "assets": assets}}).to_string()
}

fn icon(uri: &str) -> Value {
    json!({"type": "icon", "uri": uri, "name": "main", "ext": "png"})
}

fn card_of(charx: &[u8]) -> Value {
    serde_json::from_slice(&members(charx)["card.json"]).unwrap()
}

const JPEG: &[u8] = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00 and pixels \xff\xd9";

#[test]
fn reads_the_card_at_the_root_of_an_archive() {
    let (card, warnings) = Card::read(&archive(&[
        ("notes.txt", b"x"),
        ("card.json", v3("Mira").as_bytes()),
    ]))
    .unwrap();
    assert_eq!(
        (card.name(), card.version(), warnings),
        ("Mira", CardVersion::V3, vec![])
    );
    // Archivers add one top-level folder if the user packs a folder.
    let error =
        Card::read(&archive(&[("all/cards/card.json", v3("Mira").as_bytes())])).unwrap_err();
    assert!(
        matches!(error, CardError::UnknownFormat { .. }) && error.to_string().contains("card.json"),
        "{error}"
    );
}

#[test]
fn reads_an_archive_appended_to_a_jpeg() {
    let charx = archive(&[("card.json", v3("Mira").as_bytes()), ("a.mp3", b"la")]);
    let both = [JPEG, &charx].concat();
    let (card, _) = Card::read(&both).unwrap();
    assert_eq!(card.name(), "Mira");
    assert_eq!(
        picture_of(&both, &card).unwrap().as_deref(),
        Some(&both[..])
    );
    assert_eq!(
        members(&card.to_charx(Some(&both), None).unwrap())["a.mp3"],
        b"la"
    );
    let alone = Card::read(JPEG).unwrap_err();
    assert_eq!(
        alone,
        CardError::UnknownFormat {
            looks_like: "a JPEG picture"
        }
    );
}

#[test]
fn the_main_icon_is_the_picture() {
    let (main, other) = (picture(&[]), picture(&[text_chunk("Title", "other")]));
    for uri in [
        "embeded://Assets/a.png",
        "embedded://Assets/a.png",
        "__asset:Assets/a.png",
    ] {
        let second =
            json!({"type": "icon", "uri": "embeded://assets/a.png", "name": "hat", "ext": "png"});
        let card = with_assets(json!([second, icon(uri)]));
        let file = archive(&[
            ("card.json", card.as_bytes()),
            ("Assets/a.png", &main),
            ("assets/a.png", &other),
        ]);
        let (card, _) = Card::read(&file).unwrap();
        assert_eq!(
            picture_of(&file, &card).unwrap().as_deref(),
            Some(&main[..]),
            "{uri}"
        );
        assert_eq!(card.embedded_file_count(), 2);
    }
}

#[test]
fn inline_pictures_are_read_and_none_is_fetched() {
    let card = with_assets(json!([icon("data:image/png;base64,iVBORw0KGgo=")]));
    assert_eq!(
        picture_of(card.as_bytes(), &read_clean(&card))
            .unwrap()
            .as_deref(),
        Some(&b"\x89PNG\r\n\x1a\n"[..])
    );
    for uri in ["https://example.org/a.png", "ccdefault:", "file:///a.png"] {
        let card = with_assets(json!([icon(uri)]));
        assert_eq!(
            picture_of(card.as_bytes(), &read_clean(&card)).unwrap(),
            None,
            "{uri}"
        );
        let file = archive(&[("card.json", card.as_bytes())]);
        assert_eq!(
            picture_of(&file, &read_clean(&card)).unwrap(),
            None,
            "{uri}"
        );
    }
}

#[test]
fn exports_copy_unknown_members() {
    let others: [(&str, &[u8]); 5] = [
        ("module.risum", b"o\0secret"),
        ("x_meta/main.json", b"{\"a\": 1}"),
        ("assets/other/audio/song.mp3", &[7; 5_000]),
        ("assets/icon/l2d/model.moc3", b"model"),
        ("theirs.json", b"{}"),
    ];
    let song = json!({"type": "x_song", "uri": "embeded://assets/other/audio/song.mp3", "name": "s", "ext": "mp3"});
    let json = with_assets(json!([song]));
    let mut given: Vec<(&str, &[u8])> = others.to_vec();
    given.insert(2, ("card.json", json.as_bytes()));
    let before = archive(&given);

    let (mut card, warnings) = Card::read(&before).unwrap();
    assert_eq!(warnings, [Warning::ModuleUnused]);
    card.set_description("Edited.");
    let after = card.to_charx(Some(&before), None).unwrap();

    assert_eq!(all_but_the_card(&after), all_but_the_card(&before));
    assert_eq!(card_of(&after)["data"]["description"], "Edited.");
    assert_keeps(&serde_json::from_str(&json).unwrap(), &card_of(&after));
}

#[test]
fn exports_copy_folders() {
    let json = v3("Mira");
    let before = listed(&[
        Listed::new("card.json", json.as_bytes()),
        Listed::new("assets/", b""),
    ]);
    let after = read_clean(&json).to_charx(Some(&before), None).unwrap();
    assert_eq!(all_but_the_card(&after), all_but_the_card(&before));
}

#[test]
fn a_new_picture_replaces_the_old_one() {
    let (old, new) = (
        picture(&[]),
        picture(&[card_chunk("chara", &v3("Old")), text_chunk("Title", "new")]),
    );
    let json = with_assets(json!([icon("embeded://assets/icon/images/main.png"),
        {"type": "emotion", "uri": "embeded://joy.png", "name": "joy", "ext": "png"}]));
    let before = archive(&[
        ("card.json", json.as_bytes()),
        ("assets/icon/images/main.png", &old),
        ("joy.png", &old),
    ]);

    let after = read_clean(&json)
        .to_charx(Some(&before), Some(&new))
        .unwrap();

    let (card, _) = Card::read(&after).unwrap();
    let shown = picture_of(&after, &card).unwrap().unwrap();
    assert_eq!(
        shown,
        picture(&[text_chunk("Title", "new")]),
        "the picture without its card"
    );
    let names: Vec<_> = members(&after).into_keys().collect();
    assert_eq!(
        names,
        ["assets/icon/images/main_2.png", "card.json", "joy.png"]
    );
    assert_eq!(
        card_of(&after)["data"]["assets"][1],
        json!({"type": "emotion", "uri": "embeded://joy.png", "name": "joy", "ext": "png"})
    );
}

#[test]
fn a_new_archive_has_the_picture_as_icon() {
    for source in [None, Some(v3("Mira").into_bytes())] {
        let made = read_clean(&v3("Mira"))
            .to_charx(source.as_deref(), Some(&picture(&[])))
            .unwrap();
        let main = json!([{"type": "icon", "name": "main", "uri": "embeded://assets/icon/images/main.png", "ext": "png"}]);
        assert_eq!(card_of(&made)["data"]["assets"], main);
        assert_eq!(members(&made)["assets/icon/images/main.png"], picture(&[]));
    }
    let v1 = read_clean(r#"{"name":"Mira","odd":1}"#)
        .to_charx(None, None)
        .unwrap();
    assert_eq!(
        (&card_of(&v1)["spec"], &card_of(&v1)["odd"]),
        (&json!("chara_card_v3"), &json!(1))
    );
    assert_eq!(members(&v1).len(), 1);
}

#[test]
fn png_assets_become_archive_members() {
    let assets = json!([icon("ccdefault:"), {"type": "emotion", "uri": "__asset:0", "name": "joy", "ext": "webp"},
        {"type": "x_a", "uri": "__asset:../../up/0", "name": "up", "ext": "../x"}]);
    let json = with_assets(assets);
    let png = picture(&[
        card_chunk("ccv3", &json),
        text_chunk("chara-ext-asset_:0", "am95"),
        text_chunk("chara-ext-asset_:../../up/0", "dXA="),
        text_chunk("chara-ext-asset_1", "bG9uZQ=="),
        text_chunk("chara-ext-asset_:2", "***"),
    ]);
    let (card, _) = Card::read(&png).unwrap();
    assert_eq!(card.embedded_file_count(), 2);

    let made = card.to_charx(Some(&png), Some(&png)).unwrap();

    let files = members(&made);
    assert_eq!(files["assets/other/other/0.webp"], b"joy");
    assert_eq!(files["assets/other/other/0.bin"], b"up");
    assert_eq!(files["assets/other/other/1.bin"], b"lone");
    let uris: Vec<_> = card_of(&made)["data"]["assets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["uri"].clone())
        .collect();
    let expected = [
        "assets/icon/images/main.png",
        "assets/other/other/0.webp",
        "assets/other/other/0.bin",
    ];
    assert_eq!(
        uris,
        expected.map(|path| json!(format!("embeded://{path}")))
    );
    let kinds: Vec<_> = chunks(&files["assets/icon/images/main.png"])
        .into_iter()
        .map(|(kind, _)| kind)
        .collect();
    assert_eq!(kinds, ["IHDR", "IDAT", "IEND"]);
}

#[test]
fn writing_an_archive_twice_gives_the_same_bytes() {
    let once = read_clean(&v3("Mira"))
        .to_charx(None, Some(&picture(&[])))
        .unwrap();
    let (card, _) = Card::read(&once).unwrap();
    assert!(card.to_charx(Some(&once), None).unwrap() == card.to_charx(Some(&once), None).unwrap());
    assert_eq!(
        members(&card.to_charx(Some(&once), None).unwrap()),
        members(&once)
    );
}
