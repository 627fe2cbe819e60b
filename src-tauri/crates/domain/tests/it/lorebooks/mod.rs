//! Lorebooks in all three formats, with odd values. Conversions lose nothing.

mod properties;

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::lorebook::{
    Book, BookError, BookFormat, CharacterFilter, InsertionRole, KeyLogic, Position, Skipped, Uid,
};
use serde_json::{Value, json};

fn read(value: Value) -> Book {
    let (book, skipped) = Book::from_value(value).unwrap();
    assert_eq!(skipped, []);
    book
}

fn card_book(entries: Value) -> Book {
    let book = json!({ "entries": entries, "extensions": {} });
    Book::from_character_book(book.as_object().unwrap()).0
}

/// An entry with all known fields and an unknown one.
fn full_entry() -> Value {
    json!({
        "uid": 4, "key": ["lamp", "/oil/i"], "keysecondary": ["night"], "comment": "Lamps", "content": "They burn oil.",
        "constant": true, "vectorized": true, "selective": true, "selectiveLogic": 3, "addMemo": true, "order": 90,
        "position": 4, "depth": 2, "role": 1, "outletName": "o", "disable": true, "ignoreBudget": true,
        "excludeRecursion": true, "preventRecursion": true, "delayUntilRecursion": true, "matchPersonaDescription": true,
        "matchCharacterDescription": true, "matchCharacterPersonality": true, "matchCharacterDepthPrompt": true,
        "matchScenario": true, "matchCreatorNotes": true, "probability": 60, "useProbability": true, "group": "a, b",
        "groupOverride": true, "groupWeight": 30, "useGroupScoring": false, "scanDepth": 7, "caseSensitive": true,
        "matchWholeWords": false, "sticky": 3, "cooldown": 2, "delay": 1, "triggers": ["swipe"], "automationId": "q",
        "displayIndex": 9, "characterFilter": {"names": ["Mira"], "tags": ["t"], "isExclude": true},
        "extensions": {"theirs": {"x": [1, null]}}, "unknown": {"deep": [true]},
    })
}

#[test]
fn every_native_field_is_read() {
    let book = read(json!({ "entries": { "4": full_entry() } }));
    let entry = &book.entries[0];
    assert_eq!(entry.uid, Uid::from("4"));
    assert_eq!(
        (entry.logic, entry.position, entry.role),
        (
            Some(KeyLogic::AndAll),
            Some(Position::AtDepth),
            Some(InsertionRole::User)
        )
    );
    assert_eq!(
        (entry.depth, entry.scan_depth, entry.delay_until_recursion),
        (Some(2), Some(7), 1)
    );
    assert_eq!(
        (entry.sticky, entry.cooldown, entry.delay),
        (Some(3), Some(2), Some(1))
    );
    assert_eq!(
        (entry.probability, entry.use_probability, entry.group_weight),
        (Some(60.0), true, Some(30.0))
    );
    assert_eq!(
        (
            entry.case_sensitive,
            entry.match_whole_words,
            entry.use_group_scoring
        ),
        (Some(true), Some(false), Some(false))
    );
    let filter = CharacterFilter {
        names: vec!["Mira".into()],
        tags: vec!["t".into()],
        exclude: true,
    };
    assert_eq!(entry.character_filter, Some(filter));
    assert!(
        entry.disable
            && entry.ignore_budget
            && entry.match_creator_notes
            && entry.vectorized
            && entry.add_memo
    );
}

#[test]
fn unedited_books_are_written_unchanged() {
    for book in [
        json!({"name": "W", "odd": 1, "entries": {"4": full_entry(), "z": {"content": "x"}, "1": {"key": "lamp", "position": "0"}}}),
        json!({"name": "W", "extensions": {"a": 1}, "entries": [{"keys": ["a"], "content": "b", "enabled": true, "insertion_order": 1,
            "extensions": {"selectiveLogic": 2, "x": {}}, "id": "s", "position": "before_char", "priority": 3, "odd": null}]}),
        json!({"spec": "lorebook_v3", "more": [1], "data": {"entries": [{"keys": ["a"], "use_regex": true, "content": "@@moon 1\nb"}]}}),
        json!({"entries": {"0": {"keys": ["numbered"], "content": "c"}}, "extensions": {}}),
        json!({"entries": [{"key": ["listed"], "content": "c", "uid": 3}]}),
    ] {
        assert_eq!(read(book.clone()).to_value(), book);
    }
}

