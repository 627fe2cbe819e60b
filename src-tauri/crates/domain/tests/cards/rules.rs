//! Rules of the checklist (formats 2.2 to 2.4) that are about what a card holds, each by its id.

use domain::card::Card;
use serde_json::{Value, json};

use crate::support::{leaves, picture, read_clean};

fn card(data: Value) -> Card {
    read_clean(&json!({ "spec": "chara_card_v3", "spec_version": "3.0", "data": data }).to_string())
}

#[test]
fn v2_18_absent_extensions_are_an_empty_object() {
    let card = card(json!({ "name": "Mira" }));
    assert_eq!(card.extensions(), None);
    let written: Value = serde_json::from_str(&card.to_json_v2()).unwrap();
    assert_eq!(written["data"]["extensions"], json!({}));
}

#[test]
fn v3_05_notes_are_read_by_their_languages() {
    let notes =
        json!({ "name": "Mira", "creator_notes": "Hi", "creator_notes_multilingual": { "de": "Hallo", "fr": 7 } });
    let mut card = card(notes);
    assert_eq!(card.creator_notes_multilingual(), [("de", "Hallo")]);
    card.set_creator_notes_multilingual(&[("de", "Servus")]);
    assert_eq!(card.to_value()["data"]["creator_notes_multilingual"], json!({ "de": "Servus", "fr": 7 }));
}

#[test]
fn v3_06_sources_are_kept_as_they_are() {
    let card = card(json!({ "name": "Mira", "source": ["https://example.org/1", "id:2"] }));
    assert_eq!(card.source(), ["https://example.org/1", "id:2"]);
    let written: Value = serde_json::from_str(&card.to_json_v3()).unwrap();
    assert_eq!(written["data"]["source"], json!(["https://example.org/1", "id:2"]));
}

#[test]
fn v3_07_without_assets_the_picture_is_the_icon() {
    let card = card(json!({ "name": "Mira" }));
    assert_eq!((card.assets().len(), card.files_beside()), (0, 0));
    let png = card.to_png(&picture(&[])).unwrap();
    assert_eq!(domain::card::picture(&png, &card).unwrap().unwrap(), png);
}

/// Every type there is, types of somebody's own, and places of every kind: none is lost, and the main icon alone is the avatar.
#[test]
fn v3_08_v3_10_v3_13_v3_14_v3_15_v3_16_assets_of_every_type_are_kept() {
    let asset =
        |kind: &str, name: &str, uri: &str, ext: &str| json!({ "type": kind, "name": name, "uri": uri, "ext": ext });
    let assets = json!([
        asset("background", "main", "https://example.org/b.webp", "webp"),
        asset("user_icon", "Tom", "ccdefault:", "png"),
        asset("emotion", "neutral", "embeded://assets/emotion/images/neutral.jpeg", "jpeg"),
        asset("x_live2d", "model", "embeded://assets/x_live2d/l2d/m.moc3", "moc3"),
        asset("icon", "other", "data:image/png;base64,AAAA", "png"),
        asset("icon", "main", "data:image/png;base64,iVBORw==", "png"),
        asset("x_strange", "s", "ipfs://x", "unknown"),
    ]);
    let card = card(json!({ "name": "Mira", "assets": assets }));
    assert_eq!(domain::card::picture(b"{}", &card).unwrap().unwrap().as_ref(), b"\x89PNG");
    assert_eq!((card.files_beside(), card.icon_is_beside()), (2, false));
    for written in [card.to_json_v2(), card.to_json_v3()] {
        let written: Value = serde_json::from_str(&written).unwrap();
        assert_eq!(leaves(&written["data"]["assets"]), leaves(&assets));
    }
}

/// The entries of a large book, each with a decorator that nobody knows.
#[test]
fn rt_4_rt_7_a_book_of_947_entries_keeps_every_one_and_their_decorators() {
    let entry = |at: usize| {
        json!({ "keys": [format!("key {at}")], "content": format!("@@moon {at}\n@@@depth 2\nText {at}"), "extensions": {},
            "enabled": true, "insertion_order": at, "use_regex": false, "constant": false })
    };
    let book = json!({ "extensions": {}, "entries": (0..947).map(entry).collect::<Vec<_>>() });
    let card = card(json!({ "name": "Mira", "character_book": book }));
    let (again, _) = Card::read(&card.to_png(&picture(&[])).unwrap()).unwrap();
    assert_eq!(again.character_book(), book.as_object());
}
