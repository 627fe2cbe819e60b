//! Learning while nobody waits: keyframes and facts of the chat that was just talked in (S4.31, S4.58), and then putting what is
//! remembered in order.
//!
//! Nothing is queued: what is due follows from what was said and what is kept of it, so it is due still after a restart
//! (S3.30). One job is done at a time, and whoever speaks ends it within a step of the model (`read_ahead`).

use domain::ChatId;
use store::Told;
use tokio_util::sync::CancellationToken;

use super::beside::Learner;
use super::keyframes::{due, every, of_words, short};
use crate::Engine;
use crate::api::Changed;
use crate::error::Answer;
use crate::turn::TurnOptions;

/// Messages back from the end that keyframes are made of. What lies further back was imported, and has left every window.
const REACH: u32 = 100;

impl Engine {
    /// Learns from the chat what is due. Failing is for the next occasion to mend.
    pub(crate) async fn learn_in_idle(&self, chat: ChatId, options: &TurnOptions) {
        self.read(|leave| self.learn_from(chat, options, leave)).await;
    }

    pub(crate) async fn learn_from(&self, chat: ChatId, options: &TurnOptions, leave: CancellationToken) -> Answer<()> {
        let learner = self.learner(chat, options).await?;
        if !learner.answerer.values.memory {
            return Ok(());
        }
        self.understand_in_advance(&learner).await?;
        let learned = self.learn_of(&learner, &leave).await;
        // That a model cannot be asked does not keep what is there from being put in order.
        if !matches!(learned, Ok(false)) {
            self.keep_to_most(learner.scope()).await?;
            self.consolidate_daily(&leave).await?;
        }
        learned.map(drop)
    }

    /// False if somebody waits.
    async fn learn_of(&self, learner: &Learner, leave: &CancellationToken) -> Answer<bool> {
        let since = self.cover_with_words(learner).await?;
        if !learner.asks() {
            return Ok(true);
        }
        // A summary stands in the digest by itself: a tiny model's would be believed.
        if !learner.answerer.tiny && !self.sum_up(learner, since, leave).await? {
            return Ok(false);
        }
        self.extract_facts(learner, leave).await
    }

    /// Keyframes of first sentences where so many messages have none; a model may read them then. Returns where it may begin.
    async fn cover_with_words(&self, learner: &Learner) -> Answer<i64> {
        let chat = learner.chat.id;
        let told: Vec<Told> = self.store().read(move |store| store.message_texts().told_after(chat, -1, REACH)).await?;
        let since = told.first().map_or(0, |first| first.position);
        let known = self.store().read(move |store| store.keyframes().around(chat, since, 0)).await?;
        let every = every(&learner.answerer.values);
        let short = short(&known, every);
        for stretch in due(told, short, every) {
            let of = (&learner.speakers, self.now());
            let Some(keyframe) = of_words(chat, &stretch, short, of) else { continue };
            if self.store().write(move |store| store.keyframes_mut().put(&keyframe, &stretch)).await? {
                self.events().changed(Changed::Memories, Some(learner.chat.character.to_string()));
            }
        }
        Ok(since)
    }
}
