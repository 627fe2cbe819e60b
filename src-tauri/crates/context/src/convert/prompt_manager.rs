//! Chat completion presets: the prompt manager's prompts in their order (formats.md 1.5).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Converted, Note, excluded, flag, literal, override_of, own_parts, sampler, template, text};
use crate::prompt_template::{
    Kind, Line, MAX_SECTIONS, Placement, PromptTemplate, Section, SectionKind, SectionRole, Slot, escape, slug,
};

/// The list that is not one character's: the ids that stand for "all", newest first.
const EVERYONE: [u64; 2] = [100_001, 100_000];
/// Depth of a prompt in the chat that says none.
const DEPTH: u64 = 4;
/// Order of a prompt in the chat that says none.
const INJECTION_ORDER: i64 = 100;

/// Prompts of a preset at the most: a template holds little more, and some of it is ours.
const MOST: usize = MAX_SECTIONS - 10;

/// Maximum number of unusual prompts that the report names one by one.
const NAMED: usize = 20;

/// Fields that this module or the samplers read.
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
const ELSEWHERE: [(&str, &str); 8] = [
    ("squash_system_messages", "neighbouring system texts are always one message here"),
    ("names_behavior", "left out: whether names stand before messages is a setting of the chat"),
    ("assistant_prefill", "left out: a reply's opening words are set for a chat"),
    ("send_if_empty", "left out: an empty message is not sent"),
    ("new_group_chat_prompt", "left out: a chat begins the same for one and for many"),
    ("wrap_in_quotes", "left out: messages are sent as they are"),
    ("continue_prefill", "left out: replies are gone on with as the model's template allows"),
    ("custom_prompt_post_processing", "left out: the model's template decides which roles may follow"),
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
            converted.report.push(Note::new(field, why));
        }
    }
    converted.report.push(Note::new(
        "prompt_order",
        "behind it stand this program's own parts: content rating, extra instructions, goal, memories, documents, mode, reminder",
    ));
    converted.report.push(Note::new(
        "stop",
        "no text ends a reply, as with presets of this kind; the built-in templates end one where a speaker's name begins a line",
    ));
    if !matches!(text(preset, "wi_format").trim(), "" | "{0}") {
        converted.report.push(Note::new(
            "wi_format",
            "kept around the lore of the head; what turns up in the chat is listed with the words that called for it, \
             or with `classic` placement stands there too",
        ));
    }
    let sections = Manager { preset, report: &mut converted.report, taken: BTreeMap::new() }.sections();
    let defaults = crate::prompt_template::Defaults { reply_tokens: None, stop: Some(Vec::new()) };
    converted.templates.push(PromptTemplate { sections, defaults, ..template(&name) });
    converted.templates.extend(utility(preset, "impersonation_prompt", "impersonate", &name));
    converted.templates.extend(utility(preset, "continue_nudge_prompt", "continue", &name));
    converted.sampling = Some(sampler::convert(preset, &name, &READ, &mut converted.report));
}

/// A job's prompt with the preset's words instead of ours.
fn utility(preset: &Map<String, Value>, field: &str, job: &str, name: &str) -> Option<PromptTemplate> {
    let words = text(preset, field);
    (!words.trim().is_empty()).then(|| PromptTemplate {
        kind: Kind::Utility,
        extends: Some(job.to_owned()),
        sections: vec![override_of("task", literal(words)), excluded("rules")],
        ..template(&format!("{name} {job}"))
    })
}

struct Manager<'m> {
    preset: &'m Map<String, Value>,
    report: &'m mut Vec<Note>,
    /// How often a name was given.
    taken: BTreeMap<String, usize>,
}

/// A prompt and whether it is on.
type Entry<'m> = (&'m Map<String, Value>, bool);

impl<'m> Manager<'m> {
    fn sections(mut self) -> Vec<Section> {
        let sections = self.placed();
        self.tell_of_places(&sections);
        sections
    }

    /// By default nothing moves through the chat with every turn: what such prompts do instead is no secret.
    fn tell_of_places(&mut self, sections: &[Section]) {
        let shown = |section: &&Section| section.condition.is_none();
        for (placement, why) in [
            (
                Placement::AfterHistory,
                "behind the chat with `classic` placement; else in the head, which need not be read anew",
            ),
            (
                Placement::InChat,
                "at their depth with `classic` placement; else in front of the newest words, once an epoch",
            ),
        ] {
            let there = sections.iter().filter(shown).filter(|section| section.placement == Some(placement));
            let names: Vec<&str> = there.map(|section| section.name.as_str()).collect();
            if !names.is_empty() {
                self.report.push(Note::new(format!("prompts: {}", names.join(", ")), why));
            }
        }
    }

