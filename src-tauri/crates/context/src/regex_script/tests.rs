use domain::regex_script::{RegexScript, ScriptTarget, Substitution};
use proptest::prelude::*;

use super::*;
use crate::macros::{MacroScope, MacroState};

/// A script for stored messages of the character.
fn script(find: &str, replace: &str) -> RegexScript {
    RegexScript {
        script_name: "Script".into(),
        find_regex: find.into(),
        replace_string: replace.into(),
        placement: vec![ScriptTarget::AiOutput],
        ..RegexScript::default()
    }
}

fn scope() -> MacroScope<'static> {
    MacroScope {
        user: "Ann",
        char: "Mr. O",
        ..MacroScope::default()
    }
}

const SAID: ScriptContext = ScriptContext {
    placement: ScriptTarget::AiOutput,
    channel: Channel::Stored,
    depth: None,
    edited: false,
};

fn run<'t>(scripts: &[RegexScript], text: &'t str, occasion: ScriptContext) -> Applied<'t> {
    let set = CompiledScripts::new(scripts, &scope(), &MacroState::default());
    assert_eq!(set.failed(), []);
    set.apply(
        text,
        &occasion,
        &scope(),
        &mut MacroState::default(),
        &mut ScriptBudget::default(),
    )
}

#[track_caller]
fn check(find: &str, replace: &str, text: &str, expected: &str) {
    let applied = run(&[script(find, replace)], text, SAID);
    assert_eq!(applied.text, expected, "{find}");
    assert_eq!(applied.failed, []);
}

/// Checks the matches of a pattern; `marked` is `text` with the matches in brackets.
#[track_caller]
fn check_matches(find: &str, text: &str, marked: &str) {
    check(find, "[$0]", text, marked);
}

#[track_caller]
fn check_invalid(find: &str) {
    let set = CompiledScripts::new(&[script(find, "")], &scope(), &MacroState::default());
    assert!(
        matches!(
            set.failed(),
            [Failure {
                why: ScriptError::Invalid(_),
                ..
            }]
        ),
        "{find}: {set:?}"
    );
}

#[test]
fn parses_flags_after_the_pattern() {
    check("/o/", "0", "foo boo", "f0o boo");
    check("/O/gi", "0", "foo boo", "f00 b00");
    check("o", "0", "foo", "f0o");
    check("/a/b", "x", "1 /a/b 2", "1 x 2");
    check("/^b.c$/gms", "x", "a\nb\nc", "a\nx");
    check("/a/gy", "x", "aaba", "xxba");
}

#[test]
fn inserts_groups_into_the_replacement() {
    check(
        r"/(\w+) (?<last>\w+)/",
        "$2, $1 ($<last>; $0; $&; {{match}}; {{MATCH}}) $3$<none>",
        "Ada Byron!",
        "Byron, Ada (Byron; Ada Byron; Ada Byron; Ada Byron; Ada Byron) $<none>!",
    );
    check("/a(x)?b/", "<$1>", "ab", "<>");
    check("/(a)/", "$10$1.$$", "a", "a.$$");
}

#[test]
fn removes_trims_from_matches() {
    let star = RegexScript {
        trim_strings: vec!["*".into(), "{{user}}".into(), "".into()],
        ..script(r"/\*(.+?)\*/g", "<i>{{match}}</i>")
    };
    assert_eq!(
        run(&[star], "*Ann waves* at *me*", SAID).text,
        "<i> waves</i> at <i>me</i>"
    );
}

#[test]
fn resolves_macros_in_the_replacement() {
    check(
        r"/my mood is (\w+)/",
        "{{setvar::mood::$1}}{{char}} is {{getvar::mood}}",
        "my mood is fine.",
        "Mr. O is fine.",
    );
    check(r"/(\w+)!/", "{{reverse::$1}}", "abc!", "cba");
}

#[test]
fn does_not_resolve_macros_in_matches() {
    check(
        "/<(.*)>/",
        "[$1] {{match}}",
        "<{{char}} $0 <USER>>",
        "[{{char}} $0 <USER>] <{{char}} $0 <USER>>",
    );
}

