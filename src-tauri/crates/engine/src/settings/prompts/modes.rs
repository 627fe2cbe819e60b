//! Conversation modes: the built-in ones and those of the user.

use context::prompt_template::{self, Mode, find_mode};
use store::{Preset, PresetKind};

use crate::api::{self, Changed, DraftKind};
use crate::base::error::{ApiResult, bad_input, internal};
use crate::settings::prompts::Prompts;

/// Maximum length of a mode's text, in bytes.
const MAX_TEXT: usize = 20_000;

/// The mode of chats that choose none.
const DEFAULT: &str = "default";

impl Prompts {
    pub(crate) async fn list_modes(&self) -> ApiResult<Vec<api::Mode>> {
        let built_in = built_in()?;
        let (modes, own) = self.modes().await?;
        let row = |mode: Mode| {
            let built_in = find_mode(built_in, &mode.name).is_ok();
            let changed = built_in && own.iter().any(|preset| preset.key == mode.name);
            api::Mode {
                name: mode.name,
                text: mode.text,
                built_in,
                changed,
            }
        };
        Ok(modes.into_iter().map(row).collect())
    }

    pub(crate) async fn save_mode(&self, mode: api::Mode) -> ApiResult<api::Mode> {
        let name = mode.name.trim().to_lowercase();
        if name.is_empty() || name.chars().any(char::is_whitespace) || name.len() > 60 {
            return Err(bad_input(
                "The name of a mode must be one short word.",
                "Choose a name without spaces.",
            ));
        }
        if mode.text.len() > MAX_TEXT {
            return Err(bad_input(
                "The mode's text is too long.",
                format!("Use at most {MAX_TEXT} bytes."),
            ));
        }
        let (_, own) = self.modes().await?;
        let kept = Mode {
            name: name.clone(),
            title: mode.name.trim().to_owned(),
            text: mode.text,
        };
        let preset = Preset {
            kind: PresetKind::Mode,
            key: name.clone(),
            character: None,
            name: kept.title.clone(),
            position: own.len() as i64,
            json: serde_json::to_string(&kept).map_err(|error| internal(&error.to_string()))?,
            source: None,
            updated: self.base().now(),
        };
        self.base()
            .store()
            .write(move |store| store.presets_mut().put(&preset))
            .await?;
        self.base()
            .events()
            .changed(Changed::Presets, Some(name.clone()));
        let saved = self
            .list_modes()
            .await?
            .into_iter()
            .find(|mode| mode.name == name);
        saved.ok_or_else(|| internal("a mode was not saved"))
    }

    pub(crate) async fn delete_mode(&self, name: String) -> ApiResult<()> {
        let key = name.trim().to_lowercase();
        let delete = self.base().store().write(move |store| {
            store
                .drafts_mut()
                .forget(&DraftKind::Mode.name(), "", &key)?;
            store.presets_mut().delete(PresetKind::Mode, &key)
        });
        delete.await?;
        self.base().events().changed(Changed::Presets, Some(name));
        Ok(())
    }

    /// The built-in modes, some of them replaced by the user's, and the user's own.
    async fn modes(&self) -> ApiResult<(Vec<Mode>, Vec<Preset>)> {
        let own = self
            .base()
            .store()
            .read(|store| store.presets().list(PresetKind::Mode))
            .await?;
        Ok((modes_with(&own)?, own))
    }
}

/// The built-in modes, some of them replaced by `own`, and the others of `own`.
fn modes_with(own: &[Preset]) -> ApiResult<Vec<Mode>> {
    let mut modes = built_in()?.to_vec();
    for preset in own {
        let Ok(mode) = serde_json::from_str::<Mode>(&preset.json) else {
            continue;
        };
        match modes.iter_mut().find(|known| known.name == mode.name) {
            Some(known) => *known = mode,
            None => modes.push(mode),
        }
    }
    Ok(modes)
}

/// The mode with this name, among the built-in ones and `own`. If it does not exist, the default
/// one with a notice for the user.
pub(super) fn mode_among(own: &[Preset], name: &str) -> ApiResult<(Mode, Option<String>)> {
    let modes = modes_with(own)?;
    if let Ok(mode) = find_mode(&modes, if name == "auto" { DEFAULT } else { name }) {
        return Ok((mode.clone(), None));
    }
    let default = find_mode(&modes, DEFAULT).map_err(|error| internal(&error.to_string()))?;
    let notice =
        format!("The mode \"{name}\" no longer exists, so the mode \"{DEFAULT}\" is used.");
    Ok((default.clone(), Some(notice)))
}

fn built_in() -> ApiResult<&'static [Mode]> {
    prompt_template::built_in_modes().map_err(|error| internal(&error.to_string()))
}
