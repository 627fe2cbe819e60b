//! The source messages of a memory, so that users can check it.

use std::collections::{HashMap, HashSet};

use domain::chat::Message;
use domain::plain::plain_line;
use domain::{ChatId, MessageId};

use crate::api::Receipt;
use crate::base::clock::rfc3339;
use crate::base::error::ApiResult;
use crate::base::records::convert::Speakers;
use crate::library::chats::chat::first_words;
use crate::library::memories::Memories;

/// Maximum number of receipts in one answer.
const MOST: usize = 1_000;
/// Maximum characters of a message's preview.
const LINE: usize = 240;

impl Memories {
    pub(crate) async fn receipts(&self, messages: Vec<MessageId>) -> ApiResult<Vec<Receipt>> {
        let said = self
            .base()
            .store()
            .read(move |store| {
                let found = messages
                    .into_iter()
                    .take(MOST)
                    .map(|id| store.messages().get(id));
                Ok(found
                    .collect::<Result<Vec<_>, _>>()?
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>())
            })
            .await?;
        let mut chats = HashMap::new();
        for id in said
            .iter()
            .map(|message| message.chat)
            .collect::<HashSet<_>>()
        {
            // The chat may be deleted by now, and its messages with it.
            if let Ok(told) = self.told_in(id).await {
                chats.insert(id, told);
            }
        }
        let one = |message: &Message| {
            chats
                .get(&message.chat)
                .map(|(title, speakers)| receipt(message, title, speakers))
        };
        Ok(said.iter().filter_map(one).collect())
    }

    async fn told_in(&self, id: ChatId) -> ApiResult<(String, Speakers)> {
        let chat = self.chat_lookup.chat(id).await?;
        let speakers = self.groups.speakers(&chat).await?;
        let title = if chat.title.is_empty() {
            speakers.character.clone()
        } else {
            chat.title
        };
        Ok((title, speakers))
    }
}

fn receipt(message: &Message, title: &str, speakers: &Speakers) -> Receipt {
    Receipt {
        message: message.id,
        chat: message.chat,
        title: title.to_owned(),
        name: speakers.of(message.id, message.role).to_owned(),
        line: plain_line(&first_words(message.text().to_owned()), LINE),
        created: rfc3339(message.created),
    }
}
