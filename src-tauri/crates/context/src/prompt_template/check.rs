//! Reports problems of a template to its author, in `nook template check` and in the editor.

use super::compose::ComposeError;
use super::condition;
use super::lint;
use super::load::{LoadError, from_json};
use super::resolve::{ResolveError, TemplateLibrary, resolve};
use super::schema::{OwnVariable, PromptTemplate, RoleBlock, Section, SectionRole, TemplateLine};
use super::text::{self, TemplatePiece};
use super::variables;

/// Maximum number of reported problems, because a broken file can have very many.
const MOST: usize = 200;

/// The severity of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
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
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::super::builtin::built_in;
    use super::*;

    fn problems(mut template: Value) -> Vec<String> {
        for (field, value) in [
            ("schema", json!(super::super::SCHEMA)),
            ("version", json!(2)),
            ("id", json!("t")),
            ("name", json!("T")),
        ] {
            template
                .as_object_mut()
                .unwrap()
                .entry(field)
                .or_insert(value);
        }
        let found = check(&template.to_string(), built_in().unwrap());
        let found = found
            .into_iter()
            .filter(|it| it.severity == Severity::Error);
        let line = |it: Problem| {
            format!(
                "{} | {} | {}",
                it.section.unwrap_or_default(),
                it.variable.unwrap_or_default(),
                it.message
            )
        };
        found.map(line).collect()
    }

    #[test]
    fn names_section_and_variable() {
        insta::assert_debug_snapshot!(problems(json!({
            "extends": "base-roleplay",
            "variables": [{"name": "a", "text": "${b}"}, {"name": "b", "text": "${a} ${nobody}"}],
            "sections": [
                {"name": "one", "lines": ["Hello ${charcter.name}", "${broken"]},
                {"name": "two", "condition": "hasEpisode", "rules": [{"text": "x", "condition": "mode =="}]},
                {"name": "rules", "condition": "assist"},
                {"name": "nothing", "override": true, "lines": ["x"]},
                {"name": "void"},
                {"name": "end", "slot": "postHistory"},
            ],
        })), @r###"
        [
            " | a | the variables a -> b -> a depend on each other in a circle; remove one of them from the text of another",
            " | nobody | in the template's variable `b`: there is no variable `${nobody}`; correct or remove it",
            "one | charcter.name | there is no variable `${charcter.name}`; correct or remove it",
            "one |  | `${broken` is not a valid variable; write `${name}` with letters, digits, dots and underscores, or `$${` for a literal `${`",
            "two | hasEpisode | `hasEpisode` is neither a flag nor a variable; quote it if it is a text",
            "two |  | the condition ends too early; expected a flag, a variable, a number or a quoted text",
            "nothing |  | no parent template has this section, so there is nothing to override",
            "void |  | the section has no text",
        ]
        "###);
    }

    #[test]
    fn rejects_excluding_a_required_section() {
        let found = problems(
            json!({"extends": "base-roleplay", "sections": [{"name": "rules", "exclude": true}]}),
        );
        assert_eq!(
            found,
            ["rules |  | section `rules` is required and cannot be excluded"]
        );
        let found = problems(
            json!({"sections": [{"name": "a", "required": true, "condition": "assist", "lines": ["x"]}]}),
        );
        assert_eq!(
            found,
            [
                "a |  | a required section cannot have the condition `assist`; remove the condition or `required`"
            ]
        );
    }

    #[test]
    fn finds_cycles_and_missing_parents() {
        assert!(problems(json!({"extends": "t"}))[0].contains("which does not exist"));
        let mut library = TemplateLibrary::default();
        for (id, parent) in [("a", "b"), ("b", "a")] {
            library.put(PromptTemplate {
                id: id.into(),
                name: id.into(),
                extends: Some(parent.into()),
                ..Default::default()
            });
        }
        let json =
            json!({"schema": super::super::SCHEMA, "version": 2, "id": "a", "name": "a", "extends": "b"}).to_string();
        assert!(check(&json, &library)[0].message.contains("a -> b -> a"));
    }

    proptest! {
        #[test]
        fn never_panics(text in any::<String>(), line in r"[${}a-z. \n]{0,40}", condition in ".{0,30}") {
            let library = built_in().unwrap();
            check(&text, library);
            problems(json!({"extends": text, "sections": [{"name": text, "condition": condition, "lines": [line]}]}));
        }
    }
}
