//! Prompt templates: the built-in ones, those of the user, and what an editor asks about them.

use std::borrow::Cow;

use context::CountTokens as _;
use context::prompt_template::{
    self, Kind, Library, Problem, PromptTemplate, ResolvedTemplate, VariableSource, from_json, resolve,
};
use domain::prompt::Segment;
use store::{Preset, PresetKind};
use uuid::Uuid;

use crate::Engine;
use crate::answer::Answerer;
use crate::api::{
    Changed, RenderedSection, RenderedTemplate, Severity, TemplateDocument, TemplateKind, TemplateProblem,
    TemplateSummary, VariableDoc,
};
use crate::collect::Aim;
use crate::counting::Counter;
use crate::error::{Answer, bad_input, internal, not_found};
use crate::frame::{self, Section};
use crate::turn::TurnOptions;

/// The template of a chat that names none.
pub(crate) const DEFAULT: &str = "base-roleplay";

impl Engine {
    pub async fn list_templates(&self) -> Answer<Vec<TemplateSummary>> {
        let (library, own) = self.template_library().await?;
        let built_in = built_in()?;
        let row = |template: &PromptTemplate| summary(template, built_in, &own);
        Ok(library.iter().map(row).collect())
    }

    pub async fn get_template(&self, id: String) -> Answer<TemplateDocument> {
        let (library, own) = self.template_library().await?;
        let template = library.get(&id).ok_or_else(|| not_found("template"))?;
        let kept = own.into_iter().find(|preset| preset.key == template.id);
        let json = match &kept {
            Some(preset) => preset.json.clone(),
            None => serde_json::to_string_pretty(template).map_err(|error| internal(&error.to_string()))?,
        };
        Ok(TemplateDocument { summary: summary(template, built_in()?, kept.as_slice()), json })
    }

    pub async fn save_template(&self, id: String, json: String) -> Answer<TemplateDocument> {
        let problems = self.check_template(json.clone()).await?;
        if let Some(problem) = problems.iter().find(|problem| problem.severity == Severity::Error) {
            let place = problem.section.as_ref().map(|name| format!("In section \"{name}\": ")).unwrap_or_default();
            return Err(bad_input(format!("{place}{}.", problem.message), "Correct it, then save again."));
        }
        let read = from_json(&json).map_err(|error| bad_input(error.to_string(), "Correct it, then save again."))?;
        let (library, own) = self.template_library().await?;
        let key = match id.as_str() {
            "" => free_id(&read.template.id, &library),
            _ => id,
        };
        let template = PromptTemplate { id: key.clone(), ..read.template };
        let position = own.iter().find(|preset| preset.key == key).map_or(own.len() as i64, |preset| preset.position);
        let preset = Preset {
            kind: PresetKind::Template,
            key: key.clone(),
            character: None,
            name: template.name.clone(),
            position,
            json: serde_json::to_string_pretty(&template).map_err(|error| internal(&error.to_string()))?,
            source: None,
            updated: self.now(),
        };
        self.store().write(move |store| store.presets_mut().put(&preset)).await?;
        self.events().changed(Changed::Presets, Some(key.clone()));
        self.get_template(key).await
    }

    pub async fn delete_template(&self, id: String) -> Answer<()> {
        let key = id.clone();
        self.store().write(move |store| store.presets_mut().delete(PresetKind::Template, &key)).await?;
        self.events().changed(Changed::Presets, Some(id));
        Ok(())
    }

    pub async fn check_template(&self, json: String) -> Answer<Vec<TemplateProblem>> {
        let (library, _) = self.template_library().await?;
        Ok(prompt_template::check(&json, &library).into_iter().map(problem).collect())
    }

    pub async fn template_variables(&self) -> Answer<Vec<VariableDoc>> {
        let doc = |doc: prompt_template::VariableDoc| VariableDoc {
            name: doc.name.to_owned(),
            group: doc.group.to_owned(),
            description: doc.description.to_owned(),
            inputs: match doc.source {
                VariableSource::Given | VariableSource::Detail => Vec::new(),
                VariableSource::SameAs(of) => vec![of.to_owned()],
                VariableSource::MadeOf(inputs) => inputs.iter().map(|name| (*name).to_owned()).collect(),
            },
        };
        Ok(prompt_template::reference().into_iter().map(doc).collect())
    }

