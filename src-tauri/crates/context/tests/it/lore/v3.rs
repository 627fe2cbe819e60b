//! Character Card V3 rules for lorebooks and decorators, in the corrected profile.

use context::lore::{EntryPosition, Profile, Rule, UiPrompt, placements};
use domain::lorebook::InsertionRole;
use serde_json::json;

use super::support::{Turn, uids};

/// One entry with this text and the key "lamp".
fn decorated(content: &str) -> Turn {
    Turn::new(json!([{"key": ["lamp"], "content": content}])).chat(&["lamp"])
}

/// Names and comments are for display only.
#[test]
fn names_and_comments_are_not_sent() {
    let entry = json!({"keys": ["lamp"], "content": "oil", "name": "N", "comment": "C", "id": "I", "priority": 3});
    let turn =
        Turn::of_card(json!({"name": "B", "description": "D"}), json!([entry])).chat(&["lamp"]);
    for profile in [Profile::Corrected, Profile::Compatible] {
        assert_eq!(turn.run(profile).activated[0].content, "oil");
    }
    Turn::of_card(
        json!({"name": "lamp", "description": "lamp"}),
        json!([{"keys": ["lamp"]}]),
    )
    .chat(&["x"])
    .check("");
}

#[test]
fn any_key_activates() {
    Turn::of_card(
        json!({}),
        json!([{"keys": ["moon", "lamp"]}, {"keys": ["moon"]}]),
    )
    .chat(&["lamp"])
    .check_both("0", "0");
}

#[test]
fn selective_needs_primary_and_secondary_key() {
    let entry = |selective: bool, key: &str| json!({"keys": ["lamp"], "secondary_keys": [key], "selective": selective});
    let entries = json!([
        entry(true, "oil"),
        entry(true, "moon"),
        entry(false, "moon")
    ]);
    Turn::of_card(json!({}), entries)
        .chat(&["lamp oil"])
        .check_both("0 2", "0 2");
}

#[test]
fn smaller_order_is_placed_higher() {
    let entry =
        |order: i64| json!({"keys": ["lamp"], "insertion_order": order, "position": "before_char"});
    let turn = Turn::of_card(json!({}), json!([entry(30), entry(10), entry(20)])).chat(&["lamp"]);
    let outcome = turn.run(Profile::Corrected);
    let placed = placements(&outcome, Profile::Corrected);
    let before: Vec<&str> = placed
        .before_char
        .iter()
        .map(|entry| entry.content.as_str())
        .collect();
    assert_eq!(before, ["text 1", "text 2", "text 0"]);
}

#[test]
fn constant_entry_needs_no_key() {
    Turn::of_card(json!({}), json!([{"keys": [], "constant": true}]))
        .chat(&["x"])
        .check_both("0", "0");
}

/// Unknown decorators of other apps are ignored and not sent.
#[test]
fn ignores_and_strips_unknown_decorators() {
    let turn = decorated("@@risu_moon_phase full, 3\n@@x_y\n@@dont_activat\nThe lamps burn oil.");
    assert_eq!(
        turn.run(Profile::Corrected).activated[0].content,
        "The lamps burn oil."
    );
}

#[test]
fn uses_scan_depth_of_book() {
    let turn = Turn::of_card(json!({"scan_depth": 3}), json!([{"keys": ["lamp"]}]))
        .chat(&["lamp", "a", "b"]);
    turn.check_both("", "0");
}

#[test]
fn book_budget_drops_lowest_priority() {
    let entries = json!([
        {"keys": ["lamp"], "content": "a b c", "priority": 1},
        {"keys": ["lamp"], "content": "d e f", "priority": 9},
        {"keys": ["lamp"], "content": "g h i", "priority": 5},
    ]);
    let turn = Turn::of_card(json!({"token_budget": 6}), entries).chat(&["lamp"]);
    turn.check("1 2");
    assert_eq!(turn.rule("0"), Rule::BookBudget);
}

#[test]
fn book_decides_about_recursion() {
    let entries = json!([{"keys": ["lamp"], "content": "oil"}, {"keys": ["oil"]}]);
    for (stated, global, expected) in [
        (json!({}), true, "0 1"),
        (json!({}), false, "0"),
        (json!({"recursive_scanning": false}), true, "0"),
        (json!({"recursive_scanning": true}), false, "0 1"),
    ] {
        let turn = Turn::of_card(stated, entries.clone())
            .set(|it| it.recursive = global)
            .chat(&["lamp"]);
        turn.check(expected);
    }
}

#[test]
fn use_regex_makes_keys_patterns() {
    let entries = json!([
        {"keys": ["l.mp"], "use_regex": true},
        {"keys": ["(lamp"], "use_regex": true},
        {"keys": ["l.mp"], "use_regex": false},
        {"keys": ["none"], "use_regex": true, "constant": true},
        {"keys": ["lamp"], "use_regex": true, "secondary_keys": ["none"], "selective": true},
        {"keys": ["LAMP"], "use_regex": true, "case_sensitive": true},
        {"keys": ["/LAMP/i"], "use_regex": true, "case_sensitive": true},
    ]);
    Turn::of_card(json!({}), entries)
        .chat(&["a lamp"])
        .check("0 4 6");
}

