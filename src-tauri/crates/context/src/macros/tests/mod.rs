mod card;
mod grammar;

use std::collections::BTreeMap;

use jiff::civil::date;
use jiff::tz::Offset;
use proptest::prelude::*;

use super::*;

/// Mira, a lamplighter, talks with Ann on a Sunday evening in November.
pub(super) fn scope() -> MacroScope<'static> {
    MacroScope {
        user: "Ann",
        char: "Mira",
        original: Some("Be kind."),
        card: CardValues {
            description: "A lamplighter.",
            version: "1.2",
            greetings: &["Good evening.", "You again?"],
            examples_raw: "<START>",
            ..CardValues::default()
        },
        chat: ChatValues {
            last_message: "It rains.",
            last_message_id: Some(7),
            ..ChatValues::default()
        },
        clock: Some(MacroClock {
            now: date(2026, 11, 22).at(21, 5, 9, 0),
            offset: Offset::constant(1),
            idle_seconds: Some(4 * 3_600),
        }),
        model: ModelFacts {
            name: "Owl",
            context: Some(8_192),
            response: Some(512),
        },
        chat_id: "chat",
        seed: 7,
        ..MacroScope::default()
    }
}

fn expanded(text: &str) -> Expanded {
    expand(text, &scope(), &mut MacroState::default())
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let expanded = expanded(text);
    assert_eq!(expanded.text, expected);
    assert_eq!(expanded.unknown, Vec::<String>::new(), "in {text}");
}

#[track_caller]
fn check_unknown(text: &str, expected: &str, unknown: &[&str]) {
    let expanded = expanded(text);
    assert_eq!(expanded.text, expected);
    assert_eq!(expanded.unknown, unknown);
}

#[test]
fn resolves_names_in_every_spelling() {
    check(
        "{{char}} {{CHAR}} {{ Char }} <BOT> <bot> <Char>",
        "Mira Mira Mira Mira Mira Mira",
    );
    check(
        "{{user}} <USER> <group> <CHARIFNOTGROUP> <3 <usher>",
        "Ann Ann Mira Mira <3 <usher>",
    );
    check("{{{char}}} and {{{{char}}}}", "{Mira} and {{Mira}}");
}

#[test]
fn uses_default_names() {
    let text = expand(
        "{{user}}, {{char}}",
        &MacroScope::default(),
        &mut MacroState::default(),
    )
    .text;
    assert_eq!(text, "User, Character");
}

/// Macros of the original prompt are resolved; macros in its values are not.
#[test]
fn does_not_parse_inserted_values() {
    let greedy = MacroScope {
        user: "{{char}}",
        char: "<USER>",
        original: Some("{{user}}"),
        ..scope()
    };
    let mut state = MacroState::default();
    let text = "{{user}} {{char}} {{original}} {{setvar::a::{{user}}}}{{getvar::a}} {{reverse::}}resu{{}} {{if {{user}}}}y{{/if}}";
    let text = expand(text, &greedy, &mut state).text;
    assert_eq!(text, "{{char}} <USER> {{char}} {{char}} resu{{}} y");
}

#[test]
fn inserts_original_once() {
    check(
        "{{if original}}{{original}}{{/if}} Always. {{original}}",
        "Be kind. Always. ",
    );
    let elsewhere = MacroScope {
        original: None,
        ..scope()
    };
    assert_eq!(
        expand("a{{original}}b", &elsewhere, &mut MacroState::default()).text,
        "ab"
    );
}

#[test]
fn lists_members_of_group_chats() {
    let group = MacroScope {
        group: &["Mira", "Tom", "Eve"],
        group_not_muted: &["Mira", "Eve"],
        ..scope()
    };
    let text = "{{group}} / {{charIfNotGroup}} / {{groupNotMuted}} / {{notChar}}";
    let text = expand(text, &group, &mut MacroState::default()).text;
    assert_eq!(
        text,
        "Mira, Tom, Eve / Mira, Tom, Eve / Mira, Eve / Tom, Eve, Ann"
    );
    check("{{group}} / {{notChar}}", "Mira / Ann");
    let all = MacroScope {
        char: "Mira, Tom, Eve",
        ..group
    };
    assert_eq!(
        expand("{{char}} / {{notChar}}", &all, &mut MacroState::default()).text,
        "Mira, Tom, Eve / Ann"
    );
}

