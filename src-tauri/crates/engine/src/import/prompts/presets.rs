//! Imports prompt templates, SillyTavern presets and regex scripts.

use context::convert::{Converted, convert};
use context::prompt_template::{self, Problem, PromptTemplate};
use domain::regex_script;
use serde_json::Value;
use store::{Preset, PresetKind};
use uuid::Uuid;

use crate::api::{Changed, Imported};
use crate::base::error::{ApiResult, internal};
use crate::import::prompts::PromptImports;

impl PromptImports {
    /// Imports `bytes` if they are a template of any version; returns `None` otherwise.
    pub(crate) async fn import_template(
        &self,
        file: &str,
        bytes: &[u8],
    ) -> ApiResult<Option<Imported>> {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Ok(None);
        };
        let Ok(loaded) = prompt_template::from_json(text) else {
            return Ok(None);
        };
        let mut notes = loaded.notes;
        notes.extend(
            self.doubts(&loaded.template)
                .await?
                .into_iter()
                .map(in_words),
        );
        self.keep_template(file, loaded.template, text, notes)
            .await
            .map(Some)
    }

    /// Imports `bytes` if they are a preset or a regex script; returns `None` otherwise. The
    /// original file is stored with the result.
    pub(crate) async fn import_preset(
        &self,
        file: &str,
        bytes: &[u8],
    ) -> ApiResult<Option<Vec<Imported>>> {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Ok(None);
        };
        let name = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        if let Some(scripts) = scripts(text) {
            let mut imported = Vec::new();
            for script in scripts {
                imported.push(self.keep_script(file, script, text).await?);
            }
            return Ok(Some(imported));
        }
        let Ok(converted) = convert(name, text) else {
            return Ok(None);
        };
        let mut imported = self.keep_converted(file, converted, text).await?;
        let brought = preset_scripts(text);
        if let (Some(first), false) = (imported.first_mut(), brought.is_empty()) {
            let count = brought.len();
            let verb = if brought.len() == 1 {
                "script comes"
            } else {
                "scripts come"
            };
            first.warnings.push(format!(
                "{count} regex {verb} with the preset, switched off: scripts change messages. Check them under Regex \
                 scripts, and switch them on there."
            ));
        }
        for script in brought {
            let script = regex_script::RegexScript {
                disabled: true,
                ..script
            };
            imported.push(self.keep_script(file, script, text).await?);
        }
        Ok(Some(imported))
    }

    async fn keep_converted(
        &self,
        file: &str,
        converted: Converted,
        text: &str,
    ) -> ApiResult<Vec<Imported>> {
        let mut notes: Vec<String> = converted
            .report
            .iter()
            .map(|note| format!("{}: {}", note.field, note.what))
            .collect();
        let sampling = converted
            .sampling
            .filter(|sampling| !sampling.values.is_empty());
        let mut imported = Vec::new();
        for template in converted.templates {
            // The conversion chose the variables, so problems with them do not concern the user.
            let doubts = self
                .doubts(&template)
                .await?
                .into_iter()
                .filter(|doubt| doubt.variable.is_none());
            notes.extend(doubts.map(in_words));
            imported.push(
                self.keep_template(file, template, text, std::mem::take(&mut notes))
                    .await?,
            );
        }
        if let Some(format) = converted.format {
            let document = serde_json::json!({ "name": format.name, "jinja": format.jinja, "stop": format.stop });
            let key = format.name.clone();
            let preset = self
                .preset(
                    PresetKind::ChatFormat,
                    key,
                    format.name,
                    document.to_string(),
                    text,
                )
                .await?;
            imported.push(row("chatFormat", &preset, file, std::mem::take(&mut notes)));
        }
        if let Some(sampling) = sampling {
            let preset = self
                .config()
                .prompts
                .import_sampler_preset(sampling)
                .await?;
            let kind = "samplerPreset".to_owned();
            let file = file.to_owned();
            imported.push(Imported {
                kind,
                id: preset.id,
                name: preset.name,
                file,
                warnings: std::mem::take(&mut notes),
            });
        }
        self.base().events().changed(Changed::Presets, None);
        Ok(imported)
    }

    /// Problems of a template, such as unknown names.
    async fn doubts(&self, template: &PromptTemplate) -> ApiResult<Vec<Problem>> {
        let json = serde_json::to_string(template).map_err(|error| internal(&error.to_string()))?;
        let (library, _) = self.config().prompts.template_library().await?;
        Ok(prompt_template::check(&json, &library))
    }

    async fn keep_template(
        &self,
        file: &str,
        template: PromptTemplate,
        text: &str,
        notes: Vec<String>,
    ) -> ApiResult<Imported> {
        let (library, _) = self.config().prompts.template_library().await?;
        let key = crate::settings::prompts::templates::free_id(&template.id, &library);
        let template = PromptTemplate {
            id: key.clone(),
            ..template
        };
        let json = serde_json::to_string_pretty(&template)
            .map_err(|error| internal(&error.to_string()))?;
        let preset = self
            .preset(PresetKind::Template, key, template.name, json, text)
            .await?;
        Ok(row("template", &preset, file, notes))
    }

    async fn keep_script(
        &self,
        file: &str,
        script: regex_script::RegexScript,
        text: &str,
    ) -> ApiResult<Imported> {
        let id = Uuid::now_v7().to_string();
        let script = regex_script::RegexScript {
            id: id.clone(),
            ..script
        };
        let json = serde_json::to_string(&script).map_err(|error| internal(&error.to_string()))?;
        let notes = script_note(&script).into_iter().collect();
        let preset = self
            .preset(PresetKind::RegexScript, id, script.script_name, json, text)
            .await?;
        Ok(row("regexScript", &preset, file, notes))
    }

    async fn preset(
        &self,
        kind: PresetKind,
        key: String,
        name: String,
        json: String,
        source: &str,
    ) -> ApiResult<Preset> {
        let source = Some(source.to_owned());
        let updated = self.base().now();
        let preset = self
            .base()
            .store()
            .write(move |store| {
                let position = store.presets().list(kind)?.len() as i64;
                let preset = Preset {
                    kind,
                    key,
                    character: None,
                    name,
                    position,
                    json,
                    source,
                    updated,
                };
                store.presets_mut().put(&preset)?;
                Ok(preset)
            })
            .await?;
        self.base()
            .events()
            .changed(Changed::Presets, Some(preset.key.clone()));
        Ok(preset)
    }
}

