//! Learning in idle time: keyframes and facts of the latest chat, then the consolidation of
//! memories.
//!
//! There is no queue. The messages and the stored results determine the work that is due, so it is
//! still due after a restart. One job runs at a time, and a new message ends it within one step of
//! the model (`read_ahead`).

use domain::ChatId;
use store::SourceText;
use tokio_util::sync::CancellationToken;

use crate::api::{Changed, TurnOptions};
use crate::base::error::ApiResult;
use crate::learn::background_job::Learner;
use crate::learn::handle::Learning;
use crate::recall_service::messages::keyframes::{due, every, of_words, short};

/// Number of messages back from the end that get keyframes. Older ones were imported and have left
/// every window.
const REACH: u32 = 100;

impl Learning {
    /// Idle-time work after a complete reply: cut and pre-read the window, name the chat, learn
    /// from it.
    pub(crate) async fn reply_ended(&self, chat: ChatId, options: &TurnOptions) {
        self.make_room(chat, options).await;
        self.title_in_idle(chat, options).await;
        self.learn_in_idle(chat, options).await;
    }

    /// Learns from the chat what is due. After a failure, the next run tries again.
    pub(crate) async fn learn_in_idle(&self, chat: ChatId, options: &TurnOptions) {
        self.read(|leave| self.learn_from(chat, options, leave))
            .await;
    }

    pub(crate) async fn learn_from(
        &self,
        chat: ChatId,
        options: &TurnOptions,
        leave: CancellationToken,
    ) -> ApiResult<()> {
        let learner = self.learner(chat, options).await?;
        if !learner.model_handle.values.memory {
            return Ok(());
        }
        self.recall_service()
            .understand_in_advance(&learner.chat)
            .await?;
        let learned = self.learn_of(&learner, &leave).await;
        // The consolidation needs no model, so it runs even if the model failed.
        if !matches!(learned, Ok(false)) {
            self.keep_to_most(learner.scope()).await?;
            self.consolidate_daily(&leave).await?;
        }
        learned.map(drop)
    }

    /// Returns false if it was interrupted.
    async fn learn_of(&self, learner: &Learner, leave: &CancellationToken) -> ApiResult<bool> {
        let since = self.cover_with_words(learner).await?;
        if !learner.asks() {
            return Ok(true);
        }
        // A summary is in the digest whether or not it is relevant, so errors of a tiny model would
        // do harm.
        if !learner.model_handle.tiny && !self.sum_up(learner, since, leave).await? {
            return Ok(false);
        }
        if learner.may_extract_facts() {
            self.extract_facts(learner, leave).await
        } else {
            Ok(true)
        }
    }

    /// Makes keyframes of first sentences where messages have none; a model may rewrite them
    /// afterwards. Returns the position from which it may begin.
    async fn cover_with_words(&self, learner: &Learner) -> ApiResult<i64> {
        let chat = learner.chat.id;
        let told: Vec<SourceText> = self
            .base()
            .store()
            .read(move |store| store.message_texts().texts_after(chat, -1, REACH))
            .await?;
        let since = told.first().map_or(0, |first| first.position);
        let known = self
            .base()
            .store()
            .read(move |store| store.keyframes().around(chat, since, 0))
            .await?;
        let every = every(&learner.model_handle.values);
        let short = short(&known, every);
        for stretch in due(told, short, every) {
            let of = (&learner.speakers, self.base().now());
            let Some(keyframe) = of_words(chat, &stretch, short, of) else {
                continue;
            };
            if self
                .base()
                .store()
                .write(move |store| store.keyframes_mut().put(&keyframe, &stretch))
                .await?
            {
                self.base()
                    .events()
                    .changed(Changed::Memories, Some(learner.chat.character.to_string()));
            }
        }
        Ok(since)
    }
}
