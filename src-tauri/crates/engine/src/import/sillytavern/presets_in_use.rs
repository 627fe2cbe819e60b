//! Imports the presets of a SillyTavern folder: all that the user made, and those in use. The ones
//! in use are then chosen in the settings, so that a chat answers as it did there.

use std::path::{Path, PathBuf};

use context::convert::convert;
use domain::lenient_json;
use serde_json::{Value, json};
use store::{PresetKind, QuickReplyOwner};

use crate::api::{ImportReport, Imported, PresetChoice, SettingOwner, Skipped};
use crate::base::error::{ApiResult, internal};
use crate::base::files::read_capped;
use crate::import::reports::progress::ImportRun;
use crate::import::sillytavern::FolderImports;
use crate::import::sillytavern::folder::{SETTINGS, SillyTavernFolder, composed, file_name, stem};
use crate::import::sillytavern::settings::MAX_SETTINGS;
use crate::import::sillytavern::shipped_presets::is_shipped;

/// Maximum number of names in one line of the report.
const NAMED: usize = 12;
/// The folder of presets for chat completion.
const CHAT_COMPLETION: &str = "OpenAI Settings";
const CONTEXT: &str = "context";
const SYSTEM_PROMPT: &str = "sysprompt";

/// Folders of presets, and the JSON pointer to the name of the one in use.
pub(crate) const PRESETS: [(&str, &str); 7] = [
    ("TextGen Settings", "/textgenerationwebui_settings/preset"),
    (CHAT_COMPLETION, "/oai_settings/preset_settings_openai"),
    ("instruct", "/power_user/instruct/preset"),
    (CONTEXT, "/power_user/context/preset"),
    (SYSTEM_PROMPT, "/power_user/sysprompt/name"),
    ("KoboldAI Settings", "/kai_settings/preset_settings"),
    ("NovelAI Settings", "/nai_settings/preset_settings_novel"),
];

/// Kinds of imported presets, the settings that choose them, and the words for the report.
const CHOSEN_BY: [(&str, &str, &str); 3] = [
    ("template", "template", "prompt template"),
    ("samplerPreset", "sampler_preset", "sampler preset"),
    ("chatFormat", "chat_format", "chat format"),
];

/// A preset that is in the library now.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stored {
    kind: String,
    id: String,
    name: String,
}

/// The presets in use, best first for each kind.
#[derive(Default)]
pub(crate) struct InUse(Vec<Stored>);

impl InUse {
    fn add(&mut self, stored: Vec<Stored>) {
        for one in stored {
            if !self.0.iter().any(|known| known.kind == one.kind) {
                self.0.push(one);
            }
        }
    }
}

impl FolderImports {
    /// Imports the user's own presets and those in use. The others come with SillyTavern and are
    /// skipped by name.
    pub(crate) async fn import_presets_of(
        &self,
        tavern: &mut SillyTavernFolder,
        settings: &Value,
        run: &mut ImportRun,
        report: &mut ImportReport,
    ) -> ApiResult<InUse> {
        let mut in_use = InUse::default();
        let mut parts = Vec::new();
        for (folder, place) in PRESETS {
            if run.cancelled() {
                break;
            }
            let name = composed(
                settings
                    .pointer(place)
                    .and_then(Value::as_str)
                    .unwrap_or_default(),
            );
            let mut shipped = Vec::new();
            for file in tavern.presets(folder) {
                let used = stem(&file) == name;
                if !used && is_shipped(&stem(&file)) {
                    shipped.push(stem(&file));
                    continue;
                }
                let stored = self.import_own_preset(&file, None, report).await?;
                if used && is_active(folder, settings) {
                    parts.push((folder, file, stored));
                }
            }
            report.skipped.extend(shipped_row(folder, &shipped));
            run.step();
        }
        if let Some(merged) = self.import_merged(&parts, report).await? {
            in_use.add(merged);
        }
        // The one of the story string is more than the one of the system prompt.
        parts.sort_by_key(|(folder, ..)| *folder == SYSTEM_PROMPT);
        parts
            .into_iter()
            .for_each(|(_, _, stored)| in_use.add(stored));
        Ok(in_use)
    }

