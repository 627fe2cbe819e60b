//! Values for settings that hold a name: built-in and user-defined templates, modes, formats and
//! presets.

use std::collections::BTreeMap;

use context::chat_template::formats;
use context::prompt_template::{TemplateKind, TemplateLibrary, built_in, built_in_modes};
use local::Devices;
use store::PresetKind;

use crate::api::SettingChoice;
use crate::base::error::ApiResult;
use crate::settings::prompts::Prompts;

/// Settings that choose the template of a job besides normal replies.
const JOBS: [&str; 3] = ["continue_prompt", "impersonate_prompt", "title_prompt"];

/// Names with their titles, by key of the setting.
pub(crate) struct Choices(BTreeMap<&'static str, Vec<SettingChoice>>);

impl Choices {
    /// The built-in choices.
    pub(crate) fn built_in() -> Self {
        let mut choices = Self(BTreeMap::new());
        built_in()
            .into_iter()
            .for_each(|library| choices.add_templates(library));
        for mode in built_in_modes().unwrap_or_default() {
            choices.add("mode", choice(&mode.name, &mode.title));
        }
        for format in formats() {
            choices.add("chat_format", choice(&format.name, &format.title));
        }
        choices
    }

    /// Adds chat templates, and for each job the user's utility templates, because `auto` already
    /// means the built-in one.
    fn add_templates(&mut self, library: &TemplateLibrary) {
        let ships = |id: &str| built_in().is_ok_and(|library| library.get(id).is_some());
        for template in library.iter() {
            let named = || choice(&template.id, &template.name);
            match template.kind {
                TemplateKind::Roleplay => self.add("template", named()),
                TemplateKind::Utility if ships(&template.id) => {}
                TemplateKind::Utility => JOBS.into_iter().for_each(|job| self.add(job, named())),
            }
        }
    }

    pub(crate) fn of(&self, key: &str) -> Vec<SettingChoice> {
        self.0.get(key).cloned().unwrap_or_default()
    }

    /// Adds a choice. A user-defined one replaces a built-in one with the same name.
    fn add(&mut self, key: &'static str, own: SettingChoice) {
        let list = self.0.entry(key).or_default();
        match list.iter_mut().find(|known| known.name == own.name) {
            Some(known) => *known = own,
            None => list.push(own),
        }
    }
}

impl Prompts {
    pub(crate) async fn choices(&self) -> ApiResult<Choices> {
        let kinds = [
            ("mode", PresetKind::Mode),
            ("chat_format", PresetKind::ChatFormat),
        ];
        let stored = self
            .base()
            .store()
            .read(move |store| {
                kinds
                    .iter()
                    .map(|(_, kind)| store.presets().list(*kind))
                    .collect::<Result<Vec<_>, _>>()
            })
            .await?;
        let mut choices = Choices::built_in();
        choices.add_templates(&self.template_library().await?.0);
        let models = |store: &store::ReadTransaction<'_>| {
            Ok((store.models().list()?, store.endpoints().list()?))
        };
        let (models, endpoints) = self.base().store().read(models).await?;
        let models = models
            .into_iter()
            .map(|model| (model.id.to_string(), model.name));
        for (id, name) in models.chain(
            endpoints
                .into_iter()
                .map(|endpoint| (endpoint.id.to_string(), endpoint.name)),
        ) {
            choices.add("memory_model", choice(&id, &name));
        }
        if let Devices::Known(devices) = self.local().known_devices() {
            for device in devices.iter().filter(|device| local::is_graphics(device)) {
                choices.add(
                    "gpu_device",
                    choice(
                        &device.name,
                        &format!("{} ({})", device.description, device.name),
                    ),
                );
            }
        }
        for background in self
            .base()
            .store()
            .read(|store| store.backgrounds().list())
            .await?
        {
            choices.add(
                "background",
                choice(&background.asset.to_string(), &background.name),
            );
        }
        for (id, preset) in self.sampler_presets().await? {
            choices.add("sampler_preset", choice(&id, &preset.name));
        }
        for ((key, _), presets) in kinds.into_iter().zip(stored) {
            presets
                .iter()
                .for_each(|preset| choices.add(key, choice(&preset.key, &preset.name)));
        }
        Ok(choices)
    }
}

fn choice(name: &str, title: &str) -> SettingChoice {
    SettingChoice {
        name: name.to_owned(),
        title: title.to_owned(),
    }
}