#[test]
fn reads_card_chat_and_model() {
    check(
        "{{description}}|{{personality}}|{{charVersion}}|{{greeting}}|{{greeting::1}}|{{greeting::9}}",
        "A lamplighter.||1.2|Good evening.|You again?|",
    );
    check("{{mesExamples}}|{{mesExamplesRaw}}", "<START>|<START>");
    check(
        "{{lastMessage}} #{{lastMessageId}} of {{allChatRange}}, swipe {{currentSwipeId}}",
        "It rains. #7 of 0-7, swipe ",
    );
    check(
        "{{model}}: {{maxPrompt}} + {{maxResponseTokens}} = {{maxContextTokens}}",
        "Owl: 7680 + 512 = 8192",
    );
}

#[test]
fn template_values_are_empty_if_absent() {
    check(
        "[{{systemPrompt}}{{instructUserPrefix}}{{chatStart}}]",
        "[]",
    );
    let named = BTreeMap::from([
        ("instructuserprefix".into(), "### User:".into()),
        ("mood".into(), "calm".into()),
    ]);
    let scope = MacroScope {
        named: Some(&named),
        ..scope()
    };
    let text = expand(
        "{{instructInput}} {{instructUserPrefix}} {{Mood}}",
        &scope,
        &mut MacroState::default(),
    )
    .text;
    assert_eq!(text, "### User: ### User: calm");
}

#[test]
fn reads_outlets() {
    let outlets = BTreeMap::from([("awards".into(), "Best {{lamp}}".into())]);
    let scope = MacroScope {
        outlets: Some(&outlets),
        ..scope()
    };
    let text = expand(
        "[{{outlet::awards}}] [{{outlet::none}}]",
        &scope,
        &mut MacroState::default(),
    )
    .text;
    assert_eq!(text, "[Best {{lamp}}] []");
}

#[test]
fn keeps_unknown_macros_but_resolves_inner_ones() {
    check_unknown(
        "{{img::{{char}}.png}} {{ Foo }} {{foo}}",
        "{{img::Mira.png}} {{ Foo }} {{foo}}",
        &["img", "foo"],
    );
    check_unknown(
        "{{char's}} {{}} {{/if}}",
        "{{char's}} {{}} {{/if}}",
        &["char's", "", "/if"],
    );
    check_unknown("{{get{{char}}}}", "{{getMira}}", &["get{{char}}"]);
}

#[test]
fn keeps_known_macros_with_invalid_arguments() {
    check_unknown(
        "{{char::x}} {{roll:many}} {{getvar}}",
        "{{char::x}} {{roll:many}} {{getvar}}",
        &["char", "roll", "getvar"],
    );
    check_unknown("{{roll::{{user}}}}", "{{roll::Ann}}", &["roll"]);
}

#[test]
fn keeps_unpaired_braces_as_text() {
    check("} }} {{ {", "} }} {{ {");
    check_unknown("{{ } } }} {{", "{{ } } }} {{", &["} }"]);
    check("{{char {{user}}", "{{char Ann");
    check(r"\{\{char\}\} and \<tag\>", r"{{char}} and \<tag\>");
}

#[test]
fn random_and_pick_choose_from_lists() {
    for text in [
        "{{random:a,b}}",
        "{{random::a::b}}",
        "{{random a,b}}",
        "{{random: a :: b }}",
        "{{pick:a,b}}",
        "{{pick::a::b}}",
    ] {
        let result = expanded(text).text;
        assert!(
            ["a", "b"].contains(&result.as_str()),
            "{text} gave {result}"
        );
    }
    check(r"{{random:x\,y}}", "x,y");
    check("{{random::}}{{pick}}", "");
    check(
        "{{random::{{char}}, the lamplighter::{{char}}, the lamplighter}}",
        "Mira, the lamplighter",
    );
}

