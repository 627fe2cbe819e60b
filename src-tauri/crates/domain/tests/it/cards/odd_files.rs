//! Real-world file variants: other encodings, cut emojis, no name, manually packed archives, other
//! picture formats.

use domain::bundle::Bundle;
use domain::card::{Card, CardError, Warning};
use serde_json::{Value, json};

use super::archives::{archive, members};
use super::support::{card_chunk, in_kind, picture, read, read_error, v2, v3};

fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(unit).collect()
}

#[test]
fn half_an_emoji_affects_only_itself() {
    let json = r#"{"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"Mira","description":"cut \ud83d here",
        "alternate_greetings":["\udc00","Hello."],"extensions":{"k\ud83d":["\ud83d"]},"creation_date":NaN}}"#;
    let packed = base64(json);
    let pictures = ["tEXt", "zTXt", "iTXt"].map(|kind| picture(&[in_kind(kind, "chara", &packed)]));
    let charx = archive(&[("card.json", json.as_bytes())]);
    let files = [json.as_bytes().to_vec(), charx]
        .into_iter()
        .chain(pictures);
    for file in files {
        let (card, warnings) = Card::read(&file).unwrap();
        assert_eq!(
            (card.name(), card.description()),
            ("Mira", "cut \u{fffd} here")
        );
        assert_eq!(card.alternate_greetings(), ["\u{fffd}", "Hello."]);
        assert_eq!(
            card.to_value()["data"]["extensions"],
            json!({ "k\u{fffd}": ["\u{fffd}"] })
        );
        let repairs = warnings
            .iter()
            .filter(|warning| matches!(warning, Warning::Repaired(_)))
            .count();
        assert_eq!(repairs, 2, "{warnings:?}");
        assert_eq!(Card::from_json(card.to_json().as_bytes()).unwrap().0, card);
    }
}

fn base64(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}

#[test]
fn utf_16_is_read_to_the_last_code_point() {
    let text = "{\"name\": \"Zoe\u{301} Zo\u{e9} 😀 山\"}";
    let marked = format!("\u{feff}{text}");
    for bytes in [
        utf16(&marked, u16::to_le_bytes),
        utf16(&marked, u16::to_be_bytes),
        utf16(text, u16::to_le_bytes),
    ] {
        let (card, warnings) = Card::read(&bytes).unwrap();
        assert_eq!(
            (card.name(), warnings),
            ("Zoe\u{301} Zo\u{e9} 😀 山", vec![])
        );
        let charx = archive(&[("card.json", &bytes)]);
        assert_eq!(Card::read(&charx).unwrap().0.name(), card.name());
    }
}

