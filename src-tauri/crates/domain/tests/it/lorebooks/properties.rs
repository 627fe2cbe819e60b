//! Property tests of all lorebook formats: parsing, writing and conversion.

use std::collections::BTreeMap;

use domain::lorebook::Book;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::read;

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(|number: f64| Value::from(number)),
        "[a-z0-9,@/ ]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-z_0-9]{1,9}", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn any_book() -> impl Strategy<Value = Value> {
    const NAMES: &[&str] = &[
        "uid",
        "id",
        "key",
        "keys",
        "keysecondary",
        "secondary_keys",
        "content",
        "position",
        "order",
        "insertion_order",
        "enabled",
        "disable",
        "extensions",
        "selective",
        "probability",
        "useProbability",
        "role",
        "characterFilter",
        "odd",
    ];
    let entry = prop::collection::vec((prop::sample::select(NAMES), json_value()), 0..8).prop_map(
        |fields| {
            Value::Object(
                fields
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect(),
            )
        },
    );
    let entry = prop_oneof![9 => entry, 1 => json_value()].boxed();
    let map = prop::collection::vec(("[a-z]|[0-9]{1,3}", entry.clone()), 0..5)
        .prop_map(|entries| Value::Object(entries.into_iter().collect::<Map<_, _>>()));
    let list = prop::collection::vec(entry, 0..5).prop_map(Value::from);
    (prop_oneof![map, list], any::<bool>()).prop_map(|(entries, alone)| {
        let book = json!({"name": "W", "entries": entries, "odd": [1]});
        if alone {
            json!({"spec": "lorebook_v3", "data": book})
        } else {
            book
        }
    })
}

/// Returns all scalars and empty containers by JSON pointer.
fn leaves(value: &Value) -> BTreeMap<String, &Value> {
    fn collect<'v>(path: &str, value: &'v Value, leaves: &mut BTreeMap<String, &'v Value>) {
        match value {
            Value::Array(items) if !items.is_empty() => {
                items
                    .iter()
                    .enumerate()
                    .for_each(|(at, item)| collect(&format!("{path}/{at}"), item, leaves));
            }
            Value::Object(fields) if !fields.is_empty() => {
                fields
                    .iter()
                    .for_each(|(name, item)| collect(&format!("{path}/{name}"), item, leaves));
            }
            leaf => _ = leaves.insert(path.to_owned(), leaf),
        }
    }
    let mut found = BTreeMap::new();
    collect("", value, &mut found);
    found
}

#[track_caller]
fn assert_keeps(before: &Value, after: &Value) {
    let kept = leaves(after);
    for (path, value) in leaves(before) {
        // An empty object may have been filled.
        if value.as_object().is_some_and(|it| it.is_empty())
            && after.pointer(&path).is_some_and(Value::is_object)
        {
            continue;
        }
        assert_eq!(
            kept.get(&path),
            Some(&value),
            "{path} of {before}\nin {after}"
        );
    }
}

/// Generates some of these fields with values of their kinds.
fn some_of(fields: &'static [(&'static str, Kind)]) -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec(
        (
            prop::sample::select(fields),
            any::<prop::sample::Index>(),
            "[a-z, /@]{0,8}",
        ),
        0..12,
    )
    .prop_map(|chosen| {
        let field = |((name, kind), at, word): ((&str, Kind), prop::sample::Index, String)| {
            (name.to_owned(), kind.value(at.index(1_000) as i64, word))
        };
        chosen.into_iter().map(field).collect()
    })
}

/// Type of a field in the formats.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Text,
    Texts,
    Switch,
    Whole,
    /// A number or `null`.
    Perhaps,
    OneOf(i64),
    Free,
}

impl Kind {
    fn value(self, number: i64, word: String) -> Value {
        match self {
            Self::Text => word.into(),
            Self::Texts => word.split(' ').map(Value::from).collect(),
            Self::Switch => (number % 2 == 0).into(),
            Self::Whole => (number - 500).into(),
            Self::Perhaps if number % 4 == 0 => Value::Null,
            Self::Perhaps => number.into(),
            Self::OneOf(count) => (number % count).into(),
            Self::Free => json!({ "deep": [number, word, null] }),
        }
    }
}

