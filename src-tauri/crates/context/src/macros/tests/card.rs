//! Tests of card texts that contain macros, and of the text that a card replaces.

use super::*;

const GREETINGS: &[&str] = &["Come in, {{user}}.", "{{char}} nods."];

/// Mira talks with Ann; her card contains many macros.
fn scope() -> MacroScope<'static> {
    MacroScope {
        user: "Ann",
        char: "Mira",
        original: Some("Write {{char}}'s next line. {{original}}{{persona}}"),
        card: CardValues {
            description: "{{char}} lights lamps for <USER>.",
            personality: "Dry. {{personality}}{{scenario}}",
            persona: "{{user}} of the port, whom {{char}} knows.",
            greetings: GREETINGS,
            examples_raw: "{{user}}: Oil?\n{{char}}: Whale.",
            ..CardValues::default()
        },
        ..MacroScope::default()
    }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let expanded = expand(text, &scope(), &mut MacroState::default());
    assert_eq!(expanded.text, expected);
    assert_eq!(expanded.unknown, Vec::<String>::new(), "in {text}");
}

#[test]
fn resolves_macros_in_card_texts() {
    check("[{{description}}]", "[Mira lights lamps for Ann.]");
    check(
        "{{persona}} {{mesExamples}}",
        "Ann of the port, whom Mira knows. Ann: Oil?\nMira: Whale.",
    );
    check(
        "{{greeting}} {{charFirstMessage::1}}",
        "Come in, Ann. Mira nods.",
    );
    check("{{reverse::{{greeting::1}}}}", ".sdon ariM");
}

#[test]
fn card_text_includes_no_nested_card_texts() {
    check("[{{personality}}]", "[Dry. ]");
}

#[test]
fn original_may_use_card_texts_but_not_itself() {
    check(
        "{{original}} {{original}}!",
        "Write Mira's next line. Ann of the port, whom Mira knows. !",
    );
}

#[test]
fn reports_macros_of_included_card_text() {
    let card = CardValues {
        description: "{{time}}{{lamp}}{{setvar::lit::1}}{{banned::oil}}",
        ..CardValues::default()
    };
    let mut state = MacroState::default();
    let expanded = expand(
        "{{description}}",
        &MacroScope { card, ..scope() },
        &mut state,
    );
    assert!(expanded.volatile);
    assert_eq!(
        (expanded.unknown, expanded.banned),
        (vec!["lamp".to_owned()], vec!["oil".to_owned()])
    );
    assert_eq!(state.local["lit"], "1");
}

/// A description must give the same random results in its own section and in a sentence that
/// includes it.
#[test]
fn random_results_ignore_the_including_text() {
    let description = "{{roll:1000000}}";
    let card = CardValues {
        description,
        ..CardValues::default()
    };
    let scope = MacroScope { card, ..scope() };
    let expanded = |text: &str| expand(text, &scope, &mut MacroState::default()).text;
    assert_eq!(
        expanded("{{roll:6}}{{description}}")[1..],
        expanded(description)
    );
}

#[test]
fn reports_absent_values() {
    let absent = expand(
        "{{currentSwipeId}}, {{lastGenerationType}}, {{lastMessageId}}",
        &scope(),
        &mut MacroState::default(),
    );
    assert_eq!(absent.text, ", , ");
    assert_eq!(absent.absent, ["currentswipeid", "lastgenerationtype"]);
    let of_template = expand(
        "{{summary}}{{instructInput}}.",
        &scope(),
        &mut MacroState::default(),
    );
    assert_eq!(
        (of_template.text.as_str(), &of_template.absent[..]),
        (".", &["summary".to_owned(), "instructinput".into()][..])
    );
    let chat = ChatValues {
        current_swipe_id: Some(2),
        last_generation_type: Some("swipe"),
        ..ChatValues::default()
    };
    let there = expand(
        "{{currentSwipeId}} {{lastGenerationType}}",
        &MacroScope { chat, ..scope() },
        &mut MacroState::default(),
    );
    assert_eq!((there.text.as_str(), there.absent.len()), ("2 swipe", 0));
}

/// A text that includes a long text many times: neither time nor memory grows with the product.
#[test]
fn bounds_repeated_inclusion_of_long_text() {
    let (nothing, big) = ("{{//x}}".repeat(20_000), "x".repeat(1 << 20));
    let much = "{{setvar::a::{{getvar::big}}}}".repeat(1_000);
    for description in [&nothing, &much, &big] {
        let card = CardValues {
            description,
            ..CardValues::default()
        };
        let mut state = MacroState::default();
        state.local.insert("big".into(), big.clone());
        let named = "{{description}}".repeat(60_000);
        let expanded = expand(&named, &MacroScope { card, ..scope() }, &mut state);
        assert!(expanded.cut && expanded.text.len() <= MAX_INSERTED);
    }
    let deep = format!("{}{}", "{{reverse::".repeat(40), "}}".repeat(40));
    let card = CardValues {
        description: &deep,
        ..CardValues::default()
    };
    let expanded = expand(
        "{{description}}",
        &MacroScope { card, ..scope() },
        &mut MacroState::default(),
    );
    assert!(expanded.text.contains("{{reverse::"));
}
