//! Property tests: reading never panics, and everything read is written again.

use domain::card::Card;
use proptest::prelude::*;
use serde_json::{Map, Value};

use super::archives::archive;
use super::support::{assert_keeps, card_chunk, chunk, leaves, picture};

/// Keys of the format, so that odd values occur in known and unknown fields.
const KEYS: &[&str] = &[
    "spec",
    "spec_version",
    "data",
    "description",
    "first_mes",
    "tags",
    "alternate_greetings",
    "character_book",
    "entries",
    "content",
    "extensions",
    "assets",
    "nickname",
    "creation_date",
    "creator_notes",
    "create_date",
    "",
];

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any_decimal(),
        "\\PC*".prop_map(Value::from),
        "(@@[a-z]{0,3} ?\n){0,2}[{}<>a-zA-Z/]{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any_key(), inner), 0..6)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// Typical decimals. Beyond 15 digits `serde_json` may differ in the last bit.
fn any_decimal() -> impl Strategy<Value = Value> {
    (any::<i32>(), 0..6)
        .prop_map(|(digits, places)| Value::from(f64::from(digits) / 10_f64.powi(places)))
}

fn any_key() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(KEYS).prop_map(str::to_owned),
        "\\PC{0,8}"
    ]
}

fn fields_with_a_name(most: usize) -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec((any_key(), any_json()), 0..=most).prop_map(|pairs| {
        let mut fields: Map<_, _> = pairs.into_iter().collect();
        fields.insert("name".into(), "Mira".into());
        fields
    })
}

/// A flat card, or fields in `data` with arbitrary fields around it.
fn any_card(most: usize) -> impl Strategy<Value = Value> {
    let spec = prop::sample::select(&["chara_card_v2", "chara_card_v3", "other"][..]);
    let flat = fields_with_a_name(most).prop_filter("names a format", |fields| {
        !fields
            .get("spec")
            .and_then(Value::as_str)
            .is_some_and(|spec| spec.starts_with("chara_card"))
    });
    let nested = (fields_with_a_name(most), fields_with_a_name(most), spec).prop_map(
        |(mut root, data, spec)| {
            root.insert("spec".into(), spec.into());
            root.insert("data".into(), Value::Object(data));
            root
        },
    );
    prop_oneof![flat.prop_map(Value::Object), nested.prop_map(Value::Object)]
}

proptest! {
    #[test]
    fn any_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        _ = Card::read(&bytes);
        _ = Card::from_json(&bytes);
        _ = Card::from_png(&bytes);
        _ = Card::from_png(&[b"\x89PNG\r\n\x1a\n", &bytes[..]].concat());
        _ = Card::read(&[b"PK\x03\x04", &bytes[..]].concat());
    }

    #[test]
    fn any_chunks_never_panic(chunks in prop::collection::vec(("[a-zA-Z]{4}|tEXt|IEND", prop::collection::vec(any::<u8>(), 0..60)), 0..6)) {
        let chunks: Vec<_> = chunks.iter().map(|(kind, data)| chunk(kind, data)).collect();
        _ = Card::read(&picture(&chunks));
    }

    #[test]
    fn flipped_bytes_never_panic(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut png = picture(&[card_chunk("ccv3", &super::support::v3("Mira"))]);
        for (at, byte) in flips {
            let at = at.index(png.len());
            png[at] = byte;
        }
        if let Ok((card, _)) = Card::read(&png) {
            _ = card.to_png(&png);
        }
    }

    #[test]
    fn flipped_archive_bytes_never_panic(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut charx = archive(&[("card.json", super::support::v3("Mira").as_bytes()), ("module.risum", &[1; 40])]);
        for (at, byte) in flips {
            let at = at.index(charx.len());
            charx[at] = byte;
        }
        if let Ok((card, _)) = Card::read(&charx) {
            _ = domain::card::picture(&charx, &card);
            _ = card.to_charx(Some(&charx), None);
        }
    }

    #[test]
    fn any_json_never_panics(json in any_json()) {
        _ = Card::from_json(json.to_string().as_bytes());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::rounds(10_000)))]

    #[test]
    fn any_card_keeps_its_leaves_in_json(json in any_card(5)) {
        let (card, _) = Card::from_json(json.to_string().as_bytes()).unwrap();
        prop_assert_eq!(leaves(&card.to_value()), leaves(&json));
        let (again, _) = Card::from_json(card.to_json().as_bytes()).unwrap();
        prop_assert_eq!(&again, &card);
        assert_keeps(&json, &Card::from_json(card.to_json_v3().as_bytes()).unwrap().0.to_value());
        assert_keeps(&json, &Card::from_json(card.to_json_v2().as_bytes()).unwrap().0.to_value());
    }

    #[test]
    fn any_card_keeps_its_leaves_in_a_picture(json in any_card(2)) {
        let (card, _) = Card::from_json(json.to_string().as_bytes()).unwrap();
        let png = card.to_png(&picture(&[])).unwrap();
        let (from_png, _) = Card::read(&png).unwrap();
        assert_keeps(&json, &from_png.to_value());
        let (twice, _) = Card::read(&from_png.to_png(&png).unwrap()).unwrap();
        prop_assert_eq!(twice, from_png);
    }

    #[test]
    fn any_card_keeps_its_leaves_in_an_archive(json in any_card(1)) {
        let (card, _) = Card::from_json(json.to_string().as_bytes()).unwrap();
        let charx = card.to_charx(None, None).unwrap();
        let (from_charx, _) = Card::read(&charx).unwrap();
        assert_keeps(&json, &from_charx.to_value());
        prop_assert_eq!(Card::read(&from_charx.to_charx(Some(&charx), None).unwrap()).unwrap().0, from_charx);
    }

    #[test]
    fn exports_keep_any_archive_members(others in prop::collection::btree_map("[a-zA-Z0-9._灯 ]{0,8}[a-z]", prop::collection::vec(any::<u8>(), 0..12), 0..3)) {
        let json = super::support::v3("Mira");
        let mut members = vec![("card.json", json.as_bytes())];
        members.extend(others.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())));
        let source = archive(&members);
        let (card, _) = Card::read(&source).unwrap();
        let again = card.to_charx(Some(&source), None).unwrap();
        prop_assert_eq!(super::archives::all_but_the_card(&again), super::archives::all_but_the_card(&source));
        prop_assert_eq!(&card.to_charx(Some(&again), None).unwrap(), &again);
    }
}
