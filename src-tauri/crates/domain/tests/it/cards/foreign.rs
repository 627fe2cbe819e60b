//! Cards of other programs: Pygmalion JSON, text-generation-webui YAML and JSON, and Backyard cards
//! in EXIF comments.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::backyard::sampling;
use domain::card::{Card, CardError, CardVersion, picture as picture_of};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::support::{assert_keeps, card_chunk, chunk, chunks, leaves, picture, read_clean, v2};

const YAML: &str = "\
name: Wren Hollow
greeting: |-
  *She looks up.*

  \"Lost?\"
context: \"Wren keeps the lamps of {{user}}'s town.\\nShe is forty.\"
turn_template: ''
tags: [lamps, towns]
";

const LEGACY: &str = r#"{"character":{"aiName":"Wren","aiDisplayName":"Wren Hollow","aiPersona":"{character} is a bird.",
    "basePrompt":"Talk with {user}.","scenario":"A mill.","customDialogue":"\#{user}: Hey.\n\#{character}: Hm.","grammar":null,
    "firstMessage":"Hello {user}.","temperature":0.8,"topK":30,"minP":0.6,"minPEnabled":true,"topP":0.9,"repeatPenalty":1,
    "repeatLastN":128,"Chat":[{"id":"q","ChatItems":[]}],"loreItems":[{"id":"l","key":"lamp","value":"Lit."}]},"version":2}"#;

fn legacy() -> String {
    LEGACY.replace("\\#", "#")
}

/// Builds an EXIF block with this comment, in either byte order.
fn exif(little: bool, comment: &[u8]) -> Vec<u8> {
    let short = |number: u16| {
        if little {
            number.to_le_bytes()
        } else {
            number.to_be_bytes()
        }
    };
    let long = |number: u32| {
        if little {
            number.to_le_bytes()
        } else {
            number.to_be_bytes()
        }
    };
    let part = |tag: u16, kind: u16, count: u32, value: u32| {
        [
            &short(1)[..],
            &short(tag),
            &short(kind),
            &long(count),
            &long(value),
            &[0; 4],
        ]
        .concat()
    };
    let order: &[u8] = if little { b"II*\0" } else { b"MM\0*" };
    let text = [b"ASCII\0\0\0", comment].concat();
    [
        order,
        &long(8),
        &part(0x8769, 4, 1, 26),
        &part(0x9286, 7, text.len() as u32, 44),
        &text,
    ]
    .concat()
}

fn png_with(exif: &[u8]) -> Vec<u8> {
    picture(&[chunk("eXIf", exif)])
}

fn jpeg_with(exif: &[u8]) -> Vec<u8> {
    let segment = |kind: u8, data: &[u8]| {
        [
            &[0xff, kind],
            &(data.len() as u16 + 2).to_be_bytes()[..],
            data,
        ]
        .concat()
    };
    let block = segment(0xe1, &[b"Exif\0\0", exif].concat());
    [
        b"\xff\xd8".to_vec(),
        segment(0xe0, b"JFIF\0"),
        block,
        segment(0xda, b""),
        b"pixels\xff\xd9".to_vec(),
    ]
    .concat()
}

#[test]
fn pygmalion_json_gains_v1_fields_and_keeps_its_own() {
    let json = json!({"char_name": "Wren", "char_persona": "A bird.", "world_scenario": "A mill.", "char_greeting": "Hm.",
        "example_dialogue": "You: Hi\nWren: Hm.", "metadata": {"version": 1, "tool": null}});
    let card = read_clean(&json.to_string());
    assert_eq!(
        (card.version(), card.name(), card.description()),
        (CardVersion::V1, "Wren", "A bird.")
    );
    assert_eq!(
        (card.scenario(), card.first_mes(), card.mes_example()),
        ("A mill.", "Hm.", "You: Hi\nWren: Hm.")
    );
    assert_keeps(&json, &serde_json::from_str(&card.to_json_v3()).unwrap());
    // Existing V1 fields are not overwritten, and a V2 card is not converted.
    let both = read_clean(
        r#"{"name":"Mira","char_name":"Wren","description":"","context":"A","greeting":"Hm."}"#,
    );
    assert_eq!(
        (both.name(), both.description(), both.first_mes()),
        ("Mira", "", "Hm.")
    );
    let v2 = read_clean(&v2("Mira").replace("\"spec\"", "\"context\":\"x\",\"spec\""));
    assert_eq!((v2.description(), v2.version()), ("", CardVersion::V2));
}

