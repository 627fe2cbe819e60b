//! The characters of a group that answer one message, one after the other. The chat stays reserved
//! until the last one has ended, so nothing comes between them, and stopping one reply ends all.

use std::collections::VecDeque;

use domain::chat::{Chat, Message};

use crate::api::{ReplyTurn, TurnOptions};
use crate::base::error::{ApiResult, without_content};
use crate::base::records::convert::Speakers;
use crate::base::running::ChatReservation;
use crate::library::groups::scene::NextSpeaker;
use crate::turn::inputs::turn_inputs::ReplyTo;
use crate::turn::replies::Generation;
use crate::turn::replies::generate::ReplyJob;
use crate::turn::replies::target::{Target, new_ids};

/// The speakers that wait, and the place of the present one among all.
#[derive(Default)]
pub(crate) struct SpeakerQueue {
    waiting: VecDeque<NextSpeaker>,
    number: u32,
}

/// A reply that is about to start, with the message that calls upon its speaker.
pub(crate) struct QueuedReply {
    pub(crate) job: ReplyJob,
    pub(crate) speakers: Speakers,
    pub(crate) called: Message,
}

impl SpeakerQueue {
    /// Splits `speakers` into the first one and the queue of the others.
    pub(crate) fn new(speakers: Vec<NextSpeaker>) -> Option<(NextSpeaker, Self)> {
        let mut waiting = VecDeque::from(speakers);
        Some((waiting.pop_front()?, Self { waiting, number: 1 }))
    }

    /// The place of the present reply; `None` if it is the only one.
    pub(crate) fn turn(&self) -> Option<ReplyTurn> {
        let of = self.number + self.following();
        (of > 1).then_some(ReplyTurn {
            number: self.number,
            of,
        })
    }

    /// Number of replies after the present one.
    pub(crate) fn following(&self) -> u32 {
        self.waiting.len() as u32
    }

    fn take(&mut self) -> Option<NextSpeaker> {
        let next = self.waiting.pop_front()?;
        self.number += 1;
        Some(next)
    }
}

impl Generation {
    /// Calls upon the next speaker of the queue that may still speak. `None` if nobody is left, or
    /// the user stopped.
    pub(crate) async fn next_in_queue(
        &self,
        (chat, options): (Chat, TurnOptions),
        reservation: ChatReservation,
        mut queue: SpeakerQueue,
    ) -> Option<QueuedReply> {
        if queue.waiting.is_empty() {
            return None;
        }
        let id = chat.id;
        let next = async {
            let scene = self.library().groups.group(&chat).await?;
            queue.waiting.retain(|speaker| scene.may_speak(speaker));
            let Some(turn) = queue.take().filter(|_| !reservation.stopped()) else {
                return Ok(None);
            };
            let called = self.library().groups.call_upon(&chat, &turn).await?;
            let speakers = self.library().groups.speakers(&chat).await?;
            let (message, swipe) = new_ids();
            let reply_to = ReplyTo::By(turn.clone());
            let target = Target::NewMessage {
                message,
                swipe,
                turn,
            };
            let job = ReplyJob {
                chat,
                reply_to,
                target,
                options,
                reservation,
                queue,
            };
            Ok(Some(QueuedReply {
                job,
                speakers,
                called,
            }))
        };
        let next: ApiResult<Option<QueuedReply>> = next.await;
        next.unwrap_or_else(|error| {
            tracing::warn!(chat = %id, error = without_content(&error), "the next character of a group could not be called upon");
            None
        })
    }
}