#[test]
fn resolves_macros_in_pattern_if_requested() {
    let with = |substitute_regex| RegexScript {
        substitute_regex,
        ..script("/{{char}}/g", "x")
    };
    assert_eq!(
        run(&[with(Substitution::None)], "Mr. O {{char}}", SAID).text,
        "Mr. O x"
    );
    assert_eq!(run(&[with(Substitution::Raw)], "MrX O", SAID).text, "x");
    assert_eq!(
        run(&[with(Substitution::Escaped)], "Mr. O, MrX O", SAID).text,
        "x, MrX O"
    );
    let braces = RegexScript {
        substitute_regex: Substitution::Escaped,
        ..script(r"/\{(?<user>{{user}})\}/", "$<user>")
    };
    assert_eq!(run(&[braces], "{Ann}", SAID).text, "Ann");
}

#[test]
fn patterns_work_as_in_javascript() {
    check_matches(r"/\w+/g", "naïve Übung", "[na]ï[ve] Ü[bung]");
    check_matches(r"/\d/g", "1٣", "[1]٣");
    check_matches(r"/\bü/g", "ü aü", "ü a[ü]");
    check_matches(
        r"/\s+/g",
        "a\u{FEFF}\u{A0}b\u{85}c",
        "a[\u{FEFF}\u{A0}]b\u{85}c",
    );
    check_matches(r"/.+/g", "a\u{2028}b\rc", "[a]\u{2028}[b]\r[c]");
    check_matches(r"/[^]/g", "\n", "[\n]");
    check_matches(r"/[]|x/g", "]x", "][x]");
    check_matches(r"/a{,2}{/", "a{,2}{", "[a{,2}{]");
    check_matches(r"/x{2,}]}/", "xxx]}", "[xxx]}]");
    check_matches(r"/[[&&a-c\-z~~]+/", "x[&b-z~", "x[[&b-z~]");
    check_matches(r"/[\w-.]+[\]]/", "a-.]", "[a-.]]");
    check_matches(
        r"/\u0041\x42\u{44}\cJ\/\-\0\t/",
        "ABD\n/-\0\t",
        "ABD\n/-\0\t",
    );
    check_matches(
        r"/\u0041\x42\u{44}\cJ\/[\-]\0\t/u",
        "ABD\n/-\0\t",
        "[ABD\n/-\0\t]",
    );
    check_matches(
        r"/\uD83D\uDE00|[\u{1F3A0}-\u{1F3AF}]/gu",
        "😀🎭",
        "[😀][🎭]",
    );
    check_matches(r"/\p{L}+|\p{Script=Han}/gu", "Übung 漢", "[Übung] [漢]");
    check_matches(r"/\101[\b]?/", "A", "[A]");
    check_matches("/x*/g", "axb", "[]a[x][]b[]");
}

/// As for lorebook keys: without flag `u` a character outside the BMP is two units, and no
/// character is ever split.
#[test]
fn patterns_count_utf16_units() {
    check_matches("/^.$/", "😀", "😀");
    check_matches("/^..$/", "😀", "[😀]");
    check_matches("/^.$/u", "😀", "[😀]");
    check_matches("/./g", "a😀b", "[a][😀][b]");
    check_matches("/[^a]+/g", "a😀é😃a", "a[😀é😃]a");
    check_matches("/x*/g", "😀x", "[]😀[x][]");
    check("/(.)(.)/", "$2", "😀", "😀");
    check("/[😀]/gu", "", "a😀😃", "a😃");
    check_matches(r"/\uD83D\uDE00/", "😃😀", "😃[😀]");
    check_matches("/k/gi", "K \u{212A}", "[K] \u{212A}");
    check_matches("/k/giu", "K \u{212A}", "[K] [\u{212A}]");
    check_matches(r"/^(a)?\1b/", "b", "[b]");
    check_matches(r"/(?<=a\r)b$/m", "a\rb\rc", "a\r[b]\rc");
    for find in [r"/\q/u", "/]/u", r"/\uDE00\uD83D/", "/(?<n>a)(?<n>b)/"] {
        check_invalid(find);
    }
}