#[test]
fn reads_text_generation_webui_yaml() {
    let (card, warnings) = Card::read(format!("\u{feff}{YAML}").as_bytes()).unwrap();
    assert_eq!((card.name(), warnings), ("Wren Hollow", vec![]));
    assert_eq!(card.first_mes(), "*She looks up.*\n\n\"Lost?\"");
    assert_eq!(
        card.description(),
        "Wren keeps the lamps of {{user}}'s town.\nShe is forty."
    );
    assert_eq!(card.tags(), ["lamps", "towns"]);
    let v3: Value = serde_json::from_str(&card.to_json_v3()).unwrap();
    assert_eq!(
        (&v3["greeting"], &v3["turn_template"]),
        (&json!(card.first_mes()), &json!(""))
    );
}

#[test]
fn plain_text_is_not_read_as_yaml() {
    for text in [
        "Once upon a time",
        "name: Wren",
        "name: [1\ncontext: x",
        "- name: Wren\n  context: x",
        "title: a\ncontext: b",
    ] {
        let error = Card::read(text.as_bytes()).unwrap_err();
        assert_eq!(
            error,
            CardError::UnknownFormat {
                looks_like: "an unknown kind of file"
            },
            "{text}"
        );
    }
}

#[test]
fn refuses_yaml_that_needs_too_much_memory() {
    let laughs = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\nname: Wren\ncontext: x\n";
    assert!(matches!(
        Card::read(laughs.as_bytes()).unwrap_err(),
        CardError::TooComplex { .. }
    ));
    let deep = format!(
        "name: Wren\ncontext: {}x{}\n",
        "[".repeat(60),
        "]".repeat(60)
    );
    assert!(matches!(
        Card::read(deep.as_bytes()).unwrap_err(),
        CardError::TooComplex {
            what: "too many levels",
            ..
        }
    ));
    let wide = format!("name: Wren\ncontext: x\ntags: [{}]\n", "x, ".repeat(20_000));
    assert!(matches!(
        Card::read(wide.as_bytes()).unwrap_err(),
        CardError::TooComplex {
            what: "too many values",
            ..
        }
    ));
    let endless = format!("name: Wren\ncontext: {}\n", "x".repeat(2 << 20));
    assert!(matches!(
        Card::read(endless.as_bytes()).unwrap_err(),
        CardError::UnknownFormat { .. }
    ));
}

#[test]
fn reads_old_backyard_cards_from_exif_comments() {
    for comment in [
        legacy(),
        STANDARD.encode(legacy()),
        format!("{}\0\0", legacy()),
    ] {
        for little in [false, true] {
            let block = exif(little, comment.as_bytes());
            for file in [png_with(&block), jpeg_with(&block)] {
                let (card, warnings) = Card::read(&file).unwrap();
                assert_eq!(
                    (card.name(), card.display_name(), warnings),
                    ("Wren Hollow", "Wren", vec![])
                );
                assert_eq!(
                    (card.description(), card.first_mes()),
                    ("{{char}} is a bird.", "Hello {{user}}.")
                );
                assert_eq!(card.mes_example(), "<START>\n{{user}}: Hey.\n{{char}}: Hm.");
                assert_eq!(
                    card.character_book().unwrap()["entries"][0]["keys"],
                    json!(["lamp"])
                );
                assert_eq!(sampling(&card).unwrap().min_p, Some(0.6));
                let kept = &card.extensions().unwrap()["backyard"];
                assert_eq!(
                    leaves(kept),
                    leaves(&serde_json::from_str(&legacy()).unwrap())
                );
                assert_eq!(
                    picture_of(&file, &card).unwrap().as_deref(),
                    Some(&file[..])
                );
            }
        }
    }
    assert_eq!(read_clean(&legacy()).name(), "Wren Hollow");
}