#[test]
fn random_accepts_list_from_variable() {
    let text = expanded("{{setvar::colors::red, red,red}}{{random::{{getvar::colors}}}}").text;
    assert_eq!(text, "red");
}

#[test]
fn random_depends_on_seed_and_pick_on_chat() {
    let text = "{{random:a,b,c,d,e,f,g,h}}{{pick:1,2,3,4,5,6,7,8}}".repeat(8);
    let of = |seed, chat_id| {
        expand(
            &text,
            &MacroScope {
                seed,
                chat_id,
                ..scope()
            },
            &mut MacroState::default(),
        )
        .text
    };
    let digits = |text: &str| {
        text.chars()
            .filter(char::is_ascii_digit)
            .collect::<String>()
    };
    assert_eq!(of(1, "x"), of(1, "x"));
    assert_ne!(of(1, "x"), of(2, "x"));
    assert_eq!(digits(&of(1, "x")), digits(&of(2, "x")));
    assert_ne!(digits(&of(1, "x")), digits(&of(1, "y")));
}

#[test]
fn rolls_dice() {
    check(
        "{{roll:d1}} {{roll 1d1+3}} {{roll::3d1-1}} {{roll:1}} {{dice::2d1+2d1}}",
        "1 4 2 1 4",
    );
    let six: i64 = expanded("{{roll:6}}").text.parse().unwrap();
    assert!((1..=6).contains(&six));
}

#[test]
fn removes_comments_hidden_keys_and_banned_strings() {
    check(
        "a{{// not for {{user}} }}b{{//}}c{{comment: {{setvar::x::1}}}}{{hasvar::x}}",
        "abcfalse",
    );
    check("a{{//}}\n many\n lines {{///}}b", "ab");
    let found = expanded(
        "Lamps.{{hidden_key:whale oil of {{char}}}}{{banned \"delve\"}}{{banned::{{user}}}}",
    );
    assert_eq!(found.text, "Lamps.");
    assert_eq!(found.hidden_keys, ["whale oil of Mira"]);
    assert_eq!(found.banned, ["delve", "Ann"]);
}

#[test]
fn runs_text_utilities() {
    check(
        "{{reverse:añb}}{{newline}}{{newline::2}}{{space::2}}x",
        "bña\n\n\n  x",
    );
    check("{{reverse}} abc {{/reverse}}", "cba");
}

#[test]
fn trim_removes_newlines_on_both_sides() {
    check("a\n\n{{trim}}\r\n\nb", "ab");
    check("a {{newline}}{{trim}}{{newline}} b", "a  b");
    check("a\n{{noop}}{{trim}}{{noop}}\nb", "a\n\nb");
    check("[{{trim}}\n  two\n    lines\n{{/trim}}]", "[two\n  lines]");
}

#[test]
fn conditions_choose_a_branch() {
    check(
        "{{if description}}D{{else}}none{{/if}}{{if !personality}}!{{/if}}",
        "D!",
    );
    check(
        "{{if 0}}a{{else}}b{{/if}}{{if off}}a{{else}}b{{/if}}{{if any text}}a{{/if}}",
        "bba",
    );
    check_unknown("{{if}}c{{/if}}{{else}}", "{{if}}c{{/if}}", &["if", "/if"]);
}

#[test]
fn runs_only_chosen_branch() {
    check(
        "{{if char}}{{if personality}}1{{else}}2{{/if}}{{else}}3{{setvar::x::1}}{{/if}}{{hasvar::x}}",
        "2false",
    );
    check(
        "{{if description::yes {{user}}{{else}}no}}, {{if scenario::yes{{else}}no}}",
        "yes Ann, no",
    );
    check("{{#if {{equal::a::a}}}} kept {{:else}}b{{/if}}", " kept ");
    check(
        "{{if {{getvar::mood}}}}x{{else}}\n  # None\n    at all\n{{/if}}",
        "# None\n  at all",
    );
}