#[test]
fn ignores_use_regex_written_by_sillytavern() {
    let entry = json!({"keys": ["Mr. (old)"], "use_regex": true, "constant": false, "extensions": {"selectiveLogic": 0}});
    Turn::of_card(json!({}), json!([entry]))
        .chat(&["mr. (old)"])
        .check_both("0", "0");
}

#[test]
fn strips_decorators_and_blank_lines() {
    let turn = decorated("@@unknown\n\n@@role user\n\nThe lamps burn oil.\n\nAll night.");
    assert_eq!(
        turn.run(Profile::Corrected).activated[0].content,
        "The lamps burn oil.\n\nAll night."
    );
}

#[test]
fn decorators_do_not_enable_disabled_entry() {
    let turn = Turn::new(json!([{"content": "@@activate\nx", "disable": true}])).chat(&["lamp"]);
    assert_eq!(turn.rule("0"), Rule::Disabled);
}

#[test]
fn case_sensitive_applies_per_entry() {
    let entries = json!([{"keys": ["LAMP"], "case_sensitive": true}, {"keys": ["LAMP"], "case_sensitive": false}]);
    Turn::of_card(json!({}), entries)
        .chat(&["lamp"])
        .check_both("0 1", "1");
}

#[test]
fn constant_entries_obey_decorators() {
    let turn = Turn::new(json!([{"content": "@@activate_only_after 2\nx", "constant": true}]));
    let after = |messages: &[&str]| turn.clone().chat(messages).fires(Profile::Corrected);
    assert_eq!(
        (after(&["a", "b", "c"]), after(&["a", "b", "c", "d"])),
        (String::new(), "0".to_owned())
    );
    assert_eq!(turn.chat(&["a"]).rule("0"), Rule::MessageCount);
}

#[test]
fn entries_with_equal_ids_both_activate() {
    let turn = Turn::of_card(
        json!({}),
        json!([{"keys": ["lamp"], "id": 7}, {"keys": ["lamp"], "id": 7}]),
    );
    turn.chat(&["lamp"]).check("7 7");
}

#[test]
fn applies_defaults_of_position_and_selective() {
    let turn = Turn::of_card(
        json!({}),
        json!([{"keys": ["lamp"], "secondary_keys": ["none"]}]),
    )
    .chat(&["lamp"]);
    assert_eq!(
        turn.run(Profile::Corrected).activated[0].place,
        EntryPosition::AfterChar
    );
}

#[test]
fn activate_only_every_counts_messages() {
    let turn = decorated("@@activate_only_every 2\nx").set(|it| it.scan_depth = 9);
    let fires = |messages: &[&str]| {
        !turn
            .clone()
            .chat(messages)
            .fires(Profile::Corrected)
            .is_empty()
    };
    assert!(!fires(&["lamp", "one"]));
    assert!(fires(&["lamp", "one", "b", "two"]));
}

#[test]
fn keep_and_dont_activate_after_match() {
    for (decorator, expected) in [
        ("keep_activate_after_match", "0"),
        ("dont_activate_after_match", ""),
    ] {
        let turn = decorated(&format!("@@{decorator}\nx")).set(|it| it.scan_depth = 1);
        let first = turn.run(Profile::Corrected);
        assert_eq!(uids(&first), "0");
        let text = if expected.is_empty() { "lamp" } else { "dark" };
        let later = turn
            .clone()
            .chat(&["lamp", "dark", text])
            .with(|it| it.timed = first.timed.clone());
        later.check(expected);
        // The same turn again, as for a swipe: the entry has not matched before.
        turn.with(|it| it.timed = first.timed).check("0");
    }
}

#[test]
fn depth_reverse_depth_and_role() {
    let place = |content: &str| {
        let outcome = decorated(content).run(Profile::Corrected);
        (
            outcome.activated[0].place.clone(),
            outcome.activated[0].role,
        )
    };
    assert_eq!(
        place("@@depth 3\n@@role assistant\nx"),
        (EntryPosition::Depth(3), InsertionRole::Assistant)
    );
    assert_eq!(
        place("@@depth -1\nx"),
        (EntryPosition::Depth(0), InsertionRole::System)
    );
    assert_eq!(
        place("@@reverse_depth 1\nx"),
        (EntryPosition::FromStart(1), InsertionRole::System)
    );
    assert_eq!(
        place("@@instruct_depth 9\nx"),
        (EntryPosition::BeforeChar, InsertionRole::System)
    );
    assert_eq!(
        place("@@reverse_instruct_depth 9\n@@@depth 2\nx"),
        (EntryPosition::Depth(2), InsertionRole::System)
    );
}

