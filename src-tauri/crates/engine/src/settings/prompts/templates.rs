//! Prompt templates: the built-in ones, those of the user, and the checks of their editor.

use std::borrow::Cow;

use context::prompt_template::{
    self, Problem, PromptTemplate, ResolvedTemplate, Section, TemplateLibrary, VariableSource,
    from_json, resolve,
};
use store::{Preset, PresetKind, ReadTransaction, StoreError};
use uuid::Uuid;

use crate::api::{
    Changed, DraftKind, Severity, TemplateDocument, TemplateProblem, TemplateSection,
    TemplateSummary, TemplateText, VariableDoc,
};
use crate::base::error::{ApiResult, bad_input, internal, not_found};
use crate::settings::prompts::Prompts;

/// The default template of a chat.
pub(crate) const DEFAULT: &str = "base-roleplay";

impl Prompts {
    pub(crate) async fn list_templates(&self) -> ApiResult<Vec<TemplateSummary>> {
        let (library, own) = self.template_library().await?;
        let built_in = built_in()?;
        let row = |template: &PromptTemplate| summary(template, built_in, &own);
        Ok(library.iter().map(row).collect())
    }

    pub(crate) async fn get_template(&self, id: String) -> ApiResult<TemplateDocument> {
        let (library, own) = self.template_library().await?;
        let template = library.get(&id).ok_or_else(|| not_found("template"))?;
        let kept = own.into_iter().find(|preset| preset.key == template.id);
        let json = match &kept {
            Some(preset) => preset.json.clone(),
            None => serde_json::to_string_pretty(template)
                .map_err(|error| internal(&error.to_string()))?,
        };
        Ok(TemplateDocument {
            summary: summary(template, built_in()?, kept.as_slice()),
            json,
        })
    }

    pub(crate) async fn save_template(
        &self,
        id: String,
        json: String,
    ) -> ApiResult<TemplateDocument> {
        let problems = self.check_template(json.clone()).await?;
        if let Some(problem) = problems
            .iter()
            .find(|problem| problem.severity == Severity::Error)
        {
            let place = problem
                .section
                .as_ref()
                .map(|name| format!("In section \"{name}\": "))
                .unwrap_or_default();
            return Err(bad_input(
                format!("{place}{}.", problem.message),
                "Correct it, then save again.",
            ));
        }
        let read = from_json(&json)
            .map_err(|error| bad_input(error.to_string(), "Correct it, then save again."))?;
        let (library, own) = self.template_library().await?;
        let key = match id.as_str() {
            "" => free_id(&read.template.id, &library),
            _ => id,
        };
        let template = PromptTemplate {
            id: key.clone(),
            ..read.template
        };
        let position = own
            .iter()
            .find(|preset| preset.key == key)
            .map_or(own.len() as i64, |preset| preset.position);
        let preset = Preset {
            kind: PresetKind::Template,
            key: key.clone(),
            character: None,
            name: template.name.clone(),
            position,
            json: serde_json::to_string_pretty(&template)
                .map_err(|error| internal(&error.to_string()))?,
            source: None,
            updated: self.base().now(),
        };
        self.base()
            .store()
            .write(move |store| store.presets_mut().put(&preset))
            .await?;
        self.base()
            .events()
            .changed(Changed::Presets, Some(key.clone()));
        self.get_template(key).await
    }

    pub(crate) async fn delete_template(&self, id: String) -> ApiResult<()> {
        let key = id.clone();
        let delete = self.base().store().write(move |store| {
            store
                .drafts_mut()
                .forget(&DraftKind::Template.name(), "", &key)?;
            store.presets_mut().delete(PresetKind::Template, &key)
        });
        delete.await?;
        self.base().events().changed(Changed::Presets, Some(id));
        Ok(())
    }

    pub(crate) async fn check_template(&self, json: String) -> ApiResult<Vec<TemplateProblem>> {
        let (library, _) = self.template_library().await?;
        Ok(prompt_template::check(&json, &library)
            .into_iter()
            .map(problem)
            .collect())
    }

