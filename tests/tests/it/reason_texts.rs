//! Every code that a prompt report contains has a text in both languages of the window.

use context::frame::Source;
use context::importance::Feature;
use context::{BlockReason, Dropped, EpochReason};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

fn texts(language: &str) -> Map<String, Value> {
    let path = format!(
        "{}/../ui/src/lib/i18n/{language}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The serialized names of all variants: serde lists them when it refuses an unknown one.
fn codes<T: DeserializeOwned>(unknown: Value) -> Vec<String> {
    let error = serde_json::from_value::<T>(unknown)
        .err()
        .expect("an unknown name is refused")
        .to_string();
    let names: Vec<String> = error
        .split('`')
        .skip(3)
        .step_by(2)
        .map(str::to_owned)
        .collect();
    assert!(names.len() > 3, "{error}");
    names
}

#[test]
fn every_reason_code_has_a_text_in_both_languages() {
    let mut sources = codes::<Source>(json!({ "type": "?" }));
    sources.retain(|code| code != "toolRound");
    sources.extend(["toolCalls", "toolResults"].map(str::to_owned));
    let groups = [
        ("reason", codes::<BlockReason>(json!({ "code": "?" }))),
        ("reason", vec!["removedKey".to_owned()]),
        ("importanceOf", codes::<Feature>(json!("?"))),
        ("dropped", codes::<Dropped>(json!("?"))),
        ("epochReason", codes::<EpochReason>(json!("?"))),
        ("epochReason", vec!["sincePreviousTurn".to_owned()]),
        ("source", sources),
    ];
    for language in ["en", "de"] {
        let texts = texts(language);
        let missing =
            |key: &String| !texts.contains_key(key) && !texts.contains_key(&format!("{key}_other"));
        let keys = groups
            .iter()
            .flat_map(|(group, codes)| codes.iter().map(move |code| format!("{group}.{code}")));
        let missing: Vec<String> = keys.filter(missing).collect();
        assert_eq!(missing, [""; 0], "{language}.json has no text for these");
    }
}
