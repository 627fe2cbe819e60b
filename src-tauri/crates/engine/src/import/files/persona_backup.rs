//! Imports SillyTavern's persona backup: names by picture file, and descriptions.

use domain::PersonaId;
use serde_json::{Map, Value};

use crate::api::{ImportReport, Imported, PersonaDraft, Refused, Skipped};
use crate::base::error::ApiResult;
use crate::import::files::FileImports;
use crate::import::sillytavern::persona_details::persona_place;
use crate::library::personas::persona::new_persona;

/// Maximum number of personas per file.
const MAX_PERSONAS: usize = 500;

impl FileImports {
    /// Imports the personas of a backup that have new names. Returns `false` if the file is not a
    /// persona backup.
    pub(crate) async fn import_personas(
        &self,
        file: &str,
        json: &Value,
        report: &mut ImportReport,
    ) -> ApiResult<bool> {
        let Some(PersonaBackup { names, about }) = PersonaBackup::of(json) else {
            return Ok(false);
        };
        let mut known: Vec<(String, PersonaId)> = self
            .library()
            .personas
            .list_personas()
            .await?
            .into_iter()
            .map(|one| (one.name, one.id))
            .collect();
        let named = names
            .iter()
            .filter_map(|(picture, name)| Some((picture, name.as_str()?.trim())));
        let mut taken = 0;
        let mut left = 0;
        for (picture, name) in named.filter(|(_, name)| !name.is_empty()) {
            if taken >= MAX_PERSONAS {
                left += 1;
                continue;
            }
            taken += 1;
            if let Some((_, id)) = known.iter().find(|(one, _)| one == name) {
                let reason = format!("there is already a persona \"{name}\"");
                report.skipped.push(Skipped {
                    id: id.to_string(),
                    file: file.to_owned(),
                    reason,
                });
                continue;
            }
            let about = about.and_then(|about| about.get(picture));
            if let Some(id) = self.import_persona_of(file, name, about, report).await? {
                known.push((name.to_owned(), id));
            }
        }
        if left > 0 {
            let reason = format!("{left} more personas are left out");
            report.skipped.push(Skipped {
                id: String::new(),
                file: file.to_owned(),
                reason,
            });
        }
        if taken == 0 {
            let reason = "this persona backup contains no persona with a name".to_owned();
            report.refused.push(Refused {
                file: file.to_owned(),
                kind: "malformed".into(),
                reason,
            });
        }
        Ok(true)
    }

    async fn import_persona_of(
        &self,
        file: &str,
        name: &str,
        about: Option<&Value>,
        report: &mut ImportReport,
    ) -> ApiResult<Option<PersonaId>> {
        let text = |field: &str| {
            about
                .and_then(|about| about.get(field)?.as_str())
                .unwrap_or_default()
        };
        let mut warnings = Vec::new();
        let description = text("description").to_owned();
        let place = persona_place(about, &mut warnings);
        let persona = PersonaDraft {
            description,
            place,
            ..new_persona(name)
        };
        match self.library().personas.save_persona(persona).await {
            Ok(saved) => {
                if !text("lorebook").is_empty() {
                    let book: String = text("lorebook").chars().take(80).collect();
                    warnings
                        .push(format!("its lorebook \"{book}\" is not in this file; bind it to the persona yourself"));
                }
                let kind = "persona".to_owned();
                let id = saved.id;
                report.imported.push(Imported {
                    kind,
                    id: id.to_string(),
                    name: saved.name,
                    file: file.to_owned(),
                    warnings,
                });
                Ok(Some(saved.id))
            }
            Err(error) => {
                let reason = format!("the persona \"{name}\": {error}");
                report.refused.push(Refused {
                    file: file.to_owned(),
                    kind: "malformed".into(),
                    reason,
                });
                Ok(None)
            }
        }
    }
}

struct PersonaBackup<'a> {
    /// Names by picture file.
    names: &'a Map<String, Value>,
    about: Option<&'a Value>,
}

impl<'a> PersonaBackup<'a> {
    fn of(json: &'a Value) -> Option<Self> {
        let names = json.get("personas")?.as_object()?;
        let about = json.get("persona_descriptions");
        (about.is_some() || json.get("default_persona").is_some()).then_some(Self { names, about })
    }
}
