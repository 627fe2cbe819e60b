//! The sample characters that ship with the app.

use std::fs;
use std::path::{Path, PathBuf};

use domain::card::{Card, CardVersion};

fn samples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../presets/characters");
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    files
        .filter(|file| {
            file.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect()
}

#[test]
fn every_sample_is_a_clean_v3_card_with_a_picture() {
    let samples = samples();
    assert!(samples.len() >= 3);
    for file in samples {
        let bytes = fs::read(&file).unwrap();
        let (card, warnings) = Card::read(&bytes).unwrap();
        assert_eq!(
            (card.version(), warnings),
            (CardVersion::V3, vec![]),
            "{}",
            file.display()
        );
        assert_eq!(
            card.to_json_v3() + "\n",
            String::from_utf8(bytes).unwrap(),
            "{}",
            file.display()
        );
        assert!(
            fs::read_to_string(file.with_extension("svg"))
                .unwrap()
                .contains("viewBox=\"0 0 600 800\"")
        );
    }
}

#[test]
fn every_sample_fits_a_small_model() {
    for file in samples() {
        let (card, _) = Card::read(&fs::read(file).unwrap()).unwrap();
        assert!(
            card.description().split_whitespace().count() <= 120,
            "{}",
            card.name()
        );
        assert!(!card.mes_example().is_empty() && card.creator() == "Inglenook");
        assert_eq!(card.greetings().len(), 3, "{}", card.name());
        for greeting in card.greetings() {
            assert!(
                greeting.trim_end_matches('"').ends_with('?'),
                "{}: {greeting}",
                card.name()
            );
        }
    }
}
