//! Named sets of sampler values. The setting `sampler_preset` chooses one for all chats, a model, a
//! character or a chat. Its values apply where the same layer does not set its own.

use std::collections::BTreeMap;

use context::convert::{SamplerPreset, write_sampler};
use context::prompt_template::slug;
use domain::settings::{ConfigValue, Layer, ValueType, preset_setting};

use crate::api::{self, Changed, DraftKind};
use crate::base::error::{ApiResult, bad_input, internal, not_found};
use crate::settings::layers::edits::refused;
use crate::settings::prompts::Prompts;
use crate::settings::prompts::built_in_samplers::{built_in, place};

/// Prefix of rows in the settings table, before the id of the preset.
const ROW: &str = "sampler_preset:";

/// Maximum length of a name, in bytes.
const MAX_NAME: usize = 200;

/// Maximum number of presets, because a list shows all of them.
const MOST: usize = 500;

/// The row of the user's preset `id` in the settings table.
pub(super) fn row(id: &str) -> String {
    format!("{ROW}{id}")
}

/// The preset in `json`, the user's row of `id`, or else the built-in one.
pub(super) fn own_or_built_in(json: Option<String>, id: &str) -> Option<SamplerPreset> {
    let own = json.and_then(|json| serde_json::from_str(&json).ok());
    own.or_else(|| built_in().get(place(id)?).map(|(_, preset)| preset.clone()))
}

impl Prompts {
    /// Lists the user's presets by name, then the built-in ones.
    pub(crate) async fn list_sampler_presets(&self) -> ApiResult<Vec<api::SamplerPreset>> {
        let mut own: Vec<_> = self
            .own_sampler_presets()
            .await?
            .into_iter()
            .map(shown)
            .collect();
        own.sort_by_cached_key(|preset| preset.name.to_lowercase());
        let built_in = built_in()
            .iter()
            .filter(|(id, _)| own.iter().all(|one| one.id != *id));
        let built_in: Vec<_> = built_in
            .map(|preset| api::SamplerPreset {
                built_in: true,
                ..shown(preset.clone())
            })
            .collect();
        Ok([own, built_in].concat())
    }

    /// Adds a preset (an empty `id`) or changes one. Other data of its file stays with it.
    ///
    /// # Errors
    /// `BadInput` for an invalid name or value.
    pub(crate) async fn save_sampler_preset(
        &self,
        preset: api::SamplerPreset,
    ) -> ApiResult<api::SamplerPreset> {
        let name = preset.name.trim().to_owned();
        if name.is_empty() || name.len() > MAX_NAME {
            return Err(bad_input(
                "The name of the preset is empty or too long.",
                "Write a few words.",
            ));
        }
        let mut values = BTreeMap::new();
        for (key, value) in preset.values {
            let setting = preset_setting(&key).ok_or_else(|| {
                let key: String = key.chars().take(60).collect();
                bad_input(
                    format!("{key} is not a value of a preset."),
                    "Leave it out.",
                )
            })?;
            let value = setting
                .kind
                .check(value.into())
                .map_err(|refusal| refused(setting, &refusal))?;
            values.insert(key, value);
        }
        let known = self.own_sampler_presets().await?;
        if !known.contains_key(&preset.id) && place(&preset.id).is_some() {
            return Err(bad_input(
                "A built-in sampler preset cannot be changed.",
                "Duplicate it and change the copy.",
            ));
        }
        let kept = known
            .get(&preset.id)
            .map(|known| known.kept.clone())
            .unwrap_or_default();
        let id = if preset.id.is_empty() {
            free_id(&name, &known)?
        } else {
            preset.id
        };
        self.keep_sampler_preset(id, SamplerPreset { name, values, kept })
            .await
    }

    /// Deletes a preset. Settings that use it fall back to their own values.
    ///
    /// # Errors
    /// `BadInput` for a built-in preset.
    pub(crate) async fn delete_sampler_preset(&self, id: String) -> ApiResult<()> {
        if place(&id).is_some() && !self.own_sampler_presets().await?.contains_key(&id) {
            return Err(bad_input(
                "A built-in sampler preset cannot be deleted.",
                "Choose another preset where it is used.",
            ));
        }
        let row = format!("{ROW}{id}");
        let key = id.clone();
        let delete = self.base().store().write(move |store| {
            store
                .drafts_mut()
                .forget(&DraftKind::Sampler.name(), "", &key)?;
            store.settings_mut().remove(&row)
        });
        delete.await?;
        self.sampler_presets_changed(&id);
        Ok(())
    }

