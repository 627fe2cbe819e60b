//! Chat completion presets: converts the ordered prompts of the prompt manager.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{
    ConversionNote, Converted, excluded, flag, literal, override_of, own_parts, preset_notes,
    reply_defaults, sampler, template, text,
};
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

/// Fields that this module or the sampler converter reads.
const READ: [&str; 12] = [
    "prompts",
    "prompt_order",
    "personality_format",
    "scenario_format",
    "wi_format",
    "new_chat_prompt",
    "new_example_chat_prompt",
    "group_nudge_prompt",
    "impersonation_prompt",
    "continue_nudge_prompt",
    "squash_system_messages",
    "name",
];

/// Texts and switches without a counterpart.
const ELSEWHERE: [(&str, &str); 7] = [
    (
        "squash_system_messages",
        "adjacent system texts are always one message here",
    ),
    (
        "names_behavior",
        "not kept: messages are sent without names, except in groups",
    ),
    ("send_if_empty", "left out: an empty message is not sent"),
    (
        "new_group_chat_prompt",
        "left out: group chats begin like other chats",
    ),
    ("wrap_in_quotes", "left out: messages are sent unchanged"),
    (
        "continue_prefill",
        "left out: replies continue as the model's template allows",
    ),
    (
        "custom_prompt_post_processing",
        "left out: the model's template decides the order of roles",
    ),
];

pub(super) fn convert(preset: &Map<String, Value>, converted: &mut Converted) {
    let name = converted.name.clone();
    for (field, why) in ELSEWHERE {
        let said = match preset.get(field) {
            Some(Value::String(text)) => !text.trim().is_empty(),
            Some(Value::Bool(on)) => *on,
            Some(Value::Number(number)) => number.as_f64() != Some(0.0),
            _ => false,
        };
        if said {
            converted.report.push(ConversionNote::new(field, why));
        }
    }
    converted.report.push(ConversionNote::new(
        "prompt_order",
        "the template also contains Inglenook's own parts: content rating, extra instructions, goal, memories, documents, \
         mode, reminder",
    ));
    let reads =
        |field: &str| READ.contains(&field) || ELSEWHERE.iter().any(|(known, _)| *known == field);
    converted
        .report
        .extend(preset_notes::texts_at_the_top(preset, reads));
    if !matches!(text(preset, "wi_format").trim(), "" | "{0}") {
        converted.report.push(ConversionNote::new(
            "wi_format",
            "kept around the lore of the head; lore triggered in the chat goes to the message that triggered it, \
             or is placed there too with `classic` placement",
        ));
    }
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
type Entry<'m> = (&'m Map<String, Value>, bool);

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

    /// The prompts in their order. Prompts that are missing in the order are disabled, as in
    /// SillyTavern.
    fn entries(&mut self) -> Vec<Entry<'m>> {
        let preset = self.preset;
        let listed = preset
            .get("prompts")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_object);
        let mut prompts: BTreeMap<&str, &'m Map<String, Value>> = BTreeMap::new();
        let (mut nameless, mut doubled) = (Vec::new(), 0);
        let mut unordered = Vec::new();
        for prompt in listed {
            let identifier = text(prompt, "identifier");
            if identifier.is_empty() {
                nameless.push(prompt);
            } else if prompts.contains_key(identifier) {
                doubled += 1;
                if doubled <= NAMED {
                    let what = format!(
                        "left out: another prompt already has the identifier \"{identifier}\""
                    );
                    self.report.push(ConversionNote::new(
                        format!("prompt: {}", shown_name(prompt)),
                        what,
                    ));
                }
                continue;
            } else {
                prompts.insert(identifier, prompt);
            }
            unordered.push(prompt);
        }
        if doubled > NAMED {
            let what = format!(
                "{} more prompts with duplicate identifiers are left out",
                doubled - NAMED
            );
            self.report.push(ConversionNote::new("prompts", what));
        }
        self.report_invalid(&nameless);
        let Some(order) = self.order() else {
            let on =
                |prompt: &Map<String, Value>| prompt.get("enabled") != Some(&Value::Bool(false));
            return unordered
                .into_iter()
                .take(MOST)
                .map(|prompt| (prompt, on(prompt)))
                .collect();
        };
        let mut entries = Vec::new();
        for one in order.iter().filter_map(Value::as_object) {
            let identifier = text(one, "identifier");
            match prompts.remove(identifier) {
                Some(prompt) => {
                    entries.push((prompt, one.get("enabled") != Some(&Value::Bool(false))))
                }
                None => self.report.push(ConversionNote::new(
                    format!("prompt_order: {identifier}"),
                    "there is no such prompt",
                )),
            }
        }
        let left = unordered.into_iter().filter(|prompt| {
            let identifier = text(prompt, "identifier");
            identifier.is_empty() || prompts.contains_key(identifier)
        });
        entries.extend(left.map(|prompt| (prompt, false)));
        let history = entries
            .iter()
            .find(|(prompt, _)| text(prompt, "identifier") == "chatHistory");
        if history.is_none_or(|(_, on)| !on) {
            let what = "switched off or absent in the preset; here the chat and the user's message are always sent";
            self.report
                .push(ConversionNote::new("prompt: chatHistory", what));
        }
        if entries.len() > MOST {
            let what = format!(
                "{} prompts are left out; a template holds {MOST}",
                entries.len() - MOST
            );
            self.report.push(ConversionNote::new("prompts", what));
            entries.truncate(MOST);
        }
        entries
    }

    /// Reports prompts without an identifier and entries that are not prompts.
    fn report_invalid(&mut self, nameless: &[&Map<String, Value>]) {
        let ordered = self.preset.get("prompt_order").is_some_and(Value::is_array);
        for prompt in nameless.iter().take(NAMED) {
            let what = match ordered {
                true => "it has no identifier, so no order names it; it is kept, switched off",
                false => "it has no identifier",
            };
            self.report.push(ConversionNote::new(
                format!("prompt: {}", shown_name(prompt)),
                what,
            ));
        }
        let all = self
            .preset
            .get("prompts")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let odd = all.filter(|one| !one.is_object()).count();
        if odd > 0 {
            self.report.push(ConversionNote::new(
                "prompts",
                format!("{odd} entries of the list are not prompts and are left out"),
            ));
        }
    }

    fn order(&mut self) -> Option<&'m Vec<Value>> {
        let order = self
            .preset
            .get("prompt_order")
            .filter(|order| !order.is_null())?;
        let Some(lists) = order.as_array() else {
            let what = "not a list, so the prompts keep the order of their own list";
            self.report.push(ConversionNote::new("prompt_order", what));
            return None;
        };
        // Older presets have one order instead of one list per character.
        if lists.iter().any(|one| one.get("identifier").is_some()) {
            return Some(lists);
        }
        if lists.len() > 1 {
            self.report.push(ConversionNote::new(
                "prompt_order",
                "one list is used for all characters; the others are left out",
            ));
        }
        let of = |id: u64| {
            lists
                .iter()
                .find(|list| list["character_id"].as_u64() == Some(id))
        };
        let list = EVERYONE.into_iter().find_map(of).or(lists.first())?;
        list["order"].as_array()
    }

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
fn sorted(mut entries: Vec<Entry<'_>>) -> Vec<Entry<'_>> {
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
    match on {
        true => section,
        false => Section {
            condition: Some(NEVER.to_owned()),
            ..section
        },
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
