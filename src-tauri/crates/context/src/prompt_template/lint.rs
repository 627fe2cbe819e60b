//! Warnings for valid templates with parts that have no effect or unexpected effects.

use std::collections::BTreeSet;

use super::check::Problem;
use super::condition::{self, Operand};
use super::flags::Flag;
use super::recalls;
use super::resolved::{ResolvedSection, ResolvedTemplate};
use super::schema::{PromptTemplate, Section, SectionKind, TemplateKind, TemplateLine};
use super::text::{self, TemplatePiece};
use crate::macros::{unknown_macros, volatile_macros};
use crate::prompt_template::variables;

/// Warns about the own content of `template`, not about inherited content. `resolved` is the
/// template merged with its parents.
pub(super) fn lints(template: &PromptTemplate, resolved: &ResolvedTemplate) -> Vec<Problem> {
    let mut lints = Lints {
        resolved,
        found: Vec::new(),
    };
    for section in template.sections.iter().filter(|section| !section.exclude) {
        if let Some(merged) = resolved
            .sections
            .iter()
            .find(|one| one.name == section.name)
        {
            lints.section(section, merged);
        }
    }
    if template.kind == TemplateKind::Roleplay {
        lints.missing(
            SectionKind::Memory,
            "there is no section of the kind `memory`, so memories are not sent",
        );
        lints.missing(
            SectionKind::Mode,
            "there is no section of the kind `mode`, so choosing a mode has no effect",
        );
    }
    lints.found
}

struct Lints<'l> {
    resolved: &'l ResolvedTemplate,
    found: Vec<Problem>,
}

impl Lints<'_> {
    fn missing(&mut self, kind: SectionKind, message: &str) {
        if !self.resolved.has(kind) {
            self.found
                .push(Problem::warning(None, None, message.to_owned()));
        }
    }

    fn section(&mut self, section: &Section, merged: &ResolvedSection) {
        let lines = || section.lines.iter().chain(&section.rules);
        let texts: Vec<&str> = section
            .heading
            .as_deref()
            .into_iter()
            .chain(lines().map(TemplateLine::text))
            .collect();
        let conditions: Vec<&str> = section
            .condition
            .as_deref()
            .into_iter()
            .chain(lines().filter_map(TemplateLine::condition))
            .collect();
        let names: BTreeSet<String> = texts.iter().flat_map(|text| self.names(text)).collect();
        self.variables(merged, &names);
        self.check_texts(merged, &lines().map(TemplateLine::text).collect::<Vec<_>>());
        self.conditions(merged, &conditions);
        self.macros(merged, &texts);
    }

    /// The variables in a text; variables of the template are replaced by the ones that they use.
    fn names(&self, text: &str) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let mut waiting = vec![text];
        let mut seen = BTreeSet::new();
        while let Some(text) = waiting.pop() {
            for piece in text::pieces(text).into_iter().flatten() {
                let TemplatePiece::Variable(name) = piece else {
                    continue;
                };
                match self.resolved.variables.iter().find(|own| own.name == name) {
                    Some(own) if seen.insert(name.to_owned()) => waiting.push(&own.text),
                    Some(_) => {}
                    None => drop(names.insert(name.to_owned())),
                }
            }
        }
        names
    }

    fn variables(&mut self, section: &ResolvedSection, names: &BTreeSet<String>) {
        for name in names.iter().filter(|name| variables::retired(name)) {
            let message = format!("`${{{name}}}` is obsolete and always empty; remove it");
            self.found
                .push(Problem::warning(Some(&section.name), Some(name), message));
        }
        if !recalls::may_hold_lore(section.kind) {
            for name in names
                .iter()
                .filter(|name| recalls::LORE.contains(&name.as_str()))
            {
                let message = format!(
                    "`${{{name}}}` is available only in a section of the kind `loreBefore` or `loreAfter`"
                );
                self.found
                    .push(Problem::warning(Some(&section.name), Some(name), message));
            }
        }
        if recalls::may_be_told(section) {
            return;
        }
        for name in names
            .iter()
            .filter(|name| recalls::VARIABLES.contains(&name.as_str()))
        {
            let message = if name.starts_with("memory.") {
                format!(
                    "`${{{name}}}` is always empty in the head, because memories change from turn to turn; \
                     use it in a section of the kind `memory`"
                )
            } else {
                format!(
                    "`${{{name}}}` is always empty in the head, because it changes from turn to turn; \
                     use it in a section with the placement `context`"
                )
            };
            self.found
                .push(Problem::warning(Some(&section.name), Some(name), message));
        }
    }

    fn conditions(&mut self, section: &ResolvedSection, conditions: &[&str]) {
        let own = |name: &str| self.resolved.variables.iter().any(|own| own.name == name);
        let read: Vec<_> = conditions
            .iter()
            .filter_map(|written| condition::parse(written, &own).ok())
            .collect();
        let mut changing = BTreeSet::new();
        for operand in read.iter().flat_map(condition::Condition::operands) {
            let name = match operand {
                Operand::Flag(flag) => flag.name(),
                Operand::Variable(name) | Operand::Size(name) => name.as_str(),
                Operand::Text(_) => continue,
            };
            if changes(operand) && recalls::stands_in_head(section.placement) {
                changing.insert(name);
            }
        }
        for name in changing {
            let message = format!(
                "the condition `{name}` changes from turn to turn; in the head that makes the model read the whole prompt again"
            );
            self.found
                .push(Problem::warning(Some(&section.name), None, message));
        }
    }

    /// Memories and documents are lists in the context block: only the heading of their section is
    /// sent unchanged.
    fn check_texts(&mut self, section: &ResolvedSection, texts: &[&str]) {
        let says = |text: &&str| {
            let mut pieces = text::pieces(text).into_iter().flatten();
            pieces.any(
                |piece| matches!(piece, TemplatePiece::Text(words) if !words.trim().is_empty()),
            )
        };
        let lists = self.resolved.kind == TemplateKind::Roleplay
            && matches!(section.kind, SectionKind::Memory | SectionKind::Citations);
        if let Some(words) = texts.iter().find(|text| lists && says(text)) {
            let words: String = words.chars().take(60).collect();
            let message = format!(
                "this kind of section uses only its condition, heading and variables; not sent: {words}"
            );
            self.found
                .push(Problem::warning(Some(&section.name), None, message));
        }
    }

    fn macros(&mut self, section: &ResolvedSection, texts: &[&str]) {
        let text = texts.join("\n");
        for name in unknown_macros(&text) {
            let message = format!("the macro `{{{{{name}}}}}` is unknown and is sent as text");
            self.found
                .push(Problem::warning(Some(&section.name), None, message));
        }
        for name in volatile_macros(&text)
            .into_iter()
            .filter(|_| recalls::stands_in_head(section.placement))
        {
            let message = format!(
                "the macro `{{{{{name}}}}}` changes from turn to turn, but the head keeps its value from the start of the window; \
                 give the section the placement `context`"
            );
            self.found
                .push(Problem::warning(Some(&section.name), None, message));
        }
    }
}

