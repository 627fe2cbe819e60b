//! Macros of a card, and hostile texts. Run with `cargo bench -p context --bench macros`.

use context::macros::{MacroScope, MacroState, expand, is_volatile};
use divan::Bencher;
use divan::counter::BytesCount;

/// About 3 kB, like the description of a card.
fn card() -> String {
    "{{char}} keeps the lamps of the harbour. {{user}} is new in town.\n{{if persona}}{{persona}}{{else}}Nobody knows {{user}}.{{/if}}
{{// a note }}{{setvar::oil::3}}Today {{char}} is {{pick::calm::tired::cheerful}}; oil left: {{getvar::oil}}.\n"
        .repeat(12)
}

#[divan::bench]
fn a_card(bencher: Bencher<'_, '_>) {
    let text = card();
    let bencher = bencher.counter(BytesCount::of_str(&text));
    bencher.bench(|| expand(&text, &MacroScope::default(), &mut MacroState::default()));
}

#[divan::bench]
fn the_lint_of_a_card(bencher: Bencher<'_, '_>) {
    let text = card();
    bencher.bench(|| is_volatile(&text));
}

#[divan::bench(sample_count = 5, args = ["{{", "{{}}", "{{a::", "{{if a}}", "{{/if}}", "{{random:a,b}}", "{{roll:1000d6}}", "{{.a=", "<user"])]
fn a_megabyte(bencher: Bencher<'_, '_>, part: &str) {
    let text = part.repeat((1 << 20) / part.len());
    bencher.bench(|| expand(&text, &MacroScope::default(), &mut MacroState::default()));
}

fn main() {
    divan::main();
}