    /// The template filled in for a chat, whatever fits: what the plan would leave out is there as well.
    pub async fn render_template(&self, json: String, chat: String) -> Answer<RenderedTemplate> {
        let problems = self.check_template(json.clone()).await?;
        if problems.iter().any(|problem| problem.severity == Severity::Error) {
            return Ok(RenderedTemplate { problems, ..RenderedTemplate::default() });
        }
        let options = TurnOptions { template_json: Some(json), ..TurnOptions::default() };
        let chat = self.chat(chat.parse()?).await?;
        let answerer = self.answerer(&chat, &options).await?;
        let collected = self.collect(chat, Aim::Last, &answerer, &options).await?;
        let built = frame::build(&collected, &answerer, self.clock(), self.now())?;
        let texts = built.sections.iter().map(|section| section.text.clone()).collect();
        let tokens = self.count_texts(&answerer, texts).await?;
        let rendered =
            |(Section { name, text, .. }, tokens): (Section, &u32)| RenderedSection { name, text, tokens: *tokens };
        let sections: Vec<RenderedSection> = built.sections.into_iter().zip(&tokens).map(rendered).collect();
        Ok(RenderedTemplate {
            text: sections.iter().map(|section| section.text.as_str()).collect::<Vec<_>>().join("\n\n"),
            tokens: tokens.iter().sum(),
            sections,
            problems,
        })
    }

    /// Counts of texts as contents.
    async fn count_texts(&self, answerer: &Answerer, texts: Vec<String>) -> Answer<Vec<u32>> {
        let segments: Vec<Segment> = texts.into_iter().map(|text| Segment { text, control: false }).collect();
        let mut counter = Counter::new(self, answerer);
        let unknown: Vec<Segment> =
            segments.iter().filter(|segment| counter.count(segment).is_none()).cloned().collect();
        if !unknown.is_empty() {
            counter.learn(unknown).await?;
        }
        Ok(segments.iter().map(|segment| counter.count(segment).unwrap_or(0)).collect())
    }

    /// The template that `json` writes, with everything it extends.
    ///
    /// # Errors
    /// `BadInput` if it is none, or extends what there is not.
    pub(crate) async fn written_template(&self, json: &str) -> Answer<ResolvedTemplate> {
        let (library, _) = self.template_library().await?;
        let wrong = |why: String| bad_input(format!("The template cannot be used: {why}."), "Correct it.");
        let read = from_json(json).map_err(|error| wrong(error.to_string()))?;
        resolve(&read.template, &library).map_err(|error| wrong(error.to_string()))
    }

    /// The template of that id with everything it extends; the default where it is gone, with a notice.
    pub(crate) async fn template(&self, id: &str) -> Answer<(ResolvedTemplate, Option<String>)> {
        self.template_or(id, DEFAULT).await
    }

    /// [`Engine::template`] with another default, one that ships.
    pub(crate) async fn template_or(
        &self,
        id: &str,
        default: &'static str,
    ) -> Answer<(ResolvedTemplate, Option<String>)> {
        let (library, _) = self.template_library().await?;
        let wanted = if id == "auto" { default } else { id };
        let found = library.get(wanted).ok_or_else(|| format!("There is no template \"{wanted}\" any more"));
        match found.and_then(|template| resolve(template, &library).map_err(|error| error.to_string())) {
            Ok(resolved) => Ok((resolved, None)),
            Err(why) => {
                let built_in = built_in()?;
                let default = built_in.get(default).ok_or_else(|| internal("the default template is missing"))?;
                let resolved = resolve(default, built_in).map_err(|error| internal(&error.to_string()))?;
                Ok((resolved, Some(format!("{why}, so the built-in template is used."))))
            }
        }
    }

    /// All templates, the user's own in place of built-ins with the same id; and the rows of the user's own.
    pub(crate) async fn template_library(&self) -> Answer<(Cow<'static, Library>, Vec<Preset>)> {
        let own = self.store().read(|store| store.presets().list(PresetKind::Template)).await?;
        let mut library = Cow::Borrowed(built_in()?);
        for preset in &own {
            match from_json(&preset.json) {
                Ok(read) => library.to_mut().put(PromptTemplate { id: preset.key.clone(), ..read.template }),
                Err(error) => tracing::warn!(%error, template = preset.key, "a stored template cannot be read"),
            }
        }
        Ok((library, own))
    }
}

fn built_in() -> Answer<&'static Library> {
    prompt_template::built_in().map_err(|error| internal(&error.to_string()))
}

fn summary(template: &PromptTemplate, built_in: &Library, own: &[Preset]) -> TemplateSummary {
    let built_in = built_in.get(&template.id).is_some();
    TemplateSummary {
        id: template.id.clone(),
        name: template.name.clone(),
        description: template.description.clone(),
        kind: match template.kind {
            Kind::Roleplay => TemplateKind::Roleplay,
            Kind::Utility => TemplateKind::Utility,
        },
        built_in,
        changed: built_in && own.iter().any(|preset| preset.key == template.id),
    }
}

pub(crate) fn problem(problem: Problem) -> TemplateProblem {
    let severity = match problem.severity {
        prompt_template::Severity::Error => Severity::Error,
        prompt_template::Severity::Warning => Severity::Warning,
    };
    TemplateProblem { severity, section: problem.section, variable: problem.variable, message: problem.message }
}

/// `wanted`, or something like it that no template has.
pub(crate) fn free_id(wanted: &str, library: &Library) -> String {
    match library.get(wanted) {
        None => wanted.to_owned(),
        Some(_) => format!("{wanted}-{}", &Uuid::new_v4().simple().to_string()[..8]),
    }
}
