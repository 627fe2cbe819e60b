//! One test for each row of the table in `context::lore`, with the same name.

use context::lore::{Chance, Profile, Rule, TimedState, placements};
use serde_json::json;

use super::support::{Turn, uids};

#[test]
fn multi_word_key_is_substring() {
    let turn = Turn::new(json!([{"key": ["old lamp"]}, {"key": ["an old"]}]))
        .set(|it| it.match_whole_words = true);
    turn.chat(&["an old lampion"]).check_both("0 1", "1");
}

#[test]
fn ascii_word_boundary() {
    let keys = json!([{"key": ["кот"]}, {"key": ["caf"]}, {"key": ["龙"]}, {"key": ["มังกร"]}, {"key": ["drache"]}, {"key": ["用"]}]);
    let turn = Turn::new(keys).set(|it| it.match_whole_words = true);
    turn.clone()
        .chat(&["который café 恐龙 เห็นมังกรบิน drachenei"])
        .check_both("0 1 2 3", "2 3");
    turn.chat(&["рыжий кот"]).check_both("0", "0");
}

/// SillyTavern treats Cyrillic letters as word boundaries, so word stems match there.
#[test]
fn word_stems_match_in_sillytavern_only() {
    let keys = json!([{"key": ["мельниц"]}, {"key": ["мельница"]}, {"key": ["mill"]}]);
    let turn = Turn::new(keys).chat(&["Где мельница? Miller!"]);
    turn.clone()
        .set(|it| it.match_whole_words = true)
        .check_both("0 1", "1");
    turn.check_both("0 1 2", "0 1 2");
}

#[test]
fn unicode_lower_case() {
    let turn = Turn::new(json!([{"key": ["strasse"]}, {"key": ["οδοσ"]}, {"key": ["istanbul"]}]));
    turn.chat(&["STRAẞE ΟΔΟΣ İstanbul"]).check_both("", "0 1 2");
}

#[test]
fn message_separator_in_scan_text() {
    let turn = Turn::new(json!([{"key": ["/\\x01lamp/"]}, {"key": ["/^lamp/m"]}]));
    turn.chat(&["lamp"]).check_both("0", "1");
}

#[test]
fn blank_key_always_matches() {
    Turn::new(json!([{"key": ["  "]}, {"key": ["lamp"]}]))
        .chat(&["lamp"])
        .check_both("0 1", "1");
}

#[test]
fn depth_zero_sees_nothing() {
    let entries = json!([{"key": ["lamp"], "scanDepth": 0, "matchCharacterDescription": true}, {"key": ["oil"], "scanDepth": 0}]);
    let turn = Turn::new(entries)
        .chat(&["oil"])
        .with(|it| it.description = "a lamp".into());
    turn.check_both("", "0");
}

#[test]
fn score_counts_blank_and_untrimmed_keys() {
    let entries = json!([{"key": ["lamp", ""], "group": "g"}, {"key": [" lamp ", " oil ", "x"], "group": "g"}]);
    let turn = Turn::new(entries).set(|it| it.use_group_scoring = true);
    turn.chat(&["(lamp) (oil)"]).check_both("0", "1");
}

#[test]
fn delay_levels_run_without_recursion() {
    let levels = json!([
        {"key": ["lamp"]}, {"key": ["lamp"], "delayUntilRecursion": 1}, {"key": ["lamp"], "delayUntilRecursion": 2},
    ]);
    let turn = Turn::new(levels).chat(&["lamp"]);
    turn.check_both("0 1 2", "0");
    turn.set(|it| it.recursive = true)
        .check_both("0 1 2", "0 1 2");
}

#[test]
fn disabled_entries_set_delay_levels() {
    let levels = json!([
        {"key": ["none"]}, {"key": ["lamp"], "delayUntilRecursion": 1},
        {"key": ["lamp"], "delayUntilRecursion": 2, "disable": true},
    ]);
    Turn::new(levels)
        .set(|it| it.recursive = true)
        .chat(&["lamp"])
        .check_both("1", "");
}

#[test]
fn min_activations_depth_overshoots_by_one() {
    let turn = Turn::new(json!([{"key": ["lamp"]}])).chat(&["lamp", "a", "b", "c"]);
    let turn = turn.set(|it| (it.min_activations, it.min_activations_depth_max) = (1, 3));
    turn.check_both("0", "");
    turn.set(|it| it.min_activations_depth_max = 4)
        .check_both("0", "0");
}

#[test]
fn min_activations_pass_ignores_recursion_text() {
    let entries = json!([
        {"key": ["lamp"], "content": "oil"},
        {"key": ["harbour"], "keysecondary": ["oil"], "selectiveLogic": 2},
    ]);
    let turn = Turn::new(entries).chat(&["harbour", "a", "lamp"]);
    let turn = turn.set(|it| (it.scan_depth, it.min_activations, it.recursive) = (1, 2, true));
    turn.check_both("0 1", "0");
}

