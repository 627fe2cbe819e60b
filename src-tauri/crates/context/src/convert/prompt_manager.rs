//! Chat completion presets: converts the ordered prompts of the prompt manager.

mod entries;
mod fields;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use self::fields::{READ, report_fields};
use super::{own_parts, preset_notes, reply_defaults, sampler};
use crate::convert::converted::Converted;
use crate::convert::note::ConversionNote;
use crate::convert::sections::{excluded, flag, literal, override_of, template, text};
use crate::prompt_template::{
    MAX_SECTIONS, PromptTemplate, Section, SectionKind, SectionPlacement, SectionRole, Slot,
    TemplateKind, TemplateLine, escape, slug,
};

/// Reserved character ids that mean "all characters", newest first.
const EVERYONE: [u64; 2] = [100_001, 100_000];
/// Default depth of a prompt in the chat.
const DEPTH: u64 = 4;
/// Default order of a prompt in the chat.
const INJECTION_ORDER: i64 = 100;

/// Condition of a prompt that is switched off.
pub(super) const NEVER: &str = "!always";

/// Prompts that SillyTavern sends although they are marked as its own.
const OWN: [&str; 12] = [
    "main",
    "nsfw",
    "jailbreak",
    "enhanceDefinitions",
    "chatHistory",
    "dialogueExamples",
    "worldInfoBefore",
    "worldInfoAfter",
    "charDescription",
    "charPersonality",
    "scenario",
    "personaDescription",
];

/// Maximum number of prompts per preset. It leaves room in the template for built-in sections.
const MOST: usize = MAX_SECTIONS - 10;

/// Maximum number of unusual prompts that the report names individually.
const NAMED: usize = 20;

pub(super) fn convert(preset: &Map<String, Value>, converted: &mut Converted) {
    let name = converted.name.clone();
    report_fields(preset, &mut converted.report);
    let sections = Manager {
        preset,
        report: &mut converted.report,
        taken: BTreeMap::new(),
    }
    .sections();
    let defaults = reply_defaults::of(preset, &mut converted.report);
    converted.templates.push(PromptTemplate {
        sections,
        defaults,
        ..template(&name)
    });
    converted.templates.extend(utility(
        preset,
        "impersonation_prompt",
        "impersonate",
        &name,
    ));
    converted
        .templates
        .extend(utility(preset, "continue_nudge_prompt", "continue", &name));
    converted.sampling = Some(sampler::convert(
        preset,
        &name,
        &READ,
        &mut converted.report,
    ));
}

/// The prompt of a background job with the text of the preset.
fn utility(
    preset: &Map<String, Value>,
    field: &str,
    job: &str,
    name: &str,
) -> Option<PromptTemplate> {
    let words = text(preset, field);
    (!words.trim().is_empty()).then(|| PromptTemplate {
        kind: TemplateKind::Utility,
        extends: Some(job.to_owned()),
        sections: vec![override_of("task", literal(words)), excluded("rules")],
        ..template(&format!("{name} {job}"))
    })
}

struct Manager<'m> {
    preset: &'m Map<String, Value>,
    report: &'m mut Vec<ConversionNote>,
    /// Number of uses of each section name.
    taken: BTreeMap<String, usize>,
}

/// A prompt and whether it is enabled.
type PromptEntry<'m> = (&'m Map<String, Value>, bool);

impl<'m> Manager<'m> {
    fn sections(mut self) -> Vec<Section> {
        let sections = self.placed();
        self.report.extend(preset_notes::placements(&sections));
        self.report.extend(preset_notes::missing(&sections));
        sections
    }

