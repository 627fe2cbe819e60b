//! Composes the sections of a prompt from a resolved template and the variables of a turn.

use std::borrow::Cow;

use super::derive;
use super::flags::TemplateFlags;
use super::graph::Cycle;
use super::recalls::{self, Heading, Recalls};
use super::resolve::{Asked, ResolvedSection, ResolvedTemplate};
use super::schema::{SectionKind, SectionPlacement, SectionRole, Slot};
use super::text::{self, Malformed};
use super::variables::TemplateVariables;

/// Maximum size of a composed prompt in bytes.
pub const MAX_COMPOSED: usize = 8 << 20;

/// The prompt could not be composed; no partial prompt is sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ComposeError {
    #[error("section `{section}`: {source}")]
    Section {
        section: String,
        source: Box<ComposeError>,
    },
    #[error("there is no variable `${{{name}}}`; correct or remove it")]
    UnknownVariable { name: String },
    #[error(transparent)]
    Malformed(#[from] Malformed),
    #[error(transparent)]
    Cycle(#[from] Cycle),
    #[error("the text is longer than {most} bytes; use fewer or shorter variables")]
    TooLong { most: usize },
    #[error("section `{section}` is required, but its condition `{condition}` is false")]
    RequiredLeftOut { section: String, condition: String },
}

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
    let (with_lore, without_lore) = (
        variables.without(&recalls::VARIABLES),
        variables.without(&recalls::LORE),
    );
    let in_head = with_lore.without(&recalls::LORE);
    let own = |variables: &TemplateVariables| {
        variables.with_own(&template.variables).map(Cow::into_owned)
    };
    let assuming_lore = own(&variables.with(&recalls::LORE, "lore"))?;
    let seen = Seen {
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
        match template.has(*kind) {
            true => !of_kind.any(there),
            false => template.excluded.contains(kind),
        }
    };
    [SectionKind::LoreBefore, SectionKind::LoreAfter]
        .into_iter()
        .filter(off)
        .collect()
}

/// The variables as visible in the texts of different sections.
struct Seen {
    with_lore: TemplateVariables,
    with_memories: TemplateVariables,
    in_head: TemplateVariables,
}

impl Seen {
    fn by(&self, section: &ResolvedSection) -> &TemplateVariables {
        match recalls::may_be_told(section) {
            _ if recalls::may_hold_lore(section.kind) => &self.with_lore,
            true => &self.with_memories,
            false => &self.in_head,
        }
    }
}

struct Composer<'c> {
    /// All variables, for conditions.
    variables: &'c TemplateVariables,
    seen: &'c Seen,
    flags: &'c TemplateFlags,
    /// Number of bytes that may still be written.
    room: usize,
    composed: Composed,
}

impl Composer<'_> {
    fn add(&mut self, section: &ResolvedSection) -> Result<(), ComposeError> {
        if let Some(Asked { written, .. }) = section
            .condition
            .as_ref()
            .filter(|asked| !self.holds(asked))
        {
            if section.required {
                return Err(ComposeError::RequiredLeftOut {
                    section: section.name.clone(),
                    condition: written.clone(),
                });
            }
            self.omit(&section.name, OmitReason::Condition(written.clone()));
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

    fn holds(&self, asked: &Asked) -> bool {
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
        let mut number = 0;
        for (text, condition) in &section.rules {
            if condition.as_ref().is_none_or(|asked| self.holds(asked)) {
                let mut rule = Page {
                    room: page.room,
                    ..Page::default()
                };
                rule.write(text, &value)?;
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
        }
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

    /// Puts the card's `system_prompt` and `post_history_instructions` at the first section with
    /// their slot. The other sections of the slot are removed, and the texts of all of them form
    /// `{{original}}`.
    fn put_in_the_cards_own(&mut self, template: &ResolvedTemplate) {
        for slot in [Slot::SystemPrompt, Slot::PostHistory] {
            if !self.has_cards_own(Some(slot)) {
                continue;
            }
            let of_slot = |name: &str| {
                template
                    .sections
                    .iter()
                    .any(|one| one.name == name && one.slot == Some(slot))
            };
            let (replaced, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut self.composed.sections)
                .into_iter()
                .enumerate()
                .partition(|(_, it)| of_slot(&it.name));
            self.composed.sections = kept.into_iter().map(|(_, section)| section).collect();
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

/// The lines of a section under construction.
#[derive(Default)]
struct Page {
    lines: Vec<String>,
    used: Vec<String>,
    room: usize,
}

impl Page {
    /// Appends `text` line by line. A line of which empty variables leave nothing is dropped, so
    /// that no label appears without a value.
    fn write<'v>(
        &mut self,
        text: &str,
        value: &impl Fn(&str) -> Option<Cow<'v, str>>,
    ) -> Result<(), ComposeError> {
        for line in text.split('\n') {
            let expanded = text::expand(line.trim_end(), value, self.room)?;
            self.room = self.room.saturating_sub(expanded.text.len());
            self.used.extend(expanded.used);
            if !expanded.hollow {
                self.lines.push(expanded.text);
            }
        }
        Ok(())
    }

    /// Appends `text` unchanged.
    fn keep(&mut self, text: &str) {
        self.lines
            .extend(text.split('\n').map(|line| line.trim_end().to_owned()));
    }

    /// The text without blank lines at the ends and with at most one blank line between others.
    fn text(&self) -> Option<String> {
        let mut text = String::new();
        let mut gap = false;
        for line in &self.lines {
            if line.trim().is_empty() {
                gap = !text.is_empty();
                continue;
            }
            if !text.is_empty() {
                text.push_str(if gap { "\n\n" } else { "\n" });
            }
            gap = false;
            text.push_str(line);
        }
        (!text.is_empty()).then_some(text)
    }

    fn headed<'v>(
        mut self,
        heading: Option<&str>,
        value: &impl Fn(&str) -> Option<Cow<'v, str>>,
    ) -> Result<(String, Vec<String>), ComposeError> {
        let mut text = self.text().unwrap_or_default();
        if let Some(heading) = heading.filter(|_| !text.is_empty()) {
            let expanded = text::expand(heading, value, self.room)?;
            if !expanded.text.trim().is_empty() && !expanded.hollow {
                text = format!("{}\n{text}", expanded.text.trim());
            }
            self.used.extend(expanded.used);
        }
        let mut variables: Vec<String> = Vec::new();
        for name in self.used {
            if !variables.contains(&name) {
                variables.push(name);
            }
        }
        Ok((text, variables))
    }
}
