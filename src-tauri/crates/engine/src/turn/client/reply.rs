//! Decides how a request is answered, and starts the reply.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use domain::chat::Chat;
use domain::{CharacterId, ChatId};
use tokio_util::sync::CancellationToken;

use crate::api::client::{
    ClientError, ClientMessage, ClientOptions, ClientRequest, ClientRole, ReplyStream,
};
use crate::api::{ApiError, ApiGrant, MessageSource, ModelRef, Picture, TurnOptions};
use crate::base::error::{ApiResult, bad_input};
use crate::settings::models::raw_models::RawModel;
use crate::turn::client::calls::conversation;
use crate::turn::client::target::ClientTarget;
use crate::turn::client::{Clients, rights, schema};

/// A request to a character, with its messages sorted.
struct CharacterRequest {
    character: CharacterId,
    name: String,
    /// The chat that the request names.
    chat: Option<ChatId>,
    /// Without system messages.
    messages: Vec<ClientMessage>,
    options: TurnOptions,
    store: bool,
    wants_tokens: bool,
}

impl Clients {
    /// Starts the reply to a client's request. `gone` is cancelled if the client no longer waits.
    ///
    /// # Errors
    /// `UnknownModel`; `Forbidden` if the key does not allow it; the errors of a turn.
    pub(crate) async fn client_reply(
        &self,
        grant: &ApiGrant,
        request: ClientRequest,
        gone: &CancellationToken,
    ) -> Result<ReplyStream, ClientError> {
        if !request.messages.iter().any(says_something) {
            return Err(bad_input(
                "There is no message to answer.",
                "Send a message with the role `user`.",
            )
            .into());
        }
        let target = self.client_target(grant, &request.model).await?;
        if let Some(refusal) = schema::unsupported(&request.options)
            && self.is_answered_here(&target).await?
        {
            return Err(refusal);
        }
        match target {
            ClientTarget::Raw(raw) => Ok(self.raw_reply((&grant.name, &raw), request).await?),
            ClientTarget::Character { id, name, chat } => {
                let named = request
                    .chat
                    .as_deref()
                    .map(str::parse::<ChatId>)
                    .transpose()
                    .map_err(ApiError::from)?;
                if let (Some(one), Some(other)) = (chat, named)
                    && one != other
                {
                    let message = "The model's name and the request name different chats.";
                    return Err(bad_input(message, "Name the chat once.").into());
                }
                self.character_reply(grant, sorted(id, name, chat.or(named), request), gone)
                    .await
            }
        }
    }

    /// Whether a local model answers. A chat of the character may have another model; then the turn
    /// itself refuses.
    async fn is_answered_here(&self, target: &ClientTarget) -> ApiResult<bool> {
        match target {
            ClientTarget::Raw(raw) => Ok(matches!(raw.model, ModelRef::Local { .. })),
            ClientTarget::Character { id, .. } => {
                let (chat, _) = self.library().chats.first_state(*id).await?;
                Ok(self
                    .config()
                    .model_handles
                    .model_handle(&chat, &TurnOptions::default())
                    .await?
                    .is_local())
            }
        }
    }

    async fn raw_reply(
        &self,
        raw: (&str, &RawModel),
        request: ClientRequest,
    ) -> ApiResult<ReplyStream> {
        if request.chat.is_some() || request.store {
            let message = "A model without a character has no chats.";
            return Err(bad_input(
                message,
                "Leave out `store` and the chat, or name a character as the model.",
            ));
        }
        let ClientRequest {
            messages,
            options,
            plain_text,
            ..
        } = request;
        self.client_raw_reply(raw, conversation(messages), &options, plain_text)
            .await
    }

    async fn character_reply(
        &self,
        grant: &ApiGrant,
        request: CharacterRequest,
        gone: &CancellationToken,
    ) -> Result<ReplyStream, ClientError> {
        let own_history = request.chat.is_some() || is_single(&request.messages);
        if request.store {
            rights::check_storing(grant)?;
        }
        if request.store || (own_history && !grant.read_only) {
            return self.stored_reply(grant, request, own_history, gone).await;
        }
        let CharacterRequest {
            character,
            chat,
            messages,
            options,
            ..
        } = request;
        let known = match chat {
            Some(chat) => Some(chat),
            None if own_history => self.known_client_chat(character).await?,
            None => None,
        };
        if let Some(chat) = known {
            let chat = self.client_chat(grant, character, chat).await?;
            let (message, _) = last_of_user(messages)?;
            refuse_pictures(&message)?;
            return Ok(self
                .client_reply_without_storing(&chat, message.text, &options)
                .await?);
        }
        Ok(self
            .client_reply_to_given(&grant.name, character, conversation(messages), &options)
            .await?)
    }

