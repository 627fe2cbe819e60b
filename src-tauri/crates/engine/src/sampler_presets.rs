//! Named values of the samplers, chosen for all, a model, a character or a chat by the setting `sampler_preset`. They stand
//! in for what the same layer does not say itself.

use std::collections::BTreeMap;

use context::convert::{SamplerPreset, write_sampler};
use context::prompt_template::slug;
use domain::settings::{Kind, Layer, Value, preset_setting};

use crate::Engine;
use crate::api::{self, Changed};
use crate::error::{Answer, bad_input, internal, not_found};
use crate::layered::refused;

/// Rows of the table of settings: this, and the preset's id.
const ROW: &str = "sampler_preset:";

/// Bytes of a name.
const MAX_NAME: usize = 200;

/// Presets at the most: each is offered in a list.
const MOST: usize = 500;

impl Engine {
    /// In the order of their names.
    pub async fn list_sampler_presets(&self) -> Answer<Vec<api::SamplerPreset>> {
        let mut all: Vec<_> = self.sampler_presets().await?.into_iter().map(shown).collect();
        all.sort_by_cached_key(|preset| preset.name.to_lowercase());
        Ok(all)
    }

    /// Adds a preset (an empty `id`) or changes one. What its file had besides stays with it.
    ///
    /// # Errors
    /// `BadInput` for a name that is none, and for a value that its setting does not take.
    pub async fn save_sampler_preset(&self, preset: api::SamplerPreset) -> Answer<api::SamplerPreset> {
        let name = preset.name.trim().to_owned();
        if name.is_empty() || name.len() > MAX_NAME {
            return Err(bad_input("A preset needs a short name.", "Write a few words."));
        }
        let mut values = BTreeMap::new();
        for (key, value) in preset.values {
            let setting = preset_setting(&key).ok_or_else(|| {
                let key: String = key.chars().take(60).collect();
                bad_input(format!("{key} is no value of a preset."), "Leave it out.")
            })?;
            let value = setting.kind.check(value.into()).map_err(|refusal| refused(setting, &refusal))?;
            values.insert(key, value);
        }
        let known = self.sampler_presets().await?;
        let kept = known.get(&preset.id).map(|known| known.kept.clone()).unwrap_or_default();
        let id = if preset.id.is_empty() { free_id(&name, &known)? } else { preset.id };
        self.keep_sampler_preset(id, SamplerPreset { name, values, kept }).await
    }

    /// Whoever had chosen it goes on with their own values.
    pub async fn delete_sampler_preset(&self, id: String) -> Answer<()> {
        let row = format!("{ROW}{id}");
        self.store().write(move |store| store.settings_mut().remove(&row)).await?;
        self.sampler_presets_changed(&id);
        Ok(())
    }

    /// The preset as SillyTavern reads it.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn export_sampler_preset(&self, id: String) -> Answer<String> {
        let preset = self.sampler_preset(&id).await?.ok_or_else(|| not_found("sampler preset"))?;
        serde_json::to_string_pretty(&write_sampler(&preset)).map_err(|error| internal(&error.to_string()))
    }

    /// Adds one that came in a file, which may have the longest of names.
    pub(crate) async fn import_sampler_preset(&self, mut preset: SamplerPreset) -> Answer<api::SamplerPreset> {
        preset.name.truncate(preset.name.floor_char_boundary(MAX_NAME));
        let id = free_id(&preset.name, &self.sampler_presets().await?)?;
        self.keep_sampler_preset(id, preset).await
    }

    /// The preset of that id, if there is one.
    pub(crate) async fn sampler_preset(&self, id: &str) -> Answer<Option<SamplerPreset>> {
        let row = format!("{ROW}{id}");
        let json = self.store().read(move |store| store.settings().get(&row)).await?;
        Ok(json.and_then(|json| serde_json::from_str(&json).ok()))
    }

    /// By id; one that cannot be read is passed over.
    pub(crate) async fn sampler_presets(&self) -> Answer<BTreeMap<String, SamplerPreset>> {
        let rows = self.store().read(|store| store.settings().all()).await?;
        let read = |(row, json): (&String, &String)| {
            Some((row.strip_prefix(ROW)?.to_owned(), serde_json::from_str(json).ok()?))
        };
        Ok(rows.iter().filter_map(read).collect())
    }

    async fn keep_sampler_preset(&self, id: String, preset: SamplerPreset) -> Answer<api::SamplerPreset> {
        let json = serde_json::to_string(&preset).map_err(|error| internal(&error.to_string()))?;
        let row = format!("{ROW}{id}");
        self.store().write(move |store| store.settings_mut().set(&row, &json)).await?;
        self.sampler_presets_changed(&id);
        Ok(shown((id, preset)))
    }

    fn sampler_presets_changed(&self, id: &str) {
        self.events().changed(Changed::Presets, Some(id.to_owned()));
        // Of everybody who has chosen it.
        self.events().changed(Changed::Settings, None);
    }
}

/// What the preset says, as a layer of settings; what is no value any more is passed over.
pub(crate) fn layer(preset: &SamplerPreset) -> Layer {
    Layer::of_preset(preset.values.iter().map(|(key, value)| (key.as_str(), value.clone())))
}

fn shown((id, preset): (String, SamplerPreset)) -> api::SamplerPreset {
    let taken = |(key, value): (String, Value)| {
        let setting = preset_setting(&key)?;
        Some((key, setting.kind.check(value).ok()?.into()))
    };
    let values = preset.values.into_iter().filter_map(taken).collect();
    api::SamplerPreset { id, name: preset.name, values }
}

/// One that says which it is and that the setting takes.
fn free_id(name: &str, known: &BTreeMap<String, SamplerPreset>) -> Answer<String> {
    if known.len() >= MOST {
        return Err(bad_input(format!("There are {MOST} sampler presets already."), "Delete some first."));
    }
    let wanted = slug(name);
    let takes = Kind::NameOr { word: "none" }.check(Value::Text(wanted.clone().into())).is_ok();
    let wanted = if takes && wanted != "none" { wanted } else { "preset".to_owned() };
    let free = |id: &String| !known.contains_key(id);
    let mut names = std::iter::once(wanted.clone()).chain((2..).map(|number| format!("{wanted}-{number}")));
    names.find(free).ok_or_else(|| internal("no name is free"))
}