#[test]
fn the_last_key_wins_and_nul_is_preserved() {
    let (card, _) = read(r#"{"name":"A","name":"Mira","scenario":"a\u0000b"}"#);
    assert_eq!((card.name(), card.scenario()), ("Mira", "a\0b"));
}

#[test]
fn a_name_outside_data_is_used() {
    let (card, warnings) =
        read(r#"{"name":"Rooty","spec":"chara_card_v2","spec_version":"2.0","data":{"name":" "}}"#);
    assert_eq!(card.name(), "Rooty");
    assert_eq!(
        warnings,
        [Warning::NameFromRoot {
            name: "Rooty".into()
        }]
    );
}

#[test]
fn a_nameless_card_is_named_after_its_file() {
    let described = |name: &str| {
        format!(
            r#"{{"spec":"chara_card_v2","spec_version":"2.0","data":{{"name":{name},"description":"d"}}}}"#
        )
    };
    let warning = [Warning::NameFromFile {
        name: "Marta".into(),
    }];
    for name in ["\"\"", "null", "5", "\"  \""] {
        let json = described(name);
        let packed = archive(&[("card.json", json.as_bytes())]);
        for file in [
            json.as_bytes().to_vec(),
            packed,
            picture(&[card_chunk("chara", &json)]),
        ] {
            let (card, warnings) = Card::read_named(&file, "Marta").unwrap();
            assert_eq!(
                (card.name(), &warnings[..]),
                ("Marta", &warning[..]),
                "{name}"
            );
        }
        assert!(matches!(read_error(&json), CardError::NoName { .. }));
        assert!(matches!(
            Card::read_named(json.as_bytes(), " ").unwrap_err(),
            CardError::NoName { .. }
        ));
    }
    // A copy with a name takes precedence. A file without any card field is not a card.
    let png = picture(&[
        card_chunk("ccv3", &described("\"\"")),
        card_chunk("chara", &v2("Mira")),
    ]);
    assert_eq!(Card::read_named(&png, "Marta").unwrap().0.name(), "Mira");
    assert!(Card::read_named(b"{\"tags\":[]}", "Marta").is_err());
}

#[test]
fn a_folder_around_the_card_does_not_matter() {
    let json = r#"{"spec":"chara_card_v3","spec_version":"3.0","data":{"name":"Mira",
        "assets":[{"type":"icon","name":"main","uri":"embeded://assets/icon/main.png","ext":"png"}]}}"#;
    let icon = picture(&[]);
    for (folder, slash) in [("", "/"), ("Mira/", "/"), ("", "\\"), ("Mira\\", "\\")] {
        let path = format!("{folder}{}", "assets/icon/main.png".replace('/', slash));
        let card_path = format!("{folder}card.json");
        let file = archive(&[
            ("__MACOSX/._card.json", b"x"),
            (".DS_Store", b"x"),
            (&card_path, json.as_bytes()),
            (&path, &icon),
        ]);
        let (card, warnings) = Card::read(&file).unwrap();
        assert_eq!((card.name(), warnings), ("Mira", vec![]), "{path}");
        assert_eq!(
            domain::card::picture(&file, &card).unwrap().as_deref(),
            Some(&icon[..]),
            "{path}"
        );
        let again = card.to_charx(Some(&file), None).unwrap();
        assert_eq!(members(&again)["assets/icon/main.png"], icon, "{path}");
    }
}

#[test]
fn two_folders_with_cards_are_not_a_card() {
    let file = archive(&[
        ("a/card.json", v3("A").as_bytes()),
        ("b/card.json", v3("B").as_bytes()),
    ]);
    assert!(Card::read(&file).is_err());
    assert_eq!(
        Bundle::open(&file).unwrap().unwrap().names(),
        ["a/card.json", "b/card.json"]
    );
}

#[test]
fn reads_archives_appended_to_other_files() {
    let packed = archive(&[("card.json", v3("Mira").as_bytes())]);
    for front in [&b"MZ\0\0some program"[..], b"\xff\xd8\xff\xe0 picture"] {
        let file = [front, &packed].concat();
        assert_eq!(Card::read(&file).unwrap().0.name(), "Mira");
    }
    let error = Card::read(b"MZ\0\0only a program").unwrap_err();
    assert!(
        error.to_string().contains("a program for Windows"),
        "{error}"
    );
}

#[test]
fn reports_missing_files_of_an_archive() {
    let json = json!({"spec":"chara_card_v3","spec_version":"3.0","data":{"name":"Mira","assets":[
        {"type":"icon","name":"main","uri":"embeded://gone.png","ext":"png"}, 7,
        {"type":"icon","name":"x","uri":"embeded://there.png","ext":"png"}]}});
    let file = archive(&[
        ("card.json", json.to_string().as_bytes()),
        ("there.png", b"x"),
    ]);
    let (card, warnings) = Card::read(&file).unwrap();
    let told: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(card.name(), "Mira");
    assert!(
        told.iter().any(|told| told.contains("assets[1]")),
        "{told:?}"
    );
    assert!(
        warnings.contains(&Warning::FilesMissing {
            count: 1,
            first: "gone.png".into()
        }),
        "{told:?}"
    );
}