    /// Combines the context template and the system prompt in use, which are two files there and
    /// one template here.
    async fn import_merged(
        &self,
        parts: &[(&str, PathBuf, Vec<Stored>)],
        report: &mut ImportReport,
    ) -> ApiResult<Option<Vec<Stored>>> {
        let of = |wanted: &str| {
            parts
                .iter()
                .find(|(folder, ..)| *folder == wanted)
                .map(|(_, file, _)| file.clone())
        };
        let (Some(context), Some(prompt)) = (of(CONTEXT), of(SYSTEM_PROMPT)) else {
            return Ok(None);
        };
        let name = format!("{}, {}", stem(&context), stem(&prompt));
        let read =
            tokio::task::spawn_blocking(move || Some((read_json(&context)?, read_json(&prompt)?)))
                .await;
        let Some((context, prompt)) = read.map_err(|_| internal("a preset could not be read"))?
        else {
            return Ok(None);
        };
        let bundle =
            json!({ "name": name, "context": renamed(context, &name), "sysprompt": prompt })
                .to_string();
        let file = PathBuf::from(format!("{name}.json"));
        Ok(Some(
            self.import_own_preset(&file, Some(bundle), report).await?,
        ))
    }

    /// Imports a preset unless it is in the library, and returns what the library has of it. `text`
    /// replaces the content of the file.
    async fn import_own_preset(
        &self,
        file: &Path,
        text: Option<String>,
        report: &mut ImportReport,
    ) -> ApiResult<Vec<Stored>> {
        let known = self.stored_preset(file.to_owned(), text.clone()).await?;
        if !known.is_empty() {
            let reason = "it was imported before".to_owned();
            report.skipped.push(Skipped {
                id: known[0].id.clone(),
                file: file_name(file),
                reason,
            });
            return Ok(known);
        }
        let before = report.imported.len();
        match text {
            Some(text) => {
                self.file_imports
                    .import_one(file_name(file), text.into_bytes(), report)
                    .await?
            }
            None => self.file_imports.import_path(file, false, report).await?,
        }
        let new = report.imported.get(before..).unwrap_or_default().iter();
        Ok(new
            .map(|one| Stored {
                kind: one.kind.clone(),
                id: one.id.clone(),
                name: one.name.clone(),
            })
            .collect())
    }

    /// The items of the same file in the library: templates and chat formats with this source, and
    /// a sampler preset with its name.
    async fn stored_preset(&self, file: PathBuf, text: Option<String>) -> ApiResult<Vec<Stored>> {
        let name = stem(&file);
        let read = move || match text {
            Some(text) => text,
            None => read_capped(&file, MAX_SETTINGS, "a preset")
                .ok()
                .and_then(|bytes| clean(&bytes))
                .unwrap_or_default(),
        };
        let text = tokio::task::spawn_blocking(read)
            .await
            .map_err(|_| internal("a file could not be read"))?;
        let mut found = Vec::new();
        let samplers = convert(&name, &text)
            .ok()
            .and_then(|converted| converted.sampling);
        if samplers.is_some_and(|one| !one.values.is_empty()) {
            let known = self.config().prompts.list_sampler_presets().await?;
            let known = known
                .into_iter()
                .find(|known| !known.built_in && known.name == name);
            found.extend(known.map(|one| Stored {
                kind: "samplerPreset".into(),
                id: one.id,
                name: one.name,
            }));
        }
        let kinds = [
            (PresetKind::Template, "template"),
            (PresetKind::ChatFormat, "chatFormat"),
        ];
        let read = self.base().store().read(move |store| {
            kinds
                .iter()
                .map(|(kind, word)| Ok((*word, store.presets().list(*kind)?)))
                .collect::<Result<Vec<_>, _>>()
        });
        for (kind, presets) in read.await? {
            let same = presets
                .into_iter()
                .filter(|preset| preset.source.as_deref() == Some(text.as_str()));
            found.extend(same.map(|one| Stored {
                kind: kind.to_owned(),
                id: one.key,
                name: one.name,
            }));
        }
        Ok(found)
    }

    /// Chooses the presets in use for the whole app, and shows the quick replies in use in every
    /// chat. A setting that the user has changed here stays; the report then offers the preset.
    pub(crate) async fn use_presets(
        &self,
        in_use: InUse,
        settings: &Value,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        let of = crate::base::records::convert::owner(&SettingOwner::Global)?;
        let own = self
            .base()
            .store()
            .read(move |store| store.scoped_settings().of(of))
            .await?;
        let mut taken = Vec::new();
        for (kind, key, words) in CHOSEN_BY {
            let Some(Stored { id, name, .. }) =
                in_use.0.iter().find(|one| one.kind == kind).cloned()
            else {
                continue;
            };
            if own
                .get(key)
                .is_some_and(|stored| stored.trim_matches('"') == id)
            {
                continue;
            }
            if own.contains_key(key) {
                report.choices.push(PresetChoice {
                    setting: key.to_owned(),
                    value: id,
                    name: format!("{words} {name}"),
                });
                continue;
            }
            match self
                .config()
                .setting_edits
                .set_setting_in_words(SettingOwner::Global, key.to_owned(), id)
                .await
            {
                Ok(_) => taken.push(format!("{words}: {name}")),
                Err(error) => taken.push(format!("{words} {name} is not used: {error}")),
            }
        }
        let shown = self.show_quick_replies(settings, report).await?;
        taken.extend(
            shown
                .into_iter()
                .map(|name| format!("quick replies in every chat: {name}")),
        );
        if !taken.is_empty() {
            let kind = "settings".to_owned();
            let name = "Presets in use".to_owned();
            let file = SETTINGS.to_owned();
            report.imported.push(Imported {
                kind,
                id: String::new(),
                name,
                file,
                warnings: taken,
            });
        }
        Ok(())
    }