#[test]
fn condition_value_is_not_used_as_macro_name() {
    check(
        "{{setvar::x::personality}}{{if {{getvar::x}}}}true{{else}}false{{/if}}",
        "true",
    );
}

#[test]
fn sets_and_reads_variables() {
    check(
        "{{setvar::hp::3}}{{addvar::hp::4.5}}{{getvar::hp}} {{incvar::hp}} {{decvar hp}}",
        "7.5 8.5 7.5",
    );
    check(
        "{{addvar::log::a}}{{addvar::log::b}}{{getvar::log}}{{hasvar::log}}{{deletevar::log}}{{hasvar::log}}",
        "abtruefalse",
    );
    check(
        "{{setvar name}}\n  {{char}}\n{{/setvar}}[{{getvar::name}}][{{getvar::none}}]",
        "[Mira][]",
    );
    check(
        "{{setglobalvar::a::1}}{{getvar::a}}{{getglobalvar::a}}{{settempvar::t::9}}{{tempvar::t}}",
        "19",
    );
}

#[test]
fn evaluates_variable_shorthands() {
    check(
        "{{.hp = 3}}{{.hp}} {{.hp++}} {{.hp--}} {{.hp += 4}}{{.hp}} {{.hp -= 2}}{{.hp}} {{$hp}}",
        "3 4 3 7 5 ",
    );
    check(
        "{{.a ?? b}} {{.a ??= {{char}}}} {{.a ?? b}} {{$n = 0}}{{$n || x}} {{$n ||= 2}} {{$n}}",
        "b Mira Mira x 2 2",
    );
    check(
        "{{.n = 10}}{{.n > 9}} {{.n <= 9}} {{.n == 10.0}} {{.n != ten}} {{.my-var--}}",
        "true false true true -1",
    );
    check(
        "{{.n = 10}}{{if .n}}a{{/if}}{{if !$n}}b{{/if}}{{if .n > 9}}c{{/if}}",
        "abc",
    );
    check_unknown(
        "{{.n n}} {{. }} {{.n ++ 1}}",
        "{{.n n}} {{. }} {{.n ++ 1}}",
        &[".n n", ".", ".n ++ 1"],
    );
}

