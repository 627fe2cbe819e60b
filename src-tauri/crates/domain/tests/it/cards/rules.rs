//! Rules of the card specifications about the contents of a card.

use domain::card::Card;
use serde_json::{Value, json};

use super::support::{leaves, picture, read_clean};

fn card(data: Value) -> Card {
    read_clean(&json!({ "spec": "chara_card_v3", "spec_version": "3.0", "data": data }).to_string())
}

#[test]
fn absent_extensions_become_an_empty_object() {
    let card = card(json!({ "name": "Mira" }));
    assert_eq!(card.extensions(), None);
    let written: Value = serde_json::from_str(&card.to_json_v2()).unwrap();
    assert_eq!(written["data"]["extensions"], json!({}));
}

#[test]
fn notes_are_read_by_language() {
    let notes = json!({ "name": "Mira", "creator_notes": "Hi", "creator_notes_multilingual": { "de": "Hallo", "fr": 7 } });
    let mut card = card(notes);
    assert_eq!(card.creator_notes_multilingual(), [("de", "Hallo")]);
    card.set_creator_notes_multilingual(&[("de", "Servus")]);
    assert_eq!(
        card.to_value()["data"]["creator_notes_multilingual"],
        json!({ "de": "Servus", "fr": 7 })
    );
}

#[test]
fn sources_are_kept_unchanged() {
    let card = card(json!({ "name": "Mira", "source": ["https://example.org/1", "id:2"] }));
    assert_eq!(card.source(), ["https://example.org/1", "id:2"]);
    let written: Value = serde_json::from_str(&card.to_json_v3()).unwrap();
    assert_eq!(
        written["data"]["source"],
        json!(["https://example.org/1", "id:2"])
    );
}

#[test]
fn without_assets_the_picture_is_the_icon() {
    let card = card(json!({ "name": "Mira" }));
    assert_eq!((card.assets().len(), card.embedded_file_count()), (0, 0));
    let png = card.to_png(&picture(&[])).unwrap();
    assert_eq!(domain::card::picture(&png, &card).unwrap().unwrap(), png);
}

/// Covers all standard types, custom types and every kind of location. Only the main icon is the
/// avatar.
#[test]
fn assets_of_every_type_are_kept() {
    let asset = |kind: &str, name: &str, uri: &str, ext: &str| json!({ "type": kind, "name": name, "uri": uri, "ext": ext });
    let assets = json!([
        asset("background", "main", "https://example.org/b.webp", "webp"),
        asset("user_icon", "Tom", "ccdefault:", "png"),
        asset(
            "emotion",
            "neutral",
            "embeded://assets/emotion/images/neutral.jpeg",
            "jpeg"
        ),
        asset(
            "x_live2d",
            "model",
            "embeded://assets/x_live2d/l2d/m.moc3",
            "moc3"
        ),
        asset("icon", "other", "data:image/png;base64,AAAA", "png"),
        asset("icon", "main", "data:image/png;base64,iVBORw==", "png"),
        asset("x_strange", "s", "ipfs://x", "unknown"),
    ]);
    let card = card(json!({ "name": "Mira", "assets": assets }));
    assert_eq!(
        domain::card::picture(b"{}", &card)
            .unwrap()
            .unwrap()
            .as_ref(),
        b"\x89PNG"
    );
    assert_eq!(
        (card.embedded_file_count(), card.icon_is_embedded()),
        (2, false)
    );
    for written in [card.to_json_v2(), card.to_json_v3()] {
        let written: Value = serde_json::from_str(&written).unwrap();
        assert_eq!(leaves(&written["data"]["assets"]), leaves(&assets));
    }
}

/// Entries of a large book, each with an unknown decorator.
#[test]
fn a_large_book_keeps_entries_and_decorators() {
    let entry = |at: usize| {
        json!({ "keys": [format!("key {at}")], "content": format!("@@moon {at}\n@@@depth 2\nText {at}"), "extensions": {},
            "enabled": true, "insertion_order": at, "use_regex": false, "constant": false })
    };
    let book = json!({ "extensions": {}, "entries": (0..947).map(entry).collect::<Vec<_>>() });
    let card = card(json!({ "name": "Mira", "character_book": book }));
    let (again, _) = Card::read(&card.to_png(&picture(&[])).unwrap()).unwrap();
    assert_eq!(again.character_book(), book.as_object());
}
