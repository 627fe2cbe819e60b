//! A reply to a conversation that the request brings along. Character, persona, lorebooks and
//! memory are added, and nothing is stored.

use std::collections::HashSet;
use std::sync::Arc;

use context::display::OwnMarks;
use domain::chat::{Chat, Role};
use domain::{CharacterId, ChatId};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::api::TurnOptions;
use crate::api::client::{ReplyPlace, ReplyStream};
use crate::base::error::ApiResult;
use crate::turn::client::calls::{Conversation, GivenMessage};
use crate::turn::client::stream::{ReplyReader, ReplyText};
use crate::turn::client::{Clients, past};
use crate::turn::inputs::turn_inputs::ReplyTo;
use crate::turn::replies::passages::Passages;
use crate::turn::replies::prepared::PreparedTurn;

/// Distinguishes the KV sequence of such requests from that of any chat.
const SEQUENCE: u128 = 0x6170_692d_6769_7665_6e00_0000_0000_0000;

impl Clients {
    /// # Errors
    /// `NoModel`; `ContextOverflow`; `Provider` if the model cannot count.
    pub(crate) async fn client_reply_to_given(
        &self,
        holder: &str,
        character: CharacterId,
        conversation: Conversation,
        options: &TurnOptions,
    ) -> ApiResult<ReplyStream> {
        let used = conversation.call_ids();
        let Conversation { messages, open } = conversation;
        let (mut chat, _) = self.library().chats.first_state(character).await?;
        chat.id = self.given_sequence(holder, character, &messages, options);
        let model_handle = self
            .config()
            .model_handles
            .model_handle(&chat, options)
            .await?;
        let past = past::read(messages, self.base().now(), model_handle.budget.limit);
        let mut turn = self
            .assembly
            .collect_given(chat, (past, open), (&model_handle, options))
            .await?;
        let made = self
            .assembly
            .make(&mut turn, &model_handle, options)
            .await?;
        self.client_stream_of(
            PreparedTurn {
                model_handle,
                turn,
                made,
            },
            used,
        )
        .await
    }

    /// An id that stands for the conversation, so that the model reads its beginning once.
    fn given_sequence(
        &self,
        holder: &str,
        character: CharacterId,
        messages: &[GivenMessage],
        options: &TurnOptions,
    ) -> ChatId {
        let instructions = options
            .client
            .iter()
            .map(|client| client.instructions.as_str());
        let texts = instructions.chain(messages.iter().map(|given| given.message.text.as_str()));
        let name = self
            .client_caches()
            .sequence(holder, &character.to_string(), texts);
        let digest: [u8; 32] = Sha256::digest(name.as_bytes()).into();
        let number = digest
            .first_chunk()
            .map_or(0, |bytes| u128::from_le_bytes(*bytes));
        ChatId(Uuid::from_u128(number ^ SEQUENCE))
    }

    /// A reply in a stored chat that stores nothing, to a message with this text.
    ///
    /// # Errors
    /// As [`Self::client_reply_to_given`].
    pub(crate) async fn client_reply_without_storing(
        &self,
        chat: &Chat,
        text: String,
        options: &TurnOptions,
    ) -> ApiResult<ReplyStream> {
        let prepared = self
            .generation
            .prepare(chat, ReplyTo::Draft(text), options)
            .await?;
        self.client_stream_of(prepared, HashSet::new()).await
    }

    /// `used` are the ids of earlier calls.
    async fn client_stream_of(
        &self,
        prepared: PreparedTurn,
        used: HashSet<String>,
    ) -> ApiResult<ReplyStream> {
        let request = prepared.request(&self.generation).await?;
        let PreparedTurn {
            model_handle,
            turn,
            made,
        } = prepared;
        let id = Uuid::now_v7().to_string();
        let character = turn.inputs.snapshot.card.display_name().to_owned();
        let place = ReplyPlace {
            manifest: Some(id.clone()),
            character: Some(character),
            ..ReplyPlace::default()
        };
        let speaker = &turn.inputs.speaker;
        let opened = made.opened();
        let marks = OwnMarks::read(&model_handle.values.thought_marks);
        let continued = turn
            .inputs
            .history
            .last()
            .filter(|last| last.role == Role::Character);
        let passages = match continued {
            Some(last) => Passages::going_on(&last.text, model_handle.values.continue_postfix)
                .with_marks_behind(marks, &last.text),
            None => Passages::new(speaker, opened).with_marks(marks, opened),
        };
        let text = ReplyText::Character(Box::new(passages));
        let reader = ReplyReader {
            text,
            calls: turn.tools.reader(),
            used,
        };
        let reply = self.client_stream(Arc::clone(&model_handle.provider), request, reader, place);
        let report = made.report(&turn, &model_handle, None);
        self.previews.client_reports().keep(id, report);
        Ok(reply)
    }
}
