//! Whole card files: our own in `tests/fixtures`, of every shape that applications write, and on a machine that has them the
//! files of other people, which are not ours to ship. What a file is for stands in its name.

use std::fs;
use std::path::{Path, PathBuf};

use domain::card::{Card, CardError, Version};
use serde_json::Value;

use crate::support::{assert_keeps, chunks};

/// Card files with this extension. Ours are always there; a test that finds none of them fails.
fn card_files(extension: &str) -> Vec<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let ours = files_in(&here.join("tests/fixtures/cards"), extension);
    assert!(ours.len() >= 3, "{extension}: {ours:?}");
    let shared = here.join("../../../../shared/data/cards");
    let theirs = if shared.is_dir() { files_in(&shared, extension) } else { Vec::new() };
    [ours, theirs].concat()
}

fn files_in(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|it| it == extension)).collect()
}

/// Those whose name says `word`, and the others.
fn split(extension: &str, word: &str) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (with, without): (Vec<_>, Vec<_>) = card_files(extension)
        .into_iter()
        .partition(|file| file.file_name().is_some_and(|name| name.to_string_lossy().contains(word)));
    assert!(!with.is_empty() && !without.is_empty());
    (with, without)
}

#[test]
fn every_leaf_survives_json_and_png() {
    let (_, pictures) = split("png", "exif");
    let picture = fs::read(&pictures[0]).unwrap();
    for file in split("json", "missing_name").1 {
        let name = file.display();
        let bytes = fs::read(&file).unwrap();
        let before: Value = serde_json::from_slice(&bytes).unwrap();
        let (card, warnings) = Card::read(&bytes).unwrap();
        assert_eq!(warnings, [], "{name}");
        assert_eq!(card.to_value(), before, "{name}");

        let (v2, v3): (Value, Value) =
            (serde_json::from_str(&card.to_json_v2()).unwrap(), serde_json::from_str(&card.to_json_v3()).unwrap());
        assert_eq!((&v2["spec"], &v3["spec"]), (&"chara_card_v2".into(), &"chara_card_v3".into()), "{name}");
        let (from_png, warnings) = Card::read(&card.to_png(&picture).unwrap()).unwrap();
        assert_eq!(warnings, [], "{name}");
        for after in [v2, v3, from_png.to_value()] {
            assert_keeps(&before, &after);
        }
    }
}

#[test]
fn a_card_without_a_name_is_refused() {
    for file in split("json", "missing_name").0 {
        assert_eq!(Card::read(&fs::read(file).unwrap()).unwrap_err(), CardError::NoName { path: "data.name" });
    }
}

#[test]
fn a_picture_keeps_its_pixels_and_its_leaves_through_an_edit() {
    for file in split("png", "exif").1 {
        let before = fs::read(&file).unwrap();
        let (mut card, warnings) = Card::read(&before).unwrap();
        assert_eq!(warnings, [], "{}", file.display());
        let original = card.to_value();

        card.set_description("Edited.");
        let after = card.to_png(&before).unwrap();
        assert_eq!(all_but_cards(&before), all_but_cards(&after), "{}", file.display());

        let (mut again, _) = Card::read(&after).unwrap();
        assert_eq!(again.description(), "Edited.");
        again.set_description(original["data"]["description"].as_str().unwrap());
        assert_keeps(&original, &again.to_value());
    }
}

/// Every chunk that holds no card: the pixels, and what else the picture says.
fn all_but_cards(png: &[u8]) -> Vec<(String, Vec<u8>)> {
    let is_card = |data: &[u8]| data.starts_with(b"chara\0") || data.starts_with(b"ccv3\0");
    let rest: Vec<_> = chunks(png).into_iter().filter(|(_, data)| !is_card(data)).collect();
    assert!(rest.iter().any(|(kind, data)| kind == "IDAT" && !data.is_empty()));
    rest
}

#[test]
fn of_two_copies_the_newer_one_is_read() {
    for file in split("png", "exif").1 {
        let bytes = fs::read(&file).unwrap();
        let two = chunks(&bytes).iter().any(|(_, data)| data.starts_with(b"ccv3\0"));
        let (card, _) = Card::read(&bytes).unwrap();
        assert_eq!(card.version(), if two { Version::V3 } else { Version::V2 }, "{}", file.display());
    }
}

#[test]
fn a_picture_whose_card_is_elsewhere_has_none() {
    for file in split("png", "exif").0 {
        assert_eq!(Card::read(&fs::read(file).unwrap()).unwrap_err(), CardError::NoCard);
    }
}
