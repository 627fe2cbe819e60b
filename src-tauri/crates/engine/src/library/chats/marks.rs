//! Checkpoints, ratings, earlier texts of messages, and the links between a chat and its branches.

use domain::{ChatId, MessageId, SwipeId};
use store::{ReadTransaction, StoreError};

use crate::api::{
    self, BranchOrigin, BranchSummary, ChangedText, ChatMarks, Checkpoint, RatedSwipe, Rating,
    Revision,
};
use crate::base::clock::rfc3339;
use crate::base::error::{ApiResult, bad_input, internal, not_found};
use crate::base::records::text_changes;
use crate::library::chats::Chats;

/// Maximum length of a checkpoint's name, in characters.
const MAX_NAME: usize = 200;

impl Chats {
    /// Marks of the user in a chat, and its links to other chats.
    pub(crate) async fn chat_marks(&self, chat: ChatId) -> ApiResult<ChatMarks> {
        let chat = self.chat_lookup.chat(chat).await?.id;
        Ok(self
            .base()
            .store()
            .read(move |store| read_marks(store, chat))
            .await?)
    }

    /// Adds or renames the checkpoint of a message; without a name it is removed.
    pub(crate) async fn set_checkpoint(
        &self,
        message: MessageId,
        name: Option<String>,
    ) -> ApiResult<ChatMarks> {
        let message = self.chat_lookup.message(message).await?;
        let name: Option<String> = name.map(|name| name.trim().chars().take(MAX_NAME).collect());
        if name.as_ref().is_some_and(String::is_empty) {
            return Err(bad_input(
                "A checkpoint needs a name.",
                "Write a few words.",
            ));
        }
        let id = message.id;
        let chat = message.chat;
        let now = self.base().now();
        let marks = self.base().store().write(move |store| {
            match &name {
                Some(name) => store.checkpoints_mut().set(id, name, now)?,
                None => store.checkpoints_mut().remove(id)?,
            }
            read_marks(store, chat)
        });
        let marks = marks.await?;
        self.marks_changed(chat);
        Ok(marks)
    }

    /// Rates a swipe; without a rating, the rating is removed.
    pub(crate) async fn rate_swipe(&self, id: SwipeId, rating: Option<Rating>) -> ApiResult<()> {
        let good = rating.map(|rating| rating == Rating::Up);
        Ok(self
            .base()
            .store()
            .write(move |store| store.swipes_mut().rate(id, good))
            .await?)
    }

    /// The earlier texts of a message, newest first.
    pub(crate) async fn revisions(&self, id: MessageId) -> ApiResult<Vec<Revision>> {
        let found = self
            .base()
            .store()
            .read(move |store| store.revisions().of(id))
            .await?;
        let shown = |kept: store::Revision| Revision {
            text: kept.text,
            replaced: rfc3339(kept.replaced),
        };
        Ok(found.into_iter().map(shown).collect())
    }

    /// The changes from an earlier text of a message to the text that replaced it. `index` counts
    /// from the newest.
    ///
    /// # Errors
    /// `NotFound` if there is no such text.
    pub(crate) async fn revision_changes(
        &self,
        message: MessageId,
        index: u32,
    ) -> ApiResult<Vec<ChangedText>> {
        let message = self.chat_lookup.message(message).await?;
        let mut texts = vec![message.text().to_owned()];
        let found = self
            .base()
            .store()
            .read(move |store| store.revisions().of(message.id))
            .await?;
        texts.extend(found.into_iter().map(|kept| kept.text));
        let index = index as usize;
        let [now, before, ..] = texts.get_mut(index..).unwrap_or_default() else {
            return Err(not_found("earlier text"));
        };
        let now = std::mem::take(now);
        let before = std::mem::take(before);
        let compare = move || text_changes::by_words(&before, &now);
        tokio::task::spawn_blocking(compare)
            .await
            .map_err(|_| internal("two texts could not be compared"))
    }

    /// Deletes the earlier texts of a message permanently.
    pub(crate) async fn delete_revisions(&self, message: MessageId) -> ApiResult<()> {
        let message = self.chat_lookup.message(message).await?;
        self.base()
            .store()
            .write(move |store| store.revisions_mut().remove(message.id))
            .await?;
        self.marks_changed(message.chat);
        Ok(())
    }

    fn marks_changed(&self, chat: ChatId) {
        self.base()
            .events()
            .changed(api::Changed::Messages, Some(chat.to_string()));
    }
}

fn read_marks(store: &ReadTransaction<'_>, chat: ChatId) -> Result<ChatMarks, StoreError> {
    let origin = store
        .branch_links()
        .origin(chat)?
        .filter(|origin| !origin.deleted);
    let branches = store
        .branch_links()
        .of(chat)?
        .into_iter()
        .map(|branch| BranchSummary {
            chat: branch.chat,
            title: branch.title,
            message: branch.message,
        });
    let checkpoints = store
        .checkpoints()
        .of(chat)?
        .into_iter()
        .map(|mark| Checkpoint {
            message: mark.message,
            name: mark.name,
            created: rfc3339(mark.created),
        });
    let ratings = store
        .swipes()
        .ratings(chat)?
        .into_iter()
        .map(|(swipe, good)| RatedSwipe {
            swipe,
            rating: if good { Rating::Up } else { Rating::Down },
        });
    Ok(ChatMarks {
        origin: origin.map(|origin| BranchOrigin {
            chat: origin.chat,
            title: origin.title,
            message: origin.message,
            number: origin.number,
        }),
        branches: branches.collect(),
        checkpoints: checkpoints.collect(),
        edited: store.revisions().edited(chat)?,
        token_swipes: store.token_choices().swipes(chat)?,
        ratings: ratings.collect(),
    })
}
