//! Sections that no imported preset contains: memories and settings of the chat.

use crate::prompt_template::{PromptTemplate, Section, SectionKind, TemplateLine, built_in};

/// Names of the sections that are copied from the built-in template.
const OF_BASE: [&str; 6] = ["rating", "extra", "memory", "citations", "mode", "reminder"];

/// The sections of the built-in template, and the goal, which is a rule there and a section here.
pub(super) fn sections() -> Vec<Section> {
    let base = built_in()
        .ok()
        .and_then(|library| library.get("base-roleplay"));
    let of_base = |base: &PromptTemplate| -> Vec<Section> {
        OF_BASE
            .iter()
            .filter_map(|name| base.sections.iter().find(|it| it.name == *name))
            .cloned()
            .collect()
    };
    let mut sections = base.map(of_base).unwrap_or_default();
    sections.push(Section {
        name: "goal".to_owned(),
        kind: Some(SectionKind::Rules),
        condition: Some("useNLP".to_owned()),
        lines: vec![TemplateLine::from("${nlp}")],
        ..Section::default()
    });
    sections
}
