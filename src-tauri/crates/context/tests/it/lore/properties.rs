//! Properties that hold for every book, even for invalid ones.

use context::lore::{Chance, LoreSettings, Profile};
use domain::lorebook::Book;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::support::Turn;

const FIELDS: &[&str] = &[
    "key",
    "keysecondary",
    "selective",
    "selectiveLogic",
    "constant",
    "order",
    "position",
    "depth",
    "role",
    "disable",
    "ignoreBudget",
    "excludeRecursion",
    "preventRecursion",
    "delayUntilRecursion",
    "probability",
    "useProbability",
    "group",
    "groupOverride",
    "groupWeight",
    "scanDepth",
    "caseSensitive",
    "matchWholeWords",
    "sticky",
    "cooldown",
    "delay",
    "triggers",
    "characterFilter",
    "useGroupScoring",
    "uid",
    "matchCharacterDescription",
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-c ]{0,5}",
        1 => "/[a-c(|)*\\[\\]\\\\^$?+.{}]{0,6}/[gimsuy]{0,2}",
        1 => "@@(activate|depth|role|scan_depth|unknown|@activate)( [a-z0-9-]{0,3})?\n[a-c ]{0,9}",
        1 => "\\PC{0,8}",
    ]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::from),
        (-3_i64..12).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        Just(Value::Null),
        text().prop_map(Value::from),
        prop::collection::vec(text(), 0..4).prop_map(Value::from),
        Just(json!({"names": ["x"], "tags": ["y"], "isExclude": true})),
    ]
}

/// Mostly entries that could activate, each with a few fields of any type.
fn entry() -> impl Strategy<Value = Value> {
    let odd = prop::collection::vec((prop::sample::select(FIELDS), value()), 0..6);
    (prop::collection::vec(text(), 0..3), text(), odd).prop_map(|(keys, content, odd)| {
        let mut entry = Map::from_iter([
            ("key".to_owned(), json!(keys)),
            ("content".to_owned(), content.into()),
        ]);
        entry.extend(
            odd.into_iter()
                .map(|(name, value)| (name.to_owned(), value)),
        );
        Value::Object(entry)
    })
}

fn settings() -> impl Strategy<Value = LoreSettings> {
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (switches, 0_i64..5, 0_u32..4, 0_u32..4, 0_u32..5).prop_map(
        |((a, b, c, d), depth, least, most, steps)| LoreSettings {
            recursive: a,
            match_whole_words: b,
            case_sensitive: c,
            use_group_scoring: d,
            scan_depth: depth,
            min_activations: least,
            min_activations_depth_max: most,
            max_recursion_steps: steps,
            ..LoreSettings::default()
        },
    )
}

fn turn() -> impl Strategy<Value = Turn> {
    let chat = prop::collection::vec("[a-c ]{0,12}", 0..6);
    (
        prop::collection::vec(entry(), 0..12),
        settings(),
        chat,
        0_u32..60,
        any::<u64>(),
        text(),
    )
        .prop_map(|(entries, settings, chat, context, seed, note)| {
            let chat: Vec<&str> = chat.iter().map(String::as_str).collect();
            Turn::new(Value::Array(entries)).chat(&chat).with(|turn| {
                turn.settings = settings;
                turn.context = context;
                turn.chance = Chance::Seeded(seed);
                turn.note = note;
            })
        })
}

proptest! {
    #[test]
    fn every_entry_is_reported_once_and_reproducibly(turn in turn()) {
        for profile in [Profile::Compatible, Profile::Corrected] {
            let outcome = turn.run(profile);
            let entries = turn.book["entries"].as_object().unwrap().len();
            prop_assert_eq!(outcome.activated.len() + outcome.rejected.len(), entries);
            prop_assert_eq!(&outcome, &turn.run(profile));
        }
    }

    #[test]
    fn budget_is_never_exceeded(turn in turn()) {
        let outcome = turn.run(Profile::Corrected);
        let (book, _) = Book::from_value(turn.book.clone()).unwrap();
        let ignores = |index: usize| book.entries[index].ignore_budget;
        let counted = outcome.activated.iter().filter(|entry| !ignores(entry.index));
        prop_assert!(counted.map(|entry| entry.tokens).sum::<u32>() <= outcome.budget);
    }

    #[test]
    fn disabled_entries_never_fire(turn in turn()) {
        let mut turn = turn;
        for entry in turn.book["entries"].as_object_mut().unwrap().values_mut() {
            entry["disable"] = true.into();
        }
        for profile in [Profile::Compatible, Profile::Corrected] {
            prop_assert_eq!(turn.fires(profile), "");
        }
    }

    #[test]
    fn effects_start_now_and_are_stable(turn in turn()) {
        let now = turn.chat.len() as u32;
        for profile in [Profile::Compatible, Profile::Corrected] {
            let outcome = turn.run(profile);
            for effect in outcome.timed.sticky.values().chain(outcome.timed.cooldown.values()) {
                prop_assert_eq!(effect.start, now);
            }
            let again = turn.clone().with(|it| it.timed = outcome.timed.clone()).run(profile);
            prop_assert_eq!(again.timed, outcome.timed);
        }
    }
}
