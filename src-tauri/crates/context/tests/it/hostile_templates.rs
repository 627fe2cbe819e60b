//! Chat templates come with model files and may be hostile: none may exhaust memory, time or stack.

use context::chat_template::{ChatTemplate, RenderedTurn, TemplateError};
use domain::prompt::PromptRole;

/// The memory limit of a small render is 16 MiB, up to twice that while a text doubles; the process
/// itself needs memory too.
#[cfg(target_os = "linux")]
const MOST_MEMORY_KIB: u64 = 100 << 10;

/// Parses and renders `source` on a stack of half the usual size.
fn run(source: &str) -> Result<(), TemplateError> {
    let source = source.to_owned();
    let render = move || {
        let template =
            ChatTemplate::parse(&source, "<s>", "</s>", jiff::civil::DateTime::default())?;
        template
            .render(
                &[RenderedTurn {
                    role: PromptRole::User,
                    parts: vec![0],
                }],
                false,
            )
            .map(|_| ())
    };
    std::thread::Builder::new()
        .stack_size(1 << 20)
        .spawn(render)
        .unwrap()
        .join()
        .unwrap()
}

#[test]
fn bombs_fail_within_memory_limit() {
    for (name, bomb) in bombs() {
        // Without this, a bomb would be rejected just because it drops the message.
        let error = run(&format!("{{{{ messages[0].content }}}}{bomb}")).expect_err(name);
        assert!(
            matches!(error, TemplateError::Render(_) | TemplateError::Syntax(_)),
            "{name}: {error}"
        );
    }
    // Only cargo-nextest gives each test its own process.
    #[cfg(target_os = "linux")]
    if std::env::var_os("NEXTEST").is_some() {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let peak = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))
            .unwrap();
        let kib: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
        assert!(kib < MOST_MEMORY_KIB, "{kib} KiB at the peak");
    }
}

#[test]
fn accepts_long_but_flat_templates() {
    let elifs = format!("{{% if 0 %}}{}{{% endif %}}", "{% elif 0 %}".repeat(10_000));
    run(&format!(
        "{{{{ messages[0].content }}}}{elifs}{{# {} #}}",
        "x".repeat(50_000)
    ))
    .unwrap();
    assert!(matches!(
        run(&" ".repeat(300_000)),
        Err(TemplateError::SourceTooLong)
    ));
}

fn bombs() -> Vec<(&'static str, String)> {
    let mut bombs: Vec<(&str, String)> = SMALL
        .iter()
        .map(|(name, bomb)| (*name, (*bomb).to_owned()))
        .collect();
    bombs.extend(long());
    bombs
}

