//! Property tests with texts from the macro grammar, valid and invalid: blocks across arguments,
//! openers without a closer, closers in another argument. `PROPTEST_CASES` sets the number of
//! cases.

use proptest::prelude::*;

use super::*;
use crate::test_cases::config;

const NAMES: &[&str] = &[
    "char",
    "USER",
    "description",
    "original",
    "if",
    "else",
    "setvar",
    "getvar",
    "addvar",
    "incvar",
    "settempvar",
    "tempvar",
    "random",
    "pick",
    "roll",
    "reverse",
    "trim",
    "noop",
    "comment",
    "//",
    "hidden_key",
    "banned",
    "newline",
    "space",
    "calc",
    "time_UTC",
    "datetimeformat",
    "timeDiff",
    "outlet",
    "greeting",
    "upper",
    "equal",
    "max",
    "lastMessage",
    "unknown",
    "",
];
const BLOCKS: &[&str] = &[
    "if",
    "setvar",
    "addvar",
    "settempvar",
    "trim",
    "reverse",
    "comment",
    "//",
    "hidden_key",
    "banned",
    "unknown",
];
const SEPARATORS: &[&str] = &["::", ":", " ", "\n", "\n::", " :: ", ",", ":::"];
const MARKS: &[&str] = &["", "", "", "#", "!", "/", "~", "?", ".", "$", "///", "\\"];
const PLAIN: &[&str] = &[
    "a",
    "b c",
    "1",
    "0",
    "-2.5",
    "::",
    ":",
    ",",
    "\\,",
    "\n",
    "\r\n",
    "{",
    "}",
    "{{",
    "}}",
    "{{{",
    "\\{",
    "\\}",
    "<USER>",
    "<bot>",
    "<",
    "é",
    "İ",
    "👩‍👩‍👧",
    "x",
    ".x",
    "$x",
    "!x",
    "true",
    "off",
    "2d6",
    "$1",
    "UTC+5:30",
    "{{/if}}",
    "{{else}}",
    "{{if 1}}",
    "{{if}}",
    "{{/setvar}}",
    "{{setvar::x}}",
    "{{/}}",
    "{{//}}",
    "{{///}}",
    "{{trim}}",
];
const OPERATORS: &[&str] = &[
    "", "++", "--", " = ", " += ", " -= ", " ?? ", " ||= ", " > ", "==", " ! ",
];

fn one_of(texts: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(texts).prop_map(str::to_owned)
}

fn texts() -> impl Strategy<Value = String> {
    one_of(PLAIN).prop_recursive(6, 48, 5, |inner| {
        let several =
            |most| prop::collection::vec(inner.clone(), 0..most).prop_map(|texts| texts.concat());
        let arguments = || prop::collection::vec((one_of(SEPARATORS), several(3)), 0..4);
        let written = |arguments: Vec<(String, String)>| -> String {
            arguments
                .into_iter()
                .map(|(separator, text)| separator + &text)
                .collect()
        };
        let single = (one_of(MARKS), one_of(NAMES), arguments())
            .prop_map(move |(mark, name, args)| format!("{{{{{mark}{name}{}}}}}", written(args)));
        let block = (
            one_of(MARKS),
            one_of(BLOCKS),
            arguments(),
            several(5),
            one_of(BLOCKS),
            0..8_u8,
        )
            .prop_map(move |(mark, name, args, content, other, damage)| {
                let opening = format!("{{{{{mark}{name}{}}}}}", written(args));
                match damage {
                    0 => format!("{opening}{content}"),
                    1 => format!("{content}{{{{/{name}}}}}"),
                    2 => format!("{opening}{content}{{{{/{other}}}}}"),
                    3 => format!("{{{{/{name}}}}}{content}{opening}"),
                    4 => format!("{opening}{content}{{{{else}}}}{content}{{{{/{name}}}}}"),
                    _ => format!("{opening}{content}{{{{/{name}}}}}"),
                }
            });
        let variable = (
            prop::sample::select(&[".", "$"][..]),
            one_of(OPERATORS),
            several(3),
        )
            .prop_map(|(mark, operator, right)| format!("{{{{{mark}x{operator}{right}}}}}"));
        let sum = several(3).prop_map(|inner| format!("{{{{? {inner}}}}}"));
        prop_oneof![3 => several(5), 3 => single, 4 => block, 1 => variable, 1 => sum]
    })
}

/// Text without macros and list separators.
fn plain() -> impl Strategy<Value = String> {
    "[a-z0-9é .!]{0,6}"
}

fn state() -> MacroState {
    MacroState {
        local: [("x".to_owned(), "{{char}}::b".to_owned())].into(),
        ..MacroState::default()
    }
}

fn run(text: &str) -> (Expanded, MacroState) {
    let scope = MacroScope {
        original: Some(text),
        ..super::scope()
    };
    let scope = MacroScope {
        card: CardValues {
            description: text,
            ..scope.card
        },
        ..scope
    };
    let mut state = state();
    (expand(text, &scope, &mut state), state)
}

