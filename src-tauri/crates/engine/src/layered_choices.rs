//! What settings that hold a name can name: the templates, modes and formats that ship, and the user's own.

use std::collections::BTreeMap;

use context::chat_template::formats;
use context::prompt_template::{Kind, Library, built_in, built_in_modes};
use store::PresetKind;

use crate::Engine;
use crate::api::SettingChoice;
use crate::error::Answer;

/// Names with their titles, by key of the setting.
pub(crate) struct Choices(BTreeMap<&'static str, Vec<SettingChoice>>);

impl Choices {
    /// What ships.
    pub(crate) fn built_in() -> Self {
        let library = built_in().into_iter().flat_map(Library::iter);
        let chats = library.filter(|template| template.kind == Kind::Roleplay);
        let templates = chats.map(|template| choice(&template.id, &template.name)).collect();
        let modes = built_in_modes().unwrap_or_default().iter().map(|mode| choice(&mode.name, &mode.title)).collect();
        let formats = formats().iter().map(|format| choice(&format.name, &format.title)).collect();
        Self([("template", templates), ("mode", modes), ("chat_format", formats)].into())
    }

    pub(crate) fn of(&self, key: &str) -> Vec<SettingChoice> {
        self.0.get(key).cloned().unwrap_or_default()
    }

    /// The user's own stands in the place of a built-in of the same name.
    fn add(&mut self, key: &'static str, own: SettingChoice) {
        let list = self.0.entry(key).or_default();
        list.retain(|known| known.name != own.name);
        list.push(own);
    }
}

impl Engine {
    pub(crate) async fn choices(&self) -> Answer<Choices> {
        let kinds =
            [("template", PresetKind::Template), ("mode", PresetKind::Mode), ("chat_format", PresetKind::ChatFormat)];
        let stored = self
            .store()
            .read(move |store| kinds.iter().map(|(_, kind)| store.presets().list(*kind)).collect::<Result<Vec<_>, _>>())
            .await?;
        let mut choices = Choices::built_in();
        for ((key, _), presets) in kinds.into_iter().zip(stored) {
            presets.iter().for_each(|preset| choices.add(key, choice(&preset.key, &preset.name)));
        }
        Ok(choices)
    }
}

fn choice(name: &str, title: &str) -> SettingChoice {
    SettingChoice { name: name.to_owned(), title: title.to_owned() }
}