#[test]
fn min_activations_pass_is_followed_by_recursion() {
    let turn = Turn::new(json!([{"key": ["lamp"]}])).chat(&["a", "b", "lamp"]);
    let turn = turn.set(|it| (it.scan_depth, it.min_activations, it.recursive) = (1, 5, true));
    // The first pass, a recursion pass, and then widening passes, each followed by recursion or
    // not.
    assert_eq!(turn.run(Profile::Compatible).passes.len(), 8);
    assert_eq!(turn.run(Profile::Corrected).passes.len(), 4);
}

#[test]
fn group_remove_twice() {
    let entries = json!([
        {"key": ["lamp"], "group": "a,b"}, {"key": ["lamp"], "group": "a,b", "groupOverride": true, "order": 200},
        {"key": ["lamp"], "order": 50},
    ]);
    Turn::new(entries).chat(&["lamp"]).check_both("1", "1 2");
}

#[test]
fn group_removed_member_still_counts() {
    let entries = json!([
        {"key": ["lamp"], "group": "a", "groupOverride": true, "order": 9},
        {"key": ["lamp"], "group": "a,b", "groupOverride": true, "order": 8},
        {"key": ["lamp"], "group": "b", "order": 7},
    ]);
    Turn::new(entries).chat(&["lamp"]).check_both("0", "0 2");
}

#[test]
fn group_active_compares_whole_string() {
    let entries = json!([{"key": ["lamp"], "content": "oil", "group": "g,h"}, {"key": ["oil"], "group": "g"}]);
    Turn::new(entries)
        .set(|it| it.recursive = true)
        .chat(&["lamp"])
        .check_both("0 1", "0");
}

#[test]
fn group_drops_sticky_entry_on_cooldown() {
    let entries = json!([{"key": ["lamp"], "sticky": 3, "cooldown": 4, "group": "g"}, {"key": ["oil"], "group": "g"}]);
    let turn = Turn::new(entries).set(|it| it.scan_depth = 1);
    for (profile, expected) in [(Profile::Compatible, ""), (Profile::Corrected, "0")] {
        let first = turn.clone().chat(&["lamp"]).run(profile);
        let second = turn
            .clone()
            .chat(&["lamp", "oil"])
            .with(|it| it.timed = first.timed);
        assert_eq!(second.fires(profile), expected);
    }
}

#[test]
fn zero_percent_passes_on_roll_zero() {
    let turn = Turn::new(
        json!([{"key": ["lamp"], "probability": 0}, {"key": ["lamp"], "probability": 1}]),
    )
    .chat(&["lamp"]);
    turn.with(|it| it.chance = Chance::Fixed(0.0))
        .check_both("0 1", "1");
}

#[test]
fn exact_budget_overflows() {
    let turn =
        Turn::new(json!([{"key": ["lamp"], "content": "a b c d e f g h i j"}])).chat(&["lamp"]);
    turn.clone().with(|it| it.context = 40).check_both("", "0");
    turn.with(|it| it.context = 36).check_both("", "");
}

#[test]
fn ignore_budget_text_counts_against_neighbours() {
    let entries = json!([
        {"key": ["lamp"], "content": "a b c d e f g", "ignoreBudget": true}, {"key": ["lamp"], "content": "h i j k"},
    ]);
    Turn::new(entries)
        .chat(&["lamp"])
        .with(|it| it.context = 40)
        .check_both("0", "0 1");
}

#[test]
fn over_budget_text_still_recurses() {
    let entries = json!([
        {"key": ["lamp"], "content": "oil b c d e f g h i j k l"},
        {"key": ["none"], "delayUntilRecursion": 1},
        {"key": ["oil"], "delayUntilRecursion": 2, "ignoreBudget": true},
    ]);
    let turn = Turn::new(entries)
        .set(|it| it.recursive = true)
        .chat(&["lamp"])
        .with(|it| it.context = 40);
    turn.check_both("2", "");
}

#[test]
fn prevent_recursion_text_not_budgeted() {
    let entries = json!([
        {"key": ["lamp"], "content": "a b c d e f", "preventRecursion": true},
        {"key": ["lamp"], "content": "oil"}, {"key": ["oil"], "content": "g h i j k"},
    ]);
    let turn = Turn::new(entries)
        .set(|it| it.recursive = true)
        .chat(&["lamp"])
        .with(|it| it.context = 40);
    turn.check_both("0 1 2", "0 1");
}

