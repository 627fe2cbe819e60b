//! Merges a template with its parents.

use std::collections::{BTreeMap, BTreeSet};

use super::condition;
use super::condition::ConditionError;
use super::schema::{
    Defaults, OwnVariable, PromptTemplate, RoleBlock, Roles, Section, SectionKind,
    SectionPlacement, SectionRole, Style, TemplateLine,
};
use crate::prompt_template::resolved::{ParsedCondition, ResolvedSection, ResolvedTemplate};

/// Maximum number of parents above a template.
pub const MAX_DEPTH: usize = 10;

/// The templates that may be extended, by id.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TemplateLibrary(BTreeMap<String, PromptTemplate>);

impl TemplateLibrary {
    /// Adds `template`; it replaces a template with the same id, so users can replace built-in
    /// ones.
    pub fn put(&mut self, template: PromptTemplate) {
        self.0.insert(template.id.clone(), template);
    }

    /// Finds by id, else by name ignoring case.
    pub fn get(&self, name: &str) -> Option<&PromptTemplate> {
        self.0.get(name).or_else(|| {
            self.0
                .values()
                .find(|one| one.name.eq_ignore_ascii_case(name))
        })
    }

    /// All templates, sorted by id.
    pub fn iter(&self) -> impl Iterator<Item = &PromptTemplate> {
        self.0.values()
    }
}

/// The template cannot be merged with its parents.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    #[error("`{child}` extends `{parent}`, which does not exist; import it or remove `extends`")]
    NoParent { child: String, parent: String },
    #[error("the templates {} extend each other in a circle", path.join(" -> "))]
    Cycle { path: Vec<String> },
    #[error("`{id}` has more than {MAX_DEPTH} parents; extend a higher one")]
    TooDeep { id: String },
    #[error("section `{section}` is defined twice; rename one of them")]
    Twice { section: String },
    #[error("section `{section}` is required and cannot be excluded")]
    RequiredExcluded { section: String },
    #[error("section `{section}`: {source}")]
    Condition {
        section: String,
        source: ConditionError,
    },
    #[error(
        "the variable `{name}` has an invalid name, or a built-in variable has the same name; rename it"
    )]
    Name { name: String },
}

/// Merges `template` with the templates it extends.
///
/// Errors [`ResolveError`]: a missing parent, a cycle, more than ten parents, an excluded required
/// section, an invalid condition, or a name used twice.
pub fn resolve(
    template: &PromptTemplate,
    library: &TemplateLibrary,
) -> Result<ResolvedTemplate, ResolveError> {
    let mut merged = Merged::default();
    for one in chain(template, library)?.into_iter().rev() {
        merged.add(one)?;
    }
    merged.finish(template)
}

/// The template, its parent, the parent of that one, and so on.
fn chain<'t>(
    template: &'t PromptTemplate,
    library: &'t TemplateLibrary,
) -> Result<Vec<&'t PromptTemplate>, ResolveError> {
    let mut chain = vec![template];
    let mut child = template;
    while let Some(parent) = &child.extends {
        let missing = || ResolveError::NoParent {
            child: child.name.clone(),
            parent: parent.clone(),
        };
        let next = library.get(parent).ok_or_else(missing)?;
        if let Some(start) = chain.iter().position(|one| one.id == next.id) {
            let round = chain[start..].iter().copied().chain([next]);
            return Err(ResolveError::Cycle {
                path: round.map(|one| one.id.clone()).collect(),
            });
        }
        if chain.len() > MAX_DEPTH {
            return Err(ResolveError::TooDeep {
                id: template.id.clone(),
            });
        }
        chain.push(next);
        child = next;
    }
    Ok(chain)
}

#[derive(Default)]
struct Merged {
    style: Option<Style>,
    defaults: Defaults,
    variables: Vec<OwnVariable>,
    roles: Roles,
    sections: BTreeMap<String, Section>,
    excluded: Vec<SectionKind>,
}

