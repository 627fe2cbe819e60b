//! A whole folder of SillyTavern's: cards, their chats, lorebooks, personas, regex scripts, and the presets in use. What cannot come
//! along is told.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use context::convert::convert;
use domain::CharacterId;
use domain::chat_file;
use domain::lorebook::Binding;
use serde_json::Value;
use store::PresetKind;

use crate::Engine;
use crate::api::{Event, ImportReport, Imported, Persona, Refused, Skipped};
use crate::error::{Answer, bad_input, internal};
use crate::import::{files_in, read_capped};
use crate::import_worlds::{Wishes, metadata};

/// Where the user's own folder may be, from the one that was named.
const USERS: [&str; 4] = ["", "data/default-user", "default-user", "public"];
/// Bytes of its settings.
const MAX_SETTINGS: usize = 32 << 20;
/// Personas at the most.
const MAX_PERSONAS: usize = 500;

/// Folders of presets, and where its settings name the one in use.
const PRESETS: [(&str, &str); 5] = [
    ("TextGen Settings", "/textgenerationwebui_settings/preset"),
    ("OpenAI Settings", "/oai_settings/preset_settings_openai"),
    ("instruct", "/power_user/instruct/preset"),
    ("context", "/power_user/context/preset"),
    ("sysprompt", "/power_user/sysprompt/name"),
];

/// What has no place here yet.
const LEFT: [(&str, &str); 1] = [("group chats", "a chat of a group cannot be read yet")];

impl Engine {
    /// Imports what a folder of SillyTavern's holds. Everything that is not taken is in the report with a reason. What came
    /// in before is skipped. Listeners hear of it as well.
    ///
    /// # Errors
    /// `BadInput` if there are no characters below the folder, and if the database refuses.
    pub async fn import_sillytavern(&self, folder: PathBuf) -> Answer<ImportReport> {
        let root = USERS.iter().map(|user| folder.join(user)).find(|root| root.join("characters").is_dir());
        let root = root.ok_or_else(|| {
            let message = format!("{} is no folder of SillyTavern's: it has no characters.", folder.display());
            bad_input(message, "Name the folder that holds SillyTavern, or its data/default-user.")
        })?;
        let mut report = ImportReport::default();
        let settings = settings(&root.join(SETTINGS));
        let mut wishes = Wishes::default();
        // Chats are somebody's, with somebody, and lorebooks are bound to all of these.
        self.import_personas_of(&settings, &mut wishes, &mut report).await?;
        let characters = self.import_cards_of(&root, &mut report).await?;
        self.import_chats_of(&root, &characters, &mut wishes, &mut report).await?;
        for (character, new) in characters.values() {
            self.wish_of(*character, *new, &mut wishes).await?;
        }
        wishes.of_settings(&settings, &characters);
        self.import_worlds_of(&root.join("worlds"), wishes, &mut report).await?;
        self.import_scripts_of(&settings, &mut report).await?;
        self.import_presets_of(&root, &settings, &mut report).await?;
        for (name, reason) in LEFT {
            for file in files_in(&root.join(name)) {
                leave(&mut report, &file, reason);
            }
        }
        self.events().announce(Event::Imported { report: report.clone() });
        Ok(report)
    }

    /// The characters by the names of their files, which those of their chats' folders are too, and whether they are new.
    async fn import_cards_of(
        &self,
        root: &Path,
        report: &mut ImportReport,
    ) -> Answer<HashMap<String, (CharacterId, bool)>> {
        let mut characters = HashMap::new();
        for file in files_in(&root.join("characters")) {
            let (imported, skipped) = (report.imported.len(), report.skipped.len());
            self.import_path(&file, false, report).await?;
            let added = report.imported[imported..].iter().filter(|one| one.kind == "character");
            let known = report.skipped[skipped..].iter().map(|one| (&one.id, false));
            let mut ids = added.map(|one| (&one.id, true)).chain(known);
            if let (Some(stem), Some((id, new))) = (stem(&file), ids.next())
                && let Ok(id) = id.parse()
            {
                characters.insert(stem, (id, new));
            }
        }
        Ok(characters)
    }

    async fn import_chats_of(
        &self,
        root: &Path,
        characters: &HashMap<String, (CharacterId, bool)>,
        wishes: &mut Wishes,
        report: &mut ImportReport,
    ) -> Answer<()> {
        let folders = std::fs::read_dir(root.join("chats")).into_iter().flatten().flatten();
        let mut folders: Vec<PathBuf> = folders.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
        folders.sort();
        for folder in folders {
            let character = folder.file_name().and_then(|name| characters.get(&*name.to_string_lossy()));
            let character = character.map(|(id, _)| *id);
            for file in files_in(&folder).into_iter().filter(|file| file.extension().is_some_and(|end| end == "jsonl"))
            {
                let before = report.imported.len();
                self.import_chat_file(&file, character, report).await?;
                let chat = report.imported[before..].first().and_then(|one| one.id.parse().ok());
                if let (Some(chat), Some(about)) = (chat, metadata(&file)) {
                    wishes.add(about.get("world_info"), Binding::Chat(chat), true);
                }
            }
        }
        Ok(())
    }

