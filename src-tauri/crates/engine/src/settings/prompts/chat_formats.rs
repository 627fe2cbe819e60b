//! Chat formats: how the prompt marks the role of each message. Built-in formats are read-only;
//! users can edit their own, which may come from SillyTavern's instruct presets.

use context::ChatTemplate;
use context::chat_template::formats;
use context::prompt_template::slug;
use domain::settings::{ConfigValue, ValueType};
use serde::{Deserialize, Serialize};
use store::{Preset, PresetKind};

use crate::api::{self, Changed, DraftKind};
use crate::base::error::{ApiResult, bad_input, internal};
use crate::settings::prompts::Prompts;

/// Maximum length of a name, in bytes.
const MAX_NAME: usize = 200;
/// Maximum number of stop strings, and of bytes in each.
const MAX_STOPS: usize = 32;
const MAX_STOP: usize = 400;
/// Bytes reserved for the number that makes an id unique.
const MAX_NUMBER: usize = 5;

/// Values that the setting `chat_format` accepts.
const CHOSEN: ValueType = ValueType::NameOr { word: "auto" };

/// A user-defined chat format, as it is stored.
#[derive(Serialize, Deserialize)]
pub(crate) struct OwnFormat {
    #[serde(default)]
    name: String,
    pub(crate) jinja: String,
    /// Stop strings.
    #[serde(default)]
    pub(crate) stop: Vec<String>,
}

impl Prompts {
    /// Lists the user's formats, then the built-in ones.
    pub(crate) async fn list_chat_formats(&self) -> ApiResult<Vec<api::ChatFormat>> {
        let own = self
            .base()
            .store()
            .read(|store| store.presets().list(PresetKind::ChatFormat))
            .await?;
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
    /// `BadInput` for an invalid name, for Jinja that cannot render a chat, and for a built-in
    /// format.
    pub(crate) async fn save_chat_format(
        &self,
        format: api::ChatFormat,
    ) -> ApiResult<api::ChatFormat> {
        let name = format.name.trim().to_owned();
        if name.is_empty() || name.len() > MAX_NAME {
            return Err(bad_input(
                "The name of the chat format is empty or too long.",
                "Write a few words.",
            ));
        }
        let stop: Vec<String> = format
            .stop
            .into_iter()
            .filter(|text| !text.trim().is_empty())
            .collect();
        if stop.len() > MAX_STOPS || stop.iter().any(|text| text.len() > MAX_STOP) {
            let hint = format!("Keep at most {MAX_STOPS}, each of at most {MAX_STOP} bytes.");
            return Err(bad_input(
                "There are too many stop strings, or one is too long.",
                hint,
            ));
        }
        ChatTemplate::parse(&format.jinja, "", "", jiff::civil::DateTime::default()).map_err(
            |error| {
                bad_input(
                    format!("The chat format \"{name}\": {error}."),
                    "Correct it, then save again.",
                )
            },
        )?;
        let known = self
            .base()
            .store()
            .read(|store| store.presets().list(PresetKind::ChatFormat))
            .await?;
        let ships = |id: &str| formats().iter().any(|format| format.name == id);
        let taken =
            |id: &str| ships(id) || id == "auto" || known.iter().any(|preset| preset.key == id);
        let key = match format.id.as_str() {
            "" => free(&id_of(&name), taken)?,
            id if ships(id) && known.iter().all(|preset| preset.key != id) => {
                return Err(bad_input(
                    "A built-in chat format cannot be changed.",
                    "Duplicate it and change the copy.",
                ));
            }
            id if CHOSEN
                .check(ConfigValue::Text(id.to_owned().into()))
                .is_err()
                || id == "auto" =>
            {
                return Err(bad_input(
                    "This id is not valid for a chat format.",
                    "Leave the id empty for a new one.",
                ));
            }
            id => id.to_owned(),
        };
        let before = known.iter().find(|preset| preset.key == key);
        let own = OwnFormat {
            name: name.clone(),
            jinja: format.jinja,
            stop,
        };
        let preset = Preset {
            kind: PresetKind::ChatFormat,
            key,
            character: None,
            name,
            position: before.map_or(known.len() as i64, |preset| preset.position),
            json: serde_json::to_string(&own).map_err(|error| internal(&error.to_string()))?,
            source: before.and_then(|preset| preset.source.clone()),
            updated: self.base().now(),
        };
        let row = preset.clone();
        self.base()
            .store()
            .write(move |store| store.presets_mut().put(&row))
            .await?;
        self.chat_formats_changed(&preset.key);
        shown(preset).ok_or_else(|| internal("a chat format was not saved"))
    }

    /// Deletes a format. Chats that use it then use the model's own, with a notice.
    pub(crate) async fn delete_chat_format(&self, id: String) -> ApiResult<()> {
        let key = id.clone();
        let delete = self.base().store().write(move |store| {
            store
                .drafts_mut()
                .forget(&DraftKind::ChatFormat.name(), "", &key)?;
            store.presets_mut().delete(PresetKind::ChatFormat, &key)
        });
        delete.await?;
        self.chat_formats_changed(&id);
        Ok(())
    }

    fn chat_formats_changed(&self, id: &str) {
        self.base()
            .events()
            .changed(Changed::Presets, Some(id.to_owned()));
        // Any settings layer may use the format.
        self.base().events().changed(Changed::Settings, None);
    }
}

fn shown(preset: Preset) -> Option<api::ChatFormat> {
    let OwnFormat { jinja, stop, .. } = serde_json::from_str(&preset.json).ok()?;
    Some(api::ChatFormat {
        id: preset.key,
        name: preset.name,
        jinja,
        stop,
        built_in: false,
    })
}

/// Turns `name` into an id that the setting `chat_format` accepts. The length is cut after `slug`,
/// because lower case can have more bytes than upper case.
fn id_of(name: &str) -> String {
    let id = slug(name);
    let end = id.floor_char_boundary(MAX_NAME - MAX_NUMBER);
    id[..end].to_owned()
}

fn free(wanted: &str, taken: impl Fn(&str) -> bool) -> ApiResult<String> {
    let mut names = std::iter::once(wanted.to_owned())
        .chain((2..=9_999).map(|number| format!("{wanted}-{number}")));
    names
        .find(|id| !taken(id))
        .ok_or_else(|| bad_input("Too many chat formats have this name.", "Choose another."))
}