    fn placed(&mut self) -> Vec<Section> {
        let mut order = 0;
        let mut after_history = false;
        let mut sections = Vec::new();
        let (in_chat, relative): (Vec<_>, Vec<_>) =
            self.entries().into_iter().partition(|(prompt, _)| is_in_chat(prompt));
        for (prompt, on) in relative {
            order += 10;
            let history = text(prompt, "identifier") == "chatHistory";
            let section = if history { self.new_chat() } else { self.relative(prompt) };
            after_history |= history;
            if let Some(mut section) = section {
                section.order = Some(order);
                if after_history && !history {
                    section.placement = Some(Placement::AfterHistory);
                }
                sections.push(self.named(switched(section, on)));
            }
        }
        for (prompt, on) in sorted(in_chat) {
            order += 10;
            let section = Section { order: Some(order), ..self.in_chat(prompt) };
            sections.push(self.named(switched(section, on)));
        }
        sections.extend(self.group_nudge(order + 10));
        for (section, order) in own_parts::sections().into_iter().zip((order + 20..).step_by(10)) {
            sections.push(self.named(Section { order: Some(order), ..section }));
        }
        sections
    }

    /// The prompts in their order. Those that no order names are off, as they are there.
    fn entries(&mut self) -> Vec<Entry<'m>> {
        let preset = self.preset;
        let listed = preset.get("prompts").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object);
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
                    let what = format!("left out: another prompt has the identifier \"{identifier}\" already");
                    self.report.push(Note::new(format!("prompt: {}", shown_name(prompt)), what));
                }
                continue;
            } else {
                prompts.insert(identifier, prompt);
            }
            unordered.push(prompt);
        }
        if doubled > NAMED {
            let what = format!("{} more are left out, whose identifiers others have already", doubled - NAMED);
            self.report.push(Note::new("prompts", what));
        }
        self.tell_of_odd(&nameless);
        let Some(order) = self.order() else {
            return unordered.into_iter().take(MOST).map(|prompt| (prompt, true)).collect();
        };
        let mut entries = Vec::new();
        for one in order.iter().filter_map(Value::as_object) {
            let identifier = text(one, "identifier");
            match prompts.remove(identifier) {
                Some(prompt) => entries.push((prompt, one.get("enabled") != Some(&Value::Bool(false)))),
                None => self.report.push(Note::new(format!("prompt_order: {identifier}"), "there is no such prompt")),
            }
        }
        let left = unordered.into_iter().filter(|prompt| {
            let identifier = text(prompt, "identifier");
            identifier.is_empty() || prompts.contains_key(identifier)
        });
        entries.extend(left.map(|prompt| (prompt, false)));
        let history = entries.iter().find(|(prompt, _)| text(prompt, "identifier") == "chatHistory");
        if history.is_none_or(|(_, on)| !on) {
            let what =
                "switched off or absent in the preset; the chat is always sent here, and so are the user's words";
            self.report.push(Note::new("prompt: chatHistory", what));
        }
        if entries.len() > MOST {
            let what = format!("{} prompts are left out; a template holds {MOST}", entries.len() - MOST);
            self.report.push(Note::new("prompts", what));
            entries.truncate(MOST);
        }
        entries
    }

    /// Reports prompts without an identifier and entries that are not prompts.
    fn tell_of_odd(&mut self, nameless: &[&Map<String, Value>]) {
        let ordered = self.preset.get("prompt_order").is_some_and(Value::is_array);
        for prompt in nameless.iter().take(NAMED) {
            let what = match ordered {
                true => "it has no identifier, so no order names it; it is kept, switched off",
                false => "it has no identifier",
            };
            self.report.push(Note::new(format!("prompt: {}", shown_name(prompt)), what));
        }
        let all = self.preset.get("prompts").and_then(Value::as_array).into_iter().flatten();
        let odd = all.filter(|one| !one.is_object()).count();
        if odd > 0 {
            self.report
                .push(Note::new("prompts", format!("{odd} entries of the list are no prompts and are left out")));
        }
    }

    fn order(&mut self) -> Option<&'m Vec<Value>> {
        let order = self.preset.get("prompt_order").filter(|order| !order.is_null())?;
        let Some(lists) = order.as_array() else {
            let what = "this is no list, so the prompts stand in the order of their own list";
            self.report.push(Note::new("prompt_order", what));
            return None;
        };
        // Presets older than the lists per character have the order itself.
        if lists.iter().any(|one| one.get("identifier").is_some()) {
            return Some(lists);
        }
        if lists.len() > 1 {
            self.report.push(Note::new("prompt_order", "one list is used for all characters; the others are left out"));
        }
        let of = |id: u64| lists.iter().find(|list| list["character_id"].as_u64() == Some(id));
        let list = EVERYONE.into_iter().find_map(of).or(lists.first())?;
        list["order"].as_array()
    }

    /// A name of its own for every section.
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
            "charDescription" => Some((SectionKind::Description, "${character.description}".to_owned())),
            "charPersonality" => Some((
                SectionKind::Personality,
                self.format("personality_format", "{{personality}}", "character.personality"),
            )),
            "scenario" => {
                Some((SectionKind::Scenario, self.format("scenario_format", "{{scenario}}", "character.scenario")))
            }
            "personaDescription" => Some((SectionKind::Persona, "${persona.description}".to_owned())),
            "worldInfoBefore" => Some((SectionKind::LoreBefore, self.format("wi_format", "{0}", "lore.before"))),
            "worldInfoAfter" => Some((SectionKind::LoreAfter, self.format("wi_format", "{0}", "lore.after"))),
            "dialogueExamples" => Some((SectionKind::Examples, "${character.examples}".to_owned())),
            _ => None,
        };
        let section = Section { name: section_name(prompt), role: role(prompt), ..Default::default() };
        let Some((kind, line)) = marker else {
            if flag(prompt, "marker") {
                self.report
                    .push(Note::new(format!("prompt: {identifier}"), "left out: a place that is not known here"));
                return None;
            }
            return Some(self.written(prompt, section));
        };
        let heading = text(self.preset, "new_example_chat_prompt").trim();
        let heading = (kind == SectionKind::Examples && !heading.is_empty()).then(|| escape(heading));
        let repeat_heading = heading.is_some();
        Some(Section { kind: Some(kind), heading, repeat_heading, lines: vec![Line::Always(line)], ..section })
    }

    /// A prompt with a text of its own; the card may stand instead of two of them.
    fn written(&mut self, prompt: &Map<String, Value>, section: Section) -> Section {
        let (kind, slot) = match text(prompt, "identifier") {
            "main" => (SectionKind::Rules, Some(Slot::SystemPrompt)),
            "jailbreak" => (SectionKind::PostHistory, Some(Slot::PostHistory)),
            _ => (SectionKind::Other, None),
        };
        if prompt.get("injection_trigger").and_then(Value::as_array).is_some_and(|kinds| !kinds.is_empty()) {
            let field = format!("prompt: {}", text(prompt, "name"));
            self.report.push(Note::new(field, "`injection_trigger` is left out: it is there for every kind of reply"));
        }
        Section {
            kind: Some(kind),
            slot: slot.filter(|_| !flag(prompt, "forbid_overrides")),
            lines: vec![literal(text(prompt, "content"))],
            ..section
        }
    }

    fn in_chat(&mut self, prompt: &Map<String, Value>) -> Section {
        let depth = prompt.get("injection_depth").and_then(Value::as_u64).unwrap_or(DEPTH);
        let section = Section { name: section_name(prompt), role: role(prompt), ..Default::default() };
        Section {
            placement: Some(Placement::InChat),
            depth: Some(depth.try_into().unwrap_or(u32::MAX)),
            ..self.written(prompt, section)
        }
    }

    /// How a part is put into words: `format`, with the variable where `mark` stands.
    fn format(&self, field: &str, mark: &str, variable: &str) -> String {
        let put = format!("${{{variable}}}");
        match text(self.preset, field).trim() {
            format if format.contains(mark) => escape(format).replace(mark, &put),
            _ => put,
        }
    }

    /// What stands before the first message.
    fn new_chat(&self) -> Option<Section> {
        let line = text(self.preset, "new_chat_prompt");
        let lines = vec![literal(line)];
        (!line.trim().is_empty()).then(|| Section { name: "newChat".to_owned(), lines, ..Default::default() })
    }

    fn group_nudge(&mut self, order: i32) -> Option<Section> {
        let line = text(self.preset, "group_nudge_prompt");
        let section = Section {
            name: "groupNudge".to_owned(),
            order: Some(order),
            kind: Some(SectionKind::Group),
            placement: Some(Placement::AfterHistory),
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

/// Among the messages the lower order stands higher, and within one order the model's, the user's, then system texts.
fn sorted(mut entries: Vec<Entry<'_>>) -> Vec<Entry<'_>> {
    entries.sort_by_key(|(prompt, _)| {
        let order = prompt.get("injection_order").and_then(Value::as_i64).unwrap_or(INJECTION_ORDER);
        let rank = match role(prompt) {
            Some(SectionRole::Assistant) => 0,
            Some(SectionRole::User) => 1,
            _ => 2,
        };
        (order, rank)
    });
    entries
}

/// A prompt that is off keeps its text and never shows.
fn switched(section: Section, on: bool) -> Section {
    match on {
        true => section,
        false => Section { condition: Some("!always".to_owned()), ..section },
    }
}

/// Returns the name by which users know the prompt.
fn shown_name(prompt: &Map<String, Value>) -> &str {
    let names = ["name", "identifier"].map(|field| text(prompt, field).trim());
    names.into_iter().find(|name| !name.is_empty()).unwrap_or("without a name")
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
