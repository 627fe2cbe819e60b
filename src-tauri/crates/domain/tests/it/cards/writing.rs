//! Export: kept values, added values, and the copy for older applications.

use domain::card::{Card, CardError};
use serde_json::{Value, json};

use super::support::{
    assert_keeps, card_chunk, card_in, chunk, chunks, picture, read, read_clean, text_chunk, v2, v3,
};

const V1: &str = r#"{"name":"Mira","description":"d","personality":"p","scenario":"s","first_mes":"f","mes_example":"m",
    "creator_notes":"n","fav":true,"spec":"mine","data":{"own":[1]},"create_date":"2023-1-1 @00h"}"#;

const DECORATED: &str = r#"{"spec":"chara_card_v3","spec_version":"3.0","data":{"name":"Mira","creator_notes":"By Ann.",
    "character_book":{"entries":[{"keys":["lamp"],"content":"@@depth 2\n@@@position after_desc\n\nLamps burn oil."},
    {"keys":["x"],"content":"Plain @@text"}]}}}"#;

fn value(json: &str) -> Value {
    serde_json::from_str(json).unwrap()
}

#[test]
fn upgrade_to_v3_is_lossless_and_complete() {
    for json in [V1.to_owned(), v2("Mira"), v3("Mira")] {
        let (card, _) = read(&json);
        let upgraded = value(&card.to_json_v3());
        assert_keeps(&value(&json), &upgraded);
        assert_eq!(
            (&upgraded["spec"], &upgraded["spec_version"]),
            (&json!("chara_card_v3"), &json!("3.0"))
        );
        for list in ["alternate_greetings", "group_only_greetings", "tags"] {
            assert_eq!(upgraded["data"][list], json!([]));
        }
        assert_eq!(upgraded["data"]["extensions"], json!({}));
        assert_eq!(read_clean(&upgraded.to_string()).name(), "Mira");
    }
}

#[test]
fn the_fields_of_v1_move_into_data_once() {
    let upgraded = value(&read(V1).0.to_json_v3());
    assert_eq!(
        (&upgraded["data"]["description"], &upgraded["description"]),
        (&json!("d"), &Value::Null)
    );
    assert_eq!(
        (&upgraded["fav"], &upgraded["data"]["data"]["own"]),
        (&json!(true), &json!([1]))
    );
}

#[test]
fn a_newer_version_keeps_its_number() {
    let (card, _) = read(&v3("Mira").replace("3.0", "3.7"));
    assert_eq!(value(&card.to_json_v3())["spec_version"], "3.7");
    assert_eq!(value(&card.to_json_v2())["spec_version"], "2.0");
}

#[test]
fn v2_export_keeps_v3_fields() {
    let json = r#"{"spec":"chara_card_v3","spec_version":"3.0","data":{"name":"Mira","nickname":"Mi","source":["id:1"],
        "group_only_greetings":["All of you!"],"new_field":{"deep":[1]}}}"#;
    let exported = value(&read_clean(json).to_json_v2());
    assert_eq!(exported["spec"], "chara_card_v2");
    assert_keeps(&value(json), &exported);
}

#[test]
fn a_picture_gets_both_versions_and_keeps_the_rest() {
    let others = [
        text_chunk("Title", "An inn"),
        text_chunk("chara-ext-asset_:0", "AAAA"),
        chunk("zTXt", b"Note\0\0\x78\x9c"),
        chunk("prVt", &[0, 255]),
    ];
    let old = [
        card_chunk("CHARA", &v2("Old")),
        card_chunk("ccv3", &v3("Old")),
        card_chunk("chara", &v2("Older")),
    ];
    let before = [
        picture(&[others.concat(), old.concat()]),
        b"behind".to_vec(),
    ]
    .concat();

    let after = read_clean(&v3("Mira")).to_png(&before).unwrap();

    assert_eq!(
        (
            &card_in(&after, "ccv3")["data"]["name"],
            &card_in(&after, "chara")["data"]["name"]
        ),
        (&json!("Mira"), &json!("Mira"))
    );
    assert_eq!(card_in(&after, "chara")["spec"], "chara_card_v2");
    assert!(after.ends_with(b"behind"));
    let whole = &after[..after.len() - b"behind".len()];
    let rest: Vec<_> = chunks(whole)
        .into_iter()
        .filter(|(_, data)| !is_card(data))
        .collect();
    assert_eq!(rest, chunks(&picture(&others)));
    assert_eq!(Card::read(&after).unwrap().1, []);
}

fn is_card(data: &[u8]) -> bool {
    data.starts_with(b"chara\0") || data.starts_with(b"ccv3\0")
}

#[test]
fn writing_twice_gives_the_same_file() {
    let mut card = Card::new("Mira").unwrap();
    card.set_creator_notes("By Ann.");
    let once = card.to_png(&picture(&[])).unwrap();
    let twice = Card::read(&once).unwrap().0.to_png(&once).unwrap();
    assert!(once == twice);
}

#[test]
fn the_v2_copy_has_a_notice_and_no_decorators() {
    let png = read_clean(DECORATED).to_png(&picture(&[])).unwrap();
    let copy = &card_in(&png, "chara")["data"];
    assert!(
        copy["creator_notes"]
            .as_str()
            .unwrap()
            .starts_with("This is a Character Card V3")
    );
    assert!(copy["creator_notes"].as_str().unwrap().ends_with("By Ann."));
    let contents =
        |data: &Value| [0, 1].map(|i| data["character_book"]["entries"][i]["content"].clone());
    assert_eq!(
        contents(copy),
        [json!("Lamps burn oil."), json!("Plain @@text")]
    );
    assert_keeps(&value(DECORATED), &card_in(&png, "ccv3"));
}

#[test]
fn an_original_v2_card_is_exported_unchanged() {
    let json = DECORATED
        .replace("chara_card_v3", "chara_card_v2")
        .replace("3.0", "2.0");
    let png = read_clean(&json).to_png(&picture(&[])).unwrap();
    assert_keeps(&value(&json), &card_in(&png, "chara"));
    assert_keeps(&value(&json), &card_in(&png, "ccv3"));
}

#[test]
fn refuses_to_write_into_a_broken_picture() {
    let card = read_clean(&v3("Mira"));
    let whole = picture(&[]);
    assert!(matches!(
        card.to_png(&whole[..40]).unwrap_err(),
        CardError::Truncated { .. }
    ));
    assert!(matches!(
        card.to_png(b"JPEG").unwrap_err(),
        CardError::BrokenPng { offset: 0, .. }
    ));
}

#[test]
fn refuses_to_write_a_card_above_the_read_limit() {
    let mut card = Card::new("Mira").unwrap();
    card.set_description(&"x".repeat(domain::card::MAX_JSON));
    assert!(matches!(
        card.to_png(&picture(&[])).unwrap_err(),
        CardError::TooLarge {
            what: "the card's JSON",
            ..
        }
    ));
}