impl Merged {
    fn add(&mut self, template: &PromptTemplate) -> Result<(), ResolveError> {
        self.style = template.style.or(self.style);
        self.defaults.reply_tokens = template
            .defaults
            .reply_tokens
            .or(self.defaults.reply_tokens);
        self.defaults.stop = template.defaults.stop.clone().or(self.defaults.stop.take());
        self.defaults.reply_start = template
            .defaults
            .reply_start
            .clone()
            .or(self.defaults.reply_start.take());
        self.defaults.continue_postfix = template
            .defaults
            .continue_postfix
            .or(self.defaults.continue_postfix);
        for role in [
            SectionRole::System,
            SectionRole::User,
            SectionRole::Assistant,
        ] {
            if let Some(block) = template.roles.of(role) {
                *self.role(role) = Some(block.clone());
            }
        }
        for variable in &template.variables {
            self.variables.retain(|other| other.name != variable.name);
            self.variables.push(variable.clone());
        }
        let mut seen = BTreeSet::new();
        for section in &template.sections {
            if !seen.insert(&section.name) {
                return Err(ResolveError::Twice {
                    section: section.name.clone(),
                });
            }
            self.add_section(section)?;
        }
        Ok(())
    }

    fn role(&mut self, role: SectionRole) -> &mut Option<RoleBlock> {
        match role {
            SectionRole::System => &mut self.roles.system,
            SectionRole::User => &mut self.roles.user,
            SectionRole::Assistant => &mut self.roles.assistant,
        }
    }

    fn add_section(&mut self, section: &Section) -> Result<(), ResolveError> {
        let parent = self.sections.get(&section.name);
        if section.exclude {
            if parent.is_some_and(|parent| parent.required == Some(true)) {
                return Err(ResolveError::RequiredExcluded {
                    section: section.name.clone(),
                });
            }
            let left_out = self.sections.remove(&section.name);
            self.excluded
                .extend(left_out.and_then(|section| section.kind));
            return Ok(());
        }
        let merged = parent.map_or_else(|| section.clone(), |parent| over(section, parent));
        self.sections.insert(section.name.clone(), merged);
        Ok(())
    }

    fn finish(mut self, template: &PromptTemplate) -> Result<ResolvedTemplate, ResolveError> {
        let own: BTreeSet<&str> = self
            .variables
            .iter()
            .map(|variable| variable.name.as_str())
            .collect();
        for name in &own {
            if crate::prompt_template::variables::known(name) || !super::text::is_name(name) {
                return Err(ResolveError::Name {
                    name: (*name).to_owned(),
                });
            }
        }
        place_by_roles(&mut self.sections, &self.roles);
        let resolved = self
            .sections
            .into_values()
            .map(|section| of_section(section, &own));
        let mut sections: Vec<_> = resolved.collect::<Result<_, _>>()?;
        sections.sort_by(|a, b| (a.order, &a.name).cmp(&(b.order, &b.name)));
        Ok(ResolvedTemplate {
            id: template.id.clone(),
            name: template.name.clone(),
            kind: template.kind,
            style: self.style.unwrap_or_default(),
            defaults: self.defaults,
            variables: self.variables,
            sections,
            excluded: self.excluded,
        })
    }
}

/// Merges a child's section into its parent's: unset fields are inherited.
fn over(child: &Section, parent: &Section) -> Section {
    let own = child.clone();
    let mut inherited = parent.clone();
    if own.overrides {
        (inherited.heading, inherited.lines, inherited.rules) = (None, Vec::new(), Vec::new());
    }
    inherited.lines.extend(own.lines);
    inherited.rules.extend(own.rules);
    Section {
        name: own.name,
        order: own.order.or(inherited.order),
        kind: own.kind.or(inherited.kind),
        role: own.role.or(inherited.role),
        placement: own.placement.or(inherited.placement),
        depth: own.depth.or(inherited.depth),
        injection_order: own.injection_order.or(inherited.injection_order),
        condition: own.condition.or(inherited.condition),
        required: own.required.or(inherited.required),
        overrides: false,
        exclude: false,
        slot: own.slot.or(inherited.slot),
        repeat_heading: own.repeat_heading || (own.heading.is_none() && inherited.repeat_heading),
        heading: own.heading.or(inherited.heading),
        lines: inherited.lines,
        rules: inherited.rules,
    }
}

/// The condition of introductions, which are sent as messages of the persona and of the character.
const INTRODUCTION: &str = "assist";