    fn placed(&mut self) -> Vec<Section> {
        let mut order = 0;
        let mut after_history = false;
        let mut sections = Vec::new();
        let (in_chat, relative): (Vec<_>, Vec<_>) = self
            .entries()
            .into_iter()
            .partition(|(prompt, _)| is_in_chat(prompt));
        for (prompt, on) in relative {
            let on = on && !self.is_never_sent(prompt);
            order += 10;
            let history = text(prompt, "identifier") == "chatHistory";
            let section = if history {
                self.new_chat()
            } else {
                self.relative(prompt)
            };
            after_history |= history;
            if let Some(mut section) = section {
                section.order = Some(order);
                if after_history && !history {
                    section.placement = Some(SectionPlacement::AfterHistory);
                }
                sections.push(self.named(switched(section, on)));
            }
        }
        for (prompt, on) in sorted(in_chat) {
            order += 10;
            let section = Section {
                order: Some(order),
                ..self.in_chat(prompt)
            };
            sections.push(self.named(switched(section, on)));
        }
        sections.extend(self.group_nudge(order + 10));
        for (section, order) in own_parts::sections()
            .into_iter()
            .zip((order + 20..).step_by(10))
        {
            sections.push(self.named(Section {
                order: Some(order),
                ..section
            }));
        }
        sections
    }

    /// Whether SillyTavern never sends the prompt, which it then reports: one that is marked as
    /// SillyTavern's own, but has an identifier that SillyTavern does not know.
    fn is_never_sent(&mut self, prompt: &Map<String, Value>) -> bool {
        let known = flag(prompt, "marker") || OWN.contains(&text(prompt, "identifier"));
        let never = !known && flag(prompt, "system_prompt");
        if never && !text(prompt, "content").trim().is_empty() {
            let why =
                "`system_prompt` is on, so SillyTavern does not send it; it is kept, switched off";
            self.report.push(ConversionNote::new(
                format!("prompt: {}", shown_name(prompt)),
                why,
            ));
        }
        never
    }
}

impl<'m> Manager<'m> {
    /// Gives the section a unique name.
    fn named(&mut self, mut section: Section) -> Section {
        let base = section.name.clone();
        while self.taken.contains_key(&section.name) {
            let given = self.taken.entry(base.clone()).or_insert(1);
            *given += 1;
            section.name = format!("{base}-{given}");
        }
        self.taken.insert(section.name.clone(), 1);
        section
    }

    fn relative(&mut self, prompt: &Map<String, Value>) -> Option<Section> {
        let identifier = text(prompt, "identifier");
        let marker = match identifier {
            "charDescription" => Some((
                SectionKind::Description,
                "${character.description}".to_owned(),
            )),
            "charPersonality" => Some((
                SectionKind::Personality,
                self.format(
                    "personality_format",
                    "{{personality}}",
                    "character.personality",
                ),
            )),
            "scenario" => Some((
                SectionKind::Scenario,
                self.format("scenario_format", "{{scenario}}", "character.scenario"),
            )),
            "personaDescription" => {
                Some((SectionKind::Persona, "${persona.description}".to_owned()))
            }
            "worldInfoBefore" => Some((
                SectionKind::LoreBefore,
                self.format("wi_format", "{0}", "lore.before"),
            )),
            "worldInfoAfter" => Some((
                SectionKind::LoreAfter,
                self.format("wi_format", "{0}", "lore.after"),
            )),
            "dialogueExamples" => Some((SectionKind::Examples, "${character.examples}".to_owned())),
            _ => None,
        };
        let section = Section {
            name: section_name(prompt),
            role: role(prompt),
            ..Default::default()
        };
        let Some((kind, line)) = marker else {
            if flag(prompt, "marker") {
                self.report.push(ConversionNote::new(
                    format!("prompt: {identifier}"),
                    "left out: an unknown position",
                ));
                return None;
            }
            return Some(self.written(prompt, section));
        };
        let heading = text(self.preset, "new_example_chat_prompt").trim();
        let heading =
            (kind == SectionKind::Examples && !heading.is_empty()).then(|| escape(heading));
        let repeat_heading = heading.is_some();
        Some(Section {
            kind: Some(kind),
            heading,
            repeat_heading,
            lines: vec![TemplateLine::Always(line)],
            ..section
        })
    }

