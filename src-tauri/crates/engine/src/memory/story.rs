//! What happened, for a reader (memory.md, section 4). What a model has summed up is a memory; where none has, the first sentences
//! tell of it that stand in the prompt for what has left it.

use domain::CharacterId;
use domain::keyframe::Keyframe;

use crate::Engine;
use crate::api;
use crate::clock::rfc3339;
use crate::error::Answer;

/// Keyframes in one answer at the most: those of ten thousand messages.
const MOST: u32 = 500;

impl Engine {
    pub async fn keyframes(&self, character: String) -> Answer<Vec<api::Keyframe>> {
        let character = character.parse::<CharacterId>()?;
        let found = self.store().read(move |store| store.keyframes().of_first_sentences(character, MOST)).await?;
        let shown = |(Keyframe { id, chat, messages, summary, .. }, said)| {
            Some(api::Keyframe {
                id: id.to_string(),
                chat: ToString::to_string(&chat),
                message: messages.first()?.to_string(),
                messages: messages.len() as u32,
                said: rfc3339(said),
                text: summary,
            })
        };
        Ok(found.into_iter().filter_map(shown).collect())
    }
}
