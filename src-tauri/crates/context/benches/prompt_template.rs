//! Cost of composing the head of a prompt in each turn.

#![allow(clippy::unwrap_used, reason = "a failed helper fails the bench")]

use context::prompt_template::{
    Flag, Given, ResolvedTemplate, TemplateFlags, TemplateLibrary, TemplateVariables, built_in,
    compose, from_json, resolve,
};
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

/// A large card of 8 KB.
fn given() -> Given {
    Given::default()
        .text("character.name", "Mira")
        .text(
            "character.description",
            "Mira keeps the lighthouse. ".repeat(200),
        )
        .text(
            "character.personality",
            "Shy, kind and curious. ".repeat(40),
        )
        .text(
            "character.examplesRaw",
            "<START>\n{{user}}: Hi\n{{char}}: Oh. Hi.\n".repeat(40),
        )
        .text("persona.name", "Tom")
        .text("persona.description", "a sailor")
        .text("memory.facts", "Tom likes tea.\n".repeat(20))
        .text("memory.count", "20")
        .text("rating", "T")
}

fn sms(library: &TemplateLibrary) -> ResolvedTemplate {
    resolve(library.get("sms").unwrap(), library).unwrap()
}

#[divan::bench]
fn one_turn(bencher: Bencher) {
    let template = sms(built_in().unwrap());
    bencher.bench(|| {
        let variables = TemplateVariables::resolve(black_box(given())).unwrap();
        compose(
            &template,
            &variables,
            &TemplateFlags::of(&variables, &Flag::SWITCHES),
        )
        .unwrap()
    });
}

#[divan::bench]
fn resolve_with_a_parent(bencher: Bencher) {
    let library = built_in().unwrap();
    bencher.bench(|| sms(black_box(library)));
}

/// 300 sections, as in converted presets with many switches.
#[divan::bench]
fn many_sections(bencher: Bencher) {
    let sections: Vec<_> = (0..300)
        .map(|n| serde_json::json!({"name": format!("s{n}"), "order": n, "condition": "persona.name && !assist", "lines": ["${character.name} is there."]}))
        .collect();
    let json = serde_json::json!({"schema": "inglenook.promptTemplate", "version": 2, "id": "t", "name": "T", "sections": sections});
    let template = resolve(
        &from_json(&json.to_string()).unwrap().template,
        &TemplateLibrary::default(),
    )
    .unwrap();
    let variables = TemplateVariables::resolve(given()).unwrap();
    let flags = TemplateFlags::of(&variables, &[]);
    bencher.bench(|| compose(black_box(&template), &variables, &flags).unwrap());
}
