use crate::chat_file::assistants::claude::CLAUDE_ROOT;
use serde_json::json;

use super::*;

fn lines(chat: &ChatFile) -> Vec<String> {
    let line = |said: &ChatFileMessage| {
        let texts: Vec<&str> = said
            .versions
            .iter()
            .map(|version| version.text.as_str())
            .collect();
        format!("{:?}: {} ({})", said.by, texts.join(" | "), said.selected)
    };
    chat.messages.iter().map(line).collect()
}

fn node(id: &str, parent: &str, role: &str, text: &str) -> (String, Value) {
    let message = json!({ "author": { "role": role }, "recipient": "all", "create_time": 1_700_000_000.5,
        "content": { "content_type": "text", "parts": [text] }, "metadata": { "model_slug": "gpt-4o" } });
    (
        id.to_owned(),
        json!({ "id": id, "parent": parent, "message": message }),
    )
}

fn conversation(nodes: Vec<(String, Value)>, current: &str) -> Value {
    let mapping: Map<String, Value> = std::iter::once((
        "root".to_owned(),
        json!({ "message": null, "parent": null }),
    ))
    .chain(nodes)
    .collect();
    json!({ "title": "The mill", "create_time": 1_700_000_000.0, "mapping": mapping, "current_node": current })
}

#[test]
fn chatgpt_replies_and_branches_are_kept() {
    let nodes = vec![
        node("s", "root", "system", ""),
        node("u1", "s", "user", "Hello"),
        node("a1", "u1", "assistant", "First."),
        node("a2", "u1", "assistant", "Second."),
        node("u2", "a2", "user", "Go on"),
        node("a3", "u2", "assistant", "On."),
        node("u3", "a2", "user", "Stop"),
        node("a4", "u3", "assistant", "Stopped."),
    ];
    let export = read_assistant(&json!([conversation(nodes, "a3")])).unwrap();
    let [talk] = &export.talks[..] else {
        panic!("{export:?}")
    };
    assert_eq!((export.app, talk.title.as_str()), ("ChatGPT", "The mill"));
    let main = [
        "User: Hello (0)",
        "Character: First. | Second. (1)",
        "User: Go on (0)",
        "Character: On. (0)",
    ];
    assert_eq!(lines(&talk.main), main);
    let [branch] = &talk.branches[..] else {
        panic!("{talk:?}")
    };
    assert_eq!(
        (lines(&branch.chat).last().unwrap().as_str(), branch.common),
        ("Character: Stopped. (0)", 2)
    );
    let version = talk.main.messages[1].shown();
    assert_eq!(
        (version.date.as_str(), version.model.as_str()),
        ("1700000000500", "gpt-4o")
    );
}

#[test]
fn chatgpt_pictures_thoughts_and_tools_are_read() {
    let picture = json!({ "content_type": "image_asset_pointer", "asset_pointer": "file-service://file-AbC" });
    let message = |role: &str, content: Value, recipient: &str| json!({ "author": { "role": role }, "content": content, "recipient": recipient });
    let nodes = vec![
        (
            "u".to_owned(),
            json!({ "parent": "root", "message": message("user", json!({ "content_type": "multimodal_text", "parts": [picture, "Look"] }), "all") }),
        ),
        (
            "t".to_owned(),
            json!({ "parent": "u", "message": message("assistant", json!({ "content_type": "thoughts", "thoughts": [{ "content": "Hm." }] }), "all") }),
        ),
        (
            "c".to_owned(),
            json!({ "parent": "t", "message": message("assistant", json!({ "content_type": "code", "text": "search()" }), "browser") }),
        ),
        (
            "r".to_owned(),
            json!({ "parent": "c", "message": message("tool", json!({ "content_type": "text", "parts": ["found"] }), "all") }),
        ),
        (
            "a".to_owned(),
            json!({ "parent": "r", "message": message("assistant", json!({ "content_type": "text", "parts": ["A mill."] }), "all") }),
        ),
    ];
    let export = read_assistant(&conversation(nodes, "a")).unwrap();
    let messages = &export.talks[0].main.messages;
    assert_eq!(
        lines(&export.talks[0].main),
        ["User: Look (0)", "Character: A mill. (0)"]
    );
    assert_eq!(
        (
            messages[0].pictures.as_slice(),
            messages[1].shown().thoughts.as_str()
        ),
        (&["file-AbC".to_owned()][..], "Hm.")
    );
}

