//! Notes of the import report about a preset as a whole.

use serde_json::{Map, Value};

use super::prompt_manager::NEVER;
use super::{reply_defaults, sampler};
use crate::convert::note::ConversionNote;
use crate::prompt_template::{Section, SectionKind, SectionPlacement};

/// Texts of card and persona, with their prompts in presets and their macros in lower case.
const PLACES: [(SectionKind, &str, &[&str], &str); 5] = [
    (
        SectionKind::Description,
        "charDescription",
        &["{{description}}", "{{chardescription}}"],
        "the description of a card is",
    ),
    (
        SectionKind::Personality,
        "charPersonality",
        &["{{personality}}", "{{charpersonality}}"],
        "the personality of a card is",
    ),
    (
        SectionKind::Scenario,
        "scenario",
        &["{{scenario}}", "{{charscenario}}"],
        "the scenario of a card is",
    ),
    (
        SectionKind::Persona,
        "personaDescription",
        &["{{persona}}"],
        "the description of the persona is",
    ),
    (
        SectionKind::Examples,
        "dialogueExamples",
        &["{{mesexamples"],
        "the example messages of a card are",
    ),
];

/// Texts that another app reads from the top of such a file. SillyTavern ignores them. `reads` says
/// which fields the converter of the prompts reads.
pub(super) fn texts_at_the_top(
    preset: &Map<String, Value>,
    reads: impl Fn(&str) -> bool,
) -> Vec<ConversionNote> {
    unread_texts(
        preset,
        reads,
        "not sent: this text is not one of the prompts of the preset",
    )
}

/// Texts of another app in a sampler preset.
pub(super) fn texts_beside_samplers(preset: &Map<String, Value>) -> Vec<ConversionNote> {
    unread_texts(
        preset,
        |field| field == "name",
        "not sent: a sampler preset has no texts for the prompt",
    )
}

fn unread_texts(
    preset: &Map<String, Value>,
    reads: impl Fn(&str) -> bool,
    why: &str,
) -> Vec<ConversionNote> {
    let read = |field: &str| {
        reads(field) || reply_defaults::FIELDS.contains(&field) || sampler::reads(field)
    };
    let texts = preset
        .iter()
        .filter_map(|(field, value)| Some((field, value.as_str()?.trim())));
    let unread = texts.filter(|(field, text)| {
        !read(field) && !text.is_empty() && (is_text(text) || has_name_of_text(field))
    });
    unread
        .map(|(field, _)| ConversionNote::new(field, why))
        .collect()
}

/// Addresses and names of models are single words.
fn is_text(text: &str) -> bool {
    text.contains(char::is_whitespace)
}

fn has_name_of_text(field: &str) -> bool {
    ["prompt", "story_string", "instruction"]
        .iter()
        .any(|word| field.contains(word))
}

/// Texts of cards that the preset gives no place, so they are not sent.
pub(super) fn missing(sections: &[Section]) -> Vec<ConversionNote> {
    let on: Vec<&Section> = sections
        .iter()
        .filter(|one| one.condition.as_deref() != Some(NEVER))
        .collect();
    let lines = on.iter().flat_map(|one| &one.lines);
    let lines: Vec<String> = lines.map(|line| line.text().to_lowercase()).collect();
    let has_place = |kind: SectionKind, macros: &[&str]| {
        on.iter().any(|one| one.kind == Some(kind))
            || lines
                .iter()
                .any(|text| macros.iter().any(|name| text.contains(name)))
    };
    let missing = PLACES
        .into_iter()
        .filter(|(kind, _, macros, _)| !has_place(*kind, macros));
    missing
        .map(|(_, identifier, _, what)| {
            let why = format!("switched off or absent in the preset, so {what} not sent");
            ConversionNote::new(format!("prompt: {identifier}"), why)
        })
        .collect()
}

/// Prompts that by default are not repeated at the end of the chat in every turn.
pub(super) fn placements(sections: &[Section]) -> Vec<ConversionNote> {
    let shown = |section: &&Section| section.condition.is_none();
    let places = [
        (
            SectionPlacement::AfterHistory,
            "after the chat with `classic` placement; otherwise in the head, which stays cached",
        ),
        (
            SectionPlacement::InChat,
            "at their depth with `classic` placement, and always for those in the user's or the character's words and the \
             ones above them; otherwise before the newest message, the deepest first",
        ),
    ];
    let note = |(placement, why)| {
        let there = sections
            .iter()
            .filter(shown)
            .filter(|section| section.placement == Some(placement));
        let names: Vec<&str> = there.map(|section| section.name.as_str()).collect();
        (!names.is_empty())
            .then(|| ConversionNote::new(format!("prompts: {}", names.join(", ")), why))
    };
    places.into_iter().filter_map(note).collect()
}
