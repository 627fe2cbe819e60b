//! PNG files: choice of the copy, tolerance, and errors.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::card::{Card, CardError, CardVersion, MAX_FILE, MAX_PNG_TEXT, Warning};

use super::support::{card_chunk, chunk, chunks, deflated, in_kind, picture, text_chunk, v2, v3};

fn name_in(png: &[u8]) -> (String, Vec<Warning>) {
    let (card, warnings) = Card::read(png).unwrap();
    (card.name().to_owned(), warnings)
}

#[test]
fn prefers_v3_in_any_order_and_spelling() {
    let png = picture(&[
        card_chunk("Chara", &v2("Old")),
        card_chunk("CCv3", &v3("New")),
    ]);
    assert_eq!(name_in(&png), ("New".into(), vec![]));
    let png = picture(&[card_chunk("CHARA", &v2("Old"))]);
    assert_eq!(name_in(&png), ("Old".into(), vec![]));
}

#[test]
fn reads_a_v1_card_from_a_picture() {
    let (card, warnings) =
        Card::read(&picture(&[card_chunk("chara", r#"{"name":"Mira"}"#)])).unwrap();
    assert_eq!(
        (card.name(), card.version(), warnings),
        ("Mira", CardVersion::V1, vec![])
    );
}

#[test]
fn an_intact_copy_replaces_a_broken_one() {
    for broken in [
        text_chunk("ccv3", "***"),
        card_chunk("ccv3", "{\"na"),
        card_chunk("ccv3", &v3("")),
    ] {
        let (name, warnings) = name_in(&picture(&[broken, card_chunk("chara", &v2("Old"))]));
        assert_eq!(name, "Old");
        assert!(
            matches!(&warnings[..], [Warning::BrokenCopy { keyword, .. }] if keyword == "ccv3")
        );
    }
}

#[test]
fn without_an_intact_copy_the_best_error_is_reported() {
    let png = picture(&[card_chunk("chara", "[]"), text_chunk("ccv3", "***")]);
    assert_eq!(
        Card::read(&png).unwrap_err(),
        CardError::NotBase64 {
            keyword: "ccv3".into()
        }
    );
}

#[test]
fn a_card_locked_by_risuai_gets_advice() {
    let locked = "rcc||rccv1||AAECAw==||abcdef||eyJ1c2VQYXNzd29yZCI6dHJ1ZX0=";
    let error = Card::read(&picture(&[text_chunk("chara", locked)])).unwrap_err();
    assert_eq!(error, CardError::Locked);
    assert!(error.to_string().contains("Open it in RisuAI"), "{error}");
    let (name, warnings) = name_in(&picture(&[
        text_chunk("ccv3", locked),
        card_chunk("chara", &v2("Old")),
    ]));
    assert_eq!((name.as_str(), warnings.len()), ("Old", 1));
}

#[test]
fn base64_may_be_wrapped_and_lack_its_padding() {
    for encoded in [
        "eyJuYW1lIjoi\r\nTWlyYSJ9ICA=",
        "eyJuYW1lIjoiTWlyYSJ9ICA",
        " eyJuYW1lIjoiTWlyYSJ9ICA=\n",
    ] {
        assert_eq!(
            name_in(&picture(&[text_chunk("chara", encoded)])),
            ("Mira".into(), vec![])
        );
    }
}

#[test]
fn a_wrong_checksum_is_a_warning() {
    let mut text = card_chunk("chara", &v2("Mira"));
    *text.last_mut().unwrap() ^= 1;
    let (name, warnings) = name_in(&picture(&[text]));
    assert_eq!(
        (name.as_str(), &warnings[..]),
        (
            "Mira",
            &[Warning::BadChecksum {
                keyword: "chara".into()
            }][..]
        )
    );
}

#[test]
fn other_texts_are_not_cards() {
    let others = [
        text_chunk("Title", "chara"),
        chunk("tEXt", b"chara without an end"),
        chunk("zTXt", b"Comment\0\0rubbish"),
        chunk("iTXt", b"XML:com.adobe.xmp\0"),
        text_chunk("chara-ext-asset_:0", "AAAA"),
    ];
    let error = Card::read(&picture(&others)).unwrap_err();
    assert_eq!(error, CardError::NoCard);
    assert!(error.to_string().contains("no character card"));
}

#[test]
fn reports_truncation_at_every_length() {
    let whole = picture(&[card_chunk("chara", &v2("Mira"))]);
    let behind_text = whole.len() - 12;
    for length in 8..behind_text {
        let error = Card::read(&whole[..length]).unwrap_err();
        assert!(
            matches!(error, CardError::Truncated { .. }),
            "{length}: {error}"
        );
    }
    for length in behind_text..whole.len() {
        let (name, warnings) = name_in(&whole[..length]);
        assert_eq!(name, "Mira");
        assert!(
            matches!(&warnings[..], [Warning::DamagedPicture { .. }]),
            "{length}: {warnings:?}"
        );
    }
    assert_eq!(
        name_in(&[&whole[..], b"anything behind the end"].concat()).0,
        "Mira"
    );
}

#[test]
fn a_damaged_structure_is_refused() {
    let broken =
        |bytes: &[u8]| matches!(Card::read(bytes).unwrap_err(), CardError::BrokenPng { .. });
    let mut nameless = picture(&[]);
    nameless[8 + 25 + 4] = 0;
    assert!(broken(&nameless));
    let mut endless = picture(&[]);
    endless[8 + 25] = 0xff;
    assert!(broken(&endless));
    let headless = [b"\x89PNG\r\n\x1a\n".to_vec(), chunk("IEND", b"")].concat();
    assert!(broken(&headless));
    assert!(broken(&picture(&vec![chunk("tIME", b""); 70_000])));
}

#[test]
fn refuses_a_huge_picture_with_the_limit() {
    let error = Card::read(&picture(&[chunk("IDAT", &vec![0; 100_000_000])])).unwrap_err();
    assert!(
        matches!(
            error,
            CardError::TooLarge {
                what: "the picture",
                limit: MAX_FILE,
                ..
            }
        ),
        "{error}"
    );
    let error = Card::read(&picture(&[text_chunk(
        "chara",
        &"A".repeat(MAX_PNG_TEXT + 1),
    )]))
    .unwrap_err();
    assert!(
        matches!(
            error,
            CardError::TooLarge {
                limit: MAX_PNG_TEXT,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn reads_a_card_from_every_text_chunk_type() {
    for kind in ["tEXt", "zTXt", "iTXt", "iTXt deflated"] {
        for keyword in ["chara", "CCV3", "Chara"] {
            let png = picture(&[in_kind(kind, keyword, &STANDARD.encode(v2("Mira")))]);
            assert_eq!(name_in(&png), ("Mira".into(), vec![]), "{kind} {keyword}");
        }
        let older = card_chunk("chara", &v2("Old"));
        let png = picture(&[older, in_kind(kind, "ccv3", &STANDARD.encode(v3("New")))]);
        assert_eq!(name_in(&png), ("New".into(), vec![]), "{kind}");
    }
}

#[test]
fn reads_json_that_is_not_base64() {
    for kind in ["tEXt", "zTXt", "iTXt"] {
        assert_eq!(
            name_in(&picture(&[in_kind(kind, "chara", &v2("Mira"))])),
            ("Mira".into(), vec![]),
            "{kind}"
        );
    }
    // Some writers only rename a `tEXt` chunk.
    let plain = chunk(
        "iTXt",
        format!("chara\0{}", STANDARD.encode(v2("Mira"))).as_bytes(),
    );
    assert_eq!(name_in(&picture(&[plain])).0, "Mira");
}

#[test]
fn refuses_texts_that_decompress_above_the_limit() {
    let packed = deflated(&vec![b'A'; 60 << 20]);
    let bomb = |keyword: &str| chunk("zTXt", &[keyword.as_bytes(), b"\0\0", &packed].concat());
    let many = picture(&vec![bomb("ccv3"); 40]);
    let with_card = picture(&[
        vec![bomb("ccv3"); 9].concat(),
        card_chunk("chara", &v2("Mira")),
    ]);
    let started = std::time::Instant::now();
    let error = Card::read(&many).unwrap_err();
    assert!(matches!(error, CardError::TooLarge { .. }), "{error}");
    let (name, warnings) = name_in(&with_card);
    assert_eq!(name, "Mira");
    assert!(matches!(&warnings[..], [Warning::BrokenCopy { .. }, ..]));
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
}

#[test]
fn reports_truncated_compressed_text() {
    let whole = deflated(STANDARD.encode(v2("Mira")).as_bytes());
    let cut = |length: usize| picture(&[chunk("zTXt", &[b"chara\0\0", &whole[..length]].concat())]);
    let error = Card::read(&cut(4)).unwrap_err();
    assert!(
        matches!(
            error,
            CardError::NotUnpacked { .. } | CardError::Json { .. }
        ),
        "{error}"
    );
    // The text is complete, but its checksum is missing.
    let (name, warnings) = name_in(&cut(whole.len() - 4));
    assert_eq!(
        (name.as_str(), &warnings[..]),
        (
            "Mira",
            &[Warning::BadChecksum {
                keyword: "chara".into()
            }][..]
        )
    );
}

#[test]
fn a_damaged_picture_keeps_its_card_with_a_warning() {
    let card = card_chunk("chara", &v2("Mira"));
    let whole = picture(std::slice::from_ref(&card));
    let mut overlong = whole.clone();
    overlong[8 + 25 + 2] = 0x7f;
    let mut nameless = whole.clone();
    nameless[8 + 25 + 4] = 0;
    let cut_behind = whole[..whole.len() - 12].to_vec();
    let headless = [b"\x89PNG\r\n\x1a\n".to_vec(), vec![7; 100], card].concat();
    for (damaged, what) in [
        (overlong, "overlong"),
        (nameless, "nameless"),
        (cut_behind, "cut"),
        (headless, "headless"),
    ] {
        let (name, warnings) = name_in(&damaged);
        assert_eq!(name, "Mira", "{what}");
        assert!(
            matches!(&warnings[..], [Warning::DamagedPicture { .. }]),
            "{what}: {warnings:?}"
        );
        assert!(!domain::card::is_whole_png(&damaged), "{what}");
    }
}

#[test]
fn reads_a_card_after_the_end_of_the_picture() {
    let png = [picture(&[]), card_chunk("chara", &v2("Mira"))].concat();
    assert_eq!(name_in(&png), ("Mira".into(), vec![]));
}

/// Deleted text must not survive in an older copy of the card.
#[test]
fn export_removes_older_copies() {
    let old = STANDARD.encode(v2("SECRET"));
    let kinds = ["tEXt", "zTXt", "iTXt", "iTXt deflated"];
    let copies = kinds
        .into_iter()
        .flat_map(|kind| ["chara", "ccv3", "CHARA"].map(|keyword| in_kind(kind, keyword, &old)));
    let picture = [
        picture(&copies.collect::<Vec<_>>()),
        card_chunk("chara", &v2("SECRET")),
    ]
    .concat();
    let card = Card::new("Mira").unwrap();
    let exported = card.to_png(&picture).unwrap();
    let kinds: Vec<String> = chunks(&exported)
        .into_iter()
        .map(|(kind, _)| kind)
        .collect();
    assert_eq!(kinds, ["IHDR", "IDAT", "tEXt", "tEXt", "IEND"]);
    assert!(
        exported.ends_with(b"IEND\xaeB`\x82"),
        "the copy after the end is removed"
    );
    assert_eq!(name_in(&exported), ("Mira".into(), vec![]));
}

#[test]
fn export_keeps_other_texts_of_the_picture() {
    let others = [
        in_kind("zTXt", "Comment", "made by hand"),
        in_kind("iTXt deflated", "Title", "Mira"),
    ];
    let exported = Card::new("Mira")
        .unwrap()
        .to_png(&picture(&others))
        .unwrap();
    let kept: Vec<String> = chunks(&exported)
        .into_iter()
        .map(|(kind, _)| kind)
        .collect();
    assert_eq!(
        kept,
        ["IHDR", "IDAT", "zTXt", "iTXt", "tEXt", "tEXt", "IEND"]
    );
    assert!(
        exported
            .windows(others[0].len())
            .any(|window| window == others[0])
    );
}