#[test]
fn bundles_list_chats_last() {
    let file = archive(&[
        ("chats/talk.jsonl", b"{}"),
        ("__MACOSX/._a.png", b"x"),
        ("b/.hidden.json", b"x"),
        ("notes.md", b"x"),
        ("a.png", b"picture"),
        ("b\\c.JSON", b"{}"),
    ]);
    let mut bundle = Bundle::open(&file).unwrap().unwrap();
    assert_eq!(bundle.names(), ["a.png", "b/c.JSON", "chats/talk.jsonl"]);
    assert_eq!(bundle.read("a.png").unwrap(), b"picture");
    for other in [
        archive(&[("card.json", b"{}")]),
        archive(&[("readme", b"x")]),
        b"{}".to_vec(),
    ] {
        assert!(Bundle::open(&other).unwrap().is_none());
    }
}

/// Builds a WebP with dummy picture data and an EXIF block.
fn webp(exif: &[u8]) -> Vec<u8> {
    let part = |kind: &[u8], data: &[u8]| {
        [
            kind,
            &(data.len() as u32).to_le_bytes(),
            data,
            &vec![0; data.len() % 2],
        ]
        .concat()
    };
    let parts = [b"WEBP".to_vec(), part(b"VP8L", b"odd"), part(b"EXIF", exif)].concat();
    [b"RIFF", &(parts.len() as u32).to_le_bytes()[..], &parts].concat()
}

/// Builds a little-endian TIFF whose second directory has one entry, the user comment.
fn comment(text: &[u8]) -> Vec<u8> {
    let text = [b"ASCII\0\0\0", text].concat();
    let entry = |tag: u16, kind: u16, count: u32, value: u32| {
        [
            &tag.to_le_bytes()[..],
            &kind.to_le_bytes(),
            &count.to_le_bytes(),
            &value.to_le_bytes(),
        ]
        .concat()
    };
    let first = [&1_u16.to_le_bytes()[..], &entry(0x8769, 4, 1, 26), &[0; 4]].concat();
    let second = [
        &1_u16.to_le_bytes()[..],
        &entry(0x9286, 7, text.len() as u32, 44),
        &[0; 4],
    ]
    .concat();
    [b"II*\0\x08\0\0\0", &first[..], &second, &text].concat()
}

#[test]
fn a_card_in_a_webp_is_read() {
    for text in [v2("Mira"), base64(&v2("Mira"))] {
        let block = comment(text.as_bytes());
        for exif in [block.clone(), [b"Exif\0\0", &block[..]].concat()] {
            let file = webp(&exif);
            let (card, _) = Card::read(&file).unwrap();
            assert_eq!(card.name(), "Mira");
            assert_eq!(
                domain::card::picture(&file, &card).unwrap().as_deref(),
                Some(&file[..])
            );
        }
    }
    let error = Card::read(&webp(b"nothing")).unwrap_err();
    assert_eq!(
        error,
        CardError::UnknownFormat {
            looks_like: "a WEBP picture"
        }
    );
}

#[test]
fn export_removes_the_older_exif_copy() {
    let png = picture(&[super::support::chunk(
        "eXIf",
        &comment(v2("SECRET").as_bytes()),
    )]);
    let exported = Card::new("Mira").unwrap().to_png(&png).unwrap();
    assert!(!exported.windows(6).any(|window| window == b"SECRET"));
    let camera = picture(&[super::support::chunk("eXIf", &comment(b"holiday"))]);
    let exported = Card::new("Mira").unwrap().to_png(&camera).unwrap();
    assert!(exported.windows(7).any(|window| window == b"holiday"));
}

fn data_of(card: &Card) -> Value {
    card.to_value()["data"].clone()
}