/// Says that a script cannot wait for its depth.
pub(crate) fn script_note(script: &regex_script::RegexScript) -> Option<String> {
    let least = script.skips_new_messages()?;
    let when = if script.run_on_edit {
        "only when you edit an older message"
    } else {
        "on no message"
    };
    Some(format!(
        "it changes the message itself from depth {least} on, but a new message has depth 0: it runs {when}. To hide the \
         text later, choose the screen or the prompt under \"What it changes\""
    ))
}

fn in_words(problem: Problem) -> String {
    let place = problem
        .section
        .map(|name| format!("section \"{name}\": "))
        .unwrap_or_default();
    format!("{place}{}", problem.message)
}

fn row(kind: &str, preset: &Preset, file: &str, warnings: Vec<String>) -> Imported {
    let id = preset.key.clone();
    let name = preset.name.clone();
    Imported {
        kind: kind.into(),
        id,
        name,
        file: file.to_owned(),
        warnings,
    }
}

/// Regex scripts in the extensions of a preset.
fn preset_scripts(text: &str) -> Vec<regex_script::RegexScript> {
    let value: Value =
        serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default();
    let listed = value
        .get("extensions")
        .and_then(|all| all.get("regex_scripts"));
    listed
        .filter(|scripts| scripts.is_array())
        .map(|scripts| regex_script::read(scripts).0)
        .unwrap_or_default()
}

/// Parses regex scripts, which are the only files with the field `findRegex`.
fn scripts(text: &str) -> Option<Vec<regex_script::RegexScript>> {
    let value: Value = serde_json::from_str(text).ok()?;
    let is_script = |value: &Value| value.get("findRegex").is_some();
    let all = match &value {
        Value::Array(items) => !items.is_empty() && items.iter().all(is_script),
        one => is_script(one),
    };
    all.then(|| regex_script::read(&value).0)
}
