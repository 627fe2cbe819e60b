//! Operations for programs that use the local API. They need a key instead of a window.

use domain::{CharacterId, ChatId};
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::api::client::{
    ClientError, ClientRequest, Embedded, ListedModel, ModelKind, ReplyStream,
};
use crate::api::{ApiGrant, ApiServerState, CommandOutcome, TurnOptions};
use crate::base::error::{ApiResult, internal};
use crate::operations::engine::Engine;

impl Engine {
    /// Rights of the key `secret`; `None` if it is not valid of the local API.
    ///
    /// # Errors
    /// `Storage` if the keys cannot be read.
    pub fn authorize_api<'a>(
        &'a self,
        secret: &'a str,
    ) -> BoxFuture<'a, ApiResult<Option<ApiGrant>>> {
        Box::pin(self.config.access.authorize_api(secret))
    }

    /// Reports the server that this front end runs for the local API, so that the settings page can
    /// show it.
    pub fn set_api_server(&self, state: ApiServerState) {
        self.config.access.set_api_server(state)
    }

    /// The models that a key may use: characters, then models without a character.
    ///
    /// # Errors
    /// `Storage`.
    pub fn api_models<'a>(
        &'a self,
        grant: &'a ApiGrant,
    ) -> BoxFuture<'a, Result<Vec<ListedModel>, ClientError>> {
        Box::pin(async move { Ok(self.turns.clients.client_models(grant).await?) })
    }

    /// A model by its name, which may contain a chat.
    ///
    /// # Errors
    /// `UnknownModel`, also for one that the key may not use.
    pub fn api_model<'a>(
        &'a self,
        grant: &'a ApiGrant,
        name: &'a str,
    ) -> BoxFuture<'a, Result<ListedModel, ClientError>> {
        Box::pin(self.turns.clients.client_model(grant, name))
    }

    /// Starts the reply to a client's request. A message that it stores is stored before any model
    /// is called. A caller that no longer waits gives up its place in the order of its chat.
    ///
    /// # Errors
    /// `UnknownModel`; `Forbidden` if the key does not allow it; the errors of
    /// [`Engine::send_message`]. Later failures are in the stream.
    pub fn api_reply(
        &self,
        grant: ApiGrant,
        request: ClientRequest,
    ) -> BoxFuture<'_, Result<ReplyStream, ClientError>> {
        Box::pin(async move {
            let turns = self.turns.clone();
            let gone = CancellationToken::new();
            let _caller = gone.clone().drop_guard();
            // A separate task: a message that is being stored is stored whole.
            let work =
                tokio::spawn(
                    async move { turns.clients.client_reply(&grant, request, &gone).await },
                );
            work.await
                .unwrap_or_else(|_| Err(internal("a reply could not be started").into()))
        })
    }

    /// Checks that a key may use a chat, and returns its id.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` if the key does not allow all its characters.
    pub fn api_chat<'a>(
        &'a self,
        grant: &'a ApiGrant,
        chat: ChatId,
    ) -> BoxFuture<'a, Result<ChatId, ClientError>> {
        Box::pin(async move { Ok(self.turns.clients.allowed_chat(grant, chat).await?.id) })
    }

    /// The chat of requests that name only a character. The first one makes it, unless the key may
    /// only read.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` if the key does not allow it.
    pub fn api_chat_of<'a>(
        &'a self,
        grant: &'a ApiGrant,
        character: CharacterId,
    ) -> BoxFuture<'a, Result<ChatId, ClientError>> {
        Box::pin(self.turns.clients.client_chat_for(grant, character))
    }

    /// Sends a program's text in a chat, or runs its slash command, as far as the key allows it.
    ///
    /// # Errors
    /// `Forbidden` if the key does not allow it; the errors of [`Engine::run_command_with`].
    pub fn api_command(
        &self,
        grant: ApiGrant,
        chat: ChatId,
        text: String,
        options: TurnOptions,
    ) -> BoxFuture<'_, Result<CommandOutcome, ClientError>> {
        Box::pin(
            self.turns
                .clients
                .client_command(grant, chat, text, options),
        )
    }

    /// The vectors of texts.
    ///
    /// # Errors
    /// `UnknownModel` for any model but the encoder; `NoModel`; `Provider` if it fails.
    pub fn api_embed<'a>(
        &'a self,
        grant: &'a ApiGrant,
        model: &'a str,
        texts: Vec<String>,
    ) -> BoxFuture<'a, Result<Embedded, ClientError>> {
        Box::pin(async move {
            let listed = self.turns.clients.client_model(grant, model).await?;
            if listed.kind != ModelKind::Embeddings {
                let near = self.recall.embedding_model().into_iter().collect();
                return Err(ClientError::UnknownModel {
                    name: listed.id,
                    near,
                });
            }
            Ok(self.recall.embed_texts(texts).await?)
        })
    }
}