const NATIVE: &[(&str, Kind)] = &[
    ("key", Kind::Texts),
    ("keysecondary", Kind::Texts),
    ("comment", Kind::Text),
    ("content", Kind::Text),
    ("constant", Kind::Switch),
    ("vectorized", Kind::Switch),
    ("selective", Kind::Switch),
    ("selectiveLogic", Kind::OneOf(4)),
    ("addMemo", Kind::Switch),
    ("order", Kind::Whole),
    ("position", Kind::OneOf(8)),
    ("disable", Kind::Switch),
    ("ignoreBudget", Kind::Switch),
    ("excludeRecursion", Kind::Switch),
    ("preventRecursion", Kind::Switch),
    ("delayUntilRecursion", Kind::Switch),
    ("matchScenario", Kind::Switch),
    ("probability", Kind::OneOf(101)),
    ("useProbability", Kind::Switch),
    ("depth", Kind::OneOf(10)),
    ("role", Kind::OneOf(3)),
    ("outletName", Kind::Text),
    ("group", Kind::Text),
    ("groupOverride", Kind::Switch),
    ("groupWeight", Kind::OneOf(200)),
    ("useGroupScoring", Kind::Perhaps),
    ("scanDepth", Kind::Perhaps),
    ("caseSensitive", Kind::Switch),
    ("matchWholeWords", Kind::Switch),
    ("sticky", Kind::Perhaps),
    ("cooldown", Kind::Perhaps),
    ("delay", Kind::Perhaps),
    ("triggers", Kind::Texts),
    ("automationId", Kind::Text),
    ("displayIndex", Kind::Whole),
    ("unknown", Kind::Free),
    // Meaningless in this format, but a field of the other one.
    ("name", Kind::Free),
    ("priority", Kind::Whole),
];

const OF_SPEC: &[(&str, Kind)] = &[
    ("keys", Kind::Texts),
    ("secondary_keys", Kind::Texts),
    ("content", Kind::Text),
    ("enabled", Kind::Switch),
    ("insertion_order", Kind::Whole),
    ("case_sensitive", Kind::Switch),
    ("use_regex", Kind::Switch),
    ("name", Kind::Text),
    ("comment", Kind::Text),
    ("priority", Kind::Whole),
    ("selective", Kind::Switch),
    ("constant", Kind::Switch),
    ("unknown", Kind::Free),
    // Meaningless in this format, but a field of the other one.
    ("depth", Kind::Whole),
    ("position", Kind::Text),
];

fn native_book() -> impl Strategy<Value = Value> {
    let entry = (some_of(NATIVE), any::<bool>()).prop_map(|(mut entry, free)| {
        entry.entry("key").or_insert_with(|| json!(["lamp"]));
        if free {
            entry.insert(
                "extensions".to_owned(),
                json!({ "theirs": { "x": [1, null] } }),
            );
        }
        entry
    });
    prop::collection::vec(entry, 0..4).prop_map(|entries| {
        let numbered = entries.into_iter().enumerate().map(|(uid, mut entry)| {
            entry.insert("uid".to_owned(), uid.into());
            (uid.to_string(), Value::Object(entry))
        });
        json!({ "name": "W", "scanDepth": 4, "odd": [1], "entries": numbered.collect::<Map<_, _>>() })
    })
}

fn card_book_of_spec() -> impl Strategy<Value = Value> {
    let entry = some_of(OF_SPEC).prop_map(|mut entry| {
        entry.entry("keys").or_insert_with(|| json!(["lamp"]));
        entry.insert("extensions".to_owned(), json!({ "theirs": [1, null] }));
        entry
    });
    prop::collection::vec(entry, 0..4).prop_map(|entries| {
        let listed = entries.into_iter().zip(1..).map(|(mut entry, id): (_, i64)| {
            entry.insert("id".to_owned(), id.into());
            Value::Object(entry)
        });
        json!({ "name": "W", "scan_depth": 4, "extensions": { "a": 1 }, "entries": listed.collect::<Vec<_>>() })
    })
}

