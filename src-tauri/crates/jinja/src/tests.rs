//! Comparison with the reference implementation; `tests/chat_templates/generate.py` recorded its
//! results.

use proptest::prelude::*;

use super::exec::{Input, Program};

/// Runs for some seconds with a fixed seed, so that failures are reproducible. `PROPTEST_CASES` and
/// `PROPTEST_RNG_SEED` override the number of cases and the seed.
fn config(cases: u32) -> ProptestConfig {
    let given = |name: &str| {
        std::env::var(name)
            .ok()
            .and_then(|text| text.parse::<u64>().ok())
    };
    ProptestConfig {
        cases: given("PROPTEST_CASES").map_or_else(
            || rounds(cases),
            |cases| u32::try_from(cases).unwrap_or(u32::MAX),
        ),
        rng_seed: proptest::test_runner::RngSeed::Fixed(given("PROPTEST_RNG_SEED").unwrap_or(27)),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Cases of a property: all of them with `cargo xtask test --all-rounds` and in `cargo xtask fuzz`,
/// a tenth otherwise.
fn rounds(all: u32) -> u32 {
    if std::env::var_os("INGLENOOK_ALL_ROUNDS").is_some() {
        all
    } else {
        all / 10
    }
}

/// Renders `source` for the chat in `context.json`.
fn rendered(source: &str) -> Result<String, String> {
    let messages = [
        ("system", "Be brief.".to_owned()),
        ("user", "Hello <b> & \"you\"".to_owned()),
        ("assistant", "Hi\nthere".to_owned()),
    ];
    let now = jiff::civil::date(2026, 11, 21).at(0, 0, 0, 0);
    let input = Input {
        messages: &messages,
        typed: false,
        lists_tools: false,
        tools: &super::ToolInput::default(),
        add_generation_prompt: true,
        bos: "<s>",
        eos: "</s>",
        now,
    };
    let program = Program::parse(source).map_err(|error| error.to_string())?;
    program.run(&input).map_err(|error| error.to_string())
}

#[test]
fn expressions_match_the_reference() {
    let goldens: Vec<(String, Option<String>)> = serde_json::from_str(include_str!(
        "../../context/tests/chat_templates/expressions.json"
    ))
    .unwrap();
    assert!(goldens.len() > 90);
    let mut wrong = Vec::new();
    for (source, expected) in goldens {
        let found = rendered(&source);
        if found.as_ref().ok() != expected.as_ref() {
            wrong.push(format!(
                "{source}\n  expected {expected:?}\n  found    {found:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The expected results, including errors, are those of Python.
#[test]
fn percent_formats_as_python_does() {
    for (source, expected) in [
        ("'%02d' % 7", Ok("07")),
        ("'%.1f' % 2.25", Ok("2.2")),
        ("'%5s|' % 'ab'", Ok("   ab|")),
        ("'%x' % 255", Ok("ff")),
        ("'%-5s|' % 'ab'", Ok("ab   |")),
        ("'%+d' % 3", Ok("+3")),
        ("'% d' % 3", Ok(" 3")),
        ("'%05d' % -42", Ok("-0042")),
        ("'%-05d|' % 3", Ok("3    |")),
        ("'%.3d' % 5", Ok("005")),
        ("'%#x %#o %X' % (255, 8, 255)", Ok("0xff 0o10 FF")),
        ("'%e' % 12345.678", Ok("1.234568e+04")),
        ("'%.2E' % 0.00012", Ok("1.20E-04")),
        (
            "'%g %g %g' % (100000, 1000000, 0.00001)",
            Ok("100000 1e+06 1e-05"),
        ),
        ("'%#g' % 1", Ok("1.00000")),
        ("'%.3g' % 3.14159", Ok("3.14")),
        ("'%s %s' % (1, 'a')", Ok("1 a")),
        ("'%s' % [1, 2]", Ok("[1, 2]")),
        ("'%(a)s-%(b)03d' % {'a': 'x', 'b': 7}", Ok("x-007")),
        ("'100%%' % ()", Ok("100%")),
        ("'%d%%' % 50", Ok("50%")),
        ("'%*d|' % (5, 42)", Ok("   42|")),
        ("'%.*f' % (2, 3.14159)", Ok("3.14")),
        ("'%c%c' % (65, 'b')", Ok("Ab")),
        ("'%r' % 'a'", Ok("'a'")),
        ("'%a' % 'é'", Ok("'\\xe9'")),
        ("'%.2s' % 'abcd'", Ok("ab")),
        ("'%d' % 3.99", Ok("3")),
        ("'%d' % true", Ok("1")),
        ("'%s' % ((1, 2),)", Ok("(1, 2)")),
        ("'%08.3f' % -3.14159", Ok("-003.142")),
        ("'%ld' % 3", Ok("3")),
        ("'%.0f %.0f' % (0.5, 1.5)", Ok("0 2")),
        ("'%#.0f' % 3", Ok("3.")),
        ("'abc' % [1]", Ok("abc")),
        ("'%s' % none", Ok("None")),
        (
            "'%d' % 'a'",
            Err("%d format: a real number is required, not str"),
        ),
        (
            "'%x' % 1.5",
            Err("%x format: an integer is required, not float"),
        ),
        ("'%f' % 'a'", Err("must be real number, not str")),
        ("'%d' % ()", Err("not enough arguments for format string")),
        (
            "'%d' % (1, 2)",
            Err("not all arguments converted during string formatting"),
        ),
        (
            "'%y' % 1",
            Err("unsupported format character 'y' (0x79) at index 1"),
        ),
        ("'%' % 1", Err("incomplete format")),
        ("'%(a)s' % 1", Err("format requires a mapping")),
        ("'%(a' % {}", Err("incomplete format key")),
        ("'%(b)s' % {'a': 1}", Err("there is no key 'b'")),
        ("'%c' % 'ab'", Err("%c requires int or char")),
        ("'%*d' % ('a', 1)", Err("* wants int")),
        (
            "'abc' % 1",
            Err("not all arguments converted during string formatting"),
        ),
    ] {
        let found = rendered(&format!("{{{{ {source} }}}}"));
        match expected {
            Ok(text) => assert_eq!(found.as_deref(), Ok(text), "{source}"),
            Err(reason) => assert!(
                found.as_ref().is_err_and(|why| why.contains(reason)),
                "{source} gave {found:?}"
            ),
        }
    }
    assert_eq!(
        rendered("{{ '%02d:%s' | format(7, 'a') }} {{ '%(n)5.1f' | format(n=2.25) }}").unwrap(),
        "07:a   2.2"
    );
}

#[test]
fn rejects_huge_width_or_precision() {
    for source in [
        "'%9999999999d' % 1",
        "'%.999999999f' % 1",
        "'%*s' % (2000000000, 1)",
        "'%.99999d' % 1",
    ] {
        assert!(
            rendered(&format!("{{{{ {source} }}}}")).is_err(),
            "{source}"
        );
    }
}

fn expressions() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(
        &[
            "1",
            "-2",
            "0",
            "2.5",
            "'a'",
            "'é%s'",
            "none",
            "true",
            "messages",
            "bos_token",
            "[]",
            "{}",
            "()",
            "(1, 'x')",
            "{'a': 1}",
            "missing",
            "9223372036854775807",
            "''",
            "messages[0]",
            "range(3)",
        ][..],
    );
    leaf.prop_map(str::to_owned)
        .prop_recursive(5, 32, 4, |inner| {
            let ops = &[
                "+", "-", "*", "/", "//", "%", "**", "~", "==", "<", "in", "not in", "and", "or",
                "is", "|",
            ][..];
            let names = &[
                "length",
                "join(',')",
                "items",
                "tojson",
                "int",
                "list",
                "string",
                "defined",
                "number",
                "trim",
            ][..];
            prop_oneof![
                (inner.clone(), prop::sample::select(ops), inner.clone())
                    .prop_map(|(a, op, b)| format!("({a} {op} {b})")),
                (inner.clone(), prop::sample::select(names))
                    .prop_map(|(a, name)| format!("({a} | {name})")),
                (inner.clone(), prop::sample::select(names))
                    .prop_map(|(a, name)| format!("{a}.{name}")),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a}[{b}:]")),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a}[{b}]")),
                (inner.clone(), inner).prop_map(|(a, b)| format!("[{a}, {b}]")),
            ]
        })
}

proptest! {
    #![proptest_config(config(20_000))]

    #[test]
    fn any_template_renders_or_fails_cleanly(one in expressions(), two in expressions(), cut in any::<prop::sample::Index>()) {
        let source = format!(
            "{{% for m in {one} %}}{{{{ {two} }}}}{{% if {two} %}}{{{{ m }}}}{{% else %}}{{% break %}}{{% endif %}}{{% endfor %}}{{{{ {one} }}}}"
        );
        let _ = rendered(&source);
        let cut = source.floor_char_boundary(cut.index(source.len()));
        let _ = rendered(&source[..cut]);
    }

    #[test]
    fn any_percent_format_renders_or_fails_cleanly(
        pattern in "([a-z ]{0,2}%(\\([a-z]{0,2}\\))?[-+ #0]{0,3}([0-9]{0,3}|\\*)(\\.([0-9]{0,3}|\\*))?[hlL]?[a-zA-Z%é]){0,3}",
        value in prop::sample::select(&[
            "1", "-7", "2.5", "-0.0", "1e300", "'é'", "(1, 2.5, 'a')", "{'a': 3}", "none", "[1]", "true", "missing",
            "(3, 2, 1, 0)", "9223372036854775807",
        ][..]),
    ) {
        let _ = rendered(&format!("{{{{ '{pattern}' % {value} }}}}"));
    }
}