    /// Shows the new sets in every chat that SillyTavern shows in every chat. Returns their names.
    async fn show_quick_replies(
        &self,
        settings: &Value,
        report: &mut ImportReport,
    ) -> ApiResult<Vec<String>> {
        let names = quick_replies_in_use(settings);
        let mut shown = Vec::new();
        let sets = report
            .imported
            .iter_mut()
            .filter(|one| one.kind == "quickReplies");
        for row in sets.filter(|one| names.contains(&composed(&one.name))) {
            let id = row.id.clone();
            let bind = move |store: &mut store::WriteTransaction<'_>| {
                store
                    .quick_reply_bindings_mut()
                    .bind(&id, QuickReplyOwner::Global, true)
            };
            self.base().store().write(bind).await?;
            row.warnings
                .retain(|line| line != crate::library::quick_replies::files::NOT_SHOWN);
            shown.push(row.name.clone());
        }
        Ok(shown)
    }
}

/// Whether SillyTavern uses the chosen preset of this folder: it depends on the kind of service,
/// and two kinds can be switched off.
fn is_active(folder: &str, settings: &Value) -> bool {
    let api = settings.get("main_api").and_then(Value::as_str);
    let on = |place: &str| settings.pointer(place).and_then(Value::as_bool) != Some(false);
    let of_api = match folder {
        CHAT_COMPLETION => api.is_none_or(|api| api == "openai"),
        "TextGen Settings" => api.is_none_or(|api| api == "textgenerationwebui"),
        "KoboldAI Settings" => matches!(api, Some("kobold" | "koboldhorde")),
        "NovelAI Settings" => api == Some("novel"),
        _ => api != Some("openai"),
    };
    let switched_on = match folder {
        "instruct" => on("/power_user/instruct/enabled"),
        SYSTEM_PROMPT => on("/power_user/sysprompt/enabled"),
        _ => true,
    };
    of_api && switched_on
}

/// Names of the sets of quick replies that SillyTavern shows in every chat.
fn quick_replies_in_use(settings: &Value) -> Vec<String> {
    let Some(own) = settings.pointer("/extension_settings/quickReplyV2") else {
        return Vec::new();
    };
    if own.get("isEnabled").and_then(Value::as_bool) == Some(false) {
        return Vec::new();
    }
    let listed = own
        .pointer("/config/setList")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let shown = listed.filter(|one| one.get("isVisible").and_then(Value::as_bool) != Some(false));
    shown
        .filter_map(|one| Some(composed(one.get("set")?.as_str()?)))
        .collect()
}

fn shipped_row(folder: &str, names: &[String]) -> Option<Skipped> {
    let listed = names
        .iter()
        .take(NAMED)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    let more = if names.len() > NAMED { ", ..." } else { "" };
    let (reason, one) = match names.len() {
        0 => return None,
        1 => (
            "1 preset that comes with SillyTavern was not in use and was skipped".to_owned(),
            "it",
        ),
        count => (
            format!("{count} presets that come with SillyTavern were not in use and were skipped"),
            "one",
        ),
    };
    let reason = format!("{reason}: {listed}{more}. Drop its file on the window to import {one}");
    Some(Skipped {
        id: String::new(),
        file: folder.to_owned(),
        reason,
    })
}

fn clean(bytes: &[u8]) -> Option<String> {
    lenient_json::clean(bytes)
        .ok()
        .map(|clean| clean.text.into_owned())
}

fn read_json(file: &Path) -> Option<Value> {
    let bytes = read_capped(file, MAX_SETTINGS, "a preset").ok()?;
    lenient_json::read(&bytes).ok().map(|(value, _)| value)
}

fn renamed(mut preset: Value, name: &str) -> Value {
    if let Some(object) = preset.as_object_mut() {
        object.insert("name".to_owned(), name.into());
    }
    preset
}

#[cfg(test)]
mod tests;
