//! Context templates: the story string's parts become sections over those of the base template.

use serde_json::{Map, Value};

use super::story_string::{PARTS, Part, SYSTEM, StoryLine, read};
use super::{Note, excluded, flag, template, text};
use crate::prompt_template::{Defaults, Line, Placement, PromptTemplate, Section, SectionRole, escape};

/// Order of the first section: before all that the story string does not name.
const FIRST: i32 = -10_000;

/// Switches that are settings of the chat here.
const ELSEWHERE: [(&str, &str); 5] = [
    ("use_stop_strings", "left out: the separators do not end a reply"),
    ("always_force_name2", "left out: a name before the reply is a setting of the chat"),
    ("trim_sentences", "left out: replies are kept as they came"),
    ("single_line", "left out: replies are kept as they came"),
    ("allow_jailbreak", "left out: the text for the end of the prompt has a section of its own"),
];

pub(super) fn convert(preset: &Map<String, Value>, name: &str, report: &mut Vec<Note>) -> PromptTemplate {
    for (field, why) in ELSEWHERE {
        if flag(preset, field) {
            report.push(Note::new(field, why));
        }
    }
    let lines = read(text(preset, "story_string"), report);
    let mut sections = sections(&lines);
    add_separators(preset, &mut sections);
    place(preset, &mut sections);
    // What the base template adds and the story string does not name.
    sections.push(excluded("perspective"));
    let stop = (preset.get("names_as_stop_strings") == Some(&Value::Bool(false))).then(Vec::new);
    PromptTemplate {
        extends: Some("base-roleplay".to_owned()),
        defaults: Defaults { reply_tokens: None, stop },
        sections,
        ..template(name)
    }
}

/// Each part is a section, with the lines before it that name none: they are its label. Lines on a condition of their own
/// are a section of their own.
fn sections(lines: &[StoryLine]) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut seen: Vec<Part> = Vec::new();
    let mut waiting: Vec<&StoryLine> = Vec::new();
    let mut order = FIRST;
    for line in lines {
        if line.text == SYSTEM {
            sections.extend(plain(waiting.drain(..), &mut order));
            order += 10;
            let first = !sections.iter().any(|section| section.name == "rules");
            sections.extend(["identity", "rules"].into_iter().filter(|_| first).map(|name| moved(name, order)));
        } else if let Some(part) = line.part.filter(|part| !seen.contains(part)) {
            let labels = |line: &&StoryLine| line.conditions.iter().all(|one| one == part.variable || one == "always");
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
    let unnamed = PARTS.into_iter().filter(|part| !seen.contains(part) && part.section != "examples");
    sections.extend(unnamed.map(|part| excluded(part.section)));
    sections
}

/// A section of the base template at another place, with the text it has.
fn moved(name: &str, order: i32) -> Section {
    Section { name: name.to_owned(), order: Some(order), ..Default::default() }
}

/// The section is there only where its part is, so that no label stays alone.
fn of_part(part: Part, lines: &[&StoryLine], order: i32) -> Section {
    Section {
        name: part.section.to_owned(),
        order: Some(order),
        kind: Some(part.kind),
        condition: Some(part.variable.to_owned()),
        overrides: true,
        lines: lines.iter().map(|line| written(line, part.variable)).collect(),
        ..Default::default()
    }
}

/// Lines that name no part.
fn plain<'l>(lines: impl Iterator<Item = &'l StoryLine>, order: &mut i32) -> Option<Section> {
    let lines: Vec<Line> = lines.map(|line| written(line, "")).collect();
    if lines.is_empty() {
        return None;
    }
    *order += 10;
    let name = format!("text{}", (*order - FIRST) / 10);
    Some(Section { name, order: Some(*order), lines, ..Default::default() })
}

/// `asked` is what the section asks already.
fn written(line: &StoryLine, asked: &str) -> Line {
    let conditions: Vec<&str> =
        line.conditions.iter().map(String::as_str).filter(|one| *one != asked && *one != "always").collect();
    match conditions.is_empty() {
        true => Line::Always(line.text.clone()),
        false => Line::When { text: line.text.clone(), condition: conditions.join(" && ") },
    }
}

/// The marks before each example and before the chat.
fn add_separators(preset: &Map<String, Value>, sections: &mut Vec<Section>) {
    let separator = escape(text(preset, "example_separator").trim());
    if !separator.is_empty() {
        match sections.iter_mut().find(|section| section.name == "examples") {
            Some(examples) => (examples.heading, examples.repeat_heading) = (Some(separator), true),
            None => sections.push(Section {
                name: "examples".to_owned(),
                heading: Some(separator),
                repeat_heading: true,
                lines: vec![Line::from("${character.examples}")],
                overrides: true,
                ..Default::default()
            }),
        }
    }
    let start = text(preset, "chat_start").trim();
    if !start.is_empty() {
        let lines = vec![Line::Always(escape(start))];
        sections.push(Section { name: "chatStart".to_owned(), order: Some(10_000), lines, ..Default::default() });
    }
}

/// A story string may stand among the messages.
fn place(preset: &Map<String, Value>, sections: &mut [Section]) {
    if preset.get("story_string_position").and_then(Value::as_i64) != Some(1) {
        return;
    }
    let depth = preset.get("story_string_depth").and_then(Value::as_u64).unwrap_or(1);
    let role = match preset.get("story_string_role").and_then(Value::as_i64) {
        Some(1) => SectionRole::User,
        Some(2) => SectionRole::Assistant,
        _ => SectionRole::System,
    };
    for section in sections.iter_mut().filter(|section| !section.exclude && section.name != "chatStart") {
        section.placement = Some(Placement::InChat);
        section.depth = Some(depth.try_into().unwrap_or(u32::MAX));
        section.role = Some(role);
    }
}
