//! Keys and filters that failed in other apps.

use context::lore::{Chance, Profile};
use serde_json::json;

use super::support::Turn;

#[test]
fn patterns_work_as_in_javascript() {
    let turn = Turn::new(json!([
        {"key": ["/(?:^|[^а-яё])волк(?:а|ом|у)(?![а-яё])/gi"]}, {"key": ["/workshop/"]}, {"key": ["/qqq/i", "/BEACON/i"]},
        {"key": ["TCP/IP"]}, {"key": ["/usr/hare"]}, {"key": ["/mo{1,2}n/"]}, {"key": ["/(open/"]},
        {"key": ["/\\bnaïveté\\b/i"]}, {"key": ["/(?<=white )hare/"]}, {"key": ["/\\p{Script=Han}+/u"]},
        {"key": ["/(b|b)*§/"]}, {"key": ["/\\-/u"]},
    ]));
    let turn = turn.set(|it| it.scan_depth = 20).chat(&[
        "In the workshop I saw a Волку by the beacon, TCP/IP well-known.",
        "ls /usr/hare, then the mooon; a white hare, naïveté 山。",
        &"b".repeat(40),
    ]);
    turn.check_both("0 1 2 3 4 8 9", "0 1 2 3 4 8 9");
    turn.chat(&["press /\\-/u now", "(open", "/(open/"])
        .set(|it| it.scan_depth = 3)
        .check_both("6 11", "6 11");
}

#[test]
fn not_any_works_on_scripts_without_spaces() {
    let entries = json!([
        {"key": ["我", "你", "e"], "keysecondary": ["打开日志", "rareword"], "selectiveLogic": 2}, {"key": ["打开日志"]},
    ]);
    let turn = Turn::new(entries);
    turn.clone()
        .chat(&["你早。", "我在。"])
        .check_both("0", "0");
    turn.chat(&["你早。", "请打开日志吧。"])
        .check_both("1", "1");
}

/// U+0130 becomes two code points in lower case. Offsets in the lower-case text are therefore
/// invalid in the original.
#[test]
fn handles_letters_that_grow_in_lower_case() {
    let keys = json!([{"key": ["İyi"]}, {"key": ["ΣΟΦΟΣ"]}, {"key": ["ﬂag"]}, {"key": ["👩‍👩‍👧"]}, {"key": ["서울"]}, {"key": ["iyi"]}]);
    let text = format!("İyi günler; σοφος; ﬂag; 👩‍👩‍👧; 서울에서 {}", "İ".repeat(300));
    Turn::new(keys)
        .chat(&[&text])
        .check_both("0 1 2 3 4", "0 1 2 3 4 5");
}

#[test]
fn rolls_probability_and_weights_once() {
    let entries = json!([
        {"key": ["begin"], "content": "go on to two"}, {"key": ["two"], "content": "go on to three"},
        {"key": ["begin", "two", "three"], "content": "COIN", "probability": 50}, {"key": ["begin"], "probability": 0},
        {"key": ["begin"], "group": "g", "groupWeight": 1}, {"key": ["begin"], "group": "g", "groupWeight": 99},
    ]);
    let turn = Turn::new(entries)
        .set(|it| it.recursive = true)
        .chat(&["begin"]);
    let (mut coin, mut light) = (0, 0);
    for seed in 1..=1_000 {
        let fired = turn
            .clone()
            .with(|it| it.chance = Chance::Seeded(seed))
            .fires(Profile::Corrected);
        let fired: Vec<&str> = fired.split(' ').collect();
        assert!(!fired.contains(&"3"), "zero percent never fires");
        coin += u32::from(fired.contains(&"2"));
        light += u32::from(fired.contains(&"4"));
    }
    assert!(
        (430..=570).contains(&coin) && (1..=40).contains(&light),
        "{coin} {light}"
    );
}
