//! Story strings: parses the subset of Handlebars that they use into lines with conditions.

use crate::convert::note::ConversionNote;
use crate::prompt_template::{SectionKind, escape};

/// A line of a story string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StoryLine {
    /// Text with our variables.
    pub(super) text: String,
    pub(super) conditions: Vec<String>,
    /// The first part of the card, persona or lore in the line.
    pub(super) part: Option<StoryPart>,
}

/// A part of the prompt that a story string can contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StoryPart {
    /// Names in story strings.
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
) -> StoryPart {
    StoryPart {
        names,
        variable,
        section,
        kind,
    }
}

pub(super) const PARTS: [StoryPart; 7] = [
    part(
        &["description"],
        "character.description",
        "description",
        SectionKind::Description,
    ),
    part(
        &["personality"],
        "character.personality",
        "personality",
        SectionKind::Personality,
    ),
    part(
        &["scenario"],
        "character.scenario",
        "scenario",
        SectionKind::Scenario,
    ),
    part(
        &["persona"],
        "persona.description",
        "persona",
        SectionKind::Persona,
    ),
    part(
        &["wiBefore", "loreBefore"],
        "lore.before",
        "loreBefore",
        SectionKind::LoreBefore,
    ),
    part(
        &["wiAfter", "loreAfter"],
        "lore.after",
        "loreAfter",
        SectionKind::LoreAfter,
    ),
    part(
        &["mesExamples", "mesExamplesRaw"],
        "character.examples",
        "examples",
        SectionKind::Examples,
    ),
];

/// Maximum nesting depth of conditions. Deeper conditions are ignored.
const MAX_DEPTH: usize = 20;

/// Marks the position of `{{system}}`, where the rules go.
pub(super) const SYSTEM: &str = "\u{1}";

fn find(name: &str) -> Option<StoryPart> {
    PARTS.into_iter().find(|part| part.names.contains(&name))
}

/// Parses a story string. `{{system}}` becomes [`SYSTEM`]; unknown macros stay as text.
pub(super) fn read(story: &str, report: &mut Vec<ConversionNote>) -> Vec<StoryLine> {
    let mut reader = Reader {
        lines: Vec::new(),
        line: OpenLine::default(),
        open: Vec::new(),
        deeper: 0,
        report,
    };
    let mut rest = story;
    while let Some(at) = rest.find("{{") {
        reader.text(&rest[..at]);
        let Some(end) = rest[at..].find("}}") else {
            break;
        };
        let inner = &rest[at + 2..at + end];
        rest = &rest[at + end + 2..];
        rest = rest
            .strip_prefix('}')
            .filter(|_| inner.starts_with('{'))
            .unwrap_or(rest);
        reader.tag(inner.trim_start_matches('{').trim());
    }
    reader.text(rest);
    reader.end_line();
    reader.lines
}

#[derive(Default)]
struct OpenLine {
    text: String,
    /// Literal text since the last variable. It is escaped as a whole, because `$` and `{` may come
    /// from separate pieces.
    literal: String,
    part: Option<StoryPart>,
    /// Conditions shared by all visible pieces of the line.
    conditions: Option<Vec<String>>,
    mixed: bool,
}

impl OpenLine {
    fn end_literal(&mut self) {
        self.text
            .push_str(&escape(&std::mem::take(&mut self.literal)));
    }
}

struct Reader<'r> {
    lines: Vec<StoryLine>,
    line: OpenLine,
    /// The open conditions.
    open: Vec<String>,
    /// Number of open conditions beyond [`MAX_DEPTH`].
    deeper: usize,
    report: &'r mut Vec<ConversionNote>,
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
                self.report.push(ConversionNote::new(
                    format!("story_string: {tag}"),
                    "left out: notes have their own positions",
                ));
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
            self.report.push(ConversionNote::new(
                "story_string",
                "conditions nested deeper than 20 are ignored",
            ));
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

    /// The rules are separate sections, so the line ends here and a new one begins.
    fn system(&mut self) {
        self.end_line();
        self.lines.push(StoryLine {
            text: SYSTEM.to_owned(),
            conditions: Vec::new(),
            part: None,
        });
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
            self.split_at_opposite_branch();
        }
        self.line.literal.push_str(text);
        if !text.trim().is_empty() {
            self.record_conditions();
        }
    }

    /// Starts a new line if the current one belongs to the opposite branch, as in `{{#if
    /// a}}...{{else}}...{{/if}}` on one line. Only one of the branches appears, so each needs its
    /// own line and condition.
    fn split_at_opposite_branch(&mut self) {
        let said = self.line.conditions.iter().flatten();
        if said
            .into_iter()
            .any(|one| self.open.contains(&negated(one)))
        {
            self.end_line();
        }
    }

    fn variable(&mut self, name: &str, part: Option<StoryPart>) {
        self.split_at_opposite_branch();
        self.line.end_literal();
        if self.line.text.ends_with('$') {
            // Otherwise `$` and the variable would be parsed as an escaped dollar sign.
            self.line.text.push(' ');
        }
        self.line.text.push_str(&format!("${{{name}}}"));
        self.line.part = self.line.part.or(part);
        self.record_conditions();
    }

    fn record_conditions(&mut self) {
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
            self.report.push(ConversionNote::new(
                "story_string",
                format!("a condition inside a line applies to the whole line: {text}"),
            ));
        }
        self.lines.push(StoryLine {
            text: line.text.trim_end().to_owned(),
            conditions: line.conditions.unwrap_or_default(),
            part: line.part,
        });
    }
}

/// The condition for `{{#if name}}`. Unknown names are always true, because their text stays.
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
