use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::chat_file::model::MessageVersion;
use crate::readable_chat::{ReadableChat, ReadableOptions};

fn check(lines: &[&str]) -> (Vec<String>, Vec<usize>) {
    let (chat, losses) = ChatFile::from_jsonl(lines.join("\n").as_bytes()).unwrap();
    let line = |said: &ChatFileMessage| {
        let others = said
            .versions
            .iter()
            .map(|version| version.text.as_str())
            .collect::<Vec<_>>()
            .join(" | ");
        let hidden = if said.hidden { " (hidden)" } else { "" };
        let note = if said.note { " (note)" } else { "" };
        format!(
            "{:?} {}{hidden}{note}: {} of {others}",
            said.by,
            said.name,
            said.shown().text
        )
    };
    (chat.messages.iter().map(line).collect(), losses.unread)
}

#[test]
fn reads_a_sillytavern_chat_with_swipes() {
    let (messages, unread) = check(&[
        r#"{"user_name":"Tom","character_name":"Mira","create_date":"2024-01-15@12h30m15s","chat_metadata":{"note_prompt":""}}"#,
        r#"{"name":"Mira","is_user":false,"send_date":"January 15, 2024 12:30pm","mes":"Hello.","swipes":["Hi.","Hullo."],"swipe_id":1}"#,
        r#"{"name":"Tom","is_user":true,"is_system":false,"send_date":1705321815000,"mes":"Well?","extra":{}}"#,
        r#"{"name":"System","is_user":false,"is_system":false,"mes":"Night falls.","extra":{"type":"narrator"}}"#,
        r#"{"name":"Mira","is_user":false,"is_system":true,"mes":"Long ago.","swipes":[],"swipe_id":0}"#,
        r#"{"name":"Note","is_user":false,"is_system":true,"mes":"Buy oil.","extra":{"type":"comment"}}"#,
    ]);
    assert_eq!(
        messages,
        [
            "Character Mira: Hello. of Hi. | Hullo. | Hello.",
            "User Tom: Well? of Well?",
            "Narrator System: Night falls. of Night falls.",
            "Character Mira (hidden): Long ago. of Long ago.",
            "Narrator Note (note): Buy oil. of Buy oil.",
        ]
    );
    assert_eq!(unread, [0; 0]);
}

#[test]
fn a_bad_line_loses_only_its_message() {
    let deep = format!(
        r#"{{"mes":{}1{}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let lines = [
        r#"{"mes":"One."}"#,
        "half a li",
        r#"{"mes":7}"#,
        "",
        "[]",
        &deep,
        r#"{"mes":"Two."}"#,
    ];
    let (messages, unread) = check(&lines);
    assert_eq!(messages.len(), 2);
    assert_eq!(unread, [2, 3, 5, 6]);
}

