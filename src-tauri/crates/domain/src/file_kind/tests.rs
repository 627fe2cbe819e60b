use serde_json::{Value, json};

use super::{foreign, lone_entries, may_be_card, of_damaged};

#[test]
fn other_files_are_named_for_what_they_are() {
    for (file, what) in [
        (json!({"name":"Plain","blur_strength":10,"chat_width":50}), "a theme of SillyTavern's"),
        (json!({"name":"Old","main_text_color":"x","shadow_color":"y"}), "a theme of SillyTavern's"),
        (
            json!({"name":"R1","prefix":"<think>","suffix":"</think>","separator":""}),
            "a reasoning preset of SillyTavern's",
        ),
        (json!({"id":"1","name":"Two","members":["A.png"],"chats":["1"]}), "a group of SillyTavern's"),
        (json!({"name":"Two","members":[],"activation_strategy":0}), "a group of SillyTavern's"),
        (json!({"presetVersion":3,"name":"Mine","parameters":{}}), "a preset of NovelAI's"),
        (json!({"name":"P","gaslight":"x","antiBond":false}), "a preset of Agnai's"),
        (json!({"name":"Chat","greeting":"Hi","messages":[{"handle":"M","msg":"Hi"}]}), "a chat of Agnai's"),
        (json!({"internal":[],"visible":[]}), "a chat of text-generation-webui's"),
        (json!({"type":"script","id":"a","name":"Clock","content":"import 'x'"}), "a script of Tavern-Helper's"),
        (json!([{"type":"script","content":"a"},{"type":"folder","scripts":[]}]), "a script of Tavern-Helper's"),
        (
            json!({"name":"x","version":"1","description":"y","dependencies":{}}),
            "the description of a program's package",
        ),
        (json!({"label":"Go","message":"/go"}), "a single quick reply of SillyTavern's"),
        (json!({"type":"regex","data":[]}), "regex scripts of RisuAI's"),
    ] {
        assert_eq!(foreign(&file).map(|foreign| foreign.what), Some(what), "{file}");
    }
}

#[test]
fn characters_are_never_taken_for_anything_else() {
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
fn a_name_alone_is_no_card() {
    for other in [json!({"name":"Mira"}), json!({"name":"x","version":1,"tags":["a"],"creator":"b"}), json!({})] {
        assert!(!may_be_card(other.as_object().unwrap()), "{other}");
    }
}

#[test]
fn entries_without_a_book_are_found() {
    let entry = json!({"uid":0,"key":["mill"],"content":"The mill.","order":100});
    assert_eq!(lone_entries(&entry).map(|all| all.len()), Some(1));
    assert_eq!(lone_entries(&json!([entry, entry])).map(|all| all.len()), Some(2));
    let of_card = json!({"keys":["mill"],"content":"The mill.","insertion_order":1});
    assert_eq!(lone_entries(&of_card).map(|all| all.len()), Some(1));
    for other in [json!({"key":["a"],"content":"b"}), json!([entry, 1]), json!([]), Value::Null] {
        assert_eq!(lone_entries(&other), None, "{other}");
    }
}

#[test]
fn damaged_files_say_what_they_were() {
    for (text, kind) in [
        (r#"{"entries":{"0":{"key":["#, "lorebook"),
        (r#"{"spec":"chara_card_v2","data":{"character_book":{"entries":["#, "card"),
        (r#"{"temperature":1,"#, "preset"),
        (r#"[{"findRegex":"#, "regex script"),
        (r#"{"a":"#, "file"),
    ] {
        assert_eq!(of_damaged(text), kind, "{text}");
    }
}