const AGNAI: &[(&str, Kind)] = &[
    ("name", Kind::Text),
    ("keywords", Kind::Texts),
    ("entry", Kind::Text),
    ("weight", Kind::Whole),
    ("priority", Kind::Whole),
    ("enabled", Kind::Switch),
    ("unknown", Kind::Free),
];
const NOVELAI: &[(&str, Kind)] = &[
    ("displayName", Kind::Text),
    ("keys", Kind::Texts),
    ("text", Kind::Text),
    ("forceActivation", Kind::Switch),
    ("enabled", Kind::Switch),
    ("contextConfig", Kind::Free),
];
const RISUAI: &[(&str, Kind)] = &[
    ("key", Kind::Text),
    ("secondkey", Kind::Text),
    ("content", Kind::Text),
    ("comment", Kind::Text),
    ("insertorder", Kind::Whole),
    ("alwaysActive", Kind::Switch),
    ("selective", Kind::Switch),
    ("useRegex", Kind::Switch),
    ("activationPercent", Kind::Perhaps),
    ("unknown", Kind::Free),
];

fn foreign_book() -> impl Strategy<Value = Value> {
    let list = |fields| prop::collection::vec(some_of(fields).prop_map(Value::Object), 0..4);
    prop_oneof![
        list(AGNAI).prop_map(
            |all| json!({ "kind": "memory", "name": "M", "description": "d", "entries": all })
        ),
        list(NOVELAI).prop_map(
            |all| json!({ "lorebookVersion": 5, "settings": { "x": 1 }, "entries": all })
        ),
        list(RISUAI).prop_map(|all| json!({ "type": "risu", "ver": 1, "data": all })),
    ]
}

/// Returns the program that wrote a book, and the key of its entries.
fn program_of(book: &Value) -> (&'static str, &'static str) {
    match (book.get("kind"), book.get("lorebookVersion")) {
        (Some(_), _) => ("agnai", "entries"),
        (_, Some(_)) => ("novelai", "entries"),
        _ => ("risuai", "data"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::rounds(10_000)))]

    #[test]
    fn any_book_is_written_unchanged(book in any_book()) {
        let (read, _) = Book::from_value(book.clone()).unwrap();
        let written = read.to_value();
        prop_assert_eq!(&written, &book);
        prop_assert_eq!(Book::from_value(written.clone()).unwrap().0.to_value(), written);
    }

    #[test]
    fn a_native_book_keeps_its_leaves_through_a_card(book in native_book()) {
        let card = read(book.clone()).to_character_book();
        let (again, _) = Book::from_character_book(&card);
        assert_keeps(&book, &again.to_native());
        let file = read(book.clone()).to_lorebook_v3();
        assert_keeps(&book, &read(file).to_native());
    }

    #[test]
    fn a_card_book_keeps_its_leaves_through_native_form(book in card_book_of_spec()) {
        let (native, _) = Book::from_character_book(book.as_object().unwrap());
        let again = read(native.to_native());
        assert_keeps(&book, &Value::Object(again.to_character_book()));
    }

    #[test]
    fn a_foreign_book_keeps_its_source(book in foreign_book()) {
        let (first, _) = Book::from_value(book.clone()).unwrap();
        let written = first.to_value();
        let (second, _) = Book::from_value(written.clone()).unwrap();
        prop_assert_eq!(&second, &first);
        prop_assert_eq!(second.to_native(), written.clone());
        let (program, list) = program_of(&book);
        for (at, source) in book[list].as_array().unwrap().iter().enumerate() {
            prop_assert_eq!(&written["entries"][at.to_string()]["extensions"][program], source);
        }
        let mut rest = book.clone();
        rest.as_object_mut().unwrap().remove(list);
        prop_assert_eq!(&written["extensions"][program], &rest);
    }
}

proptest! {
    #[test]
    fn either_form_of_any_book_can_be_read_again(book in any_book()) {
        let (read, _) = Book::from_value(book).unwrap();
        let (native, _) = Book::from_value(read.to_native()).unwrap();
        prop_assert_eq!(native.entries.len(), read.entries.len());
        let (card, _) = Book::from_character_book(&read.to_character_book());
        prop_assert_eq!(card.entries.len(), read.entries.len());
    }

    #[test]
    fn any_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Book::read(&bytes);
    }
}