#[test]
fn an_edit_changes_only_its_field() {
    let original = json!({ "entries": { "4": full_entry() } });
    let mut book = read(original.clone());
    book.entries[0].order = 12.0;
    book.entries[0].position = None;
    let mut expected = original;
    expected["entries"]["4"]["order"] = json!(12);
    expected["entries"]["4"]["position"] = Value::Null;
    assert_eq!(book.to_value(), expected);

    let original = json!({"entries": [{"keys": ["a"], "content": "b", "enabled": true, "extensions": {"x": 1}}], "extensions": {}});
    let mut book = read(original.clone());
    book.entries[0].disable = true;
    book.entries[0].sticky = Some(2);
    let mut expected = original;
    expected["entries"][0]["enabled"] = json!(false);
    expected["entries"][0]["extensions"]["sticky"] = json!(2);
    assert_eq!(book.to_value(), expected);
}

#[test]
fn card_entries_follow_sillytavern_rules() {
    let book = card_book(json!([
        {"keys": ["a"], "secondary_keys": ["b"], "content": "", "enabled": true, "insertion_order": 7, "extensions": {}},
        {"keys": ["a"], "position": "before_char", "enabled": false, "extensions": {}},
        {"keys": ["a"], "position": "before_char", "extensions": {"position": 4, "depth": 1, "role": 2, "useProbability": false}},
        {"keys": ["a"], "position": "elsewhere", "selective": true, "extensions": {"probability": 40}},
        {"keys": ["a"], "position": 0},
    ]));
    let positions: Vec<_> = book
        .entries
        .iter()
        .map(|entry| entry.position.unwrap())
        .collect();
    let (before, after) = (Position::BeforeChar, Position::AfterChar);
    assert_eq!(positions, [after, before, Position::AtDepth, after, before]);
    let first = &book.entries[0];
    assert_eq!(
        (first.selective, first.order, first.disable),
        (false, 7.0, false)
    );
    assert_eq!(
        (first.use_probability, first.probability, first.logic),
        (true, Some(100.0), Some(KeyLogic::AndAny))
    );
    assert!(
        book.entries[1].disable && !book.entries[2].use_probability && book.entries[3].selective
    );
}

#[test]
fn changing_a_card_position_updates_both_fields() {
    let mut book = card_book(json!([{"keys": ["a"], "position": "after_char", "extensions": {}}]));
    assert_eq!(
        book.to_character_book()["entries"][0]["extensions"],
        json!({})
    );
    book.entries[0].position = Some(Position::BeforeChar);
    let entry = &book.to_character_book()["entries"][0];
    assert_eq!(
        (&entry["position"], &entry["extensions"]["position"]),
        (&json!("before_char"), &json!(0))
    );
}