/// True if the operand changes from turn to turn.
fn changes(operand: &Operand) -> bool {
    match operand {
        Operand::Flag(flag) => matches!(
            flag,
            Flag::HasMemories | Flag::HasCitations | Flag::ReminderDue
        ),
        Operand::Variable(name) => recalls::VARIABLES.contains(&name.as_str()),
        Operand::Size(_) | Operand::Text(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::builtin::{SHIPPED, built_in};
    use super::super::check::{Severity, check};

    fn warnings(json: &str) -> Vec<String> {
        let found = check(json, built_in().unwrap());
        assert!(
            found.iter().all(|it| it.severity == Severity::Warning),
            "{found:?}"
        );
        found
            .into_iter()
            .map(|it| format!("{} | {}", it.section.unwrap_or_default(), it.message))
            .collect()
    }

    fn of(mut template: Value) -> Vec<String> {
        for (field, value) in [
            ("schema", json!(super::super::SCHEMA)),
            ("version", json!(2)),
            ("id", json!("t")),
            ("name", json!("T")),
        ] {
            template
                .as_object_mut()
                .unwrap()
                .insert(field.to_owned(), value);
        }
        warnings(&template.to_string())
    }

    #[test]
    fn built_in_templates_have_no_warnings() {
        for (id, json) in SHIPPED {
            assert_eq!(warnings(json), [""; 0], "{id}");
        }
    }

    #[test]
    fn warns_about_missing_sections() {
        insta::assert_debug_snapshot!(of(json!({"sections": [{"name": "a", "lines": ["Hello."]}]})), @r###"
        [
            " | there is no section of the kind `memory`, so memories are not sent",
            " | there is no section of the kind `mode`, so choosing a mode has no effect",
        ]
        "###);
        assert_eq!(
            of(json!({"kind": "utility", "sections": [{"name": "a", "lines": ["Hello."]}]})),
            [""; 0]
        );
    }

    #[test]
    fn warns_about_ineffective_parts_by_section() {
        insta::assert_debug_snapshot!(of(json!({
            "extends": "base-roleplay",
            "variables": [{"name": "known", "text": "${memory.facts}"}],
            "sections": [
                {"name": "now", "lines": ["It is {{time}}, {{user}}.", "{{nosuchthing}} {{roll:d6}}"]},
                {"name": "late", "placement": "context", "lines": ["It is {{time}}.", "${known}"]},
                {"name": "past", "condition": "hasMemories", "lines": ["${known}", "${user.question}", "${note}"]},
                {"name": "memory", "heading": "Remembered:", "lines": ["I recall: ${memory.facts}"]},
                {"name": "world", "lines": ["World: ${lore.before}"]},
            ],
        })), @r###"
        [
            "now | the macro `{{nosuchthing}}` is unknown and is sent as text",
            "now | the macro `{{time}}` changes from turn to turn, but the head keeps its value from the start of the window; give the section the placement `context`",
            "now | the macro `{{roll}}` changes from turn to turn, but the head keeps its value from the start of the window; give the section the placement `context`",
            "past | `${note}` is obsolete and always empty; remove it",
            "past | `${memory.facts}` is always empty in the head, because memories change from turn to turn; use it in a section of the kind `memory`",
            "past | `${user.question}` is always empty in the head, because it changes from turn to turn; use it in a section with the placement `context`",
            "past | the condition `hasMemories` changes from turn to turn; in the head that makes the model read the whole prompt again",
            "memory | this kind of section uses only its condition, heading and variables; not sent: I recall: ${memory.facts}",
            "world | `${lore.before}` is available only in a section of the kind `loreBefore` or `loreAfter`",
        ]
        "###);
    }
}