    /// A prompt with its own text. The card may replace two of them (main and jailbreak).
    fn written(&mut self, prompt: &Map<String, Value>, section: Section) -> Section {
        let (kind, slot) = match text(prompt, "identifier") {
            "main" => (SectionKind::Rules, Some(Slot::SystemPrompt)),
            "jailbreak" => (SectionKind::PostHistory, Some(Slot::PostHistory)),
            _ => (SectionKind::Other, None),
        };
        if prompt
            .get("injection_trigger")
            .and_then(Value::as_array)
            .is_some_and(|kinds| !kinds.is_empty())
        {
            let field = format!("prompt: {}", text(prompt, "name"));
            self.report.push(ConversionNote::new(
                field,
                "`injection_trigger` is left out: the prompt is used for every kind of reply",
            ));
        }
        Section {
            kind: Some(kind),
            slot: slot.filter(|_| !flag(prompt, "forbid_overrides")),
            lines: vec![literal(text(prompt, "content"))],
            ..section
        }
    }

    fn in_chat(&mut self, prompt: &Map<String, Value>) -> Section {
        let depth = prompt
            .get("injection_depth")
            .and_then(Value::as_u64)
            .unwrap_or(DEPTH);
        let section = Section {
            name: section_name(prompt),
            role: role(prompt),
            ..Default::default()
        };
        Section {
            placement: Some(SectionPlacement::InChat),
            depth: Some(depth.try_into().unwrap_or(u32::MAX)),
            injection_order: injection_order(prompt)
                .try_into()
                .ok()
                .filter(|order| *order != 100),
            ..self.written(prompt, section)
        }
    }

    /// The format of a part, with the variable in place of `mark`.
    fn format(&self, field: &str, mark: &str, variable: &str) -> String {
        let put = format!("${{{variable}}}");
        match text(self.preset, field).trim() {
            format if format.contains(mark) => escape(format).replace(mark, &put),
            _ => put,
        }
    }

    /// The text before the first message.
    fn new_chat(&self) -> Option<Section> {
        let line = text(self.preset, "new_chat_prompt");
        let lines = vec![literal(line)];
        (!line.trim().is_empty()).then(|| Section {
            name: "newChat".to_owned(),
            lines,
            ..Default::default()
        })
    }

    fn group_nudge(&mut self, order: i32) -> Option<Section> {
        let line = text(self.preset, "group_nudge_prompt");
        let section = Section {
            name: "groupNudge".to_owned(),
            order: Some(order),
            kind: Some(SectionKind::Group),
            placement: Some(SectionPlacement::AfterHistory),
            condition: Some("isGroup".to_owned()),
            lines: vec![literal(line)],
            ..Default::default()
        };
        (!line.trim().is_empty()).then(|| self.named(section))
    }
}

fn is_in_chat(prompt: &Map<String, Value>) -> bool {
    !flag(prompt, "marker") && prompt.get("injection_position").and_then(Value::as_i64) == Some(1)
}

fn injection_order(prompt: &Map<String, Value>) -> i64 {
    prompt
        .get("injection_order")
        .and_then(Value::as_i64)
        .unwrap_or(INJECTION_ORDER)
}

/// Sorts prompts in the chat: lower order first; within one order assistant, user, then system
/// texts.
fn sorted(mut entries: Vec<PromptEntry<'_>>) -> Vec<PromptEntry<'_>> {
    entries.sort_by_key(|(prompt, _)| {
        let order = injection_order(prompt);
        let rank = match role(prompt) {
            Some(SectionRole::Assistant) => 0,
            Some(SectionRole::User) => 1,
            _ => 2,
        };
        (order, rank)
    });
    entries
}

/// A disabled prompt keeps its text and never appears.
fn switched(section: Section, on: bool) -> Section {
    if on {
        section
    } else {
        Section {
            condition: Some(NEVER.to_owned()),
            ..section
        }
    }
}

/// The name that users see for the prompt.
fn shown_name(prompt: &Map<String, Value>) -> &str {
    let names = ["name", "identifier"].map(|field| text(prompt, field).trim());
    names
        .into_iter()
        .find(|name| !name.is_empty())
        .unwrap_or("without a name")
}

fn section_name(prompt: &Map<String, Value>) -> String {
    match text(prompt, "name").trim() {
        "" => slug(text(prompt, "identifier")),
        name => name.chars().take(80).collect(),
    }
}

fn role(prompt: &Map<String, Value>) -> Option<SectionRole> {
    match text(prompt, "role") {
        "user" => Some(SectionRole::User),
        "assistant" => Some(SectionRole::Assistant),
        _ => None,
    }
}