    /// The sections of a template that is being edited, merged with those that it inherits, in
    /// order. Sections that it excludes are included.
    ///
    /// # Errors
    /// `BadInput` if it is invalid or extends an unknown template.
    pub(crate) async fn template_sections(&self, json: String) -> ApiResult<Vec<TemplateSection>> {
        let resolved = self.written_template(&json).await?;
        let read = from_json(&json).map_err(|error| bad_input(error.to_string(), "Correct it."))?;
        let own = read.template.sections;
        let parent = read.template.extends;
        let inherited: Vec<Section> = match parent {
            Some(parent) => self.named_template(&parent).await?.merged().collect(),
            None => Vec::new(),
        };
        let has =
            |sections: &[Section], name: &str| sections.iter().any(|section| section.name == name);
        let mut all: Vec<(Section, bool)> =
            resolved.merged().map(|section| (section, true)).collect();
        for excluded in own.iter().filter(|section| section.exclude) {
            let known = inherited
                .iter()
                .find(|section| section.name == excluded.name);
            all.push((known.unwrap_or(excluded).clone(), false));
        }
        all.sort_by(|(a, _), (b, _)| {
            (a.order.unwrap_or_default(), &a.name).cmp(&(b.order.unwrap_or_default(), &b.name))
        });
        let shown = |(section, is_on): (Section, bool)| TemplateSection {
            is_own: has(&own, &section.name),
            is_inherited: has(&inherited, &section.name),
            is_required: section.required == Some(true),
            is_on,
            order: section.order.unwrap_or_default(),
            condition: section.condition.unwrap_or_default(),
            heading: section.heading.unwrap_or_default(),
            repeat_heading: section.repeat_heading,
            lines: section.lines.iter().map(template_line).collect(),
            rules: section.rules.iter().map(template_line).collect(),
            name: section.name,
        };
        Ok(all.into_iter().map(shown).collect())
    }

    async fn named_template(&self, name: &str) -> ApiResult<ResolvedTemplate> {
        let (library, _) = self.template_library().await?;
        let template = library.get(name).ok_or_else(|| not_found("template"))?;
        resolve(template, &library).map_err(|error| bad_input(error.to_string(), "Correct it."))
    }

    pub(crate) async fn template_variables(&self) -> ApiResult<Vec<VariableDoc>> {
        let doc = |doc: prompt_template::VariableDoc| VariableDoc {
            name: doc.name.to_owned(),
            group: doc.group.to_owned(),
            description: doc.description.to_owned(),
            inputs: match doc.source {
                VariableSource::Given | VariableSource::Detail => Vec::new(),
                VariableSource::SameAs(of) => vec![of.to_owned()],
                VariableSource::MadeOf(inputs) => {
                    inputs.iter().map(|name| (*name).to_owned()).collect()
                }
            },
        };
        Ok(prompt_template::reference().into_iter().map(doc).collect())
    }

    /// Parses `json` and resolves all templates that it extends.
    ///
    /// # Errors
    /// `BadInput` if it is invalid or extends an unknown template.
    pub(crate) async fn written_template(&self, json: &str) -> ApiResult<ResolvedTemplate> {
        let (library, _) = self.template_library().await?;
        let wrong = |why: String| {
            bad_input(
                format!("The template cannot be used: {why}."),
                "Correct it.",
            )
        };
        let read = from_json(json).map_err(|error| wrong(error.to_string()))?;
        resolve(&read.template, &library).map_err(|error| wrong(error.to_string()))
    }

    /// The template with this id, with all templates that it extends. If it does not exist, the
    /// default and a notice.
    pub(crate) async fn template(&self, id: &str) -> ApiResult<(ResolvedTemplate, Option<String>)> {
        self.template_or(id, DEFAULT).await
    }

