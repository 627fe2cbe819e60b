//! Options of one turn.

use std::sync::Arc;

use domain::sampling::SamplerOptions;

use super::client::ClientOptions;
use super::{Ask, MessageSource, ModelRef, Picture, Placement, WhatIf};

/// Options of one turn. Missing values come from the chat and the settings.
#[derive(Debug, Clone, Default)]
pub struct TurnOptions {
    pub model: Option<ModelRef>,
    pub sampler: SamplerOptions,
    /// Context size in tokens; at most that of the model.
    pub context: Option<u32>,
    /// Id of the prompt template.
    pub template: Option<String>,
    /// JSON of a template that is not stored. Replaces `template`.
    pub template_json: Option<String>,
    pub mode: Option<String>,
    pub placement: Option<Placement>,
    /// Keys of blocks to leave out.
    pub without: Vec<String>,
    /// The job for which the prompt is built, if it is not a normal reply.
    pub ask: Option<Ask>,
    /// The instruction of a [`super::RegenerateHint`], which ends the prompt.
    pub hint: Option<String>,
    /// The options apply to one version of a reply: the plan of its prompt is not stored, and
    /// idle-time work ignores them.
    pub one_off: bool,
    /// Preview only: shows the prompt for another version of the last reply.
    pub regenerate: bool,
    /// Pictures of the message.
    pub pictures: Vec<Picture>,
    /// Source of the message.
    pub source: MessageSource,
    /// The sender is a program whose key has limits: macros of its text stay as text, and nothing
    /// is forgotten at its word.
    pub limited_sender: bool,
    /// Options of a program that uses the local API.
    pub client: Option<Arc<ClientOptions>>,
}

impl From<WhatIf> for TurnOptions {
    fn from(what_if: WhatIf) -> Self {
        Self {
            model: what_if.model,
            context: what_if.limit,
            template: what_if.template,
            template_json: what_if.template_json,
            placement: what_if.placement,
            without: what_if.without,
            ask: what_if.ask,
            regenerate: what_if.regenerate,
            pictures: what_if.pictures,
            ..Self::default()
        }
    }
}
