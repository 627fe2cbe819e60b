//! Probabilities of the tokens of a local reply, and replies that continue from another token.

use domain::chat::{Message, SwipeState};
use domain::token_choice::{self, TokenChoice};
use domain::{ChatId, MessageId};
use store::NewSwipe;

use crate::api::{self, Ask, Started, TurnOptions};
use crate::base::error::{ApiResult, bad_input, not_found};
use crate::base::records::retraction;
use crate::turn::inputs::turn_inputs::ReplyTo;
use crate::turn::replies::generate::ReplyJob;
use crate::turn::replies::speaker_queue::SpeakerQueue;
use crate::turn::replies::target::{Target, new_ids};
use crate::turn::sending::Sending;

impl Sending {
    /// The tokens of a message's selected swipe. Empty if they were not recorded.
    pub(crate) async fn token_choices(&self, message: MessageId) -> ApiResult<api::TokenChoices> {
        let message = self.library().chat_lookup.message(message).await?;
        Ok(self
            .reply_store
            .choices_of(&message)
            .await?
            .map(|choices| shown(message.text(), choices))
            .unwrap_or_default())
    }

    /// Adds a swipe that is equal to the last reply up to a token, has an alternative in its place,
    /// and goes on from there.
    ///
    /// # Errors
    /// `BadInput` if the last message is no reply; `NotFound` if there is no such alternative;
    /// `Busy` while a reply is being written in the chat.
    pub(crate) async fn continue_from_token(
        &self,
        chat: ChatId,
        token: u32,
        alternative: u32,
    ) -> ApiResult<Started> {
        let reservation = self.base().running().begin_reply(chat)?;
        let (chat, last) = self.inputs.chat_and_last(chat).await?;
        let Some(last) = last.filter(|last| last.role == domain::chat::Role::Character) else {
            return Err(bad_input(
                "There is no reply to continue.",
                "Send a message, or regenerate.",
            ));
        };
        let choices = self
            .reply_store
            .choices_of(&last)
            .await?
            .ok_or_else(|| not_found("alternative"))?;
        let text = choices.with_alternative(last.text(), token as usize, alternative as usize);
        let text = text.ok_or_else(|| not_found("alternative"))?;
        let message = self.add_begun_swipe(&last, text).await?;
        let speakers = self.library().groups.speakers(&chat).await?;
        let job = ReplyJob {
            chat,
            reply_to: ReplyTo::Last,
            target: Target::Extend {
                message,
                after_token: true,
            },
            options: TurnOptions {
                ask: Some(Ask::Continue),
                ..TurnOptions::default()
            },
            reservation,
            queue: SpeakerQueue::default(),
        };
        Ok(self.start(job, speakers, None))
    }

    async fn add_begun_swipe(&self, last: &Message, text: String) -> ApiResult<Message> {
        let (_, swipe) = new_ids();
        let id = last.id;
        let model = last.swipe().model.clone();
        let created = self.base().now();
        let new = NewSwipe {
            id: swipe,
            text,
            state: SwipeState::Stopped,
            created,
            model,
        };
        self.base()
            .store()
            .write(move |store| {
                retraction::reworded(store, id)?;
                store.swipes_mut().add(id, &new).map(drop)
            })
            .await?;
        self.library().chat_lookup.message(id).await
    }
}

fn shown(text: &str, choices: token_choice::TokenChoices) -> api::TokenChoices {
    let probability = |logprob: f32| f64::from(logprob).exp().clamp(0.0, 1.0);
    let token = |token: TokenChoice| api::TokenChoice {
        text: token.text,
        probability: probability(token.logprob),
        alternatives: token
            .alternatives
            .into_iter()
            .map(|other| api::TokenAlternative {
                text: other.text,
                probability: probability(other.logprob),
            })
            .collect(),
    };
    api::TokenChoices {
        before: text.get(..choices.start).unwrap_or_default().to_owned(),
        tokens: choices.tokens.into_iter().map(token).collect(),
    }
}
