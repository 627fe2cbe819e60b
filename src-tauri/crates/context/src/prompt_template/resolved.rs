//! A template after merging with its parents.

use std::collections::BTreeSet;

use domain::settings::ConfigValue;

use crate::prompt_template::condition::Condition;
use crate::prompt_template::schema::{
    Defaults, OwnVariable, Section, SectionKind, SectionPlacement, SectionRole, Slot, Style,
    TemplateKind, TemplateLine,
};

/// Default reply length in tokens for the style of short messages.
pub(super) const SMS_REPLY: u32 = 90;

/// A merged template: parents included, conditions parsed, sections sorted.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedTemplate {
    pub id: String,
    pub name: String,
    pub kind: TemplateKind,
    pub style: Style,
    pub defaults: Defaults,
    pub(super) variables: Vec<OwnVariable>,
    pub(super) sections: Vec<ResolvedSection>,
    /// Kinds of inherited sections that were excluded.
    pub(super) excluded: Vec<SectionKind>,
}

impl ResolvedTemplate {
    /// True if it has a section of that kind, present in this turn or not.
    pub fn has(&self, kind: SectionKind) -> bool {
        self.sections.iter().any(|section| section.kind == kind)
    }

    /// True if it has a section that the card's own text of that slot may replace.
    pub fn has_slot(&self, slot: Slot) -> bool {
        self.sections
            .iter()
            .any(|section| section.slot == Some(slot))
    }

    /// Maximum number of reply tokens, if the template or its style sets one.
    pub fn reply_tokens(&self) -> Option<u32> {
        self.defaults
            .reply_tokens
            .or((self.style == Style::Sms).then_some(SMS_REPLY))
    }

    /// The values that the template suggests for settings.
    pub fn suggested(&self) -> Vec<(&'static str, ConfigValue)> {
        let text = |text: &str| ConfigValue::Text(text.to_owned().into());
        let tokens = self
            .reply_tokens()
            .map(|tokens| ("max_tokens", ConfigValue::Whole(tokens)));
        let start = self
            .defaults
            .reply_start
            .as_deref()
            .map(|start| ("reply_start", text(start)));
        let postfix = self
            .defaults
            .continue_postfix
            .map(|postfix| ("continue_postfix", text(postfix.word())));
        [tokens, start, postfix].into_iter().flatten().collect()
    }

    /// The sections in order: name, and whether each is required.
    pub fn outline(&self) -> impl Iterator<Item = (&str, bool)> {
        self.sections
            .iter()
            .map(|section| (section.name.as_str(), section.required))
    }

    /// The sections in order, as they are after merging with the parents.
    pub fn merged(&self) -> impl Iterator<Item = Section> {
        self.sections.iter().map(ResolvedSection::as_written)
    }

    /// Removes the sections with these names, as if the template excluded them. Required ones stay.
    pub fn leave_out(&mut self, names: &BTreeSet<&str>) {
        let is_out =
            |section: &ResolvedSection| !section.required && names.contains(section.name.as_str());
        self.excluded.extend(
            self.sections
                .iter()
                .filter(|section| is_out(section))
                .map(|section| section.kind),
        );
        self.sections.retain(|section| !is_out(section));
    }

    /// Names of the sections, in order.
    pub fn section_names(&self) -> impl Iterator<Item = &str> {
        self.sections.iter().map(|section| section.name.as_str())
    }
}

/// A section with all settings resolved.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ResolvedSection {
    pub(super) name: String,
    pub(super) order: i32,
    pub(super) kind: SectionKind,
    pub(super) role: SectionRole,
    pub(super) placement: SectionPlacement,
    pub(super) depth: u32,
    pub(super) injection_order: Option<i32>,
    pub(super) condition: Option<ParsedCondition>,
    pub(super) required: bool,
    pub(super) slot: Option<Slot>,
    pub(super) heading: Option<String>,
    pub(super) repeat_heading: bool,
    pub(super) lines: Vec<(String, Option<ParsedCondition>)>,
    pub(super) rules: Vec<(String, Option<ParsedCondition>)>,
}

impl ResolvedSection {
    pub(super) fn as_written(&self) -> Section {
        let line = |(text, condition): &(String, Option<ParsedCondition>)| match condition {
            Some(asked) => TemplateLine::When {
                text: text.clone(),
                condition: asked.written.clone(),
            },
            None => TemplateLine::Always(text.clone()),
        };
        Section {
            name: self.name.clone(),
            order: Some(self.order),
            kind: Some(self.kind),
            role: Some(self.role),
            placement: Some(self.placement),
            depth: Some(self.depth),
            injection_order: self.injection_order,
            condition: self.condition.as_ref().map(|asked| asked.written.clone()),
            required: Some(self.required),
            slot: self.slot,
            heading: self.heading.clone(),
            repeat_heading: self.repeat_heading,
            lines: self.lines.iter().map(line).collect(),
            rules: self.rules.iter().map(line).collect(),
            ..Section::default()
        }
    }
}

/// A condition, as written and parsed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ParsedCondition {
    pub(super) written: String,
    pub(super) read: Condition,
}
