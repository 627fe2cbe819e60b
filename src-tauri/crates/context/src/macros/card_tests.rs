//! Texts that bring macros of their own: those of the card, and the one that the card replaces.

use super::*;

const GREETINGS: &[&str] = &["Come in, {{user}}.", "{{char}} nods."];

/// Mira talks with Ann; her card is full of macros.
fn scope() -> MacroScope<'static> {
    MacroScope {
        user: "Ann",
        char: "Mira",
        original: Some("Write {{char}}'s next line. {{original}}{{persona}}"),
        card: CardTexts {
            description: "{{char}} lights lamps for <USER>.",
            personality: "Dry. {{personality}}{{scenario}}",
            persona: "{{user}} of the port, whom {{char}} knows.",
            greetings: GREETINGS,
            examples_raw: "{{user}}: Oil?\n{{char}}: Whale.",
            ..CardTexts::default()
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
fn texts_of_the_card_come_in_with_their_macros_resolved() {
    check("[{{description}}]", "[Mira lights lamps for Ann.]");
    check("{{persona}} {{mesExamples}}", "Ann of the port, whom Mira knows. Ann: Oil?\nMira: Whale.");
    check("{{greeting}} {{charFirstMessage::1}}", "Come in, Ann. Mira nods.");
    check("{{reverse::{{greeting::1}}}}", ".sdon ariM");
}

#[test]
fn no_text_of_the_card_holds_another_or_itself() {
    check("[{{personality}}]", "[Dry. ]");
}

/// V2-06
#[test]
fn v2_06_the_original_may_name_the_card_and_never_itself() {
    check("{{original}} {{original}}!", "Write Mira's next line. Ann of the port, whom Mira knows. !");
}

#[test]
fn what_a_text_brings_is_told_of_the_text_that_names_it() {
    let card = CardTexts { description: "{{time}}{{lamp}}{{setvar::lit::1}}{{banned::oil}}", ..CardTexts::default() };
    let mut state = MacroState::default();
    let expanded = expand("{{description}}", &MacroScope { card, ..scope() }, &mut state);
    assert!(expanded.volatile);
    assert_eq!((expanded.unknown, expanded.banned), (vec!["lamp".to_owned()], vec!["oil".to_owned()]));
    assert_eq!(state.local["lit"], "1");
}

/// A section that shows the description and a sentence that names it must not tell of different dice.
#[test]
fn chance_within_a_text_does_not_depend_on_who_names_it() {
    let description = "{{roll:1000000}}";
    let card = CardTexts { description, ..CardTexts::default() };
    let scope = MacroScope { card, ..scope() };
    let told = |text: &str| expand(text, &scope, &mut MacroState::default()).text;
    assert_eq!(told("{{roll:6}}{{description}}")[1..], told(description));
}

#[test]
fn values_that_are_not_there_are_named() {
    let absent =
        expand("{{currentSwipeId}}, {{lastGenerationType}}, {{lastMessageId}}", &scope(), &mut MacroState::default());
    assert_eq!(absent.text, ", , ");
    assert_eq!(absent.absent, ["currentswipeid", "lastgenerationtype"]);
    let of_template = expand("{{summary}}{{instructInput}}.", &scope(), &mut MacroState::default());
    assert_eq!(
        (of_template.text.as_str(), &of_template.absent[..]),
        (".", &["summary".to_owned(), "instructinput".into()][..])
    );
    let chat = ChatTexts { current_swipe_id: Some(2), last_generation_type: Some("swipe"), ..ChatTexts::default() };
    let there = expand(
        "{{currentSwipeId}} {{lastGenerationType}}",
        &MacroScope { chat, ..scope() },
        &mut MacroState::default(),
    );
    assert_eq!((there.text.as_str(), there.absent.len()), ("2 swipe", 0));
}

/// Many names of a long text, which comes to nothing or to a lot: neither time nor memory follows their product.
#[test]
fn naming_a_long_text_often_ends() {
    let (nothing, big) = ("{{//x}}".repeat(20_000), "x".repeat(1 << 20));
    let much = "{{setvar::a::{{getvar::big}}}}".repeat(1_000);
    for description in [&nothing, &much, &big] {
        let card = CardTexts { description, ..CardTexts::default() };
        let mut state = MacroState::default();
        state.local.insert("big".into(), big.clone());
        let named = "{{description}}".repeat(60_000);
        let expanded = expand(&named, &MacroScope { card, ..scope() }, &mut state);
        assert!(expanded.cut && expanded.text.len() <= MAX_INSERTED);
    }
    let deep = format!("{}{}", "{{reverse::".repeat(40), "}}".repeat(40));
    let card = CardTexts { description: &deep, ..CardTexts::default() };
    let expanded = expand("{{description}}", &MacroScope { card, ..scope() }, &mut MacroState::default());
    assert!(expanded.text.contains("{{reverse::"));
}
