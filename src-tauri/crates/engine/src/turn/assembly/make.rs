//! Makes the prompt of a turn, and writes keyframes for messages that leave its window.

use domain::MessageId;
use domain::keyframe::Keyframe;
use store::SourceText;

use crate::api::TurnOptions;
use crate::base::error::ApiResult;
use crate::base::step::TurnStep;
use crate::recall_service::messages::keyframes::{Cover, every, of_words, short, uncovered};
use crate::settings::model_handles::handle::ModelHandle;
use crate::turn::assembly::activated::ActivatedTurn;
use crate::turn::assembly::made::BuiltPrompt;
use crate::turn::assembly::{Assembly, frame};

impl Assembly {
    /// Assembles the prompt and counts its tokens. If messages leave the window uncovered, it makes
    /// keyframes of them and assembles again.
    pub(crate) async fn make(
        &self,
        turn: &mut ActivatedTurn,
        model_handle: &ModelHandle,
        options: &TurnOptions,
    ) -> ApiResult<BuiltPrompt> {
        let made = self.make_as_is(turn, model_handle, options).await?;
        if self.cover(turn, &made.assembled.left).await? {
            self.make_as_is(turn, model_handle, options).await
        } else {
            Ok(made)
        }
    }

    /// Builds the prompt, even if messages leave the window without a summary.
    pub(crate) async fn make_as_is(
        &self,
        turn: &mut ActivatedTurn,
        model_handle: &ModelHandle,
        options: &TurnOptions,
    ) -> ApiResult<BuiltPrompt> {
        let id = turn.inputs.snapshot.chat.id;
        let clock = self.base().clock();
        let now = turn.inputs.answered_at(self.base().now());
        let head_at = turn.inputs.snapshot.head_at().unwrap_or(now);
        let built = frame::build(turn, model_handle, clock, head_at)?;
        TurnStep::Frame.done(id);
        let tells_time = built.volatile
            || model_handle
                .template
                .as_ref()
                .is_some_and(|template| template.tells_time());
        let made = self
            .plan(turn, model_handle, options, built, head_at)
            .await?;
        TurnStep::Plan.done(id);
        let began = made.assembled.new_epoch;
        if !tells_time || began.is_none() || head_at == now {
            return Ok(made);
        }
        // The prefix is new anyway, so head and chat template can show the current time. The reason
        // for the new epoch stays.
        turn.lore = self
            .lore_activation
            .lore(&turn.inputs, model_handle, now)
            .await?;
        let built = frame::build(turn, model_handle, clock, now)?;
        let mut made = self.plan(turn, model_handle, options, built, now).await?;
        made.assembled.new_epoch = began;
        Ok(made)
    }

    /// Makes keyframes of messages that left uncovered; returns whether there were any.
    async fn cover(&self, turn: &mut ActivatedTurn, left: &[MessageId]) -> ApiResult<bool> {
        if !turn.inputs.values.memory || left.is_empty() {
            return Ok(false);
        }
        // The summaries of a chat are made for everybody, so they may tell what this speaker
        // missed.
        if turn.inputs.known.window_of().is_some() {
            return Ok(false);
        }
        let chat = turn.inputs.snapshot.chat.id;
        let left = left.to_vec();
        let every = every(&turn.inputs.values);
        let shorter = short(&turn.memory.keyframes, every).cloned();
        let stretches = {
            let shorter = shorter.clone();
            self.base()
                .store()
                .read(move |store| uncovered(store, chat, &left, shorter.as_ref(), every))
                .await?
        };
        let speakers = &turn.inputs.speakers;
        let now = self.base().now();
        let cover = |told: Vec<SourceText>| {
            of_words(chat, &told, shorter.as_ref(), (speakers, now))
                .map(|keyframe| Cover { keyframe, told })
        };
        let covers: Vec<Cover> = stretches.into_iter().filter_map(cover).collect();
        let grown =
            |keyframe: &&Keyframe| covers.iter().any(|cover| cover.keyframe.id == keyframe.id);
        let known = turn
            .memory
            .keyframes
            .iter()
            .filter(|keyframe| !grown(keyframe));
        let all = known
            .chain(covers.iter().map(|cover| &cover.keyframe))
            .cloned()
            .collect();
        turn.memory.tell_story(all);
        let any = !covers.is_empty();
        turn.memory.covers.extend(covers);
        Ok(any)
    }
}