#[test]
fn a_card_text_has_precedence_over_a_comment() {
    let png = picture(&[
        chunk("eXIf", &exif(true, legacy().as_bytes())),
        card_chunk("chara", &v2("Mira")),
    ]);
    assert_eq!(Card::read(&png).unwrap().0.name(), "Mira");
    let (card, _) = Card::read(&png_with(&exif(true, legacy().as_bytes()))).unwrap();
    let written = card.to_png(&png).unwrap();
    assert_eq!(Card::read(&written).unwrap().0.name(), "Wren Hollow");
}

#[test]
fn other_comments_are_not_cards() {
    for comment in [&b"Taken at the mill"[..], b"", b"MTIz"] {
        assert_eq!(
            Card::read(&png_with(&exif(true, comment))).unwrap_err(),
            CardError::NoCard
        );
        let jpeg = Card::read(&jpeg_with(&exif(true, comment))).unwrap_err();
        assert_eq!(
            jpeg,
            CardError::UnknownFormat {
                looks_like: "a JPEG picture"
            }
        );
    }
}

#[test]
fn an_animated_png_keeps_its_frames() {
    let frames = [
        chunk("acTL", &[0; 8]),
        chunk("fcTL", &[1; 26]),
        chunk("fdAT", &[2; 40]),
    ];
    let apng = picture(&[frames.concat(), card_chunk("chara", &v2("Mira"))]);
    let (mut card, _) = Card::read(&apng).unwrap();
    card.set_description("Edited.");
    let written = card.to_png(&apng).unwrap();
    let moving = |png: &[u8]| {
        chunks(png)
            .into_iter()
            .filter(|(kind, _)| kind != "tEXt")
            .collect::<Vec<_>>()
    };
    assert_eq!(moving(&written), moving(&picture(&[frames.concat()])));
    assert_eq!(Card::read(&written).unwrap().0.description(), "Edited.");
}

proptest! {
    #[test]
    fn any_comment_never_panics(block in prop::collection::vec(any::<u8>(), 0..120), little in any::<bool>()) {
        let headed = [if little { b"II*\0" } else { b"MM\0*" }, &block[..]].concat();
        for block in [&block, &headed, &exif(little, &block)] {
            _ = Card::read(&png_with(block));
            _ = Card::read(&jpeg_with(block));
        }
    }

    #[test]
    fn any_yaml_never_panics(text in "(name|context|greeting|- |[:\\[\\]{}\"'|>&*!%@#?, \n-]|[a-z]){0,60}") {
        _ = Card::read(format!("name: Wren\ncontext: {text}").as_bytes());
    }

    #[test]
    fn any_flat_card_keeps_its_leaves(texts in prop::collection::vec("\\PC{0,12}", 6)) {
        let keys = ["char_persona", "world_scenario", "char_greeting", "example_dialogue", "context", "odd"];
        let mut json: serde_json::Map<_, _> = keys.iter().zip(texts).map(|(key, text)| ((*key).to_owned(), text.into())).collect();
        json.insert("char_name".into(), "Wren".into());
        let json = Value::Object(json);
        let (card, _) = Card::read(json.to_string().as_bytes()).unwrap();
        assert_keeps(&json, &Card::read(card.to_json_v3().as_bytes()).unwrap().0.to_value());
        let (again, _) = Card::from_json(card.to_json().as_bytes()).unwrap();
        prop_assert_eq!(again, card);
    }
}