    /// Exports the preset in SillyTavern's format.
    ///
    /// # Errors
    /// `NotFound`.
    pub(crate) async fn export_sampler_preset(&self, id: String) -> ApiResult<String> {
        let preset = self
            .sampler_preset(&id)
            .await?
            .ok_or_else(|| not_found("sampler preset"))?;
        serde_json::to_string_pretty(&write_sampler(&preset))
            .map_err(|error| internal(&error.to_string()))
    }

    /// Adds an imported preset. Cuts a name that is too long.
    pub(crate) async fn import_sampler_preset(
        &self,
        mut preset: SamplerPreset,
    ) -> ApiResult<api::SamplerPreset> {
        preset
            .name
            .truncate(preset.name.floor_char_boundary(MAX_NAME));
        let id = free_id(&preset.name, &self.own_sampler_presets().await?)?;
        self.keep_sampler_preset(id, preset).await
    }

    /// The preset with this id, if it exists.
    pub(crate) async fn sampler_preset(&self, id: &str) -> ApiResult<Option<SamplerPreset>> {
        let row = row(id);
        let json = self
            .base()
            .store()
            .read(move |store| store.settings().get(&row))
            .await?;
        Ok(own_or_built_in(json, id))
    }

    /// All presets by id. A preset of the user hides a built-in one with the same id.
    pub(crate) async fn sampler_presets(&self) -> ApiResult<BTreeMap<String, SamplerPreset>> {
        let mut all: BTreeMap<String, SamplerPreset> = built_in().iter().cloned().collect();
        all.extend(self.own_sampler_presets().await?);
        Ok(all)
    }

    /// The user's presets by id. Skips unreadable ones.
    async fn own_sampler_presets(&self) -> ApiResult<BTreeMap<String, SamplerPreset>> {
        let rows = self
            .base()
            .store()
            .read(|store| store.settings().all())
            .await?;
        let read = |(row, json): (&String, &String)| {
            Some((
                row.strip_prefix(ROW)?.to_owned(),
                serde_json::from_str(json).ok()?,
            ))
        };
        Ok(rows.iter().filter_map(read).collect())
    }

    async fn keep_sampler_preset(
        &self,
        id: String,
        preset: SamplerPreset,
    ) -> ApiResult<api::SamplerPreset> {
        let json = serde_json::to_string(&preset).map_err(|error| internal(&error.to_string()))?;
        let row = format!("{ROW}{id}");
        self.base()
            .store()
            .write(move |store| store.settings_mut().set(&row, &json))
            .await?;
        self.sampler_presets_changed(&id);
        Ok(shown((id, preset)))
    }

    fn sampler_presets_changed(&self, id: &str) {
        self.base()
            .events()
            .changed(Changed::Presets, Some(id.to_owned()));
        // Any settings layer may use the preset.
        self.base().events().changed(Changed::Settings, None);
    }
}

/// Converts a preset to a settings layer. Skips values that are no longer valid.
pub(crate) fn layer(preset: &SamplerPreset) -> Layer {
    Layer::of_preset(
        preset
            .values
            .iter()
            .map(|(key, value)| (key.as_str(), value.clone())),
    )
}

fn shown((id, preset): (String, SamplerPreset)) -> api::SamplerPreset {
    let taken = |(key, value): (String, ConfigValue)| {
        let setting = preset_setting(&key)?;
        Some((key, setting.kind.check(value).ok()?.into()))
    };
    let values = preset.values.into_iter().filter_map(taken).collect();
    api::SamplerPreset {
        id,
        name: preset.name,
        built_in: false,
        values,
    }
}

/// A free id that resembles the name and that the setting accepts.
fn free_id(name: &str, known: &BTreeMap<String, SamplerPreset>) -> ApiResult<String> {
    if known.len() >= MOST {
        return Err(bad_input(
            format!("There are already {MOST} sampler presets."),
            "Delete some first.",
        ));
    }
    let wanted = slug(name);
    let takes = ValueType::NameOr { word: "none" }
        .check(ConfigValue::Text(wanted.clone().into()))
        .is_ok();
    let wanted = if takes && wanted != "none" {
        wanted
    } else {
        "preset".to_owned()
    };
    let free = |id: &String| !known.contains_key(id) && place(id).is_none();
    let mut names =
        std::iter::once(wanted.clone()).chain((2..).map(|number| format!("{wanted}-{number}")));
    names.find(free).ok_or_else(|| internal("no name is free"))
}
