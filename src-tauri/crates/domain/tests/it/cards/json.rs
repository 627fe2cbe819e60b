//! JSON files: versions, odd fields and errors.

use domain::card::{Card, CardError, CardVersion, Warning};
use serde_json::{Value, json};

use super::support::{assert_keeps, leaves, read, read_clean, read_error, v2, v3};

#[test]
fn recognizes_each_version() {
    assert_eq!(
        read_clean(r#"{"name":"Mira","description":"d"}"#).version(),
        CardVersion::V1
    );
    assert_eq!(read_clean(&v2("Mira")).version(), CardVersion::V2);
    assert_eq!(read_clean(&v3("Mira")).version(), CardVersion::V3);
}

#[test]
fn fields_read_the_same_in_every_version() {
    for json in [
        r#"{"name":" Mira ","first_mes":"Hi"}"#,
        &v2("Mira"),
        &v3("Mira"),
    ] {
        let card = read_clean(json);
        assert_eq!(
            (card.name(), card.scenario(), card.tags()),
            ("Mira", "", vec![])
        );
    }
}

#[test]
fn a_byte_order_mark_does_not_matter() {
    let (card, _) = Card::read(format!("\u{feff} {}", v2("Mira")).as_bytes()).unwrap();
    assert_eq!(card.name(), "Mira");
}

#[test]
fn an_unknown_spec_is_read_as_v2_with_a_warning() {
    let (card, warnings) =
        read(r#"{"spec":"chara_card_v9","spec_version":"9.0","data":{"name":"Mira"}}"#);
    assert_eq!(card.version(), CardVersion::V2);
    assert_eq!(
        warnings,
        [Warning::UnknownSpec {
            spec: "chara_card_v9".into()
        }]
    );
    let (_, warnings) = read(r#"{"data":{"name":"Mira"}}"#);
    assert_eq!(warnings, [Warning::MissingSpec]);
}

#[test]
fn a_newer_version_is_read_with_a_warning() {
    let newer = |version: &str| read(&v3("Mira").replace("\"3.0\"", version)).1;
    let warning = |found: &str| {
        [Warning::UnknownVersion {
            found: found.into(),
            read_as: "3.0",
        }]
    };
    assert_eq!(newer("\"3.5\""), warning("3.5"));
    assert_eq!(newer("4"), warning("4"));
    assert_eq!(newer("\"soon\""), warning("soon"));
    assert_eq!(newer("\"2.9\""), []);
    assert_eq!(newer("3.0"), []);
}

#[test]
fn a_flat_card_that_claims_a_spec_is_read_as_v1() {
    let (card, warnings) = read(r#"{"spec":"chara_card_v2","name":"Mira"}"#);
    assert_eq!(card.version(), CardVersion::V1);
    assert_eq!(
        warnings,
        [Warning::MissingData {
            spec: "chara_card_v2".into()
        }]
    );
}

#[test]
fn a_card_in_a_card_is_unwrapped() {
    let (card, warnings) = read(&format!(
        r#"{{"spec":"chara_card_v2","data":{}}}"#,
        v3("Mira")
    ));
    assert_eq!((card.name(), card.version()), ("Mira", CardVersion::V3));
    assert_eq!(warnings, [Warning::NestedTwice]);
}

#[test]
fn odd_fields_are_named_by_path_and_kept() {
    let json = r#"{"spec":"chara_card_v3","spec_version":"3.0","data":{"name":"Mira","description":null,
        "character_version":2,"alternate_greetings":["a",7,"b"],"tags":"cosy","extensions":[],"character_book":null}}"#;
    let (card, warnings) = read(json);
    let paths: Vec<_> = warnings.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(paths.join("\n"), @r"
    `data.description` should be text, but is null; it is kept and treated as empty
    `data.alternate_greetings[1]` should be text, but is a number; it is kept and treated as empty
    `data.tags` should be a list, but is text; it is read as a list with one item
    `data.character_version` should be text, but is a number; it is kept and treated as empty
    `data.extensions` should be an object, but is a list; it is kept and treated as empty
    `data.character_book` should be an object, but is null; it is kept and treated as empty
    ");
    assert_eq!(
        (card.description(), card.alternate_greetings(), card.tags()),
        ("", vec!["a", "b"], vec!["cosy"])
    );
    assert!(card.character_book().is_none() && card.extensions().is_none());
    assert_keeps(&serde_json::from_str(json).unwrap(), &card.to_value());
}

#[test]
fn a_card_without_a_usable_name_is_refused_by_path() {
    assert_eq!(
        read_error(&v2("  ")),
        CardError::NoName { path: "data.name" }
    );
    assert_eq!(
        read_error(r#"{"name":5}"#),
        CardError::NoName { path: "name" }
    );
    assert_eq!(read_error("{}"), CardError::NoName { path: "name" });
    assert_eq!(
        read_error(r#"{"spec":"chara_card_v2"}"#),
        CardError::NoName { path: "data.name" }
    );
    assert_eq!(
        read_error(&v3(&"x".repeat(301))),
        CardError::NameTooLong {
            path: "data.name",
            limit: 300
        }
    );
}

#[test]
fn refuses_values_that_are_not_objects() {
    assert_eq!(
        read_error("[1]"),
        CardError::NotAnObject {
            path: "(file)",
            found: "a list"
        }
    );
    let list = r#"{"spec":"chara_card_v2","data":[]}"#;
    assert_eq!(
        read_error(list),
        CardError::NotAnObject {
            path: "data",
            found: "a list"
        }
    );
}

#[test]
fn refuses_broken_json_with_its_position() {
    let error = read_error("{\"name\": \"Mira\",\n \"tags\": [}");
    assert_eq!(
        error.to_string(),
        "the card is not valid JSON, line 2, column 11: expected value"
    );
    // JavaScript also reads such a file and substitutes a replacement character.
    let (latin1, warnings) = Card::read(b"{\"name\":\"Ren\xe9\"}").unwrap();
    assert_eq!((latin1.name(), warnings.len()), ("Ren\u{fffd}", 1));
    assert!(
        warnings[0].to_string().contains("save the file as UTF-8"),
        "{}",
        warnings[0]
    );
}

#[test]
fn refuses_hostile_json_before_allocation() {
    let deep = format!(
        r#"{{"name":"x","a":{}{}}}"#,
        "[".repeat(101),
        "]".repeat(101)
    );
    assert_eq!(
        read_error(&deep),
        CardError::TooComplex {
            what: "too many levels",
            limit: 100
        }
    );
    let wide = format!(r#"{{"name":"x","a":[{}0]}}"#, "0,".repeat(1_200_000));
    assert_eq!(
        read_error(&wide),
        CardError::TooComplex {
            what: "too many values",
            limit: 1_200_000
        }
    );
    let long = format!(r#"{{"name":"{}"}}"#, "x".repeat(domain::card::MAX_JSON));
    assert!(matches!(
        read_error(&long),
        CardError::TooLarge {
            limit: domain::card::MAX_JSON,
            ..
        }
    ));
    // Brackets inside strings do not increase the nesting depth.
    assert_eq!(
        read_clean(&format!(
            r#"{{"name":"x","scenario":"\"{}"}}"#,
            "[".repeat(300)
        ))
        .name(),
        "x"
    );
}

#[test]
fn names_the_type_of_other_files() {
    let found = |bytes: &[u8]| match Card::read(bytes).unwrap_err() {
        CardError::UnknownFormat { looks_like } => looks_like,
        other => panic!("{other}"),
    };
    assert_eq!(found(b""), "an empty file");
    assert_eq!(found(b"PK\x05\x06rest"), "an unknown kind of file");
    assert_eq!(found(b"\xff\xd8\xff\xe0"), "a JPEG picture");
    assert_eq!(found(b"RIFF\x24\0\0\0WEBPVP8 "), "a WEBP picture");
    assert_eq!(found(b"GGUF\x03"), "a model file");
    assert_eq!(
        found(b"rcc||rccv1||AAAA"),
        "a card that RisuAI has encrypted"
    );
    assert_eq!(found(&[111, 0, 9, 0, 0, 0, 1]), "a RisuAI module");
    assert_eq!(found(b"Once upon a time"), "an unknown kind of file");
    assert_eq!(found(b"GIF89a"), "a GIF picture");
    let template = b"instruction_template: |-\n  {{ messages }}\n";
    assert_eq!(
        found(template),
        "a text-generation-webui instruction template"
    );
    assert_eq!(
        found(b"temperature: 0.7\ntop_p: 0.9\n"),
        "a text-generation-webui sampler preset"
    );
    assert_eq!(found(b"\0\0\0\x1cftypavif"), "an AVIF picture");
    assert_eq!(found(b"SQLite format 3\0"), "a database");
}

#[test]
fn other_archive_types_get_advice() {
    let tar = [vec![0; 257], b"ustar\0".to_vec()].concat();
    for (bytes, packed) in [
        (&b"Rar!\x1a\x07\x01\0"[..], "a RAR archive"),
        (b"Rar!\x1a\x07\0", "a RAR archive"),
        (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
        (b"\x1f\x8b\x08", "a GZIP archive"),
        (&tar, "a TAR archive"),
    ] {
        let error = Card::read(bytes).unwrap_err();
        assert_eq!(error, CardError::PackedOtherwise { packed });
        assert!(error.to_string().contains("unpack it"), "{error}");
    }
}

#[test]
fn an_edit_changes_only_its_field() {
    let json = r#"{"x":1,"spec":"chara_card_v3","spec_version":"3.0","data":{"name":"Mira","nickname":"Mi","scenario":"Inn",
        "extensions":{"depth_prompt":{"depth":4}},"odd":{"a":[1,2.5,null]}},"y":[]}"#;
    let mut card = read_clean(json);
    let mut expected = leaves(&serde_json::from_str(json).unwrap());

    card.set_scenario("A ferry");
    card.set_extension("inglenook", json!({"pinned": true}));
    expected.insert("/data/scenario".into(), "A ferry".into());
    expected.insert("/data/extensions/inglenook/pinned".into(), true.into());
    assert_eq!(leaves(&card.to_value()), expected);

    let order: Vec<_> = card
        .to_value()
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    assert_eq!(order, ["x", "spec", "spec_version", "data", "y"]);
}

#[test]
fn an_edit_updates_the_copy_for_v1_readers() {
    let mut card = read_clean(
        r#"{"name":"Mira","scenario":"other","spec":"chara_card_v2","spec_version":"2.0","data":{"name":"Mira","scenario":"Inn"}}"#,
    );
    card.set_name("Mirabel").unwrap();
    card.set_scenario("Ferry");
    let root = card.to_value();
    assert_eq!(
        (&root["name"], &root["scenario"]),
        (&json!("Mirabel"), &json!("other"))
    );
    assert_eq!(
        root["data"],
        json!({"name": "Mirabel", "scenario": "Ferry"})
    );
}

#[test]
fn a_new_card_is_complete() {
    let mut card = Card::new(" Mira ").unwrap();
    card.set_first_mes("Come in.");
    card.set_alternate_greetings(&["Sit down.", " "]);
    card.set_nickname("Mi");
    assert_eq!(
        (card.name(), card.display_name(), card.version()),
        ("Mira", "Mi", CardVersion::V3)
    );
    assert_eq!(card.greetings(), ["Come in.", "Sit down."]);
    assert_eq!(read_clean(&card.to_json()), card);
    assert_eq!(
        card.to_value()["data"]["group_only_greetings"],
        Value::Array(vec![])
    );

    assert_eq!(
        Card::new(" ").unwrap_err(),
        CardError::NoName { path: "name" }
    );
    assert!(card.set_name("").is_err());
    assert_eq!(card.name(), "Mira");
}

#[test]
fn dates_are_seconds_in_the_file() {
    let mut card = Card::new("Mira").unwrap();
    assert_eq!(card.creation_date(), None);
    card.set_creation_date(domain::Timestamp(1_703_462_400_123));
    assert_eq!(card.to_value()["data"]["creation_date"], 1_703_462_400);
    assert_eq!(
        card.creation_date(),
        Some(domain::Timestamp(1_703_462_400_000))
    );
    let unknown = read_clean(r#"{"name":"Mira","modification_date":0}"#);
    assert_eq!(unknown.modification_date(), None);
}

#[test]
fn a_blank_nickname_does_not_replace_the_name() {
    for (nickname, spoken) in [("\"Mi\"", "Mi"), ("\" \"", "Mira"), ("\"\"", "Mira")] {
        let card = read_clean(&format!(r#"{{"name":"Mira","nickname":{nickname}}}"#));
        assert_eq!(card.display_name(), spoken);
    }
}
