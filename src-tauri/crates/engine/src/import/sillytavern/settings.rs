//! Imports what SillyTavern's settings contain: personas and regex scripts.

use std::path::Path;

use domain::lorebook::Binding;
use domain::{PersonaId, lenient_json};
use serde_json::Value;

use crate::api::{ImportReport, Imported, PersonaDraft, Refused, Skipped};
use crate::base::error::{ApiResult, internal};
use crate::base::files::read_capped;
use crate::import::reports::progress::ImportRun;
use crate::import::sillytavern::FolderImports;
use crate::import::sillytavern::folder::{SETTINGS, SillyTavernFolder, composed, file_name};
use crate::import::sillytavern::persona_details::persona_place;
use crate::import::sillytavern::worlds::WantedBindings;
use crate::library::personas::persona::new_persona;

/// Maximum size of the settings file, in bytes.
pub(crate) const MAX_SETTINGS: usize = 32 << 20;
/// Maximum number of personas.
const MAX_PERSONAS: usize = 500;

impl FolderImports {
    /// Imports the personas with new names.
    pub(crate) async fn import_personas_of(
        &self,
        tavern: &mut SillyTavernFolder,
        settings: &Value,
        wishes: &mut WantedBindings,
        run: &mut ImportRun,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        let about = settings.pointer("/power_user/persona_descriptions");
        let mut known: Vec<(String, PersonaId)> = self
            .library()
            .personas
            .list_personas()
            .await?
            .into_iter()
            .map(|one| (one.name, one.id))
            .collect();
        for (picture, name) in personas(settings).take(MAX_PERSONAS) {
            if run.cancelled() {
                break;
            }
            run.step();
            let of_it = |field: &str| about.and_then(|about| about.get(picture)?.get(field));
            let there = known.iter().find(|(one, _)| one == name).map(|(_, id)| *id);
            let id = match &there {
                Some(id) => {
                    let reason = format!("there is already a persona \"{name}\"");
                    report.skipped.push(Skipped {
                        id: id.to_string(),
                        file: SETTINGS.into(),
                        reason,
                    });
                    *id
                }
                None => {
                    let about = about.and_then(|about| about.get(picture));
                    let Some(id) = self.import_persona(name, about, report).await? else {
                        continue;
                    };
                    known.push((name.to_owned(), id));
                    id
                }
            };
            wishes.add(of_it("lorebook"), Binding::Persona(id));
            if let Some(at) = tavern
                .avatars
                .iter()
                .position(|file| composed(&file_name(file)) == composed(picture))
            {
                let file = tavern.avatars.remove(at);
                self.import_persona_picture(id, &file, there.is_none(), report)
                    .await?;
            }
        }
        if !tavern.avatars.is_empty() && !run.cancelled() {
            let count = tavern.avatars.len();
            let reason = match count {
                1 => "1 picture was skipped, because it belongs to no persona".to_owned(),
                count => {
                    format!("{count} pictures were skipped, because they belong to no persona")
                }
            };
            report.skipped.push(Skipped {
                id: String::new(),
                file: "User Avatars".into(),
                reason,
            });
        }
        let more = personas(settings).count().saturating_sub(MAX_PERSONAS);
        if more > 0 {
            let reason = format!("{more} personas skipped: there are more than the maximum");
            report.skipped.push(Skipped {
                id: String::new(),
                file: SETTINGS.into(),
                reason,
            });
        }
        Ok(())
    }

    /// Imports a persona's picture. The result is added to the report row of the persona.
    async fn import_persona_picture(
        &self,
        id: PersonaId,
        file: &Path,
        new: bool,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        let told = match self.import_face_of_persona(id, file).await? {
            Ok(true) if !new => "its picture was imported now".to_owned(),
            Ok(_) => return Ok(()),
            Err(why) => format!("its picture {} was not imported: {why}", file_name(file)),
        };
        match (report.imported.last_mut(), report.skipped.last_mut()) {
            (Some(row), _) if new => row.warnings.push(told),
            (_, Some(row)) if !new => row.reason = format!("{}; {told}", row.reason),
            _ => {}
        }
        Ok(())
    }

