//! Every entry is reported with the reason for its activation or rejection.

use context::lore::{Chance, KeyLocation, Profile, Reason, Rule};
use serde_json::json;

use super::support::{Turn, uids};

#[test]
fn activation_names_key_message_and_pass() {
    let entries = json!([{"key": ["none", "Lamp"], "content": "oil"}, {"key": ["oil"]}, {"constant": true, "key": ["lamp"]}]);
    let turn = Turn::new(entries).set(|it| (it.recursive, it.scan_depth) = (true, 9));
    let outcome = turn.chat(&["a", "the lamp", "b"]).run(Profile::Corrected);
    let seen: Vec<_> = outcome
        .activated
        .iter()
        .map(|it| {
            (
                it.uid.as_str(),
                it.pass,
                it.reason,
                it.key.as_deref(),
                it.found,
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            (
                "0",
                0,
                Reason::Key,
                Some("Lamp"),
                Some(KeyLocation::Message(1))
            ),
            ("2", 0, Reason::Constant, None, None),
            ("1", 1, Reason::Key, Some("oil"), Some(KeyLocation::Entry)),
        ]
    );
}

#[test]
fn pattern_names_its_message_too() {
    let turn = Turn::new(json!([{"key": ["/l[ae]mp/"]}])).chat(&["x", "😀 a lamp"]);
    for profile in [Profile::Compatible, Profile::Corrected] {
        assert_eq!(
            turn.run(profile).activated[0].found,
            Some(KeyLocation::Message(1))
        );
    }
}

#[test]
fn rejection_names_its_rule() {
    let entries = json!([
        {"key": ["lamp"], "disable": true},
        {"key": ["lamp"], "triggers": ["swipe"]},
        {"key": ["lamp"], "characterFilter": {"names": ["Tom"], "tags": [], "isExclude": false}},
        {"key": ["lamp"], "characterFilter": {"names": [], "tags": ["t"], "isExclude": false}},
        {"key": ["lamp"], "delay": 9},
        {"key": ["lamp"], "delayUntilRecursion": 1},
        {"key": ["lamp"], "content": "@@dont_activate\nx"},
        {},
        {"key": ["dark"]},
        {"key": ["lamp"], "keysecondary": ["dark"]},
        {"key": ["lamp"], "group": "g", "groupWeight": 0},
        {"key": ["lamp"], "group": "g"},
        {"key": ["lamp"], "probability": 10},
        {"key": ["lamp"], "content": "too long for so small a budget as there is", "order": 1},
    ]);
    let turn = Turn::new(entries)
        .chat(&["lamp"])
        .with(|it| it.context = 20);
    let outcome = turn.run(Profile::Corrected);
    let rules: Vec<_> = outcome.rejected.iter().map(|it| it.rule).collect();
    use Rule::{
        Budget, CharacterFilter, Delay, DelayUntilRecursion, Disabled, DontActivate, Group,
        KeyNotFound, NoKeys, Probability, SecondaryKeys, TagFilter, Trigger,
    };
    assert_eq!(
        rules,
        [
            Disabled,
            Trigger,
            CharacterFilter,
            TagFilter,
            Delay,
            DelayUntilRecursion,
            DontActivate,
            NoKeys,
            KeyNotFound,
            SecondaryKeys,
            Group,
            Probability,
            Budget
        ]
    );
    assert_eq!(uids(&outcome), "11");
    assert!(outcome.overflowed);
}

#[test]
fn preview_keeps_timed_effects() {
    let turn = Turn::new(json!([{"key": ["lamp"], "sticky": 3}]))
        .chat(&["lamp"])
        .with(|it| it.dry_run = true);
    let outcome = turn.run(Profile::Corrected);
    assert_eq!(
        (uids(&outcome), outcome.timed),
        ("0".to_owned(), turn.timed)
    );
}

#[test]
fn seed_gives_same_rolls_for_a_turn() {
    let entries = (0..40)
        .map(|_| json!({"key": ["lamp"], "probability": 50}))
        .collect();
    let turn = Turn::new(entries)
        .chat(&["lamp"])
        .with(|it| it.chance = Chance::Seeded(11));
    let first = turn.fires(Profile::Corrected);
    assert_eq!(
        first,
        turn.clone()
            .with(|it| it.dry_run = true)
            .fires(Profile::Corrected)
    );
    assert_ne!(
        first,
        turn.with(|it| it.chance = Chance::Seeded(12))
            .fires(Profile::Corrected)
    );
    assert!((10..30).contains(&first.split(' ').count()), "{first}");
}
