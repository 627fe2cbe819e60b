//! The conversation that a request brings along, as messages of a prompt and as messages of a new
//! chat.

use std::collections::HashMap;

use domain::chat::{Picture, Role, SwipeState};
use domain::{CharacterId, ChatId, MessageId, SwipeId, Timestamp};
use store::{NewMessage, NewSwipe, ReadTransaction, StoreError, WindowMessage};
use uuid::Uuid;

use crate::api::client::{ClientError, ClientRole};
use crate::api::{ApiGrant, Changed};
use crate::base::error::ApiResult;
use crate::turn::client::calls::{self, GivenMessage};
use crate::turn::client::{Clients, rights};
use crate::turn::inputs::gather::ReadMessages;
use crate::turn::inputs::history::near;

/// Chats that are compared with a conversation to store, newest first.
const COMPARED_CHATS: usize = 50;

/// The messages in the form in which a turn reads those of a stored chat, without old ones that
/// cannot fit into `limit` tokens.
pub(crate) fn read(messages: Vec<GivenMessage>, now: Timestamp, limit: u32) -> ReadMessages {
    let mut history = Vec::with_capacity(messages.len());
    let mut pictures = HashMap::new();
    for (given, position) in messages.into_iter().zip(0..) {
        let id = MessageId(Uuid::now_v7());
        let GivenMessage { message, rounds } = given;
        let shown: Vec<Picture> = message.pictures.into_iter().map(picture).collect();
        if message.text.trim().is_empty() && shown.is_empty() && rounds.is_empty() {
            continue;
        }
        if !shown.is_empty() {
            pictures.insert(id, shown);
        }
        history.push(WindowMessage {
            id,
            position,
            role: role(message.role),
            created: now,
            swipe: SwipeId(Uuid::nil()),
            state: SwipeState::Finished,
            text: message.text,
            context_block: None,
            pinned: false,
            importance: None,
            tool_calls: Vec::new(),
            tool_rounds: rounds,
        });
    }
    ReadMessages::given(near(history, &pictures, None, false, limit), pictures)
}

/// The address of a picture takes the place of its asset, because it is not stored.
fn picture(url: String) -> Picture {
    Picture {
        hash: url,
        name: String::new(),
    }
}

/// The text of a message, with its tool calls and their results in front.
fn text(given: &GivenMessage) -> String {
    match calls::told(&given.rounds) {
        told if told.is_empty() => given.message.text.clone(),
        told => format!("{told}\n\n{}", given.message.text),
    }
}

fn role(role: ClientRole) -> Role {
    match role {
        ClientRole::Assistant => Role::Character,
        ClientRole::User | ClientRole::System | ClientRole::Tool => Role::User,
    }
}

impl Clients {
    /// The chat that holds exactly these messages; a new one if there is none.
    pub(crate) async fn client_chat_with(
        &self,
        character: CharacterId,
        messages: Vec<GivenMessage>,
    ) -> ApiResult<ChatId> {
        let texts: Vec<(Role, String)> = messages
            .iter()
            .map(|given| (role(given.message.role), text(given).trim_end().to_owned()))
            .collect();
        let known = texts.clone();
        if let Some(chat) = self
            .base()
            .store()
            .read(move |store| same_chat(store, character, &known))
            .await?
        {
            return Ok(chat);
        }
        let (chat, _) = self.library().chats.first_state(character).await?;
        let id = chat.id;
        let now = self.base().now();
        let append = self.base().store().write(move |store| {
            store.chats_mut().insert(&chat)?;
            for (role, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
                store.messages_mut().append(&message(id, role, text, now))?;
            }
            Ok(())
        });
        append.await?;
        self.base()
            .events()
            .changed(Changed::Chats, Some(id.to_string()));
        Ok(id)
    }

    /// The chat of requests that name only a character. The first one starts it.
    pub(crate) async fn client_chat_of(
        &self,
        character: CharacterId,
        name: &str,
    ) -> ApiResult<ChatId> {
        // Two first requests must not start two chats.
        let _place = self.client_queue().enter(ChatId(character.0)).await;
        if let Some(chat) = self.known_client_chat(character).await? {
            return Ok(chat);
        }
        let chat = self.library().chats.start_chat(character).await?;
        let title: String = format!("{name} (API)").chars().take(200).collect();
        self.library().chats.rename_chat(chat, title).await?;
        self.base()
            .store()
            .write(move |store| store.api_chats_mut().set(character, chat))
            .await?;
        Ok(chat)
    }

    /// [`Self::client_chat_of`], for a key.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` if the key does not allow it.
    pub(crate) async fn client_chat_for(
        &self,
        grant: &ApiGrant,
        id: CharacterId,
    ) -> Result<ChatId, ClientError> {
        rights::check_storing(grant)?;
        rights::check_character(grant, id)?;
        let (card, _) = self.library().chats.first_state(id).await?;
        let name = self
            .library()
            .characters
            .chat_card(&card)
            .await?
            .card
            .display_name()
            .to_owned();
        let chat = self.client_chat_of(id, &name).await?;
        Ok(self.allowed_chat(grant, chat).await?.id)
    }

    pub(crate) async fn known_client_chat(
        &self,
        character: CharacterId,
    ) -> ApiResult<Option<ChatId>> {
        Ok(self
            .base()
            .store()
            .read(move |store| store.api_chats().of(character))
            .await?)
    }
}

fn message(chat: ChatId, role: Role, text: String, created: Timestamp) -> NewMessage {
    let swipe = NewSwipe {
        id: SwipeId(Uuid::now_v7()),
        text,
        state: SwipeState::Finished,
        created,
        model: None,
    };
    let id = MessageId(Uuid::now_v7());
    NewMessage {
        id,
        chat,
        role,
        created,
        swipes: vec![swipe],
        selected: 0,
        context_block: None,
    }
}

/// The newest chat of the character with exactly these messages.
fn same_chat(
    store: &ReadTransaction<'_>,
    character: CharacterId,
    texts: &[(Role, String)],
) -> Result<Option<ChatId>, StoreError> {
    if texts.is_empty() {
        return Ok(None);
    }
    let count = u32::try_from(texts.len()).unwrap_or(u32::MAX);
    let chats = store.chats().list()?;
    let candidates = chats
        .iter()
        .filter(|chat| chat.character == character && chat.message_count == count);
    for chat in candidates.take(COMPARED_CHATS) {
        let messages = store.messages().page(chat.id, None, count)?;
        let same = messages.iter().zip(texts).all(|(stored, (role, text))| {
            stored.role == *role
                && crate::library::chats::chat::said(*role, stored.text().to_owned()).trim_end()
                    == text
        });
        if same && store.groups().members(chat.id)?.is_empty() {
            return Ok(Some(chat.id));
        }
    }
    Ok(None)
}
