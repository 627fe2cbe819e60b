use proptest::prelude::*;
use serde_json::json;

use super::*;

fn unsupported(message: &str) -> Option<(u32, String)> {
    match action(message) {
        QuickReplyAction::Unsupported(UnsupportedLine { line, text }) => Some((line, text)),
        _ => None,
    }
}

#[test]
fn reads_sets_of_both_versions() {
    let new = json!({"version": 2, "name": "A", "disableSend": true, "injectInput": true, "placeBeforeInput": true,
            "qrList": [{"id": 1, "label": "Go", "title": "On", "message": "/continue", "executeOnAi": true}]});
    let old = json!({"name": "B", "quickReplySlots": [
            {"mes": "Hi there", "label": "", "hidden": true, "autoExecute_chatLoad": true}, {"mes": "", "label": ""}]});
    let new = QuickReplySet::read(&new).unwrap();
    assert_eq!((new.only_inserts, new.joins), (true, Some(Join::Before)));
    assert_eq!(
        (new.replies[0].hint.as_str(), new.replies[0].on_reply),
        ("On", true)
    );
    let old = QuickReplySet::read(&old).unwrap();
    assert_eq!(old.replies.len(), 1, "empty slots are no buttons");
    assert_eq!(
        (old.replies[0].label.as_str(), old.replies[0].is_hidden),
        ("Hi there", true)
    );
    assert!(old.replies[0].on_open);
    for other in [json!({"name": "Ada"}), json!({"qrList": 7}), json!([])] {
        assert_eq!(QuickReplySet::read(&other), None);
    }
}

#[test]
fn label_is_one_short_line() {
    let label = format!("\u{202e}a\n\t b\u{0} {}", "x".repeat(500));
    let set = json!({"qrList": [{"label": label, "message": "m"}]});
    let label = &QuickReplySet::read(&set).unwrap().replies[0].label;
    assert!(
        label.starts_with("a b x") && label.chars().count() <= MAX_LABEL,
        "{label}"
    );
}

#[test]
fn text_is_sent_and_commands_run() {
    assert_eq!(
        action(" I wave. | not a command\n"),
        QuickReplyAction::Text("I wave. | not a command")
    );
    assert_eq!(action("/usr/bin"), QuickReplyAction::Text("/usr/bin"));
    assert_eq!(
        action("/sys Rain. |\n/continue"),
        QuickReplyAction::Commands(vec!["/sys Rain.", "/continue"])
    );
    assert_eq!(
        action("// remark |\n/mode study"),
        QuickReplyAction::Commands(vec!["/mode study"])
    );
    assert_eq!(
        action("/sendas name=\"Mary Ann\" Hi"),
        QuickReplyAction::Commands(vec!["/sendas name=\"Mary Ann\" Hi"])
    );
    assert_eq!(
        action("/note a \\| b"),
        QuickReplyAction::Commands(vec!["/note a \\| b"])
    );
    let commented = "/* first | all */ /**/\n/note Rain. | /* then *| /mode study";
    assert_eq!(
        action(commented),
        QuickReplyAction::Commands(vec!["/note Rain.", "/mode study"])
    );
    assert_eq!(
        action("/*waves* | hello */"),
        QuickReplyAction::Commands(vec![])
    );
}

#[test]
fn script_is_never_a_text() {
    for message in [
        "/qr-list Main|\n/getat index=1 {{pipe}}",
        "/message-edit 1",
        "/?",
        "/_x",
        "/v2 on",
        "/member-disable 1",
        "/cut|/echo hi",
        "/:Main.Other",
        "/* never closed",
    ] {
        assert_eq!(
            unsupported(message).map(|(line, _)| line),
            Some(1),
            "{message}"
        );
    }
    assert_eq!(
        unsupported("/* step one */\n/setvar key=a 1"),
        Some((2, "/setvar key=a 1".into()))
    );
    assert_eq!(
        unsupported("/note Rain. |\n/note-depth 4"),
        Some((2, "/note-depth 4".into()))
    );
}

#[test]
fn unsupported_script_names_its_line() {
    assert_eq!(
        unsupported("/sys Rain. |\n/setvar key=x 1 |\n/echo hi"),
        Some((2, "/setvar key=x 1".into()))
    );
    assert_eq!(
        unsupported("/if left=1 right=1 {: /sys a :}"),
        Some((1, "/if left=1 right=1 {: /sys a :}".into()))
    );
    assert_eq!(
        unsupported("/sys compact=true Rain."),
        Some((1, "/sys compact=true Rain.".into()))
    );
    assert_eq!(unsupported("/hide 3"), Some((1, "/hide 3".into())));
    assert_eq!(
        unsupported("/continue | /sys Rain."),
        Some((1, "/sys Rain.".into()))
    );
    assert_eq!(
        unsupported("/sys {{pipe}}"),
        Some((1, "/sys {{pipe}}".into()))
    );
}

#[test]
fn only_quiet_commands_run_by_themselves() {
    let automatic = |message: &str| {
        QuickReply {
            message: message.to_owned(),
            on_reply: true,
            ..QuickReply::default()
        }
        .is_automatic()
    };
    assert!(automatic("/note Rain.") && automatic("/sys Rain. | /mode study"));
    for message in [
        "Hello",
        "/continue",
        "/narrate",
        "/as Mira",
        "/echo x",
        "/sys Rain. | /regenerate",
    ] {
        assert!(!automatic(message), "{message}");
    }
    assert!(
        !QuickReply {
            message: "/note Rain.".into(),
            ..QuickReply::default()
        }
        .is_automatic()
    );
}

#[test]
fn typed_text_is_included_where_asked() {
    let set = |joins| QuickReplySet {
        replies: Vec::new(),
        only_inserts: false,
        joins,
    };
    assert_eq!(set(None).text("Hi", "Bo"), ("Hi".into(), false));
    assert_eq!(
        set(Some(Join::Before)).text("Hi", "Bo"),
        ("Hi Bo".into(), true)
    );
    assert_eq!(
        set(Some(Join::After)).text("hi", "Bo says"),
        ("Bo says hi".into(), true)
    );
    assert_eq!(
        set(Some(Join::After)).text("<{{input}}>", "Bo"),
        ("<Bo>".into(), true)
    );
}

proptest! {
    #[test]
    fn odd_messages_never_panic(message in "[/|\\\\\n {}:a-zäß\\PC]{0,60}") {
        let reply = QuickReply { message: message.clone(), on_open: true, ..QuickReply::default() };
        let _ = (reply.action(), reply.is_automatic(), one_line(&message, 5));
    }
}
