//! More versions of the last reply.

use domain::ChatId;

use crate::api::{ApiError, RegenerateOptions, Started, TurnOptions};
use crate::base::error::{ApiResult, bad_input};
use crate::base::records::convert;
use crate::library::chats::chat::said;
use crate::turn::assembly::hint;
use crate::turn::inputs::turn_inputs::ReplyTo;
use crate::turn::replies::generate::ReplyJob;
use crate::turn::replies::speaker_queue::SpeakerQueue;
use crate::turn::replies::target::{Target, new_ids};
use crate::turn::sending::Sending;

impl Sending {
    /// Adds a swipe to the last reply. If the user spoke last, generates the missing reply.
    pub(crate) async fn regenerate(&self, chat: ChatId) -> ApiResult<Started> {
        self.regenerate_with(chat, RegenerateOptions::default())
            .await
    }

    /// Works like [`Self::regenerate`], with a hint or another model for this swipe alone. The next
    /// turn continues from the stored prompt as if neither had been.
    ///
    /// # Errors
    /// `BadInput` if the hint is too long; `Busy` while a reply is being written in the chat.
    pub(crate) async fn regenerate_with(
        &self,
        chat: ChatId,
        wanted: RegenerateOptions,
    ) -> ApiResult<Started> {
        let reservation = self.base().running().begin_reply(chat)?;
        let (chat, last) = self.inputs.chat_and_last(chat).await?;
        let last = last.filter(|last| convert::is_reply(last.role));
        let earlier = last
            .as_ref()
            .map(|last| said(last.role, last.text().to_owned()))
            .unwrap_or_default();
        let instruction = wanted
            .hint
            .map(|hint| hint::instruction(&hint, &earlier))
            .transpose()?
            .flatten();
        let one_off = instruction.is_some() || (wanted.model.is_some() && last.is_some());
        let options = TurnOptions {
            hint: instruction,
            model: wanted.model,
            one_off,
            ..TurnOptions::default()
        };
        let (message, swipe) = new_ids();
        let (reply_to, target, queue) = match last {
            Some(last) => (
                ReplyTo::Before(last.id),
                Target::NewSwipe {
                    message: last,
                    swipe,
                },
                SpeakerQueue::default(),
            ),
            None => {
                let snapshot = self.library().snapshots.snapshot(chat.clone()).await?;
                let (turn, queue) = self
                    .choose_speakers(&snapshot, &options)
                    .await?
                    .ok_or_else(nobody)?;
                (
                    ReplyTo::By(turn.clone()),
                    Target::NewMessage {
                        message,
                        swipe,
                        turn,
                    },
                    queue,
                )
            }
        };
        let speakers = self.library().groups.speakers(&chat).await?;
        Ok(self.start(
            ReplyJob {
                chat,
                reply_to,
                target,
                options,
                reservation,
                queue,
            },
            speakers,
            None,
        ))
    }
}

/// Nobody in a group may answer the last message.
fn nobody() -> ApiError {
    bad_input(
        "Nobody in this group answers by itself.",
        "Let a character speak, or change the turn order.",
    )
}
