//! Reports problems of a template to its author, in `nook template check` and in the editor.

use super::compose_error::ComposeError;
use super::load::{LoadError, from_json};
use super::resolve::{ResolveError, TemplateLibrary, resolve};
use super::schema::{OwnVariable, PromptTemplate, RoleBlock, Section, SectionRole, TemplateLine};
use super::text::{self, TemplatePiece};
use super::{condition, lint};
use crate::prompt_template::variables;

/// Maximum number of reported problems, because a broken file can have very many.
const MOST: usize = 200;

/// The severity of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// The template cannot be composed.
    Error,
    /// A part of the template has no effect or an unexpected one.
    Warning,
}

/// A problem to fix.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    pub severity: Severity,
    /// The section with the problem; `None` if it concerns the whole template.
    pub section: Option<String>,
    pub variable: Option<String>,
    pub message: String,
}

/// Checks the JSON of a template that may extend those of `library`. Without errors it can be
/// composed. Warnings are reported only if there are no errors.
pub fn check(json: &str, library: &TemplateLibrary) -> Vec<Problem> {
    let template = match from_json(json) {
        Ok(loaded) => loaded.template,
        Err(LoadError::Field {
            path,
            section,
            message,
        }) => {
            return vec![Problem::error(section, None, format!("{path}: {message}"))];
        }
        Err(error) => return vec![Problem::error(None, None, error.to_string())],
    };
    let mut checker = Checker {
        template: &template,
        library,
        own: Vec::new(),
        problems: Vec::new(),
    };
    checker.run();
    let mut problems = checker.problems;
    if problems.is_empty()
        && let Ok(resolved) = resolve(&template, library)
    {
        problems = lint::lints(&template, &resolved);
    }
    problems.truncate(MOST);
    problems
}

impl Problem {
    pub(super) fn error(
        section: Option<String>,
        variable: Option<String>,
        message: String,
    ) -> Self {
        Self {
            severity: Severity::Error,
            section,
            variable,
            message,
        }
    }

    pub(super) fn warning(section: Option<&str>, variable: Option<&str>, message: String) -> Self {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Self {
            severity: Severity::Warning,
            section: owned(section),
            variable: owned(variable),
            message,
        }
    }
}

struct Checker<'c> {
    template: &'c PromptTemplate,
    library: &'c TemplateLibrary,
    /// The variables of the template and of its parents.
    own: Vec<String>,
    problems: Vec<Problem>,
}