#[test]
fn names_come_from_messages_if_header_lacks_them() {
    let messages = [
        r#"{"name":"Mira","mes":"Hi."}"#,
        r#"{"name":"Tom","is_user":true,"mes":"Hi."}"#,
    ]
    .join("\n");
    let names = |first: &str| {
        let (chat, _) = ChatFile::from_jsonl(format!("{first}\n{messages}").as_bytes()).unwrap();
        (chat.user, chat.character)
    };
    let of_messages = ("Tom".to_owned(), "Mira".to_owned());
    assert_eq!(
        names(r#"{"user_name":"unused","character_name":"unused","chat_metadata":{}}"#),
        of_messages
    );
    assert_eq!(
        names(r#"{"name":"Note","is_system":true,"mes":"Hm.","extra":{"type":"help"}}"#),
        of_messages
    );
    assert_eq!(
        names(r#"{"user_name":"T","character_name":"M"}"#),
        ("T".to_owned(), "M".to_owned())
    );
}

fn swiped(rest: &str) -> String {
    let (messages, _) = check(&[&format!(r#"{{"mes":"b",{rest}}}"#)]);
    messages[0].strip_prefix("Character : ").unwrap().to_owned()
}

#[test]
fn the_shown_version_is_the_one_with_the_text() {
    for id in [
        "2",
        "-1",
        "null",
        "\"1\"",
        "\"x\"",
        "1.5",
        "{}",
        "0",
        "1",
        "99999999999999999999",
    ] {
        assert_eq!(
            swiped(&format!(r#""swipes":["a","b"],"swipe_id":{id}"#)),
            "b of a | b",
            "{id}"
        );
    }
    assert_eq!(swiped(r#""swipes":["a","b"]"#), "b of a | b");
    assert_eq!(
        swiped(r#""swipes":["a",null,7,["x"],"b"],"swipe_info":[7,null]"#),
        r#"b of a |  | 7 | ["x"] | b"#
    );
}

#[test]
fn a_text_without_a_version_becomes_one() {
    assert_eq!(
        swiped(r#""swipes":["a","c"],"swipe_id":0"#),
        "b of a | c | b"
    );
    assert_eq!(swiped(r#""swipes":[]"#), "b of b");
    assert_eq!(swiped(r#""swipes":"a","swipe_id":-1"#), "b of b");
}

#[test]
fn swipe_id_chooses_between_equal_texts() {
    let selected = |id: &str| {
        let line = format!(r#"{{"mes":"b","swipes":["b","a","b"],"swipe_id":{id}}}"#);
        ChatFile::from_jsonl(line.as_bytes()).unwrap().0.messages[0].selected
    };
    assert_eq!(
        (
            selected("0"),
            selected("2"),
            selected("1"),
            selected("null")
        ),
        (0, 2, 2, 2)
    );
}

#[test]
fn versions_beyond_the_limit_are_counted() {
    for (shown, selected) in [(0, 0), (498, 498), (499, 499), (500, 499), (599, 499)] {
        let texts: Vec<String> = (0..600).map(|number| format!("v{number}")).collect();
        let line =
            json!({ "mes": format!("v{shown}"), "swipes": texts, "swipe_id": 0 }).to_string();
        let (chat, losses) = ChatFile::from_jsonl(line.as_bytes()).unwrap();
        let said = &chat.messages[0];
        assert_eq!(
            (said.versions.len(), said.selected, losses.cut_versions),
            (500, selected, 100),
            "{shown}"
        );
        assert_eq!(said.shown().text, format!("v{shown}"));
    }
}

#[test]
fn unused_data_is_written_back() {
    let lines = [
        json!({ "user_name": "Sam", "character_name": "Mira", "create_date": "2024-5-1@10h00m00s", "tainted": true,
            "chat_metadata": { "note_prompt": "Rural.", "variables": { "a": "1", "n": 2 }, "main_chat": "Old", "integrity": "x" } }),
        json!({ "name": "Mira", "is_user": false, "is_system": false, "send_date": "May 1, 2024 10:00am", "mes": "Two.",
            "extra": { "image": "user/images/a.png", "display_text": "Zwei.", "token_count": 3, "model": "m", "bias": null },
            "force_avatar": "/thumb", "odd": { "deep": [1] }, "gen_started": "2024-05-01T10:00:00.000Z", "gen_finished": "x",
            "swipe_id": 1, "swipes": ["One.", "Two."],
            "swipe_info": [{ "send_date": "d", "gen_started": "g", "extra": { "gen_id": 7 }, "new": 1 },
                { "send_date": "May 1, 2024 10:00am", "gen_started": "2024-05-01T10:00:00.000Z", "gen_finished": "x",
                    "extra": { "image": "user/images/a.png", "display_text": "Zwei.", "token_count": 3, "model": "m", "bias": null } }] }),
        json!({ "name": "Sam", "is_user": true, "is_system": true, "send_date": "", "mes": "Hidden.", "extra": { "is_small_sys": true } }),
    ];
    let file = lines
        .iter()
        .map(Value::to_string)
        .collect::<Vec<_>>()
        .join("\n");
    let (chat, losses) = ChatFile::from_jsonl(file.as_bytes()).unwrap();
    assert_eq!(losses, Losses::default());
    let written: Vec<Value> = chat
        .to_jsonl()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(written, lines);
}

#[test]
fn versions_inherit_missing_data_from_the_message() {
    let line = r#"{"mes":"b","extra":{"reasoning":"","bookmark_link":"B1"},"swipes":["b"],"swipe_info":[{"extra":{"reasoning":"why","model":"m","gen_id":1}}]}"#;
    let (chat, _) = ChatFile::from_jsonl(line.as_bytes()).unwrap();
    let shown = chat.messages[0].shown();
    assert_eq!(
        (shown.thoughts.as_str(), shown.model.as_str()),
        ("why", "m")
    );
    assert_eq!(
        Value::Object(shown.unused_fields.clone()),
        json!({ "extra": { "bookmark_link": "B1", "gen_id": 1 } })
    );
}

#[test]
fn unused_data_above_the_limit_is_counted() {
    let line = json!({ "mes": "x", "extra": { "image": "a".repeat(MAX_REST) } }).to_string();
    let (chat, losses) = ChatFile::from_jsonl(line.as_bytes()).unwrap();
    assert_eq!(
        (
            losses.oversized,
            chat.messages[0].shown().unused_fields.len()
        ),
        (1, 0)
    );
}

#[test]
fn notes_and_narrators_keep_their_kind() {
    let line = |rest: &str| format!(r#"{{"name":"N","mes":"x",{rest}}}"#);
    for (rest, kind) in [
        (r#""is_system":true,"extra":{"type":"comment"}"#, "comment"),
        (r#""is_system":true,"extra":{"type":"help"}"#, "help"),
        (
            r#""is_system":false,"extra":{"type":"narrator"}"#,
            "narrator",
        ),
        (
            r#""is_system":true,"extra":{"type":"narrator"}"#,
            "narrator",
        ),
    ] {
        let (chat, _) = ChatFile::from_jsonl(line(rest).as_bytes()).unwrap();
        let written: Value = serde_json::from_str(chat.to_jsonl().lines().nth(1).unwrap()).unwrap();
        assert_eq!(written["extra"]["type"], kind, "{rest}");
        assert_eq!(written["is_system"], rest.contains("true"), "{rest}");
    }
}

#[test]
fn lines_may_be_one_array_or_in_utf_16() {
    let lines = [
        r#"{"user_name":"Tom","chat_metadata":{}}"#,
        r#"{"name":"Mira","mes":"Zoé \u2028"}"#,
    ];
    let (expected, _) = ChatFile::from_jsonl(lines.join("\r\n\r\n").as_bytes()).unwrap();
    let array = format!("\u{feff}[{}]", lines.join(",\n"));
    let utf16: Vec<u8> = format!("\u{feff}{}", lines.join("\n"))
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    for bytes in [array.as_bytes(), &utf16] {
        assert_eq!(ChatFile::from_jsonl(bytes).unwrap().0, expected);
    }
}

#[test]
fn half_a_character_loses_only_itself() {
    let lines = [
        r#"{"user_name":"Tom","chat_metadata":{"note_prompt":"be kind \udc4d"}}"#.as_bytes(),
        br#"{"name":"Mira","mes":"Look \ud83d!"}"#,
        b"{\"name\":\"Tom\",\"is_user\":true,\"mes\":\"a\xff\\u0000b\"}",
    ];
    let (chat, losses) = ChatFile::from_jsonl(&lines.join(&b'\n')).unwrap();
    let texts: Vec<&str> = chat
        .messages
        .iter()
        .map(|said| said.shown().text.as_str())
        .collect();
    assert_eq!(texts, ["Look \u{fffd}!", "a\u{fffd}\0b"]);
    assert_eq!(
        chat.header["chat_metadata"]["note_prompt"],
        "be kind \u{fffd}"
    );
    assert_eq!(
        losses,
        Losses {
            repaired: vec![1, 2, 3],
            ..Losses::default()
        }
    );
}

#[test]
fn refuses_files_that_are_not_chats() {
    for other in [
        "{}",
        "[]",
        r#"{"name":"a card"}"#,
        "plain words",
        "\u{0}\u{ff}",
        r#"[{"a":1}]"#,
    ] {
        assert_eq!(
            ChatFile::from_jsonl(other.as_bytes()),
            Err(ChatFileError::NoChat),
            "{other}"
        );
    }
    for empty in [
        "",
        " \r\n",
        r#"{"user_name":"unused","chat_metadata":{}}"#,
        r#"[{"chat_metadata":{}}]"#,
    ] {
        assert_eq!(
            ChatFile::from_jsonl(empty.as_bytes()),
            Err(ChatFileError::Empty),
            "{empty}"
        );
    }
}

fn version(text: &str) -> MessageVersion {
    MessageVersion {
        text: text.into(),
        date: "2024-01-15T12:30:15Z".into(),
        ..MessageVersion::default()
    }
}

fn small() -> ChatFile {
    let said = |name: &str, by, versions: Vec<MessageVersion>| {
        let selected = versions.len() - 1;
        ChatFileMessage {
            name: name.into(),
            by,
            versions,
            selected,
            ..ChatFileMessage::default()
        }
    };
    let reply = MessageVersion {
        thoughts: "Who is it?".into(),
        model: "tiny".into(),
        ..version("*waves*\n\nCome in.")
    };
    ChatFile {
        user: "Tom".into(),
        character: "Mira_Q".into(),
        created: "2024-01-15T12:00:00Z".into(),
        header: Map::from_iter([("chat_metadata".to_owned(), json!({ "tainted": true }))]),
        messages: vec![
            said(
                "Mira_Q",
                ChatFileAuthor::Character,
                vec![version("Hello?"), reply],
            ),
            said(
                "Tom",
                ChatFileAuthor::User,
                vec![version("Thanks.\u{2028}\"Really.\"")],
            ),
            said(
                "",
                ChatFileAuthor::Narrator,
                vec![version("The door closes.")],
            ),
            ChatFileMessage {
                note: true,
                ..said(
                    "",
                    ChatFileAuthor::Narrator,
                    vec![version("called by the user")],
                )
            },
        ],
    }
}

#[test]
fn written_chats_can_be_read_again() {
    let (read, losses) = ChatFile::from_jsonl(small().to_jsonl().as_bytes()).unwrap();
    assert_eq!((read, losses), (small(), Losses::default()));
}

fn any_version() -> impl Strategy<Value = MessageVersion> {
    ("(?s).{0,24}", ".{0,8}", ".{0,8}", ".{0,8}").prop_map(|(text, thoughts, sent, model)| {
        MessageVersion {
            text,
            thoughts,
            date: sent,
            model,
            unused_fields: Map::new(),
        }
    })
}

fn any_said() -> impl Strategy<Value = ChatFileMessage> {
    let by = prop_oneof![
        Just(ChatFileAuthor::User),
        Just(ChatFileAuthor::Character),
        Just(ChatFileAuthor::Narrator)
    ];
    let versions = proptest::collection::vec(any_version(), 1..3);
    let named = (".{0,40}", ".{0,40}");
    (named, by, 0..3_u8, versions, any::<prop::sample::Index>()).prop_map(
        |((name, avatar), by, apart, versions, one)| {
            let note = apart == 1;
            let by = if note { ChatFileAuthor::Narrator } else { by };
            let selected = one.index(versions.len());
            ChatFileMessage {
                name,
                avatar,
                by,
                hidden: apart == 2,
                note,
                event: false,
                pictures: Vec::new(),
                versions,
                selected,
                unused_fields: Map::new(),
            }
        },
    )
}

fn soup_text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[ab]", "(?s).{0,12}"]
}

/// Arbitrary JSON with the keys of a chat.
fn soup() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        soup_text().prop_map(Value::from),
    ];
    let key = prop_oneof![
        Just("extra"),
        Just("type"),
        Just("model"),
        Just("reasoning"),
        Just("send_date"),
        Just("x")
    ];
    leaf.prop_recursive(3, 12, 3, move |inner| {
        let object = proptest::collection::vec((key.clone(), inner.clone()), 0..3);
        prop_oneof![
            proptest::collection::vec(inner, 0..3).prop_map(Value::from),
            object.prop_map(|pairs| pairs
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: crate::test_cases::rounds(10_000),
        // `cargo xtask fuzz` sets a new seed in each round.
        rng_seed: proptest::test_runner::RngSeed::Fixed(
            std::env::var("PROPTEST_RNG_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(27),
        ),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_chat_survives_write_and_read(
        (user, character, created) in ("[A-Z].{0,9}", "[A-Z].{0,9}", ".{0,9}"),
        messages in proptest::collection::vec(any_said(), 1..4),
    ) {
        let chat = ChatFile { user, character, created, header: Map::new(), messages };
        let (read, losses) = ChatFile::from_jsonl(chat.to_jsonl().as_bytes()).unwrap();
        prop_assert_eq!((read, losses), (chat, Losses::default()));
    }

    /// For any version data in a line, reading keeps each version and shows the message's text.
    /// Writing preserves both.
    #[test]
    fn no_version_is_lost(
        shown in soup_text(),
        swipes in prop_oneof![4 => proptest::collection::vec(soup_text(), 0..6).prop_map(|all| json!(all)), 1 => soup()],
        id in prop_oneof![2 => (-2..8_i64).prop_map(|id| json!(id)), 1 => soup()],
        infos in soup(),
        extra in soup(),
        system in soup(),
    ) {
        let line = json!({ "name": "M", "mes": shown, "swipes": swipes, "swipe_id": id, "swipe_info": infos, "extra": extra,
            "is_system": system, "gen_started": extra });
        let (chat, _) = ChatFile::from_jsonl(line.to_string().as_bytes()).unwrap();
        let said = &chat.messages[0];
        prop_assert_eq!(&said.shown().text, &shown);
        let mut texts: Vec<&str> = said.versions.iter().map(|version| version.text.as_str()).collect();
        for swipe in swipes.as_array().into_iter().flatten().filter_map(Value::as_str) {
            let place = texts.iter().position(|text| *text == swipe);
            prop_assert!(place.is_some(), "{} is lost", swipe);
            texts.remove(place.unwrap());
        }
        let (again, _) = ChatFile::from_jsonl(chat.to_jsonl().as_bytes()).unwrap();
        prop_assert_eq!(&again.messages[0].versions, &said.versions);
        prop_assert_eq!(again.messages[0].selected, said.selected);
    }

    /// Reading survives any cut or replacement in a file.
    #[test]
    fn reading_survives_any_damage(from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>(), other in ".*") {
        let mut bytes = small().to_jsonl().into_bytes();
        let (from, to) = (from.index(bytes.len()), to.index(bytes.len()));
        bytes.splice(from.min(to)..from.max(to), other.bytes());
        if let Ok((chat, _)) = ChatFile::from_jsonl(&bytes) {
            prop_assert!(chat.messages.iter().all(|said| said.selected < said.versions.len()));
        }
    }
}

#[test]
fn text_exports_contain_the_shown_versions() {
    let plain =
        "Mira_Q: *waves*\n\nCome in.\n\nTom: Thanks.\u{2028}\"Really.\"\n\nThe door closes.\n";
    let text = |file: &ChatFile| ReadableChat::of(file, "").to_text(ReadableOptions::default());
    assert_eq!(text(&small()), plain);
    let mut hostile = small();
    hostile.messages[1].versions[0].text = "\u{1b}[31mred\u{7}\u{0}\u{9b}1m\r\nend".into();
    assert!(
        text(&hostile).contains("Tom: [31mred1m\nend\n"),
        "{:?}",
        text(&hostile)
    );
    let markdown =
        |file, title| ReadableChat::of(file, title).to_markdown(ReadableOptions::default());
    assert!(!markdown(&hostile, "\u{1b}x").contains('\u{1b}'));
    let marked = "# A \\*talk\\*\n\n**Mira\\_Q**\n\n*waves*\n\nCome in.\n\n**Tom**\n\nThanks.\u{2028}\"Really.\"\n\nThe door closes.\n";
    assert_eq!(markdown(&small(), "A *talk*"), marked);
}