#[test]
fn supports_lookaround_and_backreferences() {
    check_matches(
        r#"/(["'])(.*?)\1/g"#,
        r#"say "it's" or 'no'"#,
        r#"say ["it's"] or ['no']"#,
    );
    check_matches(r"/(?<q>\*)[^*]+\k<q>/", "a *b* c", "a [*b*] c");
    check_matches(r"/(?<=\$)\d+(?!\d|%)/g", "$10 $20% 30", "$[10] $20% 30");
    check_matches(r"/\Bo\B/g", "o foot", "o f[o][o]t");
    check_matches(
        r"/^(?!Ann:).+$/gm",
        "Ann: hi\nMr. O: ho",
        "Ann: hi\n[Mr. O: ho]",
    );
    check_matches(r"/(?<!\w)ü/g", "aü ü", "aü [ü]");
}

#[test]
fn reports_invalid_pattern_and_changes_nothing() {
    for find in [
        "/(/",
        "/[a/",
        "/*/",
        "/a**/",
        "/(?P<n>a)/",
        "/(?i)a/",
        "/[z-a]/",
        r"/\k<b>(?<a>x)/",
        r"/\uD83D/",
        r"/\",
        "/a{3,1}/",
    ] {
        check_invalid(find);
    }
    let set = CompiledScripts::new(
        &[script("/(/", "x"), script("/a/", "b")],
        &scope(),
        &MacroState::default(),
    );
    assert_eq!(set.failed()[0].script, 0);
    let applied = set.apply(
        "a(",
        &SAID,
        &scope(),
        &mut MacroState::default(),
        &mut ScriptBudget::default(),
    );
    assert_eq!(
        (applied.text.as_ref(), applied.ran),
        ("b(", vec![ScriptRun { script: 1, hits: 1 }])
    );
}

#[test]
fn scripts_run_in_order() {
    let scripts = [
        script("/a/g", "b"),
        script("/b/g", "c"),
        RegexScript {
            disabled: true,
            ..script("/c/g", "d")
        },
    ];
    let applied = run(&scripts, "ab", SAID);
    assert_eq!(
        (applied.text.as_ref(), applied.ran),
        (
            "cc",
            vec![
                ScriptRun { script: 0, hits: 1 },
                ScriptRun { script: 1, hits: 2 }
            ]
        )
    );
}

#[test]
fn display_and_prompt_scripts_spare_stored_text() {
    let scripts = [
        script("/stored/", "S"),
        RegexScript {
            markdown_only: true,
            ..script("/shown/", "D")
        },
        RegexScript {
            prompt_only: true,
            ..script("/sent/", "P")
        },
        RegexScript {
            markdown_only: true,
            prompt_only: true,
            ..script("/both/", "B")
        },
    ];
    let on = |channel| {
        run(
            &scripts,
            "stored shown sent both",
            ScriptContext { channel, ..SAID },
        )
        .text
        .into_owned()
    };
    assert_eq!(on(Channel::Stored), "S shown sent both");
    assert_eq!(on(Channel::Display), "stored D sent B");
    assert_eq!(on(Channel::Prompt), "stored shown P B");
}

#[test]
fn stored_text_obeys_depth() {
    let deep = RegexScript {
        min_depth: Some(4),
        run_on_edit: true,
        ..script("/a/", "b")
    };
    let on = |script: &RegexScript, occasion| {
        run(std::slice::from_ref(script), "a", occasion).text == "b"
    };
    assert!(!on(&deep, SAID), "a new message has depth 0");
    assert!(!on(
        &deep,
        ScriptContext {
            edited: true,
            depth: Some(3),
            ..SAID
        }
    ));
    assert!(on(
        &deep,
        ScriptContext {
            edited: true,
            depth: Some(4),
            ..SAID
        }
    ));
    let new = RegexScript {
        min_depth: Some(-1),
        max_depth: Some(0),
        run_on_edit: true,
        ..script("/a/", "b")
    };
    assert!(
        on(&new, SAID)
            && !on(
                &new,
                ScriptContext {
                    edited: true,
                    depth: Some(1),
                    ..SAID
                }
            )
    );
}