#[test]
fn stale_timed_effect_kept() {
    let turn = Turn::new(json!([{"key": ["lamp"], "sticky": 5}])).set(|it| it.scan_depth = 1);
    for (profile, expected) in [(Profile::Compatible, 1), (Profile::Corrected, 3)] {
        let first = turn.clone().chat(&["lamp"]).run(profile);
        let edited = turn
            .clone()
            .chat(&["lamp", "a", "lamp"])
            .with(|it| it.timed = first.timed);
        let edited = edited
            .with(|it| it.book["entries"]["0"]["content"] = "changed".into())
            .run(profile);
        assert_eq!(uids(&edited), "0");
        assert_eq!(edited.timed.sticky["A.0"].start, expected, "{profile:?}");
    }
}

#[test]
fn decorator_needs_exact_line() {
    let turn =
        Turn::new(json!([{"content": "@@activate \r\ntext"}, {"content": "@@activate\ntext"}]))
            .chat(&["x"]);
    turn.check_both("1", "0 1");
}

#[test]
fn decorator_only_text_is_kept() {
    let turn = Turn::new(json!([{"content": "@@activate"}])).chat(&["x"]);
    assert_eq!(
        turn.run(Profile::Compatible).activated[0].content,
        "@@activate"
    );
    assert_eq!(turn.run(Profile::Corrected).activated[0].content, "");
}

#[test]
fn tokens_counted_on_joined_text() {
    // A tokenizer that rounds up would count the joined text differently from the single texts.
    let turn = Turn::new(
        json!([{"key": ["lamp"], "content": "a b c"}, {"key": ["lamp"], "content": "d"}]),
    )
    .chat(&["lamp"]);
    let outcome = turn.run(Profile::Corrected);
    let each: Vec<u32> = outcome.activated.iter().map(|entry| entry.tokens).collect();
    assert_eq!((each, outcome.tokens), (vec![3, 1], 4));
}

#[test]
fn external_goes_first() {
    let turn =
        Turn::new(json!([{"key": ["lamp"], "order": 500}, {"key": ["none"]}])).chat(&["lamp"]);
    turn.with(|it| it.external = vec!["1".into()])
        .check_both("1 0", "0 1");
}

#[test]
fn external_repeats_failed_roll() {
    let entries = json!([
        {"key": ["oil"], "probability": 40, "useProbability": true}, {"key": ["lamp"], "content": "oil"},
    ]);
    let turn = Turn::new(entries)
        .set(|it| it.recursive = true)
        .chat(&["lamp"])
        .with(|it| it.external = vec!["0".into()]);
    // The roll is the same each time, so the result shows which entries were candidates of the
    // second pass.
    turn.check_both("1", "1");
    assert_eq!(turn.rule("0"), context::lore::Rule::Probability);
}

#[test]
fn example_top_is_descending() {
    let turn = Turn::new(json!([
        {"key": ["lamp"], "position": 5, "order": 1}, {"key": ["lamp"], "position": 5, "order": 9},
    ]));
    let turn = turn.chat(&["lamp"]);
    for (profile, expected) in [
        (Profile::Compatible, ["1", "0"]),
        (Profile::Corrected, ["0", "1"]),
    ] {
        let outcome = turn.run(profile);
        let placed = placements(&outcome, profile).example_top;
        assert_eq!(
            placed
                .iter()
                .map(|entry| entry.uid.as_str())
                .collect::<Vec<_>>(),
            expected
        );
    }
}

#[test]
fn outlets_are_descending() {
    let turn = Turn::new(json!([
        {"key": ["lamp"], "position": 7, "outletName": "o", "order": 1},
        {"key": ["lamp"], "position": 7, "outletName": "o", "order": 9},
    ]));
    let turn = turn.chat(&["lamp"]);
    for (profile, expected) in [
        (Profile::Compatible, ["1", "0"]),
        (Profile::Corrected, ["0", "1"]),
    ] {
        let outcome = turn.run(profile);
        let placed = &placements(&outcome, profile).outlets["o"];
        assert_eq!(
            placed
                .iter()
                .map(|entry| entry.uid.as_str())
                .collect::<Vec<_>>(),
            expected
        );
    }
}

#[test]
fn spaces_around_a_groups_name() {
    let turn =
        Turn::new(json!([{"key": ["lamp"], "group": " g"}, {"key": ["lamp"], "group": "g"}]))
            .chat(&["lamp"]);
    turn.with(|it| it.timed = TimedState::default())
        .check_both("0 1", "0");
}

/// A large constant entry must not exclude the small ones.
#[test]
fn overflow_ends_the_scan() {
    let entries = json!([
        {"constant": true, "content": "a b c d e f g h i j k l m n o p", "order": 100},
        {"constant": true, "content": "small", "order": 50},
        {"key": ["small"], "content": "woken", "order": 40},
    ]);
    let turn = Turn::new(entries)
        .with(|it| it.context = 40)
        .set(|it| it.recursive = true)
        .chat(&["hello"]);
    turn.check_both("", "1 2");
    assert!(turn.run(Profile::Corrected).overflowed);
    assert_eq!(turn.rule("0"), Rule::Budget);
}
