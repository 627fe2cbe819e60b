//! PNG files: which copy is read, what is tolerated, and what is refused.

use domain::card::{Card, CardError, MAX_FILE, MAX_PNG_TEXT, Version, Warning};

use crate::support::{card_chunk, chunk, picture, text_chunk, v2, v3};

fn name_in(png: &[u8]) -> (String, Vec<Warning>) {
    let (card, warnings) = Card::read(png).unwrap();
    (card.name().to_owned(), warnings)
}

#[test]
fn ct_02_ct_03_v3_is_preferred_wherever_it_stands_and_however_it_is_spelled() {
    let png = picture(&[card_chunk("Chara", &v2("Old")), card_chunk("CCv3", &v3("New"))]);
    assert_eq!(name_in(&png), ("New".into(), vec![]));
    let png = picture(&[card_chunk("CHARA", &v2("Old"))]);
    assert_eq!(name_in(&png), ("Old".into(), vec![]));
}

#[test]
fn a_v1_card_may_stand_in_a_picture() {
    let (card, warnings) = Card::read(&picture(&[card_chunk("chara", r#"{"name":"Mira"}"#)])).unwrap();
    assert_eq!((card.name(), card.version(), warnings), ("Mira", Version::V1, vec![]));
}

#[test]
fn a_broken_copy_gives_way_to_a_whole_one() {
    for broken in [text_chunk("ccv3", "***"), card_chunk("ccv3", "{\"na"), card_chunk("ccv3", &v3(""))] {
        let (name, warnings) = name_in(&picture(&[broken, card_chunk("chara", &v2("Old"))]));
        assert_eq!(name, "Old");
        assert!(matches!(&warnings[..], [Warning::BrokenCopy { keyword, .. }] if keyword == "ccv3"));
    }
}

#[test]
fn without_a_whole_copy_the_better_one_says_why() {
    let png = picture(&[card_chunk("chara", "[]"), text_chunk("ccv3", "***")]);
    assert_eq!(Card::read(&png).unwrap_err(), CardError::NotBase64 { keyword: "ccv3".into() });
}

/// Formats 3.8.
#[test]
fn a_card_that_risuai_has_locked_says_the_way_out() {
    let locked = "rcc||rccv1||AAECAw==||abcdef||eyJ1c2VQYXNzd29yZCI6dHJ1ZX0=";
    let error = Card::read(&picture(&[text_chunk("chara", locked)])).unwrap_err();
    assert_eq!(error, CardError::Locked);
    assert!(error.to_string().contains("Open it in RisuAI"), "{error}");
    let (name, warnings) = name_in(&picture(&[text_chunk("ccv3", locked), card_chunk("chara", &v2("Old"))]));
    assert_eq!((name.as_str(), warnings.len()), ("Old", 1));
}

#[test]
fn base64_may_be_wrapped_and_lack_its_padding() {
    for encoded in ["eyJuYW1lIjoi\r\nTWlyYSJ9ICA=", "eyJuYW1lIjoiTWlyYSJ9ICA", " eyJuYW1lIjoiTWlyYSJ9ICA=\n"] {
        assert_eq!(name_in(&picture(&[text_chunk("chara", encoded)])), ("Mira".into(), vec![]));
    }
}

#[test]
fn a_wrong_checksum_is_a_warning() {
    let mut text = card_chunk("chara", &v2("Mira"));
    *text.last_mut().unwrap() ^= 1;
    let (name, warnings) = name_in(&picture(&[text]));
    assert_eq!((name.as_str(), &warnings[..]), ("Mira", &[Warning::BadChecksum { keyword: "chara".into() }][..]));
}

#[test]
fn ct_11_other_texts_are_no_cards() {
    let others = [
        text_chunk("Title", "chara"),
        chunk("tEXt", b"chara without an end"),
        chunk("zTXt", b"chara\0\0rubbish"),
        chunk("iTXt", b"ccv3\0"),
        text_chunk("chara-ext-asset_:0", "AAAA"),
    ];
    let error = Card::read(&picture(&others)).unwrap_err();
    assert_eq!(error, CardError::NoCard);
    assert!(error.to_string().contains("no character card"));
}

#[test]
fn a_file_that_is_cut_off_says_so_at_every_length() {
    let whole = picture(&[card_chunk("chara", &v2("Mira"))]);
    for length in 8..whole.len() {
        let error = Card::read(&whole[..length]).unwrap_err();
        assert!(matches!(error, CardError::Truncated { .. }), "{length}: {error}");
    }
    assert_eq!(name_in(&[&whole[..], b"anything behind the end"].concat()).0, "Mira");
}

#[test]
fn a_damaged_structure_is_refused() {
    let broken = |bytes: &[u8]| matches!(Card::read(bytes).unwrap_err(), CardError::BrokenPng { .. });
    let mut nameless = picture(&[card_chunk("chara", &v2("Mira"))]);
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
fn ct_13_a_huge_picture_is_refused_with_the_limit() {
    let error = Card::read(&picture(&[chunk("IDAT", &vec![0; 100_000_000])])).unwrap_err();
    assert!(matches!(error, CardError::TooLarge { what: "the picture", limit: MAX_FILE, .. }), "{error}");
    let error = Card::read(&picture(&[text_chunk("chara", &"A".repeat(MAX_PNG_TEXT + 1))])).unwrap_err();
    assert!(matches!(error, CardError::TooLarge { limit: MAX_PNG_TEXT, .. }), "{error}");
}
