use serde_json::json;

use super::*;

fn check(root: Value) -> Vec<String> {
    let Some(DetectedChats::Other(found)) = detect_chats(&root) else {
        panic!("{root} is no chat of another app")
    };
    let said =
        |said: &ChatFileMessage| format!("{:?} {}: {}", said.by, said.name, said.shown().text);
    found
        .chats
        .iter()
        .flat_map(|(_, chat)| chat.messages.iter().map(said))
        .collect()
}

#[test]
fn reads_a_webui_chat_with_versions() {
    let pairs = json!({ "internal": [[NO_MESSAGE, "Hello."], ["Hi <b>", "Two."]], "visible": [["", "Hello."], ["Hi &lt;b&gt;", "Two."]],
            "metadata": { "assistant_1": { "timestamp": "Jun 05, 2025 12:07", "versions": [{ "text": "One." }, { "text": "Two." }] } } });
    assert_eq!(
        check(pairs.clone()),
        ["Character : Hello.", "User : Hi <b>", "Character : Two."]
    );
    let Some(DetectedChats::Other(found)) = detect_chats(&pairs) else {
        unreachable!()
    };
    let last = &found.chats[0].1.messages[2];
    assert_eq!((last.versions.len(), last.selected), (2, 1));
    assert_eq!(
        check(json!({ "data": [["a", "b"]], "data_visible": [["a", "b"]] })),
        ["User : a", "Character : b"]
    );
}

#[test]
fn reads_speaker_names_of_an_agnai_chat() {
    let chat = json!({ "name": "Chat", "greeting": "Hello", "messages": [
            { "handle": "Miller", "characterId": "1", "msg": "Hello" }, { "handle": "Sam", "userId": "anon", "msg": "Hi" }] });
    assert_eq!(check(chat), ["Character Miller: Hello", "User Sam: Hi"]);
}

#[test]
fn reads_both_character_ai_formats() {
    let source = |name: &str, human: bool| json!({ "name": name, "is_human": human });
    let old = json!({ "info": { "character": { "name": "Mira" } }, "histories": { "histories": [{ "msgs": [
            { "text": "Hello.", "src": source("Mira", false) }, { "text": "Hi.", "src": source("Tom", true) }] }] } });
    assert_eq!(check(old), ["Character Mira: Hello.", "User Tom: Hi."]);
    let candidate = |id: &str| json!({ "candidate_id": id, "raw_content": id });
    let new = json!({ "turns": [
            { "author": source("Tom", true), "create_time": "2024-02", "candidates": [candidate("b")] },
            { "author": source("Mira", false), "create_time": "2024-01", "candidates": [candidate("a"), candidate("c")], "primary_candidate_id": "c" }] });
    assert_eq!(check(new), ["Character Mira: c", "User Tom: b"]);
}

#[test]
fn janitor_alternatives_become_versions() {
    let said = |id: u32, bot: bool, main: bool, text: &str| json!({ "id": id, "is_bot": bot, "is_main": main, "message": text });
    let chat = json!({ "character": { "name": "Mira" }, "chatMessages": [
            said(3, true, false, "Two."), said(2, true, true, "One."), said(1, false, false, "Hi.")] });
    assert_eq!(check(chat), ["User : Hi.", "Character : One."]);
}

#[test]
fn other_json_is_not_a_chat() {
    for other in [
        json!({}),
        json!([]),
        json!({ "messages": [] }),
        json!({ "internal": 1, "visible": [] }),
        json!(7),
    ] {
        assert_eq!(detect_chats(&other), None, "{other}");
    }
    assert_eq!(
        detect_chats(&json!([{ "chat_metadata": {} }, { "mes": "x" }])),
        Some(DetectedChats::Lines)
    );
    let named = detect_chats(&json!({ "messages": [{ "role": "user", "content": "x" }] }));
    assert!(
        matches!(named, Some(DetectedChats::Unsupported(_))),
        "{named:?}"
    );
}
