//! Joins two chats of one character: the inverse of splitting a chat.

use domain::{ChatId, MessageId};
use store::{CopiedRange, StoreError, WriteTransaction};
use uuid::Uuid;

use crate::api::JoinedChat;
use crate::base::error::{ApiResult, bad_input};
use crate::turn::edits::Edits;
use crate::turn::edits::messages::end_epoch;

impl Edits {
    /// Appends the messages of `other` to a chat, with their versions and marks, and moves `other`
    /// to the trash. What was learned in `other` stays. Settings and members of the chat stay as
    /// they are. [`Self::delete_from`] with the first added message and `restore_chat` undo it.
    ///
    /// # Errors
    /// `BadInput` if the chats belong to different characters, or if `other` is the same chat or
    /// has no messages; `Busy` while a reply is being written in one of them.
    pub(crate) async fn join_chats(&self, chat: ChatId, other: ChatId) -> ApiResult<JoinedChat> {
        let into = self.library().chat_lookup.chat(chat).await?;
        let from = self.library().chat_lookup.chat(other).await?;
        if into.id == from.id {
            return Err(bad_input(
                "A chat cannot be joined to itself.",
                "Choose another chat.",
            ));
        }
        if into.character != from.character {
            return Err(bad_input(
                "The chats belong to different characters.",
                "Choose a chat of the same character.",
            ));
        }
        let reservations = (
            self.base().running().begin(into.id)?,
            self.base().running().begin(from.id)?,
        );
        let into = into.id;
        let from = from.id;
        let now = self.base().now();
        let append = move |store: &mut WriteTransaction<'_>| {
            let steps = store.branch_links().steps(from)?;
            let first = steps
                .first()
                .map(|step| store.messages().get(step.message))
                .transpose()?
                .flatten();
            let Some(first) = first else {
                return Ok(Vec::new());
            };
            let begin = store.branch_links().next_position(into)?;
            let shift = begin - first.position;
            let range = CopiedRange {
                from,
                to: into,
                first: i64::MIN,
                last: i64::MAX,
                shift,
            };
            let copies = store
                .branch_links_mut()
                .copy_messages(range, &mut Uuid::now_v7)?;
            store.branch_links_mut().append_extraction(range, begin)?;
            store.chats_mut().touch(into, now)?;
            end_epoch(store, into)?;
            Ok::<_, StoreError>(
                steps
                    .iter()
                    .filter_map(|step| copies.messages.get(&step.message).copied())
                    .collect(),
            )
        };
        let added: Vec<MessageId> = self.base().store().write(append).await?;
        drop(reservations);
        if added.is_empty() {
            return Err(bad_input(
                "The chat has no messages.",
                "Choose another chat.",
            ));
        }
        self.library().trash.delete_chats(vec![from], true).await?;
        self.library().chat_lookup.messages_changed(into);
        Ok(JoinedChat {
            chat: self.library().chats.open_chat(into).await?,
            added,
            joined: from,
        })
    }
}
