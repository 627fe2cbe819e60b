//! The stored parts of a turn's prompt, read in one transaction.

use context::prompt_template::{Mode, ResolvedTemplate};
use store::{Preset, PresetKind};

use crate::base::error::ApiResult;
use crate::settings::prompts::{Prompts, modes, sampler_presets, templates};

/// Mode and templates of a turn.
pub(crate) struct TurnPrompts {
    pub(crate) mode: Mode,
    /// Tells the user what no longer exists.
    pub(crate) notices: Vec<String>,
    own_templates: Vec<Preset>,
}

impl TurnPrompts {
    /// The template with this id, with all templates that it extends. If it does not exist, the
    /// default and a notice.
    pub(crate) fn template(&self, id: &str) -> ApiResult<(ResolvedTemplate, Option<String>)> {
        templates::template_among(&self.own_templates, id)
    }
}

impl Prompts {
    /// The mode named `mode` and the user's templates, with notices if the mode or the sampler
    /// preset with the id `preset` is gone.
    pub(crate) async fn of_turn(&self, mode: &str, preset: &str) -> ApiResult<TurnPrompts> {
        let row = sampler_presets::row(preset);
        let read = self.base().store().read(move |store| {
            let own_modes = store.presets().list(PresetKind::Mode)?;
            Ok((
                own_modes,
                templates::own_templates(store)?,
                store.settings().get(&row)?,
            ))
        });
        let (own_modes, own_templates, own_preset) = read.await?;
        let (mode, no_mode) = modes::mode_among(&own_modes, mode)?;
        let no_preset = (preset != "none"
            && sampler_presets::own_or_built_in(own_preset, preset).is_none())
        .then(|| {
            format!(
                "The sampler preset \"{preset}\" no longer exists, so the other settings apply."
            )
        });
        Ok(TurnPrompts {
            mode,
            notices: no_mode.into_iter().chain(no_preset).collect(),
            own_templates,
        })
    }
}