#[test]
fn variables_persist_but_previews_change_none() {
    let mut state = MacroState::default();
    expand("{{setvar::day::1}}", &scope(), &mut state);
    expand("{{incvar::day}}", &scope(), &mut state.clone());
    assert_eq!(expand("{{getvar::day}}", &scope(), &mut state).text, "1");
    let stored = serde_json::to_string(&state).unwrap();
    assert_eq!(stored, r#"{"local":{"day":"1"},"global":{}}"#);
}

#[test]
fn formats_time_and_date() {
    check(
        "{{time}} {{date}} {{weekday}} {{isotime}} {{isodate}}",
        "9:05 PM November 22, 2026 Sunday 21:05 2026-11-22",
    );
    check(
        "{{time_UTC+9}} {{time_utc-5}} {{time::UTC+0}}",
        "5:05 AM 3:05 PM 8:05 PM",
    );
    check(
        "{{datetimeformat DD.MM.YYYY HH:mm:ss}} {{datetimeformat::[the] Do of MMM, Z}}",
        "22.11.2026 21:05:09 the 22nd of Nov, +01:00",
    );
    check(
        "{{idle_duration}} {{timeDiff::2023-01-01 12:00:00::2023-01-01 15:00:00}} {{timeDiff::{{isodate}}::2026-11-20}}",
        "4 hours 3 hours ago in 2 days",
    );
}

#[test]
fn evaluates_sums_and_comparisons() {
    check(
        "{{calc::2 * (3 + 4)}} {{? 10 / 4}} {{max::1::7::3}} {{floor::2.9}} {{round::2.5}}",
        "14 2.5 7 2 3",
    );
    check(
        "{{equal::a::b}}{{notequal::a::b}}{{greater::2::10}}{{and::1::0}}{{or::1::0}}{{not::0}}",
        "010011",
    );
    check_unknown("{{calc::1 +}}", "{{calc::1 +}}", &["calc"]);
}

#[test]
fn reports_volatile_macros() {
    assert!(expanded("{{if 0}}{{else}}{{Time}}{{/if}}").volatile);
    assert!(!expanded("{{char}} {{pick:a,b}} {{getvar::x}}").volatile);
    assert_eq!(
        volatile_macros(
            "{{char}} {{setvar::a::{{ROLL:6}}}}{{if !lastMessage}}{{/if}}{{time_UTC+2}}{{.n++}}"
        ),
        ["roll", "lastmessage", "time_utc", "incvar"]
    );
    assert!(!is_volatile("The time flies, {{user}}."));
}

#[test]
fn cuts_unbounded_growth() {
    let doubling = format!(
        "{{{{setvar::a::{}}}}}{}{{{{char}}}}",
        "x".repeat(1_000),
        "{{setvar::a::{{getvar::a}}{{getvar::a}}}}".repeat(60)
    );
    let expanded = expanded(&doubling);
    assert!(expanded.cut);
    assert!(expanded.text.len() < 10);
}

#[test]
fn keeps_too_deeply_nested_macros_as_text() {
    let deep = format!("{}{}", "{{reverse::".repeat(100), "}}".repeat(100));
    assert!(expanded(&deep).text.contains("{{reverse::{{reverse::"));
    let hostile = format!("{}{}", "{{a ".repeat(100_000), "}}".repeat(100_000));
    assert_eq!(expanded(&hostile).text, hostile);
    let blocks = format!(
        "{}{}",
        "{{if 1}}".repeat(100_000),
        "{{/if}}".repeat(100_000)
    );
    assert!(expanded(&blocks).text.contains("{{if 1}}{{if 1}}"));
}

#[test]
fn expands_a_megabyte_of_any_token() {
    for part in [
        "{{",
        "{",
        "}}",
        "{{//",
        "{{}}",
        "{{a::",
        "{{if a}}",
        "{{/if}}",
        "{{random:a,b}}",
        "{{.a=",
        "{{trim}}\n",
        "<user",
        "\\{",
        "{{roll:1000d6}}",
    ] {
        let hostile = part.repeat((1 << 20) / part.len());
        let expanded = expanded(&hostile);
        assert!(
            expanded.text.len() <= hostile.len() + MAX_INSERTED,
            "{part}"
        );
    }
}

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,4}",
        prop::sample::select(vec![
            "{{",
            "}}",
            "{",
            "}",
            "::",
            ":",
            ",",
            "\\",
            "\n",
            "<USER>",
            "if ",
            "/if",
            "else",
            "char",
            "setvar",
            "getvar",
            "random",
            "pick",
            "roll ",
            "trim",
            "noop",
            ".",
            "$",
            "++",
            "??",
            "=",
            "//",
            "#",
            "!",
            "reverse",
            "calc",
            "datetimeformat",
            "? ",
            "é",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn expands_any_text_deterministically(text in pieces()) {
        let first = expanded(&text);
        prop_assert_eq!(&first, &expanded(&text));
    }

    #[test]
    fn keeps_text_without_macros(text in "[^{}<\\\\]{0,200}") {
        prop_assert_eq!(expanded(&text).text, text);
    }

    /// A value stays unchanged, even if it looks like a macro.
    #[test]
    fn inserts_values_unchanged(value in pieces()) {
        let scope = MacroScope { user: &value, ..scope() };
        let mut state = MacroState::default();
        let text = expand("[{{user}}|<USER>|{{setvar::a::{{user}}}}{{getvar::a}}]", &scope, &mut state).text;
        prop_assert_eq!(text, format!("[{value}|{value}|{value}]"));
    }
}
