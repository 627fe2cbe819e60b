//! Chat formats: how a model is told whose words are whose. Those that ship are read; the user's own, which came with
//! SillyTavern's instruct presets, are theirs to change.

use context::ChatTemplate;
use context::chat_template::formats;
use context::prompt_template::slug;
use domain::settings::{Kind, Value};
use serde::{Deserialize, Serialize};
use store::{Preset, PresetKind};

use crate::Engine;
use crate::api::{self, Changed};
use crate::error::{Answer, bad_input, internal};

/// Bytes of a name.
const MAX_NAME: usize = 200;
/// Texts that end a reply, and bytes of each.
const MAX_STOPS: usize = 32;
const MAX_STOP: usize = 400;
/// Bytes that make an id one of its own.
const MAX_NUMBER: usize = 5;

/// What the setting `chat_format` takes.
const CHOSEN: Kind = Kind::NameOr { word: "auto" };

/// A chat format that the user brought, as it is stored.
#[derive(Serialize, Deserialize)]
pub(crate) struct OwnFormat {
    #[serde(default)]
    name: String,
    pub(crate) jinja: String,
    /// Texts that end a reply.
    #[serde(default)]
    pub(crate) stop: Vec<String>,
}

impl Engine {
    /// The user's own, then those that ship.
    pub async fn list_chat_formats(&self) -> Answer<Vec<api::ChatFormat>> {
        let own = self.store().read(|store| store.presets().list(PresetKind::ChatFormat)).await?;
        let shipped = formats().iter().map(|format| api::ChatFormat {
            id: format.name.clone(),
            name: format.title.clone(),
            jinja: format.source().to_owned(),
            stop: format.stop.clone(),
            built_in: true,
        });
        Ok(own.into_iter().filter_map(shown).chain(shipped).collect())
    }

    /// Adds a format (an empty `id`) or changes one of the user's own.
    ///
    /// # Errors
    /// `BadInput` for a name that is none, for Jinja that a chat cannot be written with, and for one that ships.
    pub async fn save_chat_format(&self, format: api::ChatFormat) -> Answer<api::ChatFormat> {
        let name = format.name.trim().to_owned();
        if name.is_empty() || name.len() > MAX_NAME {
            return Err(bad_input("A chat format needs a short name.", "Write a few words."));
        }
        let stop: Vec<String> = format.stop.into_iter().filter(|text| !text.trim().is_empty()).collect();
        if stop.len() > MAX_STOPS || stop.iter().any(|text| text.len() > MAX_STOP) {
            let hint = format!("Keep at most {MAX_STOPS}, each of at most {MAX_STOP} bytes.");
            return Err(bad_input("These are too many or too long texts to end a reply.", hint));
        }
        ChatTemplate::parse(&format.jinja, "", "", jiff::civil::DateTime::default()).map_err(|error| {
            bad_input(format!("The chat format \"{name}\": {error}."), "Correct it, then save again.")
        })?;
        let known = self.store().read(|store| store.presets().list(PresetKind::ChatFormat)).await?;
        let ships = |id: &str| formats().iter().any(|format| format.name == id);
        let taken = |id: &str| ships(id) || id == "auto" || known.iter().any(|preset| preset.key == id);
        let key = match format.id.as_str() {
            "" => free(&id_of(&name), taken)?,
            id if ships(id) && known.iter().all(|preset| preset.key != id) => {
                return Err(bad_input(
                    "A chat format that ships cannot be changed.",
                    "Duplicate it, and change the copy.",
                ));
            }
            id if CHOSEN.check(Value::Text(id.to_owned().into())).is_err() || id == "auto" => {
                return Err(bad_input("A chat format cannot have that id.", "Leave the id empty for a new one."));
            }
            id => id.to_owned(),
        };
        let before = known.iter().find(|preset| preset.key == key);
        let own = OwnFormat { name: name.clone(), jinja: format.jinja, stop };
        let preset = Preset {
            kind: PresetKind::ChatFormat,
            key,
            character: None,
            name,
            position: before.map_or(known.len() as i64, |preset| preset.position),
            json: serde_json::to_string(&own).map_err(|error| internal(&error.to_string()))?,
            source: before.and_then(|preset| preset.source.clone()),
            updated: self.now(),
        };
        let row = preset.clone();
        self.store().write(move |store| store.presets_mut().put(&row)).await?;
        self.chat_formats_changed(&preset.key);
        shown(preset).ok_or_else(|| internal("a chat format was not kept"))
    }

    /// Whoever had chosen it is told so, and must choose another.
    pub async fn delete_chat_format(&self, id: String) -> Answer<()> {
        let key = id.clone();
        self.store().write(move |store| store.presets_mut().delete(PresetKind::ChatFormat, &key)).await?;
        self.chat_formats_changed(&id);
        Ok(())
    }

    fn chat_formats_changed(&self, id: &str) {
        self.events().changed(Changed::Presets, Some(id.to_owned()));
        // Of everybody who has chosen it.
        self.events().changed(Changed::Settings, None);
    }
}

fn shown(preset: Preset) -> Option<api::ChatFormat> {
    let OwnFormat { jinja, stop, .. } = serde_json::from_str(&preset.json).ok()?;
    Some(api::ChatFormat { id: preset.key, name: preset.name, jinja, stop, built_in: false })
}

/// `name` as an id that the setting `chat_format` takes: lower case can be longer than capitals.
fn id_of(name: &str) -> String {
    let id = slug(name);
    let end = id.floor_char_boundary(MAX_NAME - MAX_NUMBER);
    id[..end].to_owned()
}

fn free(wanted: &str, taken: impl Fn(&str) -> bool) -> Answer<String> {
    let mut names = std::iter::once(wanted.to_owned()).chain((2..=9_999).map(|number| format!("{wanted}-{number}")));
    names
        .find(|id| !taken(id))
        .ok_or_else(|| bad_input("There are too many chat formats of that name.", "Choose another."))
}
