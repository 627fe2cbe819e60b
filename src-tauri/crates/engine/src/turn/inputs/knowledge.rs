//! Determines the speaker of a turn and what the speaker knows, before the messages are read.

use domain::MessageId;
use domain::chat::{Chat, Role};
use uuid::Uuid;

use crate::api::{Ask, TurnOptions};
use crate::base::error::ApiResult;
use crate::library::groups::presence::Knowledge;
use crate::library::groups::scene::{NextSpeaker, Scene};
use crate::library::groups::turn_order::SpokenLine;
use crate::library::snapshots::snapshot::ChatSnapshot;
use crate::turn::inputs::Inputs;
use crate::turn::inputs::turn_inputs::ReplyTo;

impl Inputs {
    pub(crate) async fn knowledge(
        &self,
        snapshot: &ChatSnapshot,
        reply_to: &ReplyTo,
        options: &TurnOptions,
    ) -> ApiResult<Knowledge> {
        let ChatSnapshot {
            chat, group: scene, ..
        } = snapshot;
        if let Some(missed) = &scene.missed_by_only {
            let missed_here = missed.values().any(|other| *other == chat.id);
            return Ok(Knowledge::alone(
                chat,
                missed.keys().copied().collect(),
                missed_here,
            ));
        }
        if matches!(options.ask, Some(Ask::Impersonate | Ask::Title)) {
            return Ok(Knowledge::of_user(chat));
        }
        let speaker = self.speaker(chat, scene, reply_to).await?;
        Ok(Knowledge::of_speaker(chat, scene, speaker))
    }

    /// The speaker of the reply in a group scene. If nobody would speak, any member, for a preview.
    async fn speaker(
        &self,
        chat: &Chat,
        scene: &Scene,
        reply_to: &ReplyTo,
    ) -> ApiResult<NextSpeaker> {
        if let ReplyTo::By(speaker) = reply_to {
            return Ok(speaker.clone());
        }
        let messages = self.library().groups.newest_lines(chat).await?;
        if let ReplyTo::Before(reply) = reply_to
            && let Some(message) = messages.iter().find(|message| message.id == *reply)
        {
            return Ok(scene.who_said(*reply, message.role));
        }
        let words = match reply_to {
            ReplyTo::Draft(text) => Some(SpokenLine {
                id: MessageId(Uuid::nil()),
                role: Role::User,
                text,
            }),
            _ => None,
        };
        let shown = messages.iter().rev().filter(|message| !message.hidden);
        let next = scene.next(words.into_iter().chain(shown.map(SpokenLine::from)));
        Ok(next.unwrap_or_else(|| scene.anyone()))
    }
}
