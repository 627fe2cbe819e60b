//! Whole card files: our own in `tests/fixtures`, in the layouts of many applications, and other
//! people's files if this machine has them. The file name states the purpose.

use std::fs;
use std::path::{Path, PathBuf};

use domain::card::{Card, CardError, CardVersion};
use serde_json::Value;

use super::archives::all_but_the_card;
use super::support::{assert_keeps, chunks};

/// Returns card files with this extension. Ours always exist; a test that finds none fails.
fn card_files(extension: &str) -> Vec<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let ours = files_in(&here.join("tests/fixtures/cards"), extension);
    assert!(ours.len() >= 3, "{extension}: {ours:?}");
    [ours, shared_files(extension)].concat()
}

fn shared_files(extension: &str) -> Vec<PathBuf> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/data/cards");
    if shared.is_dir() {
        files_in(&shared, extension)
    } else {
        Vec::new()
    }
}

fn files_in(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    files
        .filter(|file| file.extension().is_some_and(|it| it == extension))
        .collect()
}

/// Splits the files by whether their name contains `word`.
fn split(extension: &str, word: &str) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (with, without): (Vec<_>, Vec<_>) = card_files(extension).into_iter().partition(|file| {
        file.file_name()
            .is_some_and(|name| name.to_string_lossy().contains(word))
    });
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

        let (v2, v3): (Value, Value) = (
            serde_json::from_str(&card.to_json_v2()).unwrap(),
            serde_json::from_str(&card.to_json_v3()).unwrap(),
        );
        assert_eq!(
            (&v2["spec"], &v3["spec"]),
            (&"chara_card_v2".into(), &"chara_card_v3".into()),
            "{name}"
        );
        let (from_png, warnings) = Card::read(&card.to_png(&picture).unwrap()).unwrap();
        assert_eq!(warnings, [], "{name}");
        for after in [v2, v3, from_png.to_value()] {
            assert_keeps(&before, &after);
        }
    }
}

/// All archives are other people's files, so there may be none.
#[test]
fn every_leaf_and_file_of_an_archive_survives() {
    let archives = shared_files("charx");
    for file in &archives {
        let before = fs::read(file).unwrap();
        let (card, warnings) = Card::read(&before).unwrap();
        assert_eq!(warnings, [], "{}", file.display());
        let after = card.to_charx(Some(&before), None).unwrap();
        assert_keeps(&card.to_value(), &Card::read(&after).unwrap().0.to_value());
        assert_eq!(
            all_but_the_card(&after),
            all_but_the_card(&before),
            "{}",
            file.display()
        );
        assert!(
            domain::card::picture(&before, &card)
                .unwrap()
                .unwrap()
                .starts_with(b"\x89PNG")
        );
    }
    if archives.is_empty() {
        eprintln!("skipped: the archives of other people are not on this machine");
    }
}

#[test]
fn every_leaf_of_a_backyard_character_survives() {
    for file in shared_files("byaf") {
        let bytes = fs::read(&file).unwrap();
        let (card, warnings) = Card::read(&bytes).unwrap();
        assert_eq!(warnings, [], "{}", file.display());
        assert!(domain::card::picture(&bytes, &card).unwrap().is_some());
        let kept = &card.to_value()["data"]["extensions"]["backyard"];
        let documents = super::archives::members(&bytes);
        let document = |path: &str| -> Value { serde_json::from_slice(&documents[path]).unwrap() };
        let manifest = document("manifest.json");
        assert_eq!(kept["manifest"], manifest);
        assert_eq!(
            kept["character"],
            document(manifest["characters"][0].as_str().unwrap())
        );
        let mut said = 0;
        for (at, path) in manifest["scenarios"].as_array().unwrap().iter().enumerate() {
            let mut scenario = document(path.as_str().unwrap());
            let messages = scenario
                .as_object_mut()
                .unwrap()
                .remove("messages")
                .unwrap();
            assert_eq!(kept["scenarios"][at], scenario);
            said += messages.as_array().unwrap().len();
        }
        let chats = domain::backyard::scenarios(&bytes).unwrap().unwrap();
        assert_eq!(chats.map(|chat| chat.messages.len()).sum::<usize>(), said);
    }
}

#[test]
fn a_card_without_a_name_is_refused() {
    for file in split("json", "missing_name").0 {
        assert_eq!(
            Card::read(&fs::read(file).unwrap()).unwrap_err(),
            CardError::NoName { path: "data.name" }
        );
    }
}

#[test]
fn edited_picture_keeps_pixels_and_json_leaves() {
    for file in split("png", "exif").1 {
        let before = fs::read(&file).unwrap();
        let (mut card, warnings) = Card::read(&before).unwrap();
        assert_eq!(warnings, [], "{}", file.display());
        let original = card.to_value();

        card.set_description("Edited.");
        let after = card.to_png(&before).unwrap();
        assert_eq!(
            all_but_cards(&before),
            all_but_cards(&after),
            "{}",
            file.display()
        );

        let (mut again, _) = Card::read(&after).unwrap();
        assert_eq!(again.description(), "Edited.");
        again.set_description(original["data"]["description"].as_str().unwrap());
        assert_keeps(&original, &again.to_value());
    }
}

/// Returns all chunks except cards: pixels and metadata.
fn all_but_cards(png: &[u8]) -> Vec<(String, Vec<u8>)> {
    let is_card = |data: &[u8]| data.starts_with(b"chara\0") || data.starts_with(b"ccv3\0");
    let rest: Vec<_> = chunks(png)
        .into_iter()
        .filter(|(_, data)| !is_card(data))
        .collect();
    assert!(
        rest.iter()
            .any(|(kind, data)| kind == "IDAT" && !data.is_empty())
    );
    rest
}

#[test]
fn the_newer_of_two_copies_is_read() {
    for file in split("png", "exif").1 {
        let bytes = fs::read(&file).unwrap();
        let two = chunks(&bytes)
            .iter()
            .any(|(_, data)| data.starts_with(b"ccv3\0"));
        let (card, _) = Card::read(&bytes).unwrap();
        assert_eq!(
            card.version(),
            if two {
                CardVersion::V3
            } else {
                CardVersion::V2
            },
            "{}",
            file.display()
        );
    }
}

#[test]
fn a_card_in_a_comment_keeps_leaves_and_pixels() {
    for file in split("png", "exif").0 {
        let before = fs::read(&file).unwrap();
        let (card, warnings) = Card::read(&before).unwrap();
        assert_eq!(warnings, [], "{}", file.display());
        assert!(!card.description().is_empty() && !card.description().contains("{character}"));
        let after = card.to_png(&before).unwrap();
        // The EXIF comment is an older copy of the card, so writing removes it.
        let mut others = all_but_cards(&before);
        others.retain(|(kind, _)| kind != "eXIf");
        assert_eq!(others, all_but_cards(&after), "{}", file.display());
        assert_eq!(Card::read(&after).unwrap().0, card);
        assert!(card.extensions().unwrap()["backyard"]["character"].is_object());
    }
}