    /// Works like [`Self::template`], with another built-in template as the default.
    pub(crate) async fn template_or(
        &self,
        id: &str,
        default: &'static str,
    ) -> ApiResult<(ResolvedTemplate, Option<String>)> {
        template_in(&self.template_library().await?.0, id, default)
    }

    /// All templates, with the user's in place of built-in ones of the same id, and the rows of the
    /// user's.
    pub(crate) async fn template_library(
        &self,
    ) -> ApiResult<(Cow<'static, TemplateLibrary>, Vec<Preset>)> {
        let own = self.base().store().read(own_templates).await?;
        Ok((library_with(&own)?, own))
    }
}

/// The rows of the user's templates.
pub(crate) fn own_templates(store: &ReadTransaction<'_>) -> Result<Vec<Preset>, StoreError> {
    store.presets().list(PresetKind::Template)
}

/// All templates, with the user's in place of built-in ones of the same id.
fn library_with(own: &[Preset]) -> ApiResult<Cow<'static, TemplateLibrary>> {
    let mut library = Cow::Borrowed(built_in()?);
    for preset in own {
        match from_json(&preset.json) {
            Ok(read) => library.to_mut().put(PromptTemplate {
                id: preset.key.clone(),
                ..read.template
            }),
            Err(error) => {
                tracing::warn!(%error, template = preset.key, "a stored template cannot be read")
            }
        }
    }
    Ok(library)
}

/// The template with this id among the built-in ones and `own`; see [`Prompts::template`].
pub(crate) fn template_among(
    own: &[Preset],
    id: &str,
) -> ApiResult<(ResolvedTemplate, Option<String>)> {
    let library = library_with(own)?;
    template_in(&library, id, DEFAULT)
}

fn template_in(
    library: &TemplateLibrary,
    id: &str,
    default: &'static str,
) -> ApiResult<(ResolvedTemplate, Option<String>)> {
    let wanted = if id == "auto" { default } else { id };
    let found = library
        .get(wanted)
        .ok_or_else(|| format!("The template \"{wanted}\" no longer exists"));
    match found.and_then(|template| resolve(template, library).map_err(|error| error.to_string())) {
        Ok(resolved) => Ok((resolved, None)),
        Err(why) => {
            let built_in = built_in()?;
            let default = built_in
                .get(default)
                .ok_or_else(|| internal("the default template is missing"))?;
            let resolved =
                resolve(default, built_in).map_err(|error| internal(&error.to_string()))?;
            Ok((
                resolved,
                Some(format!("{why}, so the built-in template is used.")),
            ))
        }
    }
}

fn template_line(line: &prompt_template::TemplateLine) -> TemplateText {
    TemplateText {
        text: line.text().to_owned(),
        condition: line.condition().unwrap_or_default().to_owned(),
    }
}

fn built_in() -> ApiResult<&'static TemplateLibrary> {
    prompt_template::built_in().map_err(|error| internal(&error.to_string()))
}

fn summary(
    template: &PromptTemplate,
    built_in: &TemplateLibrary,
    own: &[Preset],
) -> TemplateSummary {
    let built_in = built_in.get(&template.id).is_some();
    TemplateSummary {
        id: template.id.clone(),
        name: template.name.clone(),
        description: template.description.clone(),
        kind: template.kind,
        built_in,
        changed: built_in && own.iter().any(|preset| preset.key == template.id),
    }
}

pub(crate) fn problem(problem: Problem) -> TemplateProblem {
    TemplateProblem {
        severity: problem.severity,
        section: problem.section,
        variable: problem.variable,
        message: problem.message,
    }
}

/// Returns `wanted`, or a similar id that no template has.
pub(crate) fn free_id(wanted: &str, library: &TemplateLibrary) -> String {
    match library.get(wanted) {
        None => wanted.to_owned(),
        Some(_) => format!("{wanted}-{}", &Uuid::new_v4().simple().to_string()[..8]),
    }
}