    async fn import_persona(
        &self,
        name: &str,
        about: Option<&Value>,
        report: &mut ImportReport,
    ) -> ApiResult<Option<PersonaId>> {
        let text = about
            .and_then(|about| about.get("description")?.as_str())
            .unwrap_or_default();
        let mut warnings = Vec::new();
        let description = text.to_owned();
        let place = persona_place(about, &mut warnings);
        let persona = PersonaDraft {
            description,
            place,
            ..new_persona(name)
        };
        match self.library().personas.save_persona(persona).await {
            Ok(saved) => {
                report.imported.push(Imported {
                    warnings,
                    ..row("persona", saved.id.to_string(), saved.name)
                });
                Ok(Some(saved.id))
            }
            Err(error) => {
                let reason = format!("the persona \"{name}\": {error}");
                report.refused.push(Refused {
                    file: SETTINGS.into(),
                    kind: "malformed".into(),
                    reason,
                });
                Ok(None)
            }
        }
    }

    /// Imports the user's own scripts, which run in every chat.
    pub(crate) async fn import_scripts_of(
        &self,
        settings: &Value,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        let Some(scripts) = settings
            .pointer("/extension_settings/regex")
            .filter(|all| all.is_array())
        else {
            return Ok(());
        };
        let known = self.library().scripts.list_regex_scripts().await?;
        let fresh = |script: &&Value| {
            let name = script
                .get("scriptName")
                .and_then(Value::as_str)
                .unwrap_or_default();
            known.iter().all(|one| one.name != name)
        };
        let fresh: Vec<&Value> = scripts
            .as_array()
            .into_iter()
            .flatten()
            .filter(fresh)
            .collect();
        let text = serde_json::to_string(&fresh).map_err(|error| internal(&error.to_string()))?;
        report.imported.extend(
            self.prompt_imports
                .import_preset(SETTINGS, text.as_bytes())
                .await?
                .unwrap_or_default(),
        );
        Ok(())
    }
}

/// Reads the settings. Returns `Null` and reports the reason if they are unreadable, because cards
/// and chats do not need them. Blocks.
pub(crate) fn settings(tavern: &mut SillyTavernFolder) -> Value {
    let file = tavern.settings();
    if file.symlink_metadata().is_err() {
        return Value::Null;
    }
    let read = if tavern.holds_settings() {
        read_capped(&file, MAX_SETTINGS, "its settings").map_err(|(_, reason)| reason)
    } else {
        Err("it is a link that leads outside the folder, or nowhere".to_owned())
    };
    let parse = |bytes: Vec<u8>| {
        lenient_json::read(&bytes)
            .map(|(value, _)| value)
            .map_err(|error| error.to_string())
    };
    let parsed = read.and_then(parse);
    parsed.unwrap_or_else(|why| {
        tavern.leave(
            SETTINGS.to_owned(),
            format!(
                "personas, tags and bindings are not imported, because it cannot be read: {why}"
            ),
        );
        Value::Null
    })
}

/// Names of personas by picture file. Skips blank names.
pub(crate) fn personas(settings: &Value) -> impl Iterator<Item = (&String, &str)> {
    let all = settings
        .pointer("/power_user/personas")
        .and_then(Value::as_object);
    let named = |(picture, name)| Some((picture, Value::as_str(name)?.trim()));
    all.into_iter()
        .flatten()
        .filter_map(named)
        .filter(|(_, name)| !name.is_empty())
}

fn row(kind: &str, id: String, name: String) -> Imported {
    Imported {
        kind: kind.to_owned(),
        id,
        name,
        file: SETTINGS.to_owned(),
        warnings: Vec::new(),
    }
}