impl Checker<'_> {
    fn run(&mut self) {
        self.merged();
        let template = self.template;
        self.own_variables(&template.variables);
        for section in &template.sections {
            self.section(section);
        }
        for role in [
            SectionRole::System,
            SectionRole::User,
            SectionRole::Assistant,
        ] {
            template
                .roles
                .of(role)
                .into_iter()
                .for_each(|block| self.role(block));
        }
        for stop in template.defaults.stop.iter().flatten() {
            self.text(None, stop);
        }
    }

    fn report(
        &mut self,
        section: Option<&str>,
        variable: Option<&str>,
        message: impl Into<String>,
    ) {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        self.problems.push(Problem::error(
            owned(section),
            owned(variable),
            message.into(),
        ));
    }

    /// Checks that need the merged template.
    fn merged(&mut self) {
        match resolve(self.template, self.library) {
            Ok(resolved) => {
                self.own = resolved
                    .variables
                    .iter()
                    .map(|variable| variable.name.clone())
                    .collect();
                for section in resolved.sections.iter().filter(|section| section.required) {
                    if let Some(asked) = section
                        .condition
                        .as_ref()
                        .filter(|asked| asked.written.trim() != "always")
                    {
                        let message = format!(
                            "a required section cannot have the condition `{}`; remove the condition or `required`",
                            asked.written
                        );
                        self.report(Some(&section.name), None, message);
                    }
                }
                self.unplaced(&resolved.section_names().collect::<Vec<_>>());
            }
            Err(error) => {
                self.own = self
                    .template
                    .variables
                    .iter()
                    .map(|variable| variable.name.clone())
                    .collect();
                let (section, variable) = match &error {
                    // Reported when the section itself is checked.
                    ResolveError::Condition { .. } => return,
                    ResolveError::Twice { section }
                    | ResolveError::RequiredExcluded { section } => (Some(section.clone()), None),
                    ResolveError::Name { name } => (None, Some(name.clone())),
                    _ => (None, None),
                };
                self.report(section.as_deref(), variable.as_deref(), error.to_string());
            }
        }
    }

    fn unplaced(&mut self, placed: &[&str]) {
        for section in &self.template.sections {
            if !section.exclude && !placed.contains(&section.name.as_str()) {
                self.report(
                    Some(&section.name),
                    None,
                    "`roles` does not list this section, so it is never used; add it there",
                );
            }
        }
    }

    fn own_variables(&mut self, own: &[OwnVariable]) {
        if let Err(ComposeError::Cycle(cycle)) = variables::own_order(own) {
            self.report(
                None,
                cycle.path.first().map(String::as_str),
                cycle.to_string(),
            );
        }
        for variable in own {
            for (name, message) in self.faults(&variable.text) {
                let message = format!("in the template's variable `{}`: {message}", variable.name);
                self.report(None, name.as_deref(), message);
            }
        }
    }

    fn section(&mut self, section: &Section) {
        let name = section.name.as_str();
        if name.trim().is_empty() {
            self.report(Some(name), None, "a section needs a name");
        }
        // A section with a slot may be empty until the card fills it.
        let has_text =
            !section.lines.is_empty() || !section.rules.is_empty() || section.slot.is_some();
        let inherited = self.inherits(name);
        match (section.exclude, section.overrides) {
            (true, true) => self.report(
                Some(name),
                None,
                "`override` and `exclude` cannot both be set",
            ),
            (true, false) if !inherited => self.report(
                Some(name),
                None,
                "no parent template has this section, so there is nothing to exclude",
            ),
            (false, true) if !inherited => self.report(
                Some(name),
                None,
                "no parent template has this section, so there is nothing to override",
            ),
            (false, _) if !has_text && (section.overrides || !inherited) => {
                self.report(Some(name), None, "the section has no text")
            }
            _ => {}
        }
        self.condition(Some(name), section.condition.as_deref());
        section
            .heading
            .iter()
            .for_each(|heading| self.text(Some(name), heading));
        section
            .lines
            .iter()
            .chain(&section.rules)
            .for_each(|line| self.line(Some(name), line));
    }

    fn inherits(&self, section: &str) -> bool {
        let mut above = self
            .template
            .extends
            .as_deref()
            .and_then(|parent| self.library.get(parent));
        for _ in 0..super::MAX_DEPTH {
            let Some(parent) = above else { return false };
            if parent.sections.iter().any(|one| one.name == section) {
                return true;
            }
            above = parent
                .extends
                .as_deref()
                .and_then(|parent| self.library.get(parent));
        }
        false
    }

    fn role(&mut self, block: &RoleBlock) {
        block.lines.iter().for_each(|line| self.line(None, line));
        for name in block.sections.iter().flatten() {
            if !self
                .template
                .sections
                .iter()
                .any(|section| section.name == *name)
                && !self.inherits(name)
            {
                self.report(
                    Some(name),
                    None,
                    "`roles` names this section, but it does not exist",
                );
            }
        }
    }

    fn line(&mut self, section: Option<&str>, line: &TemplateLine) {
        self.condition(section, line.condition());
        self.text(section, line.text());
    }

    fn condition(&mut self, section: Option<&str>, condition: Option<&str>) {
        let own = &self.own;
        let read = condition
            .map(|written| condition::parse(written, &|name| own.iter().any(|one| one == name)));
        if let Some(Err(error)) = read {
            let variable = match &error {
                condition::ConditionError::Unknown { name }
                | condition::ConditionError::NoList { name } => Some(name.clone()),
                _ => None,
            };
            self.report(section, variable.as_deref(), error.to_string());
        }
    }

    fn text(&mut self, section: Option<&str>, text: &str) {
        for (name, message) in self.faults(text) {
            self.report(section, name.as_deref(), message);
        }
    }

    /// Unknown variables and malformed `${` in a text, per line.
    fn faults(&self, text: &str) -> Vec<(Option<String>, String)> {
        let mut faults = Vec::new();
        for line in text.split('\n') {
            match text::pieces(line) {
                Err(error) => faults.push((None, error.to_string())),
                Ok(pieces) => faults.extend(pieces.into_iter().filter_map(|piece| {
                    match piece {
                        TemplatePiece::Variable(name) if !self.knows(name) => Some((
                            Some(name.to_owned()),
                            ComposeError::UnknownVariable {
                                name: name.to_owned(),
                            }
                            .to_string(),
                        )),
                        _ => None,
                    }
                })),
            }
        }
        faults
    }

    fn knows(&self, name: &str) -> bool {
        variables::known(name) || self.own.iter().any(|own| own == name)
    }
}

#[cfg(test)]
mod tests;
