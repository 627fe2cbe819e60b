//! Composes the sections of a prompt from a resolved template and the variables of a turn.

use std::borrow::Cow;

use super::flags::TemplateFlags;
use super::recalls::{self, Heading, Recalls};
use super::resolved::{ParsedCondition, ResolvedSection, ResolvedTemplate};
use super::schema::{SectionKind, SectionPlacement, SectionRole, Slot};
use super::text;
use crate::prompt_template::compose_error::{ComposeError, MAX_COMPOSED};
use crate::prompt_template::page::Page;
use crate::prompt_template::variables::{TemplateVariables, derive};

/// The sections of a prompt, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Composed {
    pub sections: Vec<ComposedSection>,
    pub omitted: Vec<Omitted>,
    /// The kinds of memories that have a place in this turn.
    pub recalls: Recalls,
    /// Headings for memories and documents, which are sent as blocks.
    pub headings: Vec<Heading>,
    /// Kinds of lore sections that are switched off, regardless of the lore.
    pub without_lore: Vec<SectionKind>,
    /// Texts that end the reply.
    pub stop: Vec<String>,
}

/// A composed section, which becomes a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComposedSection {
    pub name: String,
    pub role: SectionRole,
    pub kind: SectionKind,
    pub placement: SectionPlacement,
    /// Messages from the end, for [`SectionPlacement::InChat`].
    pub depth: u32,
    /// The order among texts at one depth, if the template sets it.
    pub injection_order: Option<i32>,
    /// Never empty; `${variables}` are resolved, `{{macros}}` are not.
    pub text: String,
    /// The source text in the template, without lines and rules whose condition is false. The X-ray
    /// shows it.
    pub written: String,
    /// The text of the template that the card replaced, for `{{original}}`.
    pub original: Option<String>,
    /// The variables in its text.
    pub variables: Vec<String>,
}

/// A section that is absent in this turn, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Omitted {
    pub section: String,
    pub why: OmitReason,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OmitReason {
    /// Its condition is false; the text is as written in the template.
    Condition(String),
    /// Empty variables leave nothing of it.
    Empty,
    /// The text of the card replaces it.
    Replaced(Slot),
}

impl Composed {
    /// The text of one role: system, user (introduction of the persona) or assistant (introduction
    /// of the character). A blank line separates sections.
    pub fn flow(&self, role: SectionRole) -> String {
        let texts = self
            .sections
            .iter()
            .filter(|section| section.role == role)
            .map(|section| section.text.as_str());
        texts.collect::<Vec<_>>().join("\n\n")
    }
}

/// Composes `template` for one turn. The same arguments give the same bytes.
///
/// In the head, variables with retrieved content (`memory.*` and `user.*`) are empty. Memories and
/// passages are sent as blocks with a budget and sources, because retrieved text in the head would
/// invalidate the cache in every turn. The `lore.*` variables have a value in lore sections only.
///
/// # Errors
/// [`ComposeError`] names the section. A prompt with an unresolved variable is never returned.
pub fn compose(
    template: &ResolvedTemplate,
    variables: &TemplateVariables,
    flags: &TemplateFlags,
) -> Result<Composed, ComposeError> {
    let with_lore = variables.without(&recalls::VARIABLES);
    let without_lore = variables.without(&recalls::LORE);
    let in_head = with_lore.without(&recalls::LORE);
    let own = |variables: &TemplateVariables| {
        variables.with_own(&template.variables).map(Cow::into_owned)
    };
    let assuming_lore = own(&variables.with(&recalls::LORE, "lore"))?;
    let seen = VisibleVariables {
        with_lore: own(&with_lore)?,
        with_memories: own(&without_lore)?,
        in_head: own(&in_head)?,
    };
    let variables = &*variables.with_own(&template.variables)?;
    let mut composer = Composer {
        variables,
        seen: &seen,
        flags,
        room: MAX_COMPOSED,
        composed: Composed::default(),
    };
    for section in &template.sections {
        composer.add(section)?;
    }
    composer.put_in_the_cards_own(template);
    let mut composed = composer.composed;
    composed.without_lore = switched_off(template, &assuming_lore, flags);
    for stop in template.defaults.stop.iter().flatten() {
        let expanded = text::expand(stop, |name| seen.in_head.text(name), MAX_COMPOSED)?;
        if !expanded.hollow && !expanded.text.is_empty() {
            composed.stop.push(expanded.text);
        }
    }
    Ok(composed)
}

