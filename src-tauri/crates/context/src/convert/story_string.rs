//! Story strings: the part of Handlebars that they use, as lines with conditions.

use super::Note;
use crate::prompt_template::{SectionKind, escape};

/// A line of a story string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StoryLine {
    /// With our variables.
    pub(super) text: String,
    pub(super) conditions: Vec<String>,
    /// The first part of the card, persona or lore that the line names.
    pub(super) part: Option<Part>,
}

/// A part that a story string may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    /// Names there.
    names: &'static [&'static str],
    pub(super) variable: &'static str,
    /// The section of our base template.
    pub(super) section: &'static str,
    pub(super) kind: SectionKind,
}

const fn part(
    names: &'static [&'static str],
    variable: &'static str,
    section: &'static str,
    kind: SectionKind,
) -> Part {
    Part { names, variable, section, kind }
}

pub(super) const PARTS: [Part; 7] = [
    part(&["description"], "character.description", "description", SectionKind::Description),
    part(&["personality"], "character.personality", "personality", SectionKind::Personality),
    part(&["scenario"], "character.scenario", "scenario", SectionKind::Scenario),
    part(&["persona"], "persona.description", "persona", SectionKind::Persona),
    part(&["wiBefore", "loreBefore"], "lore.before", "loreBefore", SectionKind::LoreBefore),
    part(&["wiAfter", "loreAfter"], "lore.after", "loreAfter", SectionKind::LoreAfter),
    part(&["mesExamples", "mesExamplesRaw"], "character.examples", "examples", SectionKind::Examples),
];

/// Conditions inside one another at the most; what lies deeper holds whenever the outer ones do.
const MAX_DEPTH: usize = 20;

/// What `system` means: where the rules go.
pub(super) const SYSTEM: &str = "\u{1}";

fn find(name: &str) -> Option<Part> {
    PARTS.into_iter().find(|part| part.names.contains(&name))
}

/// Reads a story string. `{{system}}` becomes the mark [`SYSTEM`]; macros that we do not know stay as they are.
pub(super) fn read(story: &str, report: &mut Vec<Note>) -> Vec<StoryLine> {
    let mut reader = Reader { lines: Vec::new(), line: Line::default(), open: Vec::new(), deeper: 0, report };
    let mut rest = story;
    while let Some(at) = rest.find("{{") {
        reader.text(&rest[..at]);
        let Some(end) = rest[at..].find("}}") else { break };
        let inner = &rest[at + 2..at + end];
        rest = &rest[at + end + 2..];
        rest = rest.strip_prefix('}').filter(|_| inner.starts_with('{')).unwrap_or(rest);
        reader.tag(inner.trim_start_matches('{').trim());
    }
    reader.text(rest);
    reader.end_line();
    reader.lines
}

#[derive(Default)]
struct Line {
    text: String,
    /// Words since the last variable: escaped as a whole, as a dollar sign and a brace may come apart.
    literal: String,
    part: Option<Part>,
    /// Conditions of each piece of the line that says something.
    conditions: Option<Vec<String>>,
    mixed: bool,
}

impl Line {
    fn end_literal(&mut self) {
        self.text.push_str(&escape(&std::mem::take(&mut self.literal)));
    }
}

struct Reader<'r> {
    lines: Vec<StoryLine>,
    line: Line,
    /// The conditions that are open.
    open: Vec<String>,
    /// How many more are open than count.
    deeper: usize,
    report: &'r mut Vec<Note>,
}