#[test]
fn a_native_entry_survives_card_format() {
    let book = read(
        json!({ "name": "W", "entries": { "4": full_entry(), "5": {"uid": 5, "key": ["b"], "position": 0} } }),
    );
    let card = book.to_character_book();
    let entry = &card["entries"][0];
    assert_eq!(
        (&entry["keys"], &entry["insertion_order"], &entry["enabled"]),
        (&json!(["lamp", "/oil/i"]), &json!(90), &json!(false))
    );
    assert_eq!(
        (&entry["position"], &card["entries"][1]["position"]),
        (&json!("after_char"), &json!("before_char"))
    );
    let extensions = &entry["extensions"];
    assert_eq!(
        (&extensions["selectiveLogic"], &extensions["useProbability"]),
        (&json!(3), &json!(true))
    );
    assert_eq!(
        (
            &extensions["delay_until_recursion"],
            &extensions["match_persona_description"]
        ),
        (&json!(true), &json!(true))
    );
    assert_eq!(
        (&entry["unknown"], &extensions["theirs"]),
        (&json!({"deep": [true]}), &json!({"x": [1, null]}))
    );

    let (back, _) = Book::from_character_book(&card);
    let same = |a: &domain::lorebook::Entry, b: &domain::lorebook::Entry| {
        assert_eq!(
            (&a.uid, &a.keys, &a.content, a.position, a.depth),
            (&b.uid, &b.keys, &b.content, b.position, b.depth)
        );
        assert_eq!(
            (a.order, a.disable, a.probability, &a.group),
            (b.order, b.disable, b.probability, &b.group)
        );
        assert_eq!(
            (&a.character_filter, a.add_memo, &a.triggers),
            (&b.character_filter, b.add_memo, &b.triggers)
        );
    };
    same(&back.entries[0], &book.entries[0]);
    let native = back.to_native();
    let again = read(native.clone());
    same(&again.entries[0], &book.entries[0]);
    assert_eq!(native["entries"]["4"]["unknown"], json!({"deep": [true]}));
}

#[test]
fn card_only_fields_survive_native_format() {
    let book = card_book(
        json!([{"keys": ["a"], "use_regex": true, "case_sensitive": true, "priority": 5, "name": "n", "extensions": {}}]),
    );
    let again = read(book.to_native());
    let entry = &again.entries[0];
    assert_eq!(
        (
            entry.use_regex,
            entry.spec_case_sensitive,
            entry.priority,
            entry.name.as_str()
        ),
        (true, Some(true), Some(5.0), "n")
    );
}

/// Fields that the card format lacks are stored under our own key, and no other new key is added.
#[test]
fn added_fields_use_our_own_key() {
    let known = |entry: Value| {
        let book = read(json!({ "entries": { "0": entry } })).to_character_book();
        let extensions = book["entries"][0]["extensions"]
            .as_object()
            .unwrap()
            .clone();
        extensions
            .into_iter()
            .filter(|(name, _)| name == "inglenook" || name.starts_with('x'))
            .collect::<Vec<_>>()
    };
    let added = known(
        json!({ "key": ["lamp"], "addMemo": true, "characterFilter": { "names": ["Mira"] } }),
    );
    assert_eq!(added.len(), 1, "{added:?}");
    assert_eq!(added[0].1["addMemo"], true);
    assert!(known(json!({ "key": ["lamp"], "order": 3 })).is_empty());
}

#[test]
fn reads_and_writes_lorebook_v3_files() {
    let book = read(
        json!({"spec": "lorebook_v3", "data": {"name": "W", "scan_depth": 3, "token_budget": 99,
        "recursive_scanning": false, "entries": []}}),
    );
    assert_eq!(
        (book.form(), book.name(), book.scan_depth()),
        (BookFormat::Standalone, "W", Some(3))
    );
    assert_eq!(
        (book.token_budget(), book.recursive_scanning()),
        (Some(99), Some(false))
    );
    let made = Book::new("New").to_lorebook_v3();
    assert_eq!(
        (
            &made["spec"],
            &made["data"]["name"],
            &made["data"]["entries"]
        ),
        (&json!("lorebook_v3"), &json!("New"), &json!([]))
    );
}

