//! Regex scripts over a long chat, and hostile ones over long texts. Run with `cargo bench -p
//! context --bench regex_scripts`.

#![allow(clippy::unwrap_used, reason = "a bench that cannot begin fails")]

use std::time::{Duration, Instant};

use context::macros::{MacroScope, MacroState};
use context::regex_script::{Channel, CompiledScripts, ScriptBudget, ScriptContext};
use divan::Bencher;
use domain::regex_script::{RegexScript, ScriptTarget};

const SENT: ScriptContext = ScriptContext {
    placement: ScriptTarget::AiOutput,
    channel: Channel::Prompt,
    depth: Some(3),
    edited: false,
};

fn script(find: &str) -> RegexScript {
    RegexScript {
        find_regex: find.into(),
        replace_string: "<i>$1</i>".into(),
        placement: vec![ScriptTarget::AiOutput],
        prompt_only: true,
        ..RegexScript::default()
    }
}

fn set(finds: impl IntoIterator<Item = String>) -> CompiledScripts {
    let scripts: Vec<RegexScript> = finds.into_iter().map(|find| script(&find)).collect();
    CompiledScripts::new(&scripts, &MacroScope::default(), &MacroState::default())
}

/// Typical scripts for status lines, thoughts, quotes and word replacements; every tenth uses
/// lookaround.
fn everyday(index: usize) -> String {
    match index % 10 {
        0 => format!(r"/<status{index}>([\s\S]*?)<\/status{index}>/g"),
        1 => format!(r"/\*(\w+ {index}[^*]*)\*/gi"),
        2 => format!(r"/\b(lamp{index}|wick{index}|oil{index})\b/gi"),
        3 => format!(r"/^\[OOC{index}: (.*)\]$/gm"),
        4 => format!(r"/(?<!\w)mood{index}: (\d+)/g"),
        _ => format!(r"/(shivers{index}) down (?:his|her) spine/gi"),
    }
}

fn message() -> String {
    "*Mira lights lamp after lamp.* \"The oil is low,\" she says, and shivers. The rain has not stopped since noon. "
        .repeat(10)
}

const HOSTILE: [&str; 16] = [
    r"/(a+)+$/",
    r"/(a|aa)+$/",
    r"/(a|a?)+b/",
    r"/(.*a){12}/",
    r"/(a*)*b/",
    r"/^(([a-z])+.)+[A-Z]([a-z])+$/",
    r"/(?=(a+)+b)x/",
    r"/(a+)+\1b/",
    r"/(\w*)*\1!/",
    r"/(?<=(a+)+)b/",
    r"/.*[^A-Z]|[A-Z]/g",
    r"/(?:a?){200}a{200}b/",
    r"/[\s\S]*?[\s\S]*?[\s\S]*?b/g",
    r"/(x+x+)+y/",
    r"/(?!(a*)*b)(a*)*b/",
    r"/((a{1,20}){1,20}){1,20}b/",
];

#[divan::bench(args = [1, 100])]
fn compile(bencher: Bencher<'_, '_>, scripts: usize) {
    bencher.bench(|| set((0..scripts).map(everyday)));
}

/// One new message with 100 scripts; results for older messages are cached by fingerprint.
#[divan::bench]
fn a_message(bencher: Bencher<'_, '_>) {
    let (set, text) = (set((0..100).map(everyday)), message());
    bencher.bench(|| {
        set.apply(
            &text,
            &SENT,
            &MacroScope::default(),
            &mut MacroState::default(),
            &mut ScriptBudget::default(),
        )
        .text
        .len()
    });
}

/// The cost of the cache lookup for each of 5,000 messages.
#[divan::bench]
fn fingerprints_of_5000_messages(bencher: Bencher<'_, '_>) {
    let set = set((0..100).map(everyday));
    bencher.bench(|| {
        (0..5_000_u32)
            .filter_map(|depth| {
                set.fingerprint(&ScriptContext {
                    depth: Some(depth),
                    ..SENT
                })
            })
            .fold(0, u64::wrapping_add)
    });
}

/// The longest texts that scripts run on, with the deadline that API calls set.
#[divan::bench(args = HOSTILE, sample_count = 5)]
fn hostile_32_kib(bencher: Bencher<'_, '_>, find: &str) {
    hostile(bencher, find, 32 << 10);
}

#[divan::bench(args = HOSTILE, sample_count = 5)]
fn hostile_64_kib(bencher: Bencher<'_, '_>, find: &str) {
    hostile(bencher, find, 64 << 10);
}

fn hostile(bencher: Bencher<'_, '_>, find: &str, length: usize) {
    let (set, text) = (set([find.to_owned()]), "a".repeat(length));
    let text = if find.contains("A-Z]|") {
        text.to_uppercase()
    } else {
        text
    };
    bencher.bench(|| {
        let begun = Instant::now();
        let late = || begun.elapsed() > Duration::from_millis(50);
        let mut budget = ScriptBudget::default().until(&late);
        set.apply(
            &text,
            &SENT,
            &MacroScope::default(),
            &mut MacroState::default(),
            &mut budget,
        )
        .failed
    });
}

fn main() {
    divan::main();
}
