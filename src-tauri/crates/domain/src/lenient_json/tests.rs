use serde_json::{Value, json};

use super::{JsonError, RepairKind, begins_as_json, check_complexity, clean, read};

fn value(json: &str) -> Value {
    read(json.as_bytes()).unwrap().0
}

fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(unit).collect()
}

#[test]
fn half_characters_become_replacement_characters() {
    for (json, expected) in [
        (r#"{"a":"x\ud83d"}"#, json!({ "a": "x\u{fffd}" })),
        (r#"{"a":"\ude00x"}"#, json!({ "a": "\u{fffd}x" })),
        (
            r#"{"k\uD83D":{"\udfff":["\ud800\ud800"]}}"#,
            json!({ "k\u{fffd}": { "\u{fffd}": ["\u{fffd}\u{fffd}"] } }),
        ),
        (r#"{"a":"\ud83dA"}"#, json!({ "a": "\u{fffd}A" })),
        (
            r#"{"a":"\ude00\ud83d"}"#,
            json!({ "a": "\u{fffd}\u{fffd}" }),
        ),
        (
            r#"{"a":"\ud83d\n\ude00"}"#,
            json!({ "a": "\u{fffd}\n\u{fffd}" }),
        ),
        (
            r#"{"a":"\ud83d\ud83d\ude00"}"#,
            json!({ "a": "\u{fffd}😀" }),
        ),
    ] {
        let (value, repairs) = read(json.as_bytes()).unwrap();
        assert_eq!(value, expected, "{json}");
        assert_eq!(
            repairs
                .iter()
                .map(|repair| repair.fault)
                .collect::<Vec<_>>(),
            [RepairKind::HalfCharacter],
            "{json}"
        );
    }
}

#[test]
fn whole_pairs_and_escaped_backslashes_stay() {
    let json = r#"{"a":"\ud83d\ude00 \\ud83d \\\\ud83d \u0000 \u00e9"}"#;
    let (value, repairs) = read(json.as_bytes()).unwrap();
    assert_eq!(value, json!({ "a": "😀 \\ud83d \\\\ud83d \0 é" }));
    assert!(repairs.is_empty());
    assert!(matches!(
        clean(json.as_bytes()).unwrap().text,
        std::borrow::Cow::Borrowed(_)
    ));
}

#[test]
fn a_repair_has_position_and_count() {
    let (_, repairs) = read(b"{\n \"a\": \"\\ud83d\",\n \"b\": [NaN, NaN]\n}").unwrap();
    let told: Vec<_> = repairs
        .iter()
        .map(|one| (one.fault, one.count, one.line, one.column))
        .collect();
    assert_eq!(
        told,
        [
            (RepairKind::HalfCharacter, 1, 2, 8),
            (RepairKind::NotANumber, 2, 3, 8)
        ]
    );
    assert!(
        repairs[0]
            .to_string()
            .starts_with("line 2, column 8: half of a character")
    );
}

#[test]
fn numbers_out_of_range_become_null() {
    let read =
        value(r#"{"a":NaN,"b":[Infinity,-Infinity,-NaN],"c":1e999,"d":-1E+999,"e":1e-999,"f":12}"#);
    assert_eq!(
        read,
        json!({ "a": null, "b": [null, null, null], "c": null, "d": null, "e": 0.0, "f": 12 })
    );
    let digits = format!("{{\"a\":{}}}", "9".repeat(400));
    assert_eq!(value(&digits), json!({ "a": null }));
    assert_eq!(
        value(r#"{"NaN":"NaN, Infinity"}"#),
        json!({ "NaN": "NaN, Infinity" })
    );
}

#[test]
fn other_bare_words_stay_errors() {
    for json in [
        "{\"a\":nan}",
        "{\"a\":NaNa}",
        "{\"a\":undefined}",
        "{\"a\":1,}",
        "{\"a\":\"x",
        "",
        "{\"a\":\"\\ud8\"}",
    ] {
        assert!(
            matches!(read(json.as_bytes()), Err(JsonError::Syntax { .. })),
            "{json}"
        );
    }
}

#[test]
fn every_encoding_gives_the_same_value() {
    let json = "{\"name\": \"Zoé 😀 山田\"}";
    let bom = "\u{feff}".to_owned() + json;
    let expected = value(json);
    let forms = [
        bom.as_bytes().to_vec(),
        utf16(&bom, u16::to_le_bytes),
        utf16(&bom, u16::to_be_bytes),
        utf16(json, u16::to_le_bytes),
        utf16(json, u16::to_be_bytes),
    ];
    for bytes in forms {
        assert_eq!(read(&bytes).unwrap(), (expected.clone(), Vec::new()));
        assert!(begins_as_json(&bytes));
    }
}

#[test]
fn damaged_text_is_read_with_a_warning() {
    let mut cut = utf16("\u{feff}{\"a\":\"", u16::to_le_bytes);
    cut.extend(0xd83d_u16.to_le_bytes());
    cut.extend(utf16("\"}", u16::to_le_bytes));
    let (value, repairs) = read(&cut).unwrap();
    assert_eq!(
        (value, repairs[0].fault),
        (json!({ "a": "\u{fffd}" }), RepairKind::HalfCharacter)
    );
    let (value, repairs) = read(b"{\"a\":\"Gr\xfc\xdfe \xed\xa0\xbd\"}").unwrap();
    assert!(value["a"].as_str().unwrap().starts_with("Gr\u{fffd}"));
    assert_eq!(
        (repairs[0].fault, repairs[0].line, repairs[0].column),
        (RepairKind::NotText, 1, 9)
    );
}

#[test]
fn the_last_of_equal_keys_wins() {
    assert_eq!(value(r#"{"a":1,"b":2,"a":3}"#), json!({ "a": 3, "b": 2 }));
}

#[test]
fn refuses_json_that_needs_too_much_memory() {
    let deep = "[".repeat(101);
    assert!(matches!(
        read(deep.as_bytes()),
        Err(JsonError::TooComplex { .. })
    ));
    assert!(matches!(
        check_complexity("{},".repeat(300_000).as_bytes()),
        Err(JsonError::TooComplex { .. })
    ));
    assert!(check_complexity(br#"{"a":"[[[[\"[["}"#).is_ok());
}