#[test]
fn placement_edit_and_depth_select_scripts() {
    let lore = RegexScript {
        placement: vec![ScriptTarget::Lorebook],
        ..script("/a/", "b")
    };
    let on = |script: &RegexScript, occasion| {
        run(std::slice::from_ref(script), "a", occasion).text == "b"
    };
    assert!(!on(&lore, SAID));
    assert!(on(
        &lore,
        ScriptContext {
            placement: ScriptTarget::Lorebook,
            channel: Channel::Prompt,
            ..SAID
        }
    ));
    let edited = ScriptContext {
        edited: true,
        ..SAID
    };
    assert!(!on(&script("/a/", "b"), edited));
    assert!(on(
        &RegexScript {
            run_on_edit: true,
            ..script("/a/", "b")
        },
        edited
    ));
    let deep = RegexScript {
        min_depth: Some(2),
        max_depth: Some(4),
        prompt_only: true,
        ..script("/a/", "b")
    };
    let at = |depth| {
        on(
            &deep,
            ScriptContext {
                channel: Channel::Prompt,
                depth,
                ..SAID
            },
        )
    };
    assert_eq!(
        [Some(1), Some(2), Some(4), Some(5), None].map(at),
        [false, true, true, false, true]
    );
    let unlimited = RegexScript {
        min_depth: Some(-1),
        max_depth: Some(-1),
        ..deep.clone()
    };
    assert!(on(
        &unlimited,
        ScriptContext {
            channel: Channel::Prompt,
            depth: Some(9),
            ..SAID
        }
    ));
    let set = CompiledScripts::new(&[deep], &scope(), &MacroState::default());
    let sent = |depth| ScriptContext {
        channel: Channel::Prompt,
        depth: Some(depth),
        ..SAID
    };
    assert!(
        set.alike(&sent(2), &sent(4))
            && set.alike(&sent(0), &sent(9))
            && !set.alike(&sent(1), &sent(2))
    );
}

#[test]
fn fingerprint_changes_with_the_result() {
    let set =
        |scripts: &[RegexScript]| CompiledScripts::new(scripts, &scope(), &MacroState::default());
    let [a, b] = [script("/a/", "{{char}}: {{match}}"), script("/b/", "x")];
    let both = set(&[a.clone(), b.clone()]).fingerprint(&SAID);
    assert_eq!(both, set(&[a.clone(), b.clone()]).fingerprint(&SAID));
    assert_eq!(
        both,
        Some(17_884_435_884_898_619_698),
        "a changed fingerprint invalidates stored results"
    );
    assert_ne!(both, set(&[b.clone(), a.clone()]).fingerprint(&SAID));
    assert_ne!(both, set(std::slice::from_ref(&a)).fingerprint(&SAID));
    assert_eq!(
        set(&[a, script("/c/", "{{roll:6}}")]).fingerprint(&SAID),
        None
    );
    assert!(!set(&[b]).concerns(&ScriptContext {
        channel: Channel::Display,
        ..SAID
    }));
}

fn overrun(find: &str, replace: &str, text: &str) -> ScriptError {
    let applied = run(&[script(find, replace)], text, SAID);
    assert_eq!(applied.text, text);
    applied.failed.into_iter().next().unwrap().why
}

#[test]
fn overrun_leaves_text_unchanged() {
    assert_eq!(
        overrun(r"/(?=(a+)+$)\1b/", "", &"a".repeat(1_000)),
        ScriptError::TooManySteps
    );
    assert_eq!(
        overrun("/a/g", "b", &"a".repeat(20_000)),
        ScriptError::TooManyHits
    );
    assert_eq!(
        overrun("/a/g", &"b".repeat(10_000), &"a".repeat(1_000)),
        ScriptError::ResultTooLarge
    );
    assert_eq!(
        overrun("/(?=a)/", "", &"a".repeat(100_000)),
        ScriptError::TextTooLong
    );
    assert_eq!(
        overrun("/a/", "", &"a".repeat(100_000)),
        ScriptError::TextTooLong
    );
    assert!(ScriptError::TooManySteps.is_overrun() && !ScriptError::PatternTooLong.is_overrun());
}

