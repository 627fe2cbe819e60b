//! Timeline view of keyframes. A summary by a model is a memory and is listed there; this lists the
//! keyframes made of first sentences.

use domain::CharacterId;
use domain::keyframe::Keyframe;

use crate::api;
use crate::base::clock::rfc3339;
use crate::base::error::ApiResult;

/// Maximum number of keyframes in one answer: those of ten thousand messages.
const MOST: u32 = 500;

use crate::library::memories::Memories;

impl Memories {
    pub(crate) async fn keyframes(&self, character: CharacterId) -> ApiResult<Vec<api::Keyframe>> {
        let found = self
            .base()
            .store()
            .read(move |store| store.keyframes().fallbacks(character, MOST))
            .await?;
        let shown = |(
            Keyframe {
                id,
                chat,
                messages,
                summary,
                ..
            },
            said,
        )| {
            Some(api::Keyframe {
                id,
                chat,
                message: *messages.first()?,
                messages: messages.len() as u32,
                said: rfc3339(said),
                text: summary,
            })
        };
        Ok(found.into_iter().filter_map(shown).collect())
    }
}