/// Order of the first introduction; they follow the system text. The persona speaks first.
const AFTER_SYSTEM: i32 = 1_000_000_000;

/// Roles that list sections get exactly those. The lines of a role become a section before them.
/// Introductions follow the system text, and exist only while introductions are on.
fn place_by_roles(sections: &mut BTreeMap<String, Section>, roles: &Roles) {
    let each = [
        SectionRole::System,
        SectionRole::User,
        SectionRole::Assistant,
    ];
    let mut placed = BTreeSet::new();
    for role in each {
        for name in roles
            .of(role)
            .and_then(|block| block.sections.as_ref())
            .into_iter()
            .flatten()
        {
            if let Some(section) = sections.get_mut(name) {
                section.role = Some(role);
                introduce(section, role);
                placed.insert(name);
            }
        }
    }
    sections.retain(|name, section| {
        let lists = roles
            .of(section.role.unwrap_or_default())
            .is_some_and(|block| block.sections.is_some());
        !lists || placed.contains(name)
    });
    for role in each {
        if let Some(mut section) = roles.of(role).and_then(|block| own_text(role, block)) {
            introduce(&mut section, role);
            sections.insert(section.name.clone(), section);
        }
    }
}

/// Makes a section of the head an introduction, unless it is part of the system text.
fn introduce(section: &mut Section, role: SectionRole) {
    let start = match role {
        SectionRole::System => return,
        SectionRole::User => AFTER_SYSTEM,
        SectionRole::Assistant => AFTER_SYSTEM + AFTER_SYSTEM / 2,
    };
    if section.placement.unwrap_or_default() != SectionPlacement::Head {
        return;
    }
    section.order = Some(
        start
            + section
                .order
                .unwrap_or_default()
                .clamp(-400_000_000, 400_000_000),
    );
    section.condition = Some(match section.condition.take() {
        Some(own) => format!("{INTRODUCTION} && ({own})"),
        None => INTRODUCTION.to_owned(),
    });
    section.required = None;
}

fn own_text(role: SectionRole, block: &RoleBlock) -> Option<Section> {
    let consent = TemplateLine::When {
        text: "${rating.line}".to_owned(),
        condition: "hasRating".to_owned(),
    };
    let lines: Vec<TemplateLine> = block
        .lines
        .iter()
        .cloned()
        .chain(block.consent.then_some(consent))
        .collect();
    let (name, kind) = match role {
        SectionRole::System => ("role.system", SectionKind::Rules),
        SectionRole::User => ("role.user", SectionKind::Persona),
        SectionRole::Assistant => ("role.assistant", SectionKind::Description),
    };
    let section = Section {
        name: name.to_owned(),
        order: Some(i32::MIN),
        kind: Some(kind),
        role: Some(role),
        lines,
        ..Default::default()
    };
    (!section.lines.is_empty()).then_some(section)
}

fn of_section(section: Section, own: &BTreeSet<&str>) -> Result<ResolvedSection, ResolveError> {
    let name = section.name;
    let asked = |written: Option<&str>| {
        let read = written.map(|written| {
            let read = condition::parse(written, &|name| own.contains(name))?;
            Ok(ParsedCondition {
                written: written.to_owned(),
                read,
            })
        });
        read.transpose().map_err(|source| ResolveError::Condition {
            section: name.clone(),
            source,
        })
    };
    let lines = |lines: Vec<TemplateLine>| -> Result<Vec<_>, ResolveError> {
        lines
            .iter()
            .map(|line| Ok((line.text().to_owned(), asked(line.condition())?)))
            .collect()
    };
    Ok(ResolvedSection {
        order: section.order.unwrap_or_default(),
        kind: section.kind.unwrap_or_default(),
        role: section.role.unwrap_or_default(),
        placement: section.placement.unwrap_or_default(),
        depth: section.depth.unwrap_or_default(),
        injection_order: section.injection_order,
        condition: asked(section.condition.as_deref())?,
        required: section.required.unwrap_or_default(),
        slot: section.slot,
        heading: section.heading,
        repeat_heading: section.repeat_heading,
        lines: lines(section.lines)?,
        rules: lines(section.rules)?,
        name,
    })
}