#[test]
fn long_texts_give_the_same_matches() {
    let text = "lamp, oil; lämp ".repeat(400);
    check(
        "/(?<=lä)mp (?=l|$)/g",
        "<$0>",
        &text,
        &format!("{}{}", "lamp, oil; lä<mp >".repeat(400), ""),
    );
}

#[test]
fn nested_repeats_take_linear_time() {
    check(
        "/(a+)+$/",
        "x",
        &format!("{}!", "a".repeat(10_000)),
        &format!("{}!", "a".repeat(10_000)),
    );
}

#[test]
fn rejects_patterns_too_large_to_compile() {
    check_invalid("/((a{1,999}){1,999}){1,999}/");
    let long = script(&"a".repeat(20_000), "");
    let set = CompiledScripts::new(&[long], &scope(), &MacroState::default());
    assert_eq!(set.failed()[0].why, ScriptError::PatternTooLong);
}

#[test]
fn exhausted_budget_stops_all_scripts() {
    let set = CompiledScripts::new(
        &[script("/a/", "b"), script("/b/", "c")],
        &scope(),
        &MacroState::default(),
    );
    let apply = |budget: &mut ScriptBudget<'_>| {
        set.apply("aaaa", &SAID, &scope(), &mut MacroState::default(), budget)
    };
    let applied = apply(&mut ScriptBudget::of_bytes(3));
    assert_eq!(applied.text, "aaaa");
    assert!(
        applied
            .failed
            .iter()
            .all(|failure| failure.why == ScriptError::OutOfBudget)
    );
    let stopped = apply(&mut ScriptBudget::default().until(&|| true));
    assert_eq!(
        stopped
            .failed
            .iter()
            .map(|failure| &failure.why)
            .collect::<Vec<_>>(),
        [&ScriptError::OutOfTime; 2]
    );
    assert_eq!(apply(&mut ScriptBudget::default()).text, "caaa");
}

fn patterns() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a", "b", ".", "*", "+", "?", "(", ")", "(?:", "(?=", "(?!", "(?<=", "(?<n>", "[", "]",
        "[^", "-", "{", "}", "{2}", "{1,3}", "|", "^", "$", r"\", r"\d", r"\w", r"\s", r"\b",
        r"\B", r"\1", r"\k<n>", r"\u00e4", r"\x41", r"\p{L}", "/", "ü", "😀", "0", ",", "\n", "&&",
    ]);
    let flags = prop::sample::select(vec!["", "g", "gi", "gms", "gu", "y"]);
    (prop::collection::vec(piece, 0..20), flags)
        .prop_map(|(pieces, flags)| format!("/{}/{flags}", pieces.concat()))
}

proptest! {
    #[test]
    fn any_pattern_runs_or_leaves_text_unchanged(find in patterns(), replace in "[a$0-9{}<>&]{0,12}", text in "[ab üä😀\n0-9]{0,60}") {
        let set = CompiledScripts::new(&[script(&find, &replace)], &scope(), &MacroState::default());
        let applied = set.apply(&text, &SAID, &scope(), &mut MacroState::default(), &mut ScriptBudget::default());
        prop_assert!(applied.failed.is_empty() || applied.text == text);
        prop_assert!(!applied.ran.is_empty() || applied.text == text);
    }

    #[test]
    fn finds_plain_word_as_text(word in "[A-Za-z ü😀]{1,8}", before in "[0-9]{0,5}", after in "[0-9]{0,5}") {
        let text = format!("{before}{word}{after}");
        prop_assert_eq!(run(&[script(&word, "")], &text, SAID).text, format!("{before}{after}"));
    }
}