    /// A reply in the chat that the request names, in the one that holds its conversation, or in
    /// the character's own.
    async fn stored_reply(
        &self,
        grant: &ApiGrant,
        request: CharacterRequest,
        own_history: bool,
        gone: &CancellationToken,
    ) -> Result<ReplyStream, ClientError> {
        let CharacterRequest {
            character,
            name,
            chat,
            messages,
            options,
            wants_tokens,
            ..
        } = request;
        let (message, before) = last_of_user(messages)?;
        let chat = match chat {
            Some(chat) => chat,
            None if own_history => self.client_chat_of(character, &name).await?,
            None => {
                self.client_chat_with(character, conversation(before).messages)
                    .await?
            }
        };
        let chat = self.client_chat(grant, character, chat).await?;
        let pictures = self.kept_pictures(&message.pictures).await?;
        let client = options.client.as_deref().map(|client| ClientOptions {
            runs_tools: true,
            ..client.clone()
        });
        let source = MessageSource::Api;
        let limited_sender = grant.is_limited();
        let options = TurnOptions {
            pictures,
            client: client.map(Arc::new),
            source,
            limited_sender,
            ..options
        };
        Ok(self
            .client_reply_in(&chat, message.text, options, wants_tokens, gone)
            .await?)
    }

    /// A chat that the request may use.
    async fn client_chat(
        &self,
        grant: &ApiGrant,
        character: CharacterId,
        id: ChatId,
    ) -> Result<Chat, ClientError> {
        if self.library().chat_lookup.chat(id).await?.character != character {
            let message = "The chat belongs to another character.";
            return Err(bad_input(message, "Name the chat's own character as the model.").into());
        }
        self.allowed_chat(grant, id).await
    }

    async fn kept_pictures(&self, urls: &[String]) -> ApiResult<Vec<Picture>> {
        let mut pictures = Vec::with_capacity(urls.len());
        for url in urls {
            let data = url.split_once(";base64,").map_or("", |(_, data)| data);
            let bytes = BASE64_STANDARD.decode(data);
            let bytes = bytes
                .map_err(|_| bad_input("A picture is not base64.", "Send it as a `data:` URI."))?;
            pictures.push(
                self.library()
                    .assets
                    .add_picture_bytes(String::new(), bytes)
                    .await?,
            );
        }
        Ok(pictures)
    }
}

/// Separates the system messages, which become instructions.
fn sorted(
    character: CharacterId,
    name: String,
    chat: Option<ChatId>,
    request: ClientRequest,
) -> CharacterRequest {
    let first = request
        .messages
        .iter()
        .position(|message| message.role != ClientRole::System)
        .unwrap_or(0);
    let mut early = Vec::new();
    let mut late = Vec::new();
    let mut messages = Vec::new();
    for (index, message) in request.messages.into_iter().enumerate() {
        match message.role {
            ClientRole::System if index < first => early.push(message.text),
            ClientRole::System => late.push(message.text),
            _ => messages.push(message),
        }
    }
    let instructions = early.join("\n\n");
    let late_instructions = late.join("\n\n");
    let client = ClientOptions {
        instructions,
        late_instructions,
        ..request.options
    };
    let wants_tokens = client.top_logprobs.is_some();
    let options = TurnOptions {
        sampler: client.sampler,
        client: Some(Arc::new(client)),
        ..TurnOptions::default()
    };
    CharacterRequest {
        character,
        name,
        chat,
        messages,
        options,
        store: request.store,
        wants_tokens,
    }
}

/// System messages alone need no answer.
fn says_something(message: &ClientMessage) -> bool {
    let is_empty =
        message.text.trim().is_empty() && message.pictures.is_empty() && message.calls.is_empty();
    message.role != ClientRole::System && !is_empty
}

/// Whether the request holds one message of the user and nothing else, so that the stored chat is
/// its history.
fn is_single(messages: &[ClientMessage]) -> bool {
    matches!(messages, [message] if message.role == ClientRole::User)
}

/// The message that a stored chat answers, and those before it.
fn last_of_user(
    mut messages: Vec<ClientMessage>,
) -> ApiResult<(ClientMessage, Vec<ClientMessage>)> {
    match messages.pop() {
        Some(last) if last.role == ClientRole::User => Ok((last, messages)),
        _ => {
            let hint = "Send the user's message last, or leave out `store` and the chat.";
            Err(bad_input(
                "In a stored chat, the last message must be the user's.",
                hint,
            ))
        }
    }
}

fn refuse_pictures(message: &ClientMessage) -> ApiResult<()> {
    if message.pictures.is_empty() {
        return Ok(());
    }
    Err(bad_input(
        "A key that only reads cannot add pictures to a chat.",
        "Use a key that may store.",
    ))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn system_messages_become_instructions() {
        let said = ClientMessage::new;
        let messages = vec![
            said(ClientRole::System, "Be brief."),
            said(ClientRole::System, "It rains."),
            said(ClientRole::User, "Hello."),
            said(ClientRole::System, "She is tired."),
        ];
        let request = ClientRequest {
            messages,
            ..ClientRequest::default()
        };
        let sorted = sorted(CharacterId(Uuid::nil()), String::new(), None, request);
        let client = sorted.options.client.unwrap();
        assert_eq!(
            (
                client.instructions.as_str(),
                client.late_instructions.as_str()
            ),
            ("Be brief.\n\nIt rains.", "She is tired.")
        );
        assert!(is_single(&sorted.messages));
        assert!(!is_single(&[said(ClientRole::Assistant, "Hello.")]));
    }
}