#[test]
fn converts_an_agnai_character() {
    let json = json!({"kind":"character","name":"Miller","description":"Notes","appearance":"tall",
        "persona":{"kind":"wpp","attributes":{"likes":["bread","flour"],"age":["50"]}},
        "greeting":"Hello.","sampleChat":"{{char}}: Flour?","scenario":"A mill.","systemPrompt":"Be kind.",
        "postHistoryInstructions":"Short.","alternateGreetings":["Evening."],"tags":["calm"],"creator":"me",
        "insert":{"depth":3,"prompt":"Remember the mill."},
        "characterBook":{"name":"Mill","entries":[{"name":"W","entry":"A wheel.","keywords":["wheel"],"weight":1,"enabled":true}]}});
    let (card, warnings) = read(&json.to_string());
    assert_eq!(warnings, [Warning::Converted { program: "Agnai" }]);
    assert_eq!(
        (card.name(), card.description(), card.creator_notes()),
        ("Miller", "likes: bread, flour\nage: 50", "Notes")
    );
    assert_eq!(
        (card.first_mes(), card.mes_example(), card.scenario()),
        ("Hello.", "{{char}}: Flour?", "A mill.")
    );
    assert_eq!(
        (card.system_prompt(), card.post_history_instructions()),
        ("Be kind.", "Short.")
    );
    assert_eq!(
        (card.alternate_greetings(), card.tags()),
        (vec!["Evening."], vec!["calm"])
    );
    let data = data_of(&card);
    assert_eq!(data["character_book"]["entries"][0]["content"], "A wheel.");
    assert_eq!(
        data["extensions"]["depth_prompt"]["prompt"],
        "Remember the mill."
    );
    assert_eq!(data["extensions"]["agnai"]["appearance"], "tall");
    let text = json!({"kind":"character","name":"M","persona":{"kind":"text","attributes":{"text":["A miller."]}}});
    assert_eq!(read(&text.to_string()).0.description(), "A miller.");
    assert_eq!(
        read(r#"{"kind":"character","name":"M","persona":"Plain."}"#)
            .0
            .description(),
        "Plain."
    );
    assert_eq!(
        Card::from_json(card.to_json().as_bytes()).unwrap().0,
        card,
        "a stored card is not converted again"
    );
}

#[test]
fn converts_a_janitorai_character() {
    let json = json!({"name":"Miller","description":"<p>Public</p>","personality":"A miller.","scenario":"A mill.",
        "first_message":"Hello.","example_dialogs":"{{char}}: Flour?"});
    let (card, _) = read(&json.to_string());
    assert_eq!(
        (card.first_mes(), card.mes_example(), card.personality()),
        ("Hello.", "{{char}}: Flour?", "A miller.")
    );
    assert_eq!(
        (card.description(), card.creator_notes()),
        ("", "<p>Public</p>")
    );
    let several = json!({"name":"M","personality":"p","first_messages":["One.","Two.",3]});
    let (card, _) = read(&several.to_string());
    assert_eq!(card.greetings(), ["One.", "Two."]);
}

#[test]
fn converts_a_character_ai_character() {
    let inner = json!({"external_id":"x","title":"A miller","participant__name":"Miller","description":"Old.",
        "definition":"{{char}}: Flour?","greeting":"Hello.","visibility":"PUBLIC"});
    for json in [inner.clone(), json!({ "character": inner })] {
        let (card, warnings) = read(&json.to_string());
        assert_eq!(
            warnings,
            [Warning::Converted {
                program: "Character.AI"
            }]
        );
        assert_eq!(
            (card.name(), card.first_mes(), card.creator_notes()),
            ("Miller", "Hello.", "A miller")
        );
        assert_eq!(card.description(), "Old.\n\n{{char}}: Flour?");
    }
}

#[test]
fn converts_a_text_generation_webui_character() {
    let (card, _) = read(r#"{"name":"Miller","greeting":"Hello.","context":"A miller."}"#);
    assert_eq!(
        (card.first_mes(), card.description()),
        ("Hello.", "A miller.")
    );
    let yaml = "\u{feff}name: Miller\ngreeting: Hello.\ncontext: |\n  A miller.\n";
    for bytes in [yaml.as_bytes().to_vec(), utf16(yaml, u16::to_le_bytes)] {
        let (card, _) = Card::read(&bytes).unwrap();
        assert_eq!(
            (card.first_mes(), card.description().trim()),
            ("Hello.", "A miller.")
        );
    }
}
