//! The place where a reply's text is stored: in a new message, in a new swipe, or at the end of a
//! swipe.

use domain::chat::{Chat, Message, MessageSource, Speaker, Swipe, SwipeState};
use domain::{MessageId, SwipeId, Timestamp, ToolCall, ToolRound};
use store::{NewMessage, NewSwipe, StoreError, WriteTransaction};
use uuid::Uuid;

use crate::api;
use crate::base::records::convert::{self, Speakers};
use crate::library::groups::members::hears_itself;
use crate::library::groups::scene::NextSpeaker;
use crate::library::snapshots::macro_variables;

/// Ids of a new message and of its first version.
pub(crate) fn new_ids() -> (MessageId, SwipeId) {
    (MessageId(Uuid::now_v7()), SwipeId(Uuid::now_v7()))
}

/// Destination of a reply. Rows are created with the first text, so a reply that never started
/// leaves no trace.
#[derive(Clone)]
pub(crate) enum Target {
    NewMessage {
        message: MessageId,
        swipe: SwipeId,
        turn: NextSpeaker,
    },
    NewSwipe {
        message: Message,
        swipe: SwipeId,
    },
    /// Continues the text of the selected swipe.
    Extend {
        message: Message,
        /// The text ends with a token that another one replaced, so it is in the middle of what the
        /// model writes.
        after_token: bool,
    },
}

impl Target {
    pub(crate) fn message(&self) -> MessageId {
        match self {
            Self::NewMessage { message, .. } => *message,
            Self::NewSwipe { message, .. } | Self::Extend { message, .. } => message.id,
        }
    }

    pub(crate) fn swipe(&self) -> SwipeId {
        match self {
            Self::NewMessage { swipe, .. } | Self::NewSwipe { swipe, .. } => *swipe,
            Self::Extend { message, .. } => message.swipe().id,
        }
    }

    /// Whether the new text begins in the middle of what the model writes.
    pub(crate) fn is_after_token(&self) -> bool {
        matches!(
            self,
            Self::Extend {
                after_token: true,
                ..
            }
        )
    }

    /// The text before the first new token.
    pub(crate) fn base(&self) -> &str {
        match self {
            Self::NewMessage { .. } | Self::NewSwipe { .. } => "",
            Self::Extend { message, .. } => message.text(),
        }
    }

    /// Tool calls of the text before the first new token.
    pub(crate) fn tool_calls(&self) -> &[ToolCall] {
        match self {
            Self::NewMessage { .. } | Self::NewSwipe { .. } => &[],
            Self::Extend { message, .. } => &message.swipe().tool_calls,
        }
    }

    /// Tool rounds before the first new token.
    pub(crate) fn tool_rounds(&self) -> &[ToolRound] {
        match self {
            Self::NewMessage { .. } | Self::NewSwipe { .. } => &[],
            Self::Extend { message, .. } => &message.swipe().tool_rounds,
        }
    }

    /// The message before any text is written.
    pub(crate) fn as_begun(&self, mut speakers: Speakers, now: Timestamp) -> api::Message {
        let begun = |message: MessageId, swipe| Swipe {
            id: swipe,
            message,
            position: 0,
            text: String::new(),
            state: SwipeState::Streaming,
            created: now,
            model: None,
            tool_calls: Vec::new(),
            tool_rounds: Vec::new(),
            emotion: None,
        };
        let mut whole = match self {
            Self::NewMessage {
                message,
                swipe,
                turn,
            } => Message {
                id: *message,
                chat: domain::ChatId(uuid::Uuid::nil()),
                position: 0,
                role: turn.role,
                created: now,
                swipes: vec![begun(*message, *swipe)],
                selected: 0,
                context_block: None,
                pinned: false,
                hidden: false,
                undated: false,
                source: MessageSource::Typed,
                pictures: Vec::new(),
            },
            Self::NewSwipe { message, swipe } => {
                let mut message = message.clone();
                message.swipes.push(begun(message.id, *swipe));
                message.selected = message.swipes.len() as u32 - 1;
                message
            }
            Self::Extend { message, .. } => message.clone(),
        };
        if let Self::NewMessage {
            message,
            turn:
                NextSpeaker {
                    speaker: Some(speaker),
                    ..
                },
            ..
        } = self
        {
            speakers.others.insert(*message, speaker.clone());
        }
        let selected = whole.selected as usize;
        whole.swipes[selected].state = SwipeState::Streaming;
        convert::message(&whole, &speakers, |_| None)
    }

    /// Creates the rows, with the first text.
    pub(crate) fn insert(
        &self,
        store: &mut WriteTransaction<'_>,
        chat: &Chat,
        text: &str,
        model: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let swipe = NewSwipe {
            id: self.swipe(),
            text: text.to_owned(),
            state: SwipeState::Streaming,
            created: now,
            model: Some(model.to_owned()),
        };
        match self {
            Self::NewMessage { message, turn, .. } => {
                store.messages_mut().append(&NewMessage {
                    id: *message,
                    chat: chat.id,
                    role: turn.role,
                    created: now,
                    swipes: vec![swipe],
                    selected: 0,
                    context_block: None,
                })?;
                if let Some(speaker) = &turn.speaker {
                    store.groups_mut().set_speaker(*message, speaker)?;
                }
                let own = Speaker {
                    character: Some(chat.character),
                    name: String::new(),
                };
                hears_itself(store, *message, turn.speaker.as_ref().unwrap_or(&own))?;
            }
            Self::NewSwipe { message, .. } => {
                crate::base::records::retraction::reworded(store, message.id)?;
                let shown = store
                    .messages()
                    .get(message.id)?
                    .map(|message| message.swipe().id);
                store.swipes_mut().add(message.id, &swipe)?;
                macro_variables::show_version(store, chat.id, shown, Some(swipe.id))?;
            }
            Self::Extend { .. } => {
                store
                    .swipes_mut()
                    .set_text(swipe.id, text, SwipeState::Streaming)?
            }
        }
        Ok(())
    }
}
