//! The layers of settings that apply in one place.

use domain::CharacterId;
use domain::model::ModelChoice;
use domain::settings::{IgnoredValue, Layers, Owner, SettingOrigin};

/// The settings layers that apply in one place, and their owners.
#[derive(Default)]
pub(crate) struct SettingsStack {
    pub(crate) layers: Layers,
    pub(crate) problems: Vec<(SettingOrigin, IgnoredValue)>,
    /// Values that the chosen sampler preset has added to a layer.
    pub(crate) preset: Option<PresetValues>,
    pub(crate) owners: Vec<Owner>,
}

/// A sampler preset's values in the layer that chose it.
pub(crate) struct PresetValues {
    pub(crate) origin: SettingOrigin,
    pub(crate) keys: Vec<&'static str>,
    pub(crate) name: String,
}

impl SettingsStack {
    /// Name of the preset that supplies `key` in the layer of `origin`.
    pub(crate) fn preset_of(&self, origin: SettingOrigin, key: &str) -> Option<&str> {
        let filled = self
            .preset
            .as_ref()
            .filter(|filled| filled.origin == origin && filled.keys.contains(&key))?;
        Some(&filled.name)
    }

    pub(crate) fn model(&self) -> Option<ModelChoice> {
        self.owners.iter().find_map(|owner| {
            if let Owner::Model(choice) = owner {
                Some(*choice)
            } else {
                None
            }
        })
    }

    pub(crate) fn character(&self) -> Option<CharacterId> {
        self.owners.iter().find_map(|owner| {
            if let Owner::Character(id) = owner {
                Some(*id)
            } else {
                None
            }
        })
    }
}