/// The kinds of lore sections that would be absent even if there were lore. A section that only
/// waits for lore is not off.
fn switched_off(
    template: &ResolvedTemplate,
    with_lore: &TemplateVariables,
    flags: &TemplateFlags,
) -> Vec<SectionKind> {
    let there = |section: &ResolvedSection| {
        section
            .condition
            .as_ref()
            .is_none_or(|asked| asked.read.holds(with_lore, flags))
    };
    let off = |kind: &SectionKind| {
        let mut of_kind = template
            .sections
            .iter()
            .filter(|section| section.kind == *kind);
        if template.has(*kind) {
            !of_kind.any(there)
        } else {
            template.excluded.contains(kind)
        }
    };
    [SectionKind::LoreBefore, SectionKind::LoreAfter]
        .into_iter()
        .filter(off)
        .collect()
}

/// The variables as visible in the texts of different sections.
struct VisibleVariables {
    with_lore: TemplateVariables,
    with_memories: TemplateVariables,
    in_head: TemplateVariables,
}

impl VisibleVariables {
    fn by(&self, section: &ResolvedSection) -> &TemplateVariables {
        if recalls::may_hold_lore(section.kind) {
            &self.with_lore
        } else if recalls::may_be_told(section) {
            &self.with_memories
        } else {
            &self.in_head
        }
    }
}

struct Composer<'c> {
    /// All variables, for conditions.
    variables: &'c TemplateVariables,
    seen: &'c VisibleVariables,
    flags: &'c TemplateFlags,
    /// Number of bytes that may still be written.
    room: usize,
    composed: Composed,
}