    pub(crate) async fn import_chat_file(
        &self,
        file: &Path,
        with: Option<CharacterId>,
        report: &mut ImportReport,
    ) -> Answer<()> {
        let (path, name) = (file.to_owned(), name(file));
        let read = tokio::task::spawn_blocking(move || read_capped(&path, chat_file::MAX_FILE, "a chat"));
        match read.await.map_err(|_| internal("a file could not be read"))? {
            Ok(bytes) => self.import_chat(name, bytes, with, report).await?,
            Err((kind, reason)) => report.refused.push(Refused { file: name, kind: kind.into(), reason }),
        }
        Ok(())
    }

    /// Those of a name that is not known yet.
    async fn import_personas_of(&self, settings: &Value, wishes: &mut Wishes, report: &mut ImportReport) -> Answer<()> {
        let Some(personas) = settings.pointer("/power_user/personas").and_then(Value::as_object) else { return Ok(()) };
        let about = settings.pointer("/power_user/persona_descriptions");
        let mut known: Vec<String> = self.list_personas().await?.into_iter().map(|one| one.name).collect();
        for (picture, name) in personas.iter().take(MAX_PERSONAS) {
            let Some(name) = name.as_str().map(str::trim).filter(|name| !name.is_empty()) else { continue };
            if known.iter().any(|one| one == name) {
                continue;
            }
            let text = about.and_then(|about| about.get(picture)?.get("description")?.as_str()).unwrap_or_default();
            let persona = Persona {
                id: String::new(),
                name: name.to_owned(),
                description: text.to_owned(),
                instructions: String::new(),
            };
            match self.save_persona(persona).await {
                Ok(saved) => {
                    let book = about.and_then(|about| about.get(picture)?.get("lorebook"));
                    wishes.add(book, Binding::Persona(saved.id.parse()?), true);
                    known.push(saved.name.clone());
                    report.imported.push(row("persona", saved.id, saved.name));
                }
                Err(error) => report.refused.push(Refused {
                    file: SETTINGS.into(),
                    kind: "malformed".into(),
                    reason: format!("the persona \"{name}\": {error}"),
                }),
            }
        }
        Ok(())
    }

    /// The user's own, which run in every chat.
    async fn import_scripts_of(&self, settings: &Value, report: &mut ImportReport) -> Answer<()> {
        let Some(scripts) = settings.pointer("/extension_settings/regex").filter(|all| all.is_array()) else {
            return Ok(());
        };
        let known = self.list_regex_scripts().await?;
        let fresh = |script: &&Value| {
            let name = script.get("scriptName").and_then(Value::as_str).unwrap_or_default();
            known.iter().all(|one| one.name != name)
        };
        let fresh: Vec<&Value> = scripts.as_array().into_iter().flatten().filter(fresh).collect();
        let text = serde_json::to_string(&fresh).map_err(|error| internal(&error.to_string()))?;
        report.imported.extend(self.import_preset(SETTINGS, text.as_bytes()).await?.unwrap_or_default());
        Ok(())
    }

    /// Those in use: SillyTavern keeps some two hundred of its own in the same folders.
    async fn import_presets_of(&self, root: &Path, settings: &Value, report: &mut ImportReport) -> Answer<()> {
        for (folder, place) in PRESETS {
            let used = settings.pointer(place).and_then(Value::as_str).unwrap_or_default();
            let files = files_in(&root.join(folder));
            let (used, others): (Vec<_>, Vec<_>) =
                files.into_iter().partition(|file| stem(file).as_deref() == Some(used));
            for file in used {
                if self.has_preset(&file).await? {
                    leave(report, &file, "it came in before");
                } else {
                    self.import_path(&file, false, report).await?;
                }
            }
            if !others.is_empty() {
                let reason =
                    format!("{} presets that were not in use; import those that you want one by one", others.len());
                report.skipped.push(Skipped { id: String::new(), file: folder.to_owned(), reason });
            }
        }
        Ok(())
    }

    /// The very same file made a template or a chat format already, or there are samplers of its name.
    async fn has_preset(&self, file: &Path) -> Answer<bool> {
        let Ok(bytes) = read_capped(file, MAX_SETTINGS, "a preset") else { return Ok(false) };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let samplers = convert(&stem(file).unwrap_or_default(), &text).ok().and_then(|converted| converted.sampling);
        if samplers.is_some_and(|one| !one.values.is_empty()) {
            let known = self.list_sampler_presets().await?;
            return Ok(known.iter().any(|known| stem(file).as_deref() == Some(known.name.as_str())));
        }
        let kinds = [PresetKind::Template, PresetKind::ChatFormat];
        let stored = self.store().read(move |store| kinds.iter().map(|kind| store.presets().list(*kind)).collect());
        let stored: Vec<Vec<store::Preset>> = stored.await?;
        Ok(stored.iter().flatten().any(|preset| preset.source.as_deref() == Some(text.as_str())))
    }
}

const SETTINGS: &str = "settings.json";

/// Nothing where they cannot be read: cards and chats need none.
fn settings(file: &Path) -> Value {
    let bytes = read_capped(file, MAX_SETTINGS, "its settings").unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

fn row(kind: &str, id: String, name: String) -> Imported {
    Imported { kind: kind.to_owned(), id, name, file: SETTINGS.to_owned(), warnings: Vec::new() }
}

fn leave(report: &mut ImportReport, file: &Path, reason: &str) {
    report.skipped.push(Skipped { id: String::new(), file: name(file), reason: reason.to_owned() });
}

fn name(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn stem(file: &Path) -> Option<String> {
    Some(file.file_stem()?.to_string_lossy().into_owned())
}
