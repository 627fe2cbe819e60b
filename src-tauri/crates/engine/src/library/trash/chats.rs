//! Moves chats to the trash, with or without the memories that were learned in them, and restores
//! them.

use domain::ChatId;

use crate::api::Changed;
use crate::base::error::{ApiResult, bad_input};
use crate::library::trash::Trash;

/// Maximum number of chats per call.
const MOST: usize = 50_000;

impl Trash {
    pub(crate) async fn delete_chat(&self, id: ChatId) -> ApiResult<()> {
        self.delete_chats(vec![id], false).await
    }

    /// Number of memories that [`Self::delete_chats`] would delete without `keep_learned` and keep
    /// with it.
    pub(crate) async fn learned_in(&self, chats: Vec<ChatId>) -> ApiResult<u32> {
        check_count(&chats)?;
        let count = move |store: &store::ReadTransaction<'_>| {
            chats.iter().try_fold(0, |sum, chat| {
                Ok(sum + store.memories().count_detachable(*chat)?)
            })
        };
        Ok(self.base().store().read(count).await?)
    }

    /// Stops their running replies first.
    ///
    /// # Errors
    /// `NotFound` if one of them does not exist. No chat is deleted then.
    pub(crate) async fn delete_chats(
        &self,
        chats: Vec<ChatId>,
        keep_learned: bool,
    ) -> ApiResult<()> {
        check_count(&chats)?;
        let now = self.base().now();
        for chat in &chats {
            self.base().running().stop(*chat);
        }
        let deleted = chats.clone();
        let delete = move |store: &mut store::WriteTransaction<'_>| {
            for id in deleted {
                if keep_learned {
                    store.memories_mut().detach_from_chat(id)?;
                }
                store.chats_mut().soft_delete(id, now)?;
                crate::base::records::retraction::withdraw_chat(store, id)?;
            }
            Ok(())
        };
        self.base().store().write(delete).await?;
        for chat in &chats {
            for key in self.stale_caches().sequence_keys(*chat).await? {
                self.config().local().forget(&key);
            }
        }
        let only = if let [chat] = chats[..] {
            Some(chat.to_string())
        } else {
            None
        };
        self.base().events().changed(Changed::Chats, only);
        Ok(())
    }

    pub(crate) async fn restore_chat(&self, id: ChatId) -> ApiResult<()> {
        let restore = move |store: &mut store::WriteTransaction<'_>| {
            store.chats_mut().restore(id)?;
            store.memories_mut().reattach_to_chat(id)
        };
        self.base().store().write(restore).await?;
        self.base()
            .events()
            .changed(Changed::Chats, Some(id.to_string()));
        Ok(())
    }
}

fn check_count(chats: &[ChatId]) -> ApiResult<()> {
    if chats.len() > MOST {
        return Err(bad_input(
            format!("More than {MOST} chats are selected."),
            "Choose fewer at once.",
        ));
    }
    Ok(())
}
