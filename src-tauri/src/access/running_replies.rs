//! The replies that are being written, as the engine's events tell.

use std::collections::HashSet;

use engine::api::{ChatId, Event};
use tokio::sync::watch;

/// The chats in which a reply is being written.
#[derive(Default)]
pub(crate) struct RunningReplies(watch::Sender<HashSet<ChatId>>);

impl RunningReplies {
    pub(crate) fn follow(&self, event: &Event) {
        match event {
            Event::Started { chat, .. } => {
                self.0.send_modify(|chats| _ = chats.insert(*chat));
            }
            Event::Ended {
                chat, following: 0, ..
            } => {
                self.0.send_modify(|chats| _ = chats.remove(chat));
            }
            _ => {}
        }
    }

    /// Forgets all replies, because the engine has closed.
    pub(crate) fn clear(&self) {
        self.0.send_modify(HashSet::clear);
    }

    /// Waits until no reply is being written.
    pub(crate) async fn all_ended(&self) {
        // Cannot fail while `self` holds the sender.
        self.0.subscribe().wait_for(HashSet::is_empty).await.ok();
    }
}

#[cfg(test)]
mod tests {
    use engine::api::EndReason;

    use super::*;

    fn ended(chat: ChatId, following: u32) -> Event {
        Event::Ended {
            chat,
            message: None,
            anchor: None,
            reason: EndReason::Stop,
            following,
        }
    }

    #[tokio::test]
    async fn replies_of_a_group_end_with_the_last_one() {
        let replies = RunningReplies::default();
        replies.all_ended().await;
        let chat: ChatId = "0190a0a0-0000-7000-8000-000000000001".parse().unwrap();
        replies.0.send_modify(|chats| _ = chats.insert(chat));
        replies.follow(&ended(chat, 1));
        assert!(!replies.0.borrow().is_empty());
        replies.follow(&ended(chat, 0));
        replies.all_ended().await;
    }
}
