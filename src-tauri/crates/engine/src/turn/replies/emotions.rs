//! The emotion of a reply: from the reply's own tag, else guessed, else neutral.

use std::time::Duration;

use domain::chat::Emotion;
use domain::emotion::{self, NEUTRAL};
use domain::settings::Values;

use crate::base::error::ApiResult;
use crate::turn::replies::ReplyStore;
use crate::turn::replies::draft::ReplyDraft;
use crate::turn::replies::generate::ReplyJob;

/// Longest time that the end of a reply waits for a guess.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// How a reply gets its emotion.
#[derive(Default)]
pub(crate) struct EmotionSettings {
    labels: Vec<String>,
    /// Whether a reply without a tag is guessed.
    guesses: bool,
}

impl EmotionSettings {
    pub(crate) fn of(values: &Values) -> Self {
        Self {
            labels: emotion::labels(&values.emotion_labels),
            guesses: values.emotion_guess,
        }
    }
}

impl ReplyStore {
    /// The emotion of a reply that has ended. `None` keeps the one that is stored: a continued
    /// reply without a new tag.
    pub(crate) async fn emotion_of(
        &self,
        job: &ReplyJob,
        draft: &ReplyDraft,
    ) -> ApiResult<Option<Emotion>> {
        let EmotionSettings { labels, guesses } = &draft.emotions;
        if let Some(mood) = &draft.tools.mood {
            return Ok(Some(Emotion {
                label: mood.clone(),
                unknown_tag: None,
            }));
        }
        if let Some(tag) = draft.emotion_tag() {
            return Ok(Some(emotion::of_tag(tag, labels)));
        }
        if !job.target.base().is_empty() {
            return Ok(None);
        }
        let label = if *guesses {
            self.guess(job, draft, labels).await?
        } else {
            None
        };
        Ok(Some(Emotion {
            label: label.unwrap_or_else(|| NEUTRAL.to_owned()),
            unknown_tag: None,
        }))
    }

    /// The guess for a speaker with pictures of emotions. Nobody would see the others.
    async fn guess(
        &self,
        job: &ReplyJob,
        draft: &ReplyDraft,
        labels: &[String],
    ) -> ApiResult<Option<String>> {
        let speakers = self.library().groups.speakers(&job.chat).await?;
        let other = speakers
            .others
            .get(&job.target.message())
            .and_then(|speaker| speaker.character);
        let speaker = other.unwrap_or(job.chat.character);
        if draft.words.trim().is_empty() || !self.library().characters.has_sprites(speaker).await? {
            return Ok(None);
        }
        let guess = self.recall_service().guess_emotion(&draft.words, labels);
        match tokio::time::timeout(PATIENCE, guess).await {
            Ok(Ok(label)) => Ok(label),
            Ok(Err(error)) => {
                tracing::warn!(%error, "the emotion of a reply could not be guessed");
                Ok(None)
            }
            Err(_) => Ok(None),
        }
    }
}