impl Composer<'_> {
    fn add(&mut self, section: &ResolvedSection) -> Result<(), ComposeError> {
        if !self.is_on(section)? {
            return Ok(());
        }
        let named = |source| ComposeError::Section {
            section: section.name.clone(),
            source: Box::new(source),
        };
        let Rendered {
            text,
            written,
            variables,
        } = self.render(section).map_err(named)?;
        let recalls = Recalls::of(section.kind, &variables);
        self.composed.recalls = self.composed.recalls.and(recalls);
        if matches!(section.kind, SectionKind::Memory | SectionKind::Citations) {
            let heading = self.heading(section).map_err(named)?;
            self.composed
                .headings
                .extend(heading.map(|text| Heading::new(text, section.kind, recalls)));
        }
        // The text of the card may replace an empty one.
        if text.is_empty() && !self.has_cards_own(section.slot) {
            self.omit(&section.name, OmitReason::Empty);
            return Ok(());
        }
        self.room = self.room.saturating_sub(text.len());
        self.composed.sections.push(ComposedSection {
            name: section.name.clone(),
            role: section.role,
            kind: section.kind,
            placement: section.placement,
            depth: section.depth,
            injection_order: section.injection_order,
            text,
            written,
            original: None,
            variables,
        });
        Ok(())
    }

    /// Whether the condition of the section holds. If not, the section is omitted.
    fn is_on(&mut self, section: &ResolvedSection) -> Result<bool, ComposeError> {
        let failed = section
            .condition
            .as_ref()
            .filter(|condition| !self.holds(condition));
        let Some(ParsedCondition { written, .. }) = failed else {
            return Ok(true);
        };
        if section.required {
            return Err(ComposeError::RequiredLeftOut {
                section: section.name.clone(),
                condition: written.clone(),
            });
        }
        self.omit(&section.name, OmitReason::Condition(written.clone()));
        Ok(false)
    }

    fn holds(&self, asked: &ParsedCondition) -> bool {
        asked.read.holds(self.variables, self.flags)
    }

    fn omit(&mut self, section: &str, why: OmitReason) {
        self.composed.omitted.push(Omitted {
            section: section.to_owned(),
            why,
        });
    }

    fn has_cards_own(&self, slot: Option<Slot>) -> bool {
        slot.is_some_and(|slot| {
            self.variables
                .text(slot.variable())
                .is_some_and(|text| !text.trim().is_empty())
        })
    }

    fn render(&self, section: &ResolvedSection) -> Result<Rendered, ComposeError> {
        let mut page = Page {
            room: self.room,
            ..Page::default()
        };
        let mut written = Page::default();
        let variables = self.seen.by(section);
        let separator = if section.repeat_heading {
            self.heading(section)?
        } else {
            None
        };
        let separated = |heading: &String| {
            let blocks = derive::example_blocks(&variables.text("character.examplesRaw")?);
            Some(Cow::Owned(blocks.join(&format!("\n{heading}\n"))))
        };
        let value = |name: &str| match &separator {
            Some(heading) if name == "character.examples" => separated(heading),
            _ => variables.text_in(name, section.role),
        };
        for (text, condition) in &section.lines {
            if condition.as_ref().is_none_or(|asked| self.holds(asked)) {
                page.write(text, &value)?;
                written.keep(text);
            }
        }
        self.render_rules(section, &value, &mut page, &mut written)?;
        let heading = section.heading.as_deref();
        let written = heading
            .map(str::trim)
            .into_iter()
            .map(str::to_owned)
            .chain(written.text());
        let written = written.collect::<Vec<_>>().join("\n");
        let (text, variables) = page.headed(heading, &value)?;
        Ok(Rendered {
            text,
            written,
            variables,
        })
    }

    /// Rules are numbered; one of which empty variables leave nothing takes no number.
    fn render_rules<'v>(
        &self,
        section: &ResolvedSection,
        value: &impl Fn(&str) -> Option<Cow<'v, str>>,
        page: &mut Page,
        written: &mut Page,
    ) -> Result<(), ComposeError> {
        let mut number = 0;
        for (text, condition) in &section.rules {
            if !condition.as_ref().is_none_or(|one| self.holds(one)) {
                continue;
            }
            let mut rule = Page {
                room: page.room,
                ..Page::default()
            };
            rule.write(text, value)?;
            match rule.text() {
                Some(filled) => {
                    number += 1;
                    page.room = page.room.saturating_sub(filled.len());
                    page.lines.push(format!("{number}. {filled}"));
                    written.keep(&format!("{number}. {}", text.trim()));
                }
                None => written.keep(text),
            }
            page.used.extend(rule.used);
        }
        Ok(())
    }

    /// The heading of a section whose text is sent as blocks.
    fn heading(&self, section: &ResolvedSection) -> Result<Option<String>, ComposeError> {
        let Some(heading) = &section.heading else {
            return Ok(None);
        };
        let variables = self.seen.by(section);
        let expanded = text::expand(
            heading,
            |name| variables.text_in(name, section.role),
            self.room,
        )?;
        let text = expanded.text.trim();
        Ok((!expanded.hollow && !text.is_empty()).then(|| text.to_owned()))
    }

    /// Removes the sections with this slot. Returns them with their places.
    fn take_of_slot(
        &mut self,
        template: &ResolvedTemplate,
        slot: Slot,
    ) -> Vec<(usize, ComposedSection)> {
        let of_slot = |name: &str| {
            template
                .sections
                .iter()
                .any(|one| one.name == name && one.slot == Some(slot))
        };
        let (replaced, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut self.composed.sections)
            .into_iter()
            .enumerate()
            .partition(|(_, section)| of_slot(&section.name));
        self.composed.sections = kept.into_iter().map(|(_, section)| section).collect();
        replaced
    }

    /// Puts the card's `system_prompt` and `post_history_instructions` at the first section with
    /// their slot. The other sections of the slot are removed, and the texts of all of them form
    /// `{{original}}`.
    fn put_in_the_cards_own(&mut self, template: &ResolvedTemplate) {
        for slot in [Slot::SystemPrompt, Slot::PostHistory] {
            if !self.has_cards_own(Some(slot)) {
                continue;
            }
            let replaced = self.take_of_slot(template, slot);
            let Some((place, first)) = replaced.first().cloned() else {
                continue;
            };
            let texts = replaced
                .iter()
                .map(|(_, section)| section.text.as_str())
                .filter(|text| !text.is_empty());
            let original = texts.collect::<Vec<_>>().join("\n\n");
            let own = self
                .variables
                .text(slot.variable())
                .unwrap_or_default()
                .trim()
                .to_owned();
            for (_, section) in &replaced[1..] {
                self.omit(&section.name, OmitReason::Replaced(slot));
            }
            let variables = vec![slot.variable().to_owned()];
            let written = own.clone();
            let section = ComposedSection {
                text: own,
                written,
                original: Some(original),
                variables,
                ..first
            };
            self.composed.sections.insert(place, section);
        }
    }
}

/// The text of a section, with variables resolved and as written.
struct Rendered {
    text: String,
    written: String,
    variables: Vec<String>,
}
