//! What of the product no preset knows: its memories, and what people set for a chat.

use crate::prompt_template::{Line, PromptTemplate, Section, SectionKind, built_in};

/// Sections of the built-in template that such parts are.
const OF_BASE: [&str; 6] = ["rating", "extra", "memory", "citations", "mode", "reminder"];

/// As the built-in template says them; the goal, which is one of its rules there, is a section here.
pub(super) fn sections() -> Vec<Section> {
    let base = built_in().ok().and_then(|library| library.get("base-roleplay"));
    let of_base = |base: &PromptTemplate| -> Vec<Section> {
        OF_BASE.iter().filter_map(|name| base.sections.iter().find(|it| it.name == *name)).cloned().collect()
    };
    let mut sections = base.map(of_base).unwrap_or_default();
    sections.push(Section {
        name: "goal".to_owned(),
        kind: Some(SectionKind::Rules),
        condition: Some("useNLP".to_owned()),
        lines: vec![Line::from("${nlp}")],
        ..Section::default()
    });
    sections
}
