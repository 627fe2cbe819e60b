//! Cards that other applications wrote. They are not ours to ship, so these tests step aside where they are absent.

use std::fs;
use std::path::{Path, PathBuf};

use domain::card::{Card, CardError, Version};
use serde_json::Value;

use crate::support::{assert_keeps, chunks};

/// The folder of shared test data beside the project.
fn card_file(name: &str) -> Option<PathBuf> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/data/cards").join(name);
    if !file.exists() {
        eprintln!("skipped: {name} is not on this machine");
        return None;
    }
    Some(file)
}

#[test]
fn every_leaf_survives_json_and_png() {
    let picture = card_file("test_character.png").map(|file| fs::read(file).unwrap());
    for name in [
        "minimal_v2.json",
        "minimal_v3.json",
        "full_v2_card.json",
        "ccv2_with_overrides.json",
        "ccv3_st_export_like.json",
    ] {
        let Some(file) = card_file(name) else { continue };
        let bytes = fs::read(file).unwrap();
        let before: Value = serde_json::from_slice(&bytes).unwrap();
        let (card, warnings) = Card::read(&bytes).unwrap();
        assert_eq!(warnings, [], "{name}");
        assert_eq!(card.to_value(), before, "{name}");

        let own_version = if card.version() == Version::V3 { card.to_json_v3() } else { card.to_json_v2() };
        let after: Value = serde_json::from_str(&own_version).unwrap();
        assert_eq!(after["spec"], before["spec"], "{name}");
        assert_keeps(&before, &after);
        if let Some(picture) = &picture {
            let (from_png, _) = Card::read(&card.to_png(picture).unwrap()).unwrap();
            assert_keeps(&before, &from_png.to_value());
        }
    }
}

#[test]
fn a_card_without_a_name_is_refused() {
    let Some(file) = card_file("invalid_missing_name.json") else { return };
    assert_eq!(Card::read(&fs::read(file).unwrap()).unwrap_err(), CardError::NoName { path: "data.name" });
}

#[test]
fn a_picture_with_both_copies_keeps_its_pixels_through_an_edit() {
    let Some(file) = card_file("test_character.png") else { return };
    let before = fs::read(file).unwrap();
    let (mut card, warnings) = Card::read(&before).unwrap();
    assert_eq!((card.version(), warnings), (Version::V3, vec![]));
    let original = card.to_value();

    card.set_description("Edited.");
    let after = card.to_png(&before).unwrap();
    let rest = |png: &[u8]| -> Vec<_> {
        let is_card = |data: &[u8]| data.starts_with(b"chara\0") || data.starts_with(b"ccv3\0");
        chunks(png).into_iter().filter(|(_, data)| !is_card(data)).collect()
    };
    assert_eq!(rest(&before), rest(&after));

    let (mut again, _) = Card::read(&after).unwrap();
    again.set_description(original["data"]["description"].as_str().unwrap());
    assert_keeps(&original, &again.to_value());
}

#[test]
fn a_picture_whose_card_is_elsewhere_has_none() {
    let Some(file) = card_file("backyard_exif_v2.png") else { return };
    assert_eq!(Card::read(&fs::read(file).unwrap()).unwrap_err(), CardError::NoCard);
}
