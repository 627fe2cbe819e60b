//! The replies being written right now: at most one in a chat, any number of chats at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::{ChatId, MessageId, SwipeId};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::api::{ApiError, Generating};
use crate::error::Answer;

#[derive(Clone, Default)]
pub(crate) struct Running {
    replies: Arc<Mutex<HashMap<ChatId, Reply>>>,
    ended: Arc<Notify>,
}

struct Reply {
    message: MessageId,
    swipe: SwipeId,
    text: String,
    /// Sequence number of the next piece of text.
    seq: u32,
    cancel: CancellationToken,
}

/// Holds a chat's place; giving it back lets the next reply start, whatever way this one ended.
pub(crate) struct Place {
    running: Running,
    chat: ChatId,
    pub(crate) cancel: CancellationToken,
}

impl Running {
    /// Takes the chat's place for a reply that goes on from `text`.
    pub(crate) fn begin(&self, chat: ChatId, message: MessageId, swipe: SwipeId, text: String) -> Answer<Place> {
        let mut replies = self.lock();
        if replies.contains_key(&chat) {
            return Err(busy());
        }
        let cancel = CancellationToken::new();
        replies.insert(chat, Reply { message, swipe, text, seq: 0, cancel: cancel.clone() });
        Ok(Place { running: self.clone(), chat, cancel })
    }

    /// An error while a reply is being written in the chat.
    pub(crate) fn none_in(&self, chat: ChatId) -> Answer<()> {
        if self.lock().contains_key(&chat) { Err(busy()) } else { Ok(()) }
    }

    pub(crate) fn of(&self, chat: ChatId) -> Option<Generating> {
        self.lock().get(&chat).map(|reply| Generating {
            message: reply.message.to_string(),
            swipe: reply.swipe.to_string(),
            text: reply.text.clone(),
            seq: reply.seq,
        })
    }

    pub(crate) fn cancel(&self, chat: ChatId) {
        if let Some(reply) = self.lock().get(&chat) {
            reply.cancel.cancel();
        }
    }

    pub(crate) fn cancel_all(&self) {
        self.lock().values().for_each(|reply| reply.cancel.cancel());
    }

    /// Waits until nothing is being written.
    pub(crate) async fn idle(&self) {
        loop {
            let ended = self.ended.notified();
            if self.lock().is_empty() {
                return;
            }
            ended.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ChatId, Reply>> {
        self.replies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Adds a piece of text and returns its sequence number.
    pub(crate) fn write(&self, text: &str) -> u32 {
        let mut replies = self.running.lock();
        let Some(reply) = replies.get_mut(&self.chat) else { return 0 };
        reply.text.push_str(text);
        reply.seq += 1;
        reply.seq - 1
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.running.lock().remove(&self.chat);
        self.running.ended.notify_waiters();
    }
}

fn busy() -> ApiError {
    ApiError::Busy {
        message: "A reply is being written in this chat.".into(),
        hint: "Wait until it ends, or stop it.".into(),
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_chat_has_one_reply_at_a_time_and_a_late_listener_can_join_it() {
        let running = Running::default();
        let chat = ChatId(Uuid::from_u128(1));
        let begin = |chat| running.begin(chat, MessageId(Uuid::nil()), SwipeId(Uuid::nil()), String::new());
        let place = begin(chat).unwrap();
        assert!(matches!(begin(chat), Err(ApiError::Busy { .. })));
        let other = begin(ChatId(Uuid::from_u128(2))).unwrap();

        assert_eq!((place.write("Once "), place.write("upon")), (0, 1));
        let joined = running.of(chat).unwrap();
        assert_eq!((joined.text.as_str(), joined.seq), ("Once upon", 2));

        drop((place, other));
        assert!(running.of(chat).is_none());
        begin(chat).unwrap();
    }
}
