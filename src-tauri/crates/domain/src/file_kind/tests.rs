use serde_json::{Value, json};

use super::{entries_without_book, foreign, guess_damaged_kind, may_be_card};

#[test]
fn names_unsupported_file_types() {
    for (file, what) in [
        (
            json!({"name":"Plain","blur_strength":10,"chat_width":50}),
            "a SillyTavern theme",
        ),
        (
            json!({"name":"Old","main_text_color":"x","shadow_color":"y"}),
            "a SillyTavern theme",
        ),
        (
            json!({"name":"R1","prefix":"<think>","suffix":"</think>","separator":""}),
            "a SillyTavern reasoning preset",
        ),
        (
            json!({"id":"1","name":"Two","members":["A.png"],"chats":["1"]}),
            "a SillyTavern group",
        ),
        (
            json!({"name":"Two","members":[],"activation_strategy":0}),
            "a SillyTavern group",
        ),
        (
            json!({"presetVersion":3,"name":"Mine","parameters":{}}),
            "a NovelAI preset",
        ),
        (
            json!({"name":"P","gaslight":"x","antiBond":false}),
            "an Agnai preset",
        ),
        (
            json!({"name":"Chat","greeting":"Hi","messages":[{"handle":"M","msg":"Hi"}]}),
            "an Agnai chat",
        ),
        (
            json!({"internal":[],"visible":[]}),
            "a text-generation-webui chat",
        ),
        (
            json!({"type":"script","id":"a","name":"Clock","content":"import 'x'"}),
            "a Tavern-Helper script",
        ),
        (
            json!([{"type":"script","content":"a"},{"type":"folder","scripts":[]}]),
            "a Tavern-Helper script",
        ),
        (
            json!({"name":"x","version":"1","description":"y","dependencies":{}}),
            "a description of a software package",
        ),
        (
            json!({"label":"Go","message":"/go"}),
            "a single SillyTavern quick reply",
        ),
        (json!({"type":"regex","data":[]}), "RisuAI regex scripts"),
    ] {
        assert_eq!(
            foreign(&file).map(|foreign| foreign.what),
            Some(what),
            "{file}"
        );
    }
}

#[test]
fn characters_are_never_another_type() {
    for card in [
        json!({"name":"Mira","first_mes":"Hi","members":[],"chats":[]}),
        json!({"spec":"chara_card_v2","prefix":"","suffix":"","separator":"","data":{"name":"Mira"}}),
        json!({"name":"Mira","personality":"calm","chat_width":1,"blur_strength":1}),
        json!({"kind":"character","name":"Miller","greeting":"Hello."}),
        json!({"name":"Mira","description":""}),
    ] {
        assert_eq!(foreign(&card), None, "{card}");
        assert!(may_be_card(card.as_object().unwrap()), "{card}");
    }
}

#[test]
fn a_name_alone_is_not_a_card() {
    for other in [
        json!({"name":"Mira"}),
        json!({"name":"x","version":1,"tags":["a"],"creator":"b"}),
        json!({}),
    ] {
        assert!(!may_be_card(other.as_object().unwrap()), "{other}");
    }
}

#[test]
fn finds_entries_without_a_book() {
    let entry = json!({"uid":0,"key":["mill"],"content":"The mill.","order":100});
    assert_eq!(entries_without_book(&entry).map(|all| all.len()), Some(1));
    assert_eq!(
        entries_without_book(&json!([entry, entry])).map(|all| all.len()),
        Some(2)
    );
    let of_card = json!({"keys":["mill"],"content":"The mill.","insertion_order":1});
    assert_eq!(entries_without_book(&of_card).map(|all| all.len()), Some(1));
    for other in [
        json!({"key":["a"],"content":"b"}),
        json!([entry, 1]),
        json!([]),
        Value::Null,
    ] {
        assert_eq!(entries_without_book(&other), None, "{other}");
    }
}

#[test]
fn guesses_type_of_damaged_files() {
    for (text, kind) in [
        (r#"{"entries":{"0":{"key":["#, "lorebook"),
        (
            r#"{"spec":"chara_card_v2","data":{"character_book":{"entries":["#,
            "card",
        ),
        (r#"{"temperature":1,"#, "preset"),
        (r#"[{"findRegex":"#, "regex script"),
        (r#"{"a":"#, "file"),
    ] {
        assert_eq!(guess_damaged_kind(text), kind, "{text}");
    }
}
