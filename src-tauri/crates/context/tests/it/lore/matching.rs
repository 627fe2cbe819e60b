//! Matching of keys in different scripts.

use context::lore::{Profile, Rule};
use serde_json::json;

use super::support::Turn;

#[track_caller]
fn check_whole_word(key: &str, text: &str, expected: bool) {
    let turn = Turn::new(json!([{"key": [key]}]))
        .set(|it| it.match_whole_words = true)
        .chat(&[text]);
    assert_eq!(
        !turn.fires(Profile::Corrected).is_empty(),
        expected,
        "{key:?} in {text:?}"
    );
}

#[test]
fn matches_whole_words_in_every_script() {
    for (key, text, expected) in [
        ("king", "the king's men", true),
        ("king", "liking", false),
        ("кот", "который", false),
        ("кот", "мой КОТ.", true),
        ("caf", "café", false),
        ("café", "au CAFÉ noir", true),
        ("cafe", "cafe\u{301}", false),
        ("龙", "恐龙来了", true),
        ("ドラゴン", "青いドラゴンが", true),
        ("용", "용이 온다", true),
        ("มังกร", "เห็นมังกรบิน", true),
        ("king", "这是king啊", true),
        ("C++", "in C++17", true),
        ("राजा", "राजाओं", false),
        ("מלך", "המלך", false),
        ("مَلِك", "مَلِك عظيم", true),
        ("😀", "so😀so", true),
    ] {
        check_whole_word(key, text, expected);
    }
}

#[test]
fn matches_expanded_keys() {
    let turn = Turn::new(
        json!([{"key": ["{{char}}"]}, {"key": ["{{char}} and Tom"]}, {"key": ["none", "{{char}}"]}]),
    );
    turn.chat(&["dear mira!"]).check_both("0 2", "0 2");
}

#[test]
fn expands_texts_on_activation() {
    let turn =
        Turn::new(json!([{"key": ["lamp"], "content": "{{char}} lights it."}])).chat(&["lamp"]);
    assert_eq!(
        turn.run(Profile::Corrected).activated[0].content,
        "Mira lights it."
    );
}

#[test]
fn patterns_stop_at_the_work_limit() {
    let entries = (0..200)
        .map(|_| json!({"key": ["/(?=x)none/"], "scanDepth": 1000}))
        .collect();
    let long = "a lamp burns. ".repeat(40_000);
    let turn = Turn::new(entries).chat(&[&long]);
    let outcome = turn.run(Profile::Corrected);
    assert!(outcome.patterns_exhausted);
    assert_eq!(turn.rule("199"), Rule::KeyNotFound);
}
