//! Context templates: the parts of the story string become sections that override those of the base
//! template.

use serde_json::{Map, Value};

use super::story_string::{PARTS, SYSTEM, StoryLine, StoryPart, read};
use crate::convert::note::ConversionNote;
use crate::convert::sections::{excluded, flag, template, text};
use crate::prompt_template::{
    Defaults, PromptTemplate, Section, SectionPlacement, SectionRole, TemplateLine, escape,
};

/// Order of the first section; it precedes all sections that the story string does not name.
const FIRST: i32 = -10_000;

/// Switches without a counterpart.
const ELSEWHERE: [(&str, &str); 5] = [
    (
        "use_stop_strings",
        "left out: the separators do not end a reply",
    ),
    (
        "always_force_name2",
        "not kept: a reply begins without a name, except in groups",
    ),
    ("trim_sentences", "left out: replies are stored unchanged"),
    ("single_line", "left out: replies are stored unchanged"),
    (
        "allow_jailbreak",
        "left out: the text at the end of the prompt has its own section",
    ),
];

pub(super) fn convert(
    preset: &Map<String, Value>,
    name: &str,
    report: &mut Vec<ConversionNote>,
) -> PromptTemplate {
    for (field, why) in ELSEWHERE {
        if flag(preset, field) {
            report.push(ConversionNote::new(field, why));
        }
    }
    let lines = read(text(preset, "story_string"), report);
    let mut sections = sections(&lines);
    add_separators(preset, &mut sections);
    place(preset, &mut sections);
    // A section of the base template that story strings do not name.
    sections.push(excluded("perspective"));
    let stop = (preset.get("names_as_stop_strings") == Some(&Value::Bool(false))).then(Vec::new);
    PromptTemplate {
        extends: Some("base-roleplay".to_owned()),
        defaults: Defaults {
            stop,
            ..Defaults::default()
        },
        sections,
        ..template(name)
    }
}

/// Builds the sections. Each part becomes a section together with the preceding lines that name no
/// part, which are its label. Lines with a condition of their own become a separate section.
fn sections(lines: &[StoryLine]) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut seen: Vec<StoryPart> = Vec::new();
    let mut waiting: Vec<&StoryLine> = Vec::new();
    let mut order = FIRST;
    for line in lines {
        if line.text == SYSTEM {
            sections.extend(plain(waiting.drain(..), &mut order));
            order += 10;
            let first = !sections.iter().any(|section| section.name == "rules");
            sections.extend(
                ["identity", "rules"]
                    .into_iter()
                    .filter(|_| first)
                    .map(|name| moved(name, order)),
            );
        } else if let Some(part) = line.part.filter(|part| !seen.contains(part)) {
            let labels = |line: &&StoryLine| {
                line.conditions
                    .iter()
                    .all(|one| one == part.variable || one == "always")
            };
            let (mut own, others): (Vec<_>, Vec<_>) = waiting.drain(..).partition(labels);
            sections.extend(plain(others.into_iter(), &mut order));
            order += 10;
            seen.push(part);
            own.push(line);
            sections.push(of_part(part, &own, order));
        } else {
            waiting.push(line);
        }
    }
    sections.extend(plain(waiting.into_iter(), &mut order));
    let unnamed = PARTS
        .into_iter()
        .filter(|part| !seen.contains(part) && part.section != "examples");
    sections.extend(unnamed.map(|part| excluded(part.section)));
    sections
}

/// A section of the base template with another order and its original text.
fn moved(name: &str, order: i32) -> Section {
    Section {
        name: name.to_owned(),
        order: Some(order),
        ..Default::default()
    }
}

/// The section depends on its part, so that no label appears without it.
fn of_part(part: StoryPart, lines: &[&StoryLine], order: i32) -> Section {
    Section {
        name: part.section.to_owned(),
        order: Some(order),
        kind: Some(part.kind),
        condition: Some(part.variable.to_owned()),
        overrides: true,
        lines: lines
            .iter()
            .map(|line| written(line, part.variable))
            .collect(),
        ..Default::default()
    }
}

/// A section with lines that name no part.
fn plain<'l>(lines: impl Iterator<Item = &'l StoryLine>, order: &mut i32) -> Option<Section> {
    let lines: Vec<TemplateLine> = lines.map(|line| written(line, "")).collect();
    if lines.is_empty() {
        return None;
    }
    *order += 10;
    let name = format!("text{}", (*order - FIRST) / 10);
    Some(Section {
        name,
        order: Some(*order),
        lines,
        ..Default::default()
    })
}

/// `asked` is the condition that the section already has.
fn written(line: &StoryLine, asked: &str) -> TemplateLine {
    let conditions: Vec<&str> = line
        .conditions
        .iter()
        .map(String::as_str)
        .filter(|one| *one != asked && *one != "always")
        .collect();
    if conditions.is_empty() {
        TemplateLine::Always(line.text.clone())
    } else {
        TemplateLine::When {
            text: line.text.clone(),
            condition: conditions.join(" && "),
        }
    }
}

/// Adds the separators before each example and before the chat.
fn add_separators(preset: &Map<String, Value>, sections: &mut Vec<Section>) {
    let separator = escape(text(preset, "example_separator").trim());
    if !separator.is_empty() {
        match sections
            .iter_mut()
            .find(|section| section.name == "examples")
        {
            Some(examples) => (examples.heading, examples.repeat_heading) = (Some(separator), true),
            None => sections.push(Section {
                name: "examples".to_owned(),
                heading: Some(separator),
                repeat_heading: true,
                lines: vec![TemplateLine::from("${character.examples}")],
                overrides: true,
                ..Default::default()
            }),
        }
    }
    let start = text(preset, "chat_start").trim();
    if !start.is_empty() {
        let lines = vec![TemplateLine::Always(escape(start))];
        sections.push(Section {
            name: "chatStart".to_owned(),
            order: Some(10_000),
            lines,
            ..Default::default()
        });
    }
}

/// Moves the sections into the chat if the story string has a depth.
fn place(preset: &Map<String, Value>, sections: &mut [Section]) {
    if preset.get("story_string_position").and_then(Value::as_i64) != Some(1) {
        return;
    }
    let depth = preset
        .get("story_string_depth")
        .and_then(Value::as_u64)
        .unwrap_or(1);
    let role = match preset.get("story_string_role").and_then(Value::as_i64) {
        Some(1) => SectionRole::User,
        Some(2) => SectionRole::Assistant,
        _ => SectionRole::System,
    };
    for section in sections
        .iter_mut()
        .filter(|section| !section.exclude && section.name != "chatStart")
    {
        section.placement = Some(SectionPlacement::InChat);
        section.depth = Some(depth.try_into().unwrap_or(u32::MAX));
        section.role = Some(role);
    }
}