#[test]
fn entries_with_equal_ids_both_survive() {
    let book = card_book(
        json!([{"id": 1, "keys": ["a"], "content": "x"}, {"id": 1, "keys": ["b"], "content": "y"}]),
    );
    assert_eq!(book.entries.len(), 2);
    assert_eq!(read(book.to_native()).entries.len(), 2);
    assert_eq!(
        book.to_character_book()["entries"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn one_bad_entry_does_not_fail_a_book() {
    let original = json!({"entries": [
        {"keys": ["a"], "content": "x", "extensions": {}}, "nonsense", {"keys": ["b"], "content": {"no": "text"}},
        {"keys": ["c"], "content": "y", "extensions": {}},
    ], "extensions": {}});
    let (book, skipped) = Book::from_value(original.clone()).unwrap();
    let why = |place: &str, why| Skipped {
        place: place.to_owned(),
        why,
    };
    assert_eq!(
        skipped,
        [
            why("1", "it is not an object"),
            why("2", "its content is not text")
        ]
    );
    assert_eq!(
        skipped[0].to_string(),
        "entry 1 was skipped: it is not an object"
    );
    assert_eq!(book.entries.len(), 2);
    assert_eq!(book.to_value(), original);
}

#[test]
fn odd_values_are_read_tolerantly() {
    let book = read(json!({"entries": {
        "7": {"key": {"0": "a", "1": "b"}, "content": null, "order": "50", "depth": "", "scanDepth": "3", "disable": "false"},
        "8": {"uid": "x", "key": "a, b", "delayUntilRecursion": 3, "role": "user", "probability": "x"},
    }}));
    let (a, b) = (&book.entries[0], &book.entries[1]);
    assert_eq!(
        (a.uid.as_str(), &a.keys, a.order),
        ("7", &vec!["a".to_owned(), "b".to_owned()], 50.0)
    );
    assert_eq!((a.depth, a.scan_depth, a.disable), (None, Some(3), false));
    assert_eq!(
        (b.uid.as_str(), &b.keys, b.delay_until_recursion),
        ("x", &a.keys, 3)
    );
    assert_eq!((b.role, b.probability), (Some(InsertionRole::User), None));
}

#[test]
fn integer_keys_come_first() {
    let book = read(
        json!({"entries": {"b": {"uid": 9}, "10": {"uid": 5}, "02": {"uid": 1}, "2": {"uid": 6}}}),
    );
    let uids: Vec<_> = book
        .entries
        .iter()
        .map(|entry| entry.uid.as_str())
        .collect();
    assert_eq!(uids, ["6", "5", "9", "1"]);
}

#[test]
fn converts_books_of_other_programs() {
    let agnai = json!({"kind": "memory", "name": "M", "entries": [
        {"name": "Lamps", "keywords": ["lamp", "oil"], "entry": "They burn.", "weight": 7, "priority": 2, "enabled": false}]});
    let novelai = json!({"lorebookVersion": 5, "entries": [
        {"displayName": "Lamps", "keys": ["lamp"], "text": "They burn.", "enabled": true, "forceActivation": true,
         "contextConfig": {"budgetPriority": 400}}]});
    let risuai = json!({"type": "risu", "ver": 1, "data": [
        {"key": "lamp, oil", "secondkey": "night", "insertorder": 30, "comment": "Lamps", "content": "They burn.",
         "alwaysActive": false, "selective": true, "activationPercent": 40, "mode": "normal"}]});

    let book = read(agnai.clone());
    let entry = &book.entries[0];
    assert_eq!(
        (book.name(), &entry.keys, entry.order, entry.disable),
        ("M", &vec!["lamp".to_owned(), "oil".to_owned()], 7.0, true)
    );
    assert_eq!(
        book.to_value()["entries"]["0"]["extensions"]["agnai"],
        agnai["entries"][0]
    );

    let entry = &read(novelai).entries[0];
    assert_eq!(
        (
            entry.comment.as_str(),
            entry.order,
            entry.constant,
            entry.disable
        ),
        ("Lamps", 400.0, true, false)
    );

    let entry = &read(risuai).entries[0];
    assert_eq!(
        (&entry.keys, &entry.secondary_keys),
        (
            &vec!["lamp".to_owned(), "oil".to_owned()],
            &vec!["night".to_owned()]
        )
    );
    assert_eq!(
        (entry.order, entry.probability, entry.selective),
        (30.0, Some(40.0), true)
    );
}

#[test]
fn a_risuai_pattern_is_one_key() {
    let entry = json!({"key": "/lamp(s|, oil)/i", "secondkey": "", "content": "They burn.", "useRegex": true});
    let book = read(json!({"type": "risu", "ver": 1, "data": [entry]}));
    assert_eq!(
        (
            &book.entries[0].keys[..],
            book.entries[0].secondary_keys.len()
        ),
        (&["/lamp(s|, oil)/i".to_owned()][..], 0)
    );
}

#[test]
fn reads_a_novelai_book_from_a_picture() {
    let chunk = |kind: &str, data: &[u8]| {
        let body = [kind.as_bytes(), data].concat();
        [
            &(data.len() as u32).to_be_bytes()[..],
            &body,
            &crc32fast::hash(&body).to_be_bytes(),
        ]
        .concat()
    };
    let json = r#"{"lorebookVersion":5,"entries":[{"displayName":"Lamps","keys":["lamp"],"text":"They burn."}]}"#;
    let picture = |text: &str| {
        let text = [b"naidata\0", text.as_bytes()].concat();
        [
            b"\x89PNG\r\n\x1a\n".to_vec(),
            chunk("IHDR", &[1; 13]),
            chunk("tEXt", &text),
            chunk("IEND", b""),
        ]
        .concat()
    };
    let (book, skipped) = Book::read(&picture(&STANDARD.encode(json))).unwrap();
    assert_eq!(
        (book.entries[0].comment.as_str(), skipped.len()),
        ("Lamps", 0)
    );
    assert!(Book::read(&picture("***")).is_err());
}

#[test]
fn refuses_other_files_with_a_reason() {
    assert_eq!(
        Book::read(b"{\"name\": 1}").unwrap_err(),
        BookError::NoEntries
    );
    assert!(matches!(
        Book::read(b"{ invalid"),
        Err(BookError::Json { line: 1, .. })
    ));
    let error = Book::read(b"{\"entries\":\n {").unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the lorebook is not valid JSON, line 2, column 2"),
        "{error}"
    );
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    assert!(matches!(
        Book::read(deep.as_bytes()),
        Err(BookError::TooComplex { .. })
    ));
    let (book, _) = Book::read("\u{feff}{\"entries\": {}}".as_bytes()).unwrap();
    assert_eq!(book.entries.len(), 0);
}

/// A cut emoji, `NaN` or a broken entry affects only itself, and the result reports it.
#[test]
fn a_damaged_entry_affects_only_itself() {
    let json = r#"{"name":"Sea \ud83d","entries":{
        "0":{"uid":0,"key":["lamp\udc00"],"content":"One \ud83d.","order":NaN},"1":7,"2":{"uid":2,"key":["pier"],"content":["x"]},
        "3":{"uid":3,"key":["oil"],"content":"Three."}}}"#;
    for bytes in [json.as_bytes().to_vec(), utf16(json)] {
        let read = Book::read_with_repairs(&bytes).unwrap();
        let contents: Vec<&str> = read
            .book
            .entries
            .iter()
            .map(|entry| entry.content.as_str())
            .collect();
        assert_eq!(contents, ["One \u{fffd}.", "Three."]);
        assert_eq!(
            (read.book.name(), read.skipped.len(), read.repairs.len()),
            ("Sea \u{fffd}", 2, 2)
        );
    }
}

fn utf16(text: &str) -> Vec<u8> {
    "\u{feff}"
        .encode_utf16()
        .chain(text.encode_utf16())
        .flat_map(u16::to_be_bytes)
        .collect()
}

/// Shared test data next to the repository. Its licence does not let us distribute it.
#[test]
fn real_files_keep_every_leaf() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/data/lorebooks");
    if !folder.exists() {
        eprintln!("skipped: the recorded books are not on this machine");
        return;
    }
    assert!(matches!(
        Book::read(&fs::read(folder.join("invalid.json")).unwrap()),
        Err(BookError::Json { .. })
    ));
    let one: Value =
        serde_json::from_slice(&fs::read(folder.join("world_one.json")).unwrap()).unwrap();
    let book = read(one.clone());
    assert_eq!(
        (book.to_value(), book.scan_depth(), book.token_budget()),
        (one, Some(2), Some(2048))
    );
    for line in fs::read_to_string(folder.join("vectors.jsonl"))
        .unwrap()
        .lines()
        .skip(1)
    {
        let case: Value = serde_json::from_str(line).unwrap();
        for book in case["books"].as_object().unwrap().values() {
            assert_eq!(read(book.clone()).to_value(), *book);
        }
    }
}