impl Reader<'_> {
    fn tag(&mut self, tag: &str) {
        let words: Vec<&str> = tag.split_whitespace().collect();
        match words.as_slice() {
            ["#if", name] => self.open(condition(name)),
            ["#unless", name] => self.open(negated(&condition(name))),
            ["else"] => self.turn(),
            ["/if" | "/unless"] => self.close(),
            ["trim" | "noop"] => {}
            ["anchorBefore" | "anchorAfter"] => {
                self.report.push(Note::new(format!("story_string: {tag}"), "left out: notes have places of their own"));
            }
            ["system"] => self.system(),
            ["char"] => self.variable("character.name", None),
            ["user"] => self.variable("persona.name", None),
            [name] => match find(name) {
                Some(part) => self.variable(part.variable, Some(part)),
                None => self.literal(&format!("{{{{{tag}}}}}")),
            },
            _ => self.literal(&format!("{{{{{tag}}}}}")),
        }
    }

    fn open(&mut self, condition: String) {
        if self.open.len() < MAX_DEPTH {
            return self.open.push(condition);
        }
        if self.deeper == 0 {
            self.report.push(Note::new("story_string", "conditions deeper than 20 are left out"));
        }
        self.deeper += 1;
    }

    fn turn(&mut self) {
        if let Some(last) = self.open.last_mut().filter(|_| self.deeper == 0) {
            *last = negated(last);
        }
    }

    fn close(&mut self) {
        match self.deeper {
            0 => drop(self.open.pop()),
            _ => self.deeper -= 1,
        }
    }

    /// The rules are sections of their own, so the line ends before and after them.
    fn system(&mut self) {
        self.end_line();
        self.lines.push(StoryLine { text: SYSTEM.to_owned(), conditions: Vec::new(), part: None });
    }

    fn text(&mut self, text: &str) {
        for (at, line) in text.split('\n').enumerate() {
            if at > 0 {
                self.end_line();
            }
            self.literal(line);
        }
    }

    fn literal(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.part_from_opposite();
        }
        self.line.literal.push_str(text);
        if !text.trim().is_empty() {
            self.says_something();
        }
    }

    /// Separates `{{#if a}}...{{else}}...{{/if}}` or `{{#unless a}}` on one line. Only one branch is ever present, so
    /// each gets its own line with its own condition.
    fn part_from_opposite(&mut self) {
        let said = self.line.conditions.iter().flatten();
        if said.into_iter().any(|one| self.open.contains(&negated(one))) {
            self.end_line();
        }
    }

    fn variable(&mut self, name: &str, part: Option<Part>) {
        self.part_from_opposite();
        self.line.end_literal();
        if self.line.text.ends_with('$') {
            // Else the sign and the variable would read as an escaped sign.
            self.line.text.push(' ');
        }
        self.line.text.push_str(&format!("${{{name}}}"));
        self.line.part = self.line.part.or(part);
        self.says_something();
    }

    fn says_something(&mut self) {
        match &mut self.line.conditions {
            None => self.line.conditions = Some(self.open.clone()),
            Some(conditions) => {
                self.line.mixed |= *conditions != self.open;
                conditions.retain(|one| self.open.contains(one));
            }
        }
    }

    fn end_line(&mut self) {
        let mut line = std::mem::take(&mut self.line);
        line.end_literal();
        if line.text.trim().is_empty() {
            return;
        }
        if line.mixed {
            let text: String = line.text.chars().take(60).collect();
            self.report
                .push(Note::new("story_string", format!("a condition inside a line holds for all of it: {text}")));
        }
        self.lines.push(StoryLine {
            text: line.text.trim_end().to_owned(),
            conditions: line.conditions.unwrap_or_default(),
            part: line.part,
        });
    }
}

/// What `{{#if name}}` asks; a name that we do not have always holds, as its text then stays.
fn condition(name: &str) -> String {
    match (find(name), name) {
        (Some(part), _) => part.variable.to_owned(),
        (None, "char") => "character.name".to_owned(),
        (None, "user") => "persona.name".to_owned(),
        (None, "anchorBefore" | "anchorAfter") => "!always".to_owned(),
        _ => "always".to_owned(),
    }
}

fn negated(condition: &str) -> String {
    match condition.strip_prefix('!') {
        Some(positive) => positive.to_owned(),
        None => format!("!{condition}"),
    }
}