/// Bombs of a few bytes.
const SMALL: &[(&str, &str)] = &[
    (
        "doubling",
        "{% set ns = namespace(s='aaaaaaaaaa') %}{% for i in range(100) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
    ),
    (
        "adding",
        "{% set ns = namespace(s='aaaaaaaaaa') %}{% for i in range(100) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
    ),
    ("times", "{{ 'a' * 1000000000 }}"),
    (
        "times of constants",
        "{{ ('a' * 100000000) ~ ('a' * 100000000) ~ ('a' * 100000000) }}",
    ),
    ("list times", "{{ [1] * 1000000000 }}"),
    ("range", "{{ range(1000000000) | list }}"),
    (
        "nested loops",
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    ),
    (
        "silent loop",
        "{% for a in range(99999) %}{% for b in range(99999) if b < 0 %}{% endfor %}{% endfor %}",
    ),
    ("join", "{{ range(99999) | join('a' * 1000000) }}"),
    ("text join", "{{ ('a' * 1000000).join(range(99999)) }}"),
    (
        "replace",
        "{% set a = 'a' * 1000000 %}{{ a | replace('a', a) }}",
    ),
    (
        "replace of nothing",
        "{% set a = 'a' * 1000000 %}{{ a.replace('', a) }}",
    ),
    ("center", "{{ 'a' | center(1000000000) }}"),
    ("zfill", "{{ 'a'.zfill(9000000000000000000) }}"),
    (
        "indent",
        "{{ ('\n' * 1000000) | indent(1000000, true, true) }}",
    ),
    ("json indent", "{{ [[[[1]]]] | tojson(indent=1000000000) }}"),
    (
        "format",
        "{% set a = 'a' * 1000000 %}{{ ('%s' * 1000) % ([a] * 1000) }}",
    ),
    (
        "braces",
        "{% set a = 'a' * 1000000 %}{{ ('{0}' * 1000).format(a) }}",
    ),
    (
        "doubling lists",
        "{% set ns = namespace(l=[1]) %}{% for i in range(100) %}{% set ns.l = ns.l + ns.l %}{% endfor %}",
    ),
    (
        "nesting lists",
        "{% set ns = namespace(l=[1]) %}{% for i in range(30) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l }}",
    ),
    (
        "comparing nests",
        "{% set ns = namespace(l=[1], m=[1]) %}{% for i in range(35) %}{% set ns.l = [ns.l, ns.l] %}{% set ns.m = [ns.m, ns.m] %}{% endfor %}{{ ns.l == ns.m }}",
    ),
    (
        "json of nests",
        "{% set ns = namespace(l=[1]) %}{% for i in range(35) %}{% set ns.l = {'a': ns.l, 'b': ns.l} %}{% endfor %}{{ ns.l | tojson }}",
    ),
    (
        "deep lists",
        "{% set ns = namespace(l=[]) %}{% for i in range(99999) %}{% set ns.l = [ns.l] %}{% endfor %}",
    ),
    (
        "a ring",
        "{% set ns = namespace() %}{% set ns.a = ns %}{{ ns }}",
    ),
    (
        "a ring in a list",
        "{% set ns = namespace() %}{% set ns.a = [ns] %}{{ ns.a }}",
    ),
    ("macros", "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"),
    (
        "macros in two",
        "{% macro f(n) %}{{ f(n + 1) }}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
    ),
    (
        "growing macros",
        "{% macro f(s) %}{{ f(s ~ s) }}{% endmacro %}{{ f('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa') }}",
    ),
    (
        "capture",
        "{% set ns = namespace(s='a') %}{% for i in range(99) %}{% set s %}{{ ns.s }}{{ ns.s }}{% endset %}{% set ns.s = s %}{% endfor %}",
    ),
    (
        "much output",
        "{% for i in range(99999) %}{{ 'a' * 1000000 }}{% endfor %}",
    ),
    (
        "many texts",
        "{% set ns = namespace(l=[]) %}{% for i in range(9999) %}{% set ns.l = ns.l + ['a' * 1000000] %}{% endfor %}",
    ),
    ("characters", "{{ ('a' * 10000000) | list }}"),
    ("splitting", "{{ ('a,' * 5000000).split(',') }}"),
    ("map", "{{ range(99999) | map('center', 100000) | list }}"),
    (
        "sort",
        "{{ (range(99999) | list + range(99999) | list) | sort | sort | sort | unique | list }}",
    ),
    ("unique", "{{ range(99999) | unique | list }}"),
    (
        "membership",
        "{% for i in range(99999) %}{{ -1 in range(99999) }}{% endfor %}",
    ),
    ("powers", "{{ 9 ** 9 ** 9 ** 9 }}"),
    ("date", "{{ strftime_now('%A' * 100000) }}"),
    ("date width", "{{ strftime_now('%9999999999d') }}"),
    (
        "upper",
        "{% set a = 'ß' * 4000000 %}{{ a | upper | upper | upper }}{{ a }}{{ a }}{{ a }}",
    ),
    ("escape", "{{ ('<' * 8000000) | e | e | e }}"),
    (
        "slices",
        "{% set a = 'a' * 8000000 %}{% for i in range(99999) %}{% set b = a[1:] %}{% endfor %}",
    ),
    (
        "counting",
        "{% set a = 'a' * 8000000 %}{% for i in range(99999) %}{% set b = a.count('b') %}{% endfor %}",
    ),
];

/// Bombs with a long source, against the parser and the stack of code that walks its result.
fn long() -> Vec<(&'static str, String)> {
    vec![
        (
            "maps of maps",
            format!("{{{{ 'a' | map({}) | list }}}}", "'map',".repeat(20_000)),
        ),
        (
            "long chain",
            format!("{{{{ 'a'{} }}}}", " + 'a'".repeat(5_000)),
        ),
        (
            "long dots",
            format!("{{{{ messages{} }}}}", ".a".repeat(50_000)),
        ),
        ("nots", format!("{{{{ {} 1 }}}}", "not ".repeat(50_000))),
        ("minuses", format!("{{{{ {}1 }}}}", "- ".repeat(50_000))),
        (
            "brackets",
            format!("{{{{ {}1{} }}}}", "(".repeat(50_000), ")".repeat(50_000)),
        ),
        (
            "lists",
            format!("{{{{ {}1{} }}}}", "[".repeat(50_000), "]".repeat(50_000)),
        ),
        (
            "choices",
            format!("{{{{ {}1 }}}}", "1 if 0 else ".repeat(15_000)),
        ),
        (
            "ifs",
            format!(
                "{}x{}",
                "{% if 1 %}".repeat(10_000),
                "{% endif %}".repeat(10_000)
            ),
        ),
        (
            "filters",
            format!("{{{{ 'a'{} }}}}", "|trim".repeat(50_000)),
        ),
        (
            "targets",
            format!(
                "{{% set {}a{} = 1 %}}",
                "(".repeat(50_000),
                ")".repeat(50_000)
            ),
        ),
        (
            "names",
            format!(
                "{{{{ ('{{x}}' * 99999).format({}) }}}}",
                (0..3_000).map(|n| format!("x{n}=1,")).collect::<String>()
            ),
        ),
    ]
}