#[test]
fn claude_conversations_are_read() {
    let said = |id: &str, parent: &str, sender: &str, text: &str, at: &str| {
        json!({ "uuid": id, "parent_message_uuid": parent,
        "sender": sender, "text": text, "created_at": at, "content": [{ "type": "text", "text": text }] })
    };
    let export = read_assistant(&json!([
        { "uuid": "x", "name": "Rain", "created_at": "2026-01-01T10:00:00Z", "chat_messages": [
            said("1", CLAUDE_ROOT, "human", "Hi", "2026-01-01T10:00:01Z"),
            said("2", "1", "assistant", "One.", "2026-01-01T10:00:02Z"),
            said("3", "1", "assistant", "Two.", "2026-01-01T10:00:03Z")] },
        { "uuid": "y", "name": "", "chat_messages": [] },
        { "uuid": "z", "name": "Old", "chat_messages": [
            { "sender": "human", "text": "See", "attachments": [{ "file_name": "a.txt", "extracted_content": "words" }], "files": [{ "file_name": "b.png" }] },
            { "sender": "assistant", "text": "Seen." }] }
    ]))
    .unwrap();
    assert_eq!(
        (export.app, export.talks.len(), export.unread),
        ("Claude", 2, 1)
    );
    assert_eq!(
        lines(&export.talks[0].main),
        ["User: Hi (0)", "Character: One. | Two. (1)"]
    );
    assert_eq!(
        lines(&export.talks[1].main),
        ["User: See\n\n[a.txt]\nwords (0)", "Character: Seen. (0)"]
    );
    assert_eq!(export.talks[1].main.messages[0].pictures, ["b.png"]);
}

#[test]
fn gemini_activity_and_studio_are_read() {
    let item = |title: &str, time: &str, html: &str| json!({ "header": "Gemini Apps", "title": title, "time": time, "safeHtmlItem": [{ "html": html }] });
    let export = read_assistant(&json!([
        item("Prompted And now?", "2026-01-02T09:00:00Z", "<p>Now.</p>"),
        item(
            "Prompted Hello",
            "2026-01-01T09:00:00Z",
            "<p>Hi &amp; <b>welcome</b></p><ul><li>one</li></ul>"
        ),
    ]))
    .unwrap();
    assert_eq!(
        export
            .talks
            .iter()
            .map(|talk| talk.title.as_str())
            .collect::<Vec<_>>(),
        ["Gemini 2026-01-01", "Gemini 2026-01-02"]
    );
    assert_eq!(
        lines(&export.talks[0].main),
        ["User: Hello (0)", "Character: Hi & welcome\n\n- one (0)"]
    );
    let studio = json!({ "chunkedPrompt": { "chunks": [{ "role": "user", "text": "Hi" },
        { "role": "model", "text": "Hm", "isThought": true }, { "role": "model", "text": "Hello." }] } });
    let export = read_assistant(&studio).unwrap();
    assert_eq!(
        lines(&export.talks[0].main),
        ["User: Hi (0)", "Character: Hello. (0)"]
    );
    assert_eq!(export.talks[0].main.messages[1].shown().thoughts, "Hm");
}

#[test]
fn damaged_trees_do_not_hang() {
    let ring = vec![
        node("a", "b", "user", "x"),
        node("b", "a", "assistant", "y"),
    ];
    let read = read_assistant(&conversation(ring, "a")).unwrap();
    assert!(read.talks.len() + read.unread == 1, "{read:?}");
    for other in [
        json!([]),
        json!([{ "mapping": 1 }]),
        json!({ "chat_messages": {} }),
        json!({ "header": "News" }),
    ] {
        assert_eq!(read_assistant(&other), None, "{other}");
    }
}

#[test]
fn odd_items_and_branches_above_the_limit_are_counted() {
    let mut nodes = vec![
        node("u", "root", "user", "Hello"),
        node("a", "u", "assistant", "Hi."),
    ];
    for number in 0..130 {
        let (asked, answered) = (format!("u{number}"), format!("a{number}"));
        nodes.extend([
            node(&asked, "a", "user", "More"),
            node(&answered, &asked, "assistant", "Yes."),
        ]);
    }
    let odd = [json!("a line"), json!({ "mapping": [] }), json!(null)];
    let items: Vec<Value> = std::iter::once(conversation(nodes, "a0"))
        .chain(odd)
        .collect();
    let export = read_assistant(&json!({ "conversations": items })).unwrap();
    assert_eq!(
        (export.app, export.talks.len(), export.unread),
        ("ChatGPT", 1, 3)
    );
    assert_eq!(
        (
            export.talks[0].branches.len(),
            export.talks[0].unread_branches
        ),
        (100, 29)
    );
}

#[test]
fn shown_reply_is_kept_among_too_many_versions() {
    let replies = (0..600).map(|number| {
        node(
            &format!("a{number:03}"),
            "u",
            "assistant",
            &number.to_string(),
        )
    });
    let nodes: Vec<_> = std::iter::once(node("u", "root", "user", "Hello"))
        .chain(replies)
        .collect();
    let export = read_assistant(&json!([conversation(nodes, "a599")])).unwrap();
    let reply = &export.talks[0].main.messages[1];
    assert_eq!(
        (reply.versions.len(), reply.shown().text.as_str()),
        (500, "599")
    );
    assert_eq!(
        export.talks[0].branches.len(),
        1,
        "the others are versions in a branch"
    );
}