proptest! {
    #![proptest_config(config(150_000))]

    #[test]
    fn resolves_any_text_of_the_grammar(text in texts()) {
        let (expanded, after) = run(&text);
        prop_assert!(expanded.text.len() <= text.len() + MAX_INSERTED);
        prop_assert_eq!((&expanded, &after), (&run(&text).0, &run(&text).1));
        if !expanded.text.contains(['{', '<', '\\']) {
            prop_assert_eq!(&run(&expanded.text).0.text, &expanded.text);
        }
        volatile_macros(&text);
        is_settled(&text);
        unknown_macros(&text);
        expand_pattern(&text, &super::scope(), &mut state(), str::to_owned);
    }
}

proptest! {
    #![proptest_config(config(2_000))]

    #[test]
    fn separator_in_block_does_not_split_arguments(one in plain(), two in plain(), last in plain()) {
        let body = format!("{one}::{two}");
        let all = format!("{{{{setvar::v::{{{{if 1}}}}{body}{{{{/if}}}}{last}}}}}[{{{{getvar::v}}}}]");
        prop_assert_eq!(run(&all).0.text, format!("[{}]", format!("{}{last}", body.trim()).trim()));
        let other = format!("{{{{setvar::v::{{{{if 0}}}}{last}{{{{else}}}}{body}{{{{/if}}}}}}}}[{{{{getvar::v}}}}]");
        prop_assert_eq!(run(&other).0.text, format!("[{}]", body.trim()));
    }

    #[test]
    fn keeps_invalid_macro_byte_for_byte(
        name in prop::sample::select(&["roll", "calc", "greeting", "timeDiff", "unknown", "time_UTC"][..]),
        separator in prop::sample::select(SEPARATORS),
        text in "[x-z&;@ ]{1,6}",
    ) {
        let text = format!("{{{{{name}{separator}{text}&}}}}");
        let expanded = expand(&text, &super::scope(), &mut MacroState::default());
        prop_assert_eq!(expanded.text, text);
    }

    #[test]
    fn keeps_text_without_macros(text in "[^{}<\\\\]{0,120}") {
        prop_assert_eq!(run(&text).0.text, text);
    }
}

/// Lines of a card that failed in other apps. Some macros are random, so each line lists all
/// correct results.
#[test]
fn resolves_lines_that_break_other_apps() {
    for (line, right) in [
        ("[{{random\n::a\n::b\n}}]", &["[a]", "[b]"][..]),
        (
            "[{{random\n{{if 1}}::a{{/if}}\n{{if 1}}::b{{/if}}\n}}]",
            &["[a]", "[b]"],
        ),
        (
            "[{{random\n{{if 0}}::a{{/if}}\n{{if 1}}::b{{/if}}\n}}]",
            &["[b]"],
        ),
        (
            "[{{random:red,{{random:green,blue}},yellow}}]",
            &["[red]", "[green]", "[blue]", "[yellow]"],
        ),
        (
            "[{{random::None::{{random::Ann::Bob}} comes.::End.}}]",
            &["[None]", "[Ann comes.]", "[Bob comes.]", "[End.]"],
        ),
        ("[{{random:12:30,18:45}}]", &["[12:30]", "[18:45]"]),
        (
            "{{setvar::empty::}}[{{if empty}}WRONG{{else}}right{{/if}}]",
            &["[right]"],
        ),
        (
            "{{setvar::empty::}}[{{if .empty}}WRONG{{else}}right{{/if}}]",
            &["[right]"],
        ),
        (
            "[{{roll:d}}] [{{roll:999999d9}}]",
            &["[{{roll:d}}] [{{roll:999999d9}}]"],
        ),
        (
            "[{{time_UTC+5:30}}] [{{ roll : many }}]",
            &["[{{time_UTC+5:30}}] [{{ roll : many }}]"],
        ),
        ("[{{roll:{{user}} d}}]", &["[{{roll:Ann d}}]"]),
        ("[{{// a comment with }} braces}}]", &["[ braces}}]"]),
        ("[{{getvar::{{getvar::a}}}}]", &["[]"]),
        (
            "[{{CHAR}}|{{ char }}|<BOT>|{{Char}}]",
            &["[Mira|Mira|Mira|Mira]"],
        ),
        (
            "{{setvar::n::5}}{{incvar::n}}{{addvar::n::2.5}}[{{getvar::n}}]",
            &["6[8.5]"],
        ),
        ("[{{random}}] [{{pick}}] [{{random::}}]", &["[] [] []"]),
        ("[{{trim}}]\n\n{{trim}}\n\n[x]", &["[][x]", "[]\n\n[x]"]),
        ("{{setvar::x::{{if 1}}a::b{{/if}}}}{{getvar::x}}", &["a::b"]),
        (
            "{{setvar::x::{{if 1}}a::b}}{{getvar::x}}",
            &["{{if 1}}a::b"],
        ),
        (
            "{{setvar::x::{{if 0}}a::b{{else}}c::{{if 1}}d::e{{/if}}{{/if}}::f}}{{getvar::x}}",
            &["c::d::e::f"],
        ),
        (
            "{{setvar::{{if 1}}x::{{/if}}y}}{{getvar::x}}",
            &["{{setvar::x::y}}"],
        ),
    ] {
        for seed in 0..8 {
            let scope = MacroScope {
                seed,
                ..super::scope()
            };
            let text = expand(line, &scope, &mut MacroState::default()).text;
            assert!(right.contains(&text.as_str()), "{line} gave {text:?}");
        }
    }
}