#[test]
fn scan_depth_decorator_overrides_book() {
    let turn = Turn::of_card(
        json!({"scan_depth": 1}),
        json!([{"keys": ["lamp"], "content": "@@scan_depth 3\nx"}]),
    );
    turn.chat(&["lamp", "a", "b"]).check("0");
    decorated("@@instruct_scan_depth 50\nx")
        .chat(&["lamp", "a", "b"])
        .check("");
}

#[test]
fn is_greeting_and_is_user_icon() {
    let turn = decorated("@@is_greeting 1\nx");
    assert_eq!(turn.rule("0"), Rule::Greeting);
    turn.with(|it| it.greeting = Some(1)).check("0");
    let turn = decorated("@@is_user_icon Alex\nx");
    assert_eq!(turn.rule("0"), Rule::UserIcon);
    turn.with(|it| it.user_icon = Some("Alex".into()))
        .check("0");
}

#[test]
fn places_entries_by_position_decorator() {
    let turn = Turn::new(json!([
        {"key": ["lamp"], "content": "@@position before_desc\nx"}, {"key": ["lamp"], "content": "@@position after_desc\nx"},
        {"key": ["lamp"], "content": "@@position personality\nx"}, {"key": ["lamp"], "content": "@@position scenario\nx"},
        {"key": ["lamp"], "content": "@@position moon\nx", "position": 1},
    ]));
    let outcome = turn.chat(&["lamp"]).run(Profile::Corrected);
    let placed = placements(&outcome, Profile::Corrected);
    let counts = [
        placed.before_char.len(),
        placed.after_char.len(),
        placed.personality.len(),
        placed.scenario.len(),
    ];
    assert_eq!(counts, [1, 2, 1, 1]);
}

#[test]
fn ignore_on_max_context_is_dropped_first() {
    let entries = json!([
        {"key": ["lamp"], "content": "@@ignore_on_max_context\na b c", "order": 900}, {"key": ["lamp"], "content": "d e f"},
    ]);
    Turn::new(entries)
        .chat(&["lamp"])
        .with(|it| it.context = 16)
        .check("1");
}

#[test]
fn requires_additional_and_rejects_exclude_keys() {
    let turn = decorated(
        "@@additional_keys oil, wick\n@@additional_keys night\n@@exclude_keys day, sun\nx",
    );
    turn.clone().chat(&["lamp, wick, night"]).check("0");
    assert_eq!(
        turn.clone().chat(&["lamp, wick"]).rule("0"),
        Rule::AdditionalKeys
    );
    assert_eq!(
        turn.chat(&["lamp, oil, night and day"]).rule("0"),
        Rule::ExcludeKeys
    );
}

#[test]
fn additional_keys_of_patterns_are_alternatives() {
    let entry = json!({"keys": ["none"], "use_regex": true, "content": "@@additional_keys l.mp\n@@exclude_keys lamp\nx"});
    Turn::of_card(json!({}), json!([entry]))
        .chat(&["lamp"])
        .check("0");
}

#[test]
fn activate_overrides_dont_activate() {
    decorated("@@dont_activate\nx").check("");
    decorated("@@dont_activate\n@@activate\nx")
        .chat(&["dark"])
        .check("0");
    decorated("@@activate now\nx").chat(&["dark"]).check("");
}

#[test]
fn disable_ui_prompt_is_reported() {
    let outcome = decorated("@@disable_ui_prompt system_prompt\n@@disable_ui_prompt moon\nx")
        .run(Profile::Corrected);
    assert_eq!(outcome.disabled_prompts, [UiPrompt::SystemPrompt]);
}

/// Hidden keys are removed from the sent text and are matched by other entries during recursion
/// only.
#[test]
fn hidden_keys_trigger_others_and_are_not_sent() {
    let entries = json!([
        {"key": ["lamp"], "content": "Oil. {{hidden_key:cellar door}}"}, {"key": ["cellar door"]},
        {"key": ["text 1"], "content": "{{hidden_key:attic}}"}, {"key": ["attic"]}, {"key": ["none"], "content": "cellar door"},
    ]);
    let turn = Turn::new(entries.clone())
        .set(|it| it.recursive = true)
        .chat(&["lamp"]);
    turn.check_both("0 1 2 3", "0 1 2 3");
    let outcome = turn.run(Profile::Corrected);
    assert_eq!(
        (
            outcome.activated[0].content.as_str(),
            outcome.activated[2].content.as_str()
        ),
        ("Oil. ", "")
    );
    Turn::new(entries).chat(&["lamp"]).check("0");
    let silent = json!([
        {"key": ["lamp"], "content": "{{hidden_key:attic}}", "preventRecursion": true}, {"key": ["attic"]},
    ]);
    Turn::new(silent)
        .set(|it| it.recursive = true)
        .chat(&["lamp"])
        .check("0");
}
