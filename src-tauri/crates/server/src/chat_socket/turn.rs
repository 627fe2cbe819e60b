//! The turn that a socket follows: turns the engine's events into those of the socket.

use domain::{ChatId, MessageId};
use engine::api::{EndReason, Event, Message, Started};

use super::protocol::{ServerEvent, TokenUsage, reason_name};

/// A turn in progress.
pub(super) struct FollowedTurn {
    chat: ChatId,
    /// Id of the reply that is being written; `None` between two replies of a group.
    reply: Option<MessageId>,
}

/// The frames for one event, and whether the turn is over.
pub(super) type Followed = (Vec<ServerEvent>, bool);

impl FollowedTurn {
    pub(super) fn new(chat: ChatId, started: &Started) -> Self {
        Self {
            chat,
            reply: started.reply.as_ref().map(|reply| reply.id),
        }
    }

    pub(super) fn chat(&self) -> ChatId {
        self.chat
    }

    /// Events of other chats and of other replies give no frames.
    pub(super) fn follow(&mut self, event: Event) -> Followed {
        match event {
            Event::Started { chat, message, .. } if chat == self.chat => {
                self.reply = Some(message.id);
                (Vec::new(), false)
            }
            Event::Token {
                chat,
                message,
                text,
                ..
            } if self.is_own(chat, message) => (vec![ServerEvent::Token { text, message }], false),
            Event::ThoughtsClosed { chat, message, .. } if self.is_own(chat, message) => {
                (vec![ServerEvent::Reset { message }], false)
            }
            Event::Ended {
                chat,
                message,
                reason,
                following,
                ..
            } if chat == self.chat
                && message
                    .as_ref()
                    .is_none_or(|ended| self.reply == Some(ended.id)) =>
            {
                self.reply = None;
                (
                    self.ended(message.as_ref(), reason, following),
                    following == 0,
                )
            }
            _ => (Vec::new(), false),
        }
    }

    fn is_own(&self, chat: ChatId, message: MessageId) -> bool {
        chat == self.chat && self.reply == Some(message)
    }

    /// The end of a reply: its error if it failed, its emotion if it has one, and the end itself.
    pub(super) fn ended(
        &self,
        message: Option<&Message>,
        reason: EndReason,
        following: u32,
    ) -> Vec<ServerEvent> {
        let swipe = message.and_then(|message| message.swipes.get(message.selected as usize));
        let emotion = swipe.and_then(|swipe| swipe.emotion.as_ref());
        let shown = swipe.map(|swipe| {
            swipe
                .display
                .as_ref()
                .map_or(&swipe.text, |display| &display.text)
        });
        let end = ServerEvent::End {
            reason: reason_name(&reason),
            chat: self.chat,
            message: message.map(|message| message.id),
            text: shown.cloned().unwrap_or_default(),
            usage: swipe
                .and_then(|swipe| swipe.figures.as_ref())
                .map(TokenUsage::from)
                .unwrap_or_default(),
            following,
        };
        let mut frames = Vec::new();
        if let EndReason::Failed { error } = reason {
            frames.push(ServerEvent::from(error));
        }
        frames.extend(emotion.map(|emotion| ServerEvent::Emotion {
            emotion: emotion.label.clone(),
        }));
        frames.push(end);
        frames
    }
}
