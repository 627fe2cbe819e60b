//! The prompt that a turn would send now.

use domain::chat::{Chat, Message};
use domain::regex_script::ScriptTarget;
use domain::{CharacterId, ChatId};
use store::WindowMessage;

use crate::api::{PromptReport, TurnOptions, WhatIf};
use crate::base::error::ApiResult;
use crate::base::records::convert;
use crate::turn::inputs::turn_inputs::ReplyTo;
use crate::turn::previews::Previews;

/// Notice for a prompt that cannot be compared with the one before.
const REUSE_UNKNOWN: &str = "The last prompt of this chat was not kept, so it is unknown which parts the model has read before.";

impl Previews {
    pub(crate) async fn preview_prompt(
        &self,
        chat: ChatId,
        text: String,
        what_if: WhatIf,
    ) -> ApiResult<PromptReport> {
        let mut report = self.preview_with(chat, text, what_if.into()).await?;
        if report.tokens.reusable.is_none() && self.library().chats.lacks_prompts(chat).await? {
            report.notices.push(REUSE_UNKNOWN.to_owned());
        }
        Ok(report)
    }

    /// Previews the prompt like [`Self::preview_prompt`], with options for this turn. An empty
    /// `text` previews the next turn up to the user's message.
    ///
    /// # Errors
    /// `NoModel`; `ContextOverflow`; `Provider` if the model cannot count.
    pub(crate) async fn preview_with(
        &self,
        chat: ChatId,
        text: String,
        options: TurnOptions,
    ) -> ApiResult<PromptReport> {
        let (chat, last) = self.inputs.chat_and_last(chat).await?;
        let (reply_to, model_handle) = tokio::try_join!(
            self.reply_to_of_preview(&chat, last, text, &options),
            self.config().model_handles.model_handle(&chat, &options)
        )?;
        let id = chat.id;
        let mut turn = self
            .assembly
            .collect(chat, reply_to, &model_handle, &options)
            .await?;
        let made = self
            .assembly
            .make(&mut turn, &model_handle, &options)
            .await?;
        // Read this last, because it is slow and not part of a real turn.
        let previous = self.library().chats.turn_before(id, None).await?;
        Ok(made.report(&turn, &model_handle, previous.as_ref()))
    }

    /// Previews the prompt of the first turn of a new chat with `character`. Stores nothing.
    ///
    /// # Errors
    /// As [`Self::preview_with`]; `NotFound` without the character.
    pub(crate) async fn preview_first(
        &self,
        character: CharacterId,
        text: String,
        options: TurnOptions,
    ) -> ApiResult<PromptReport> {
        let (chat, mut greeting) = self.library().chats.first_state(character).await?;
        let snapshot = self.library().snapshots.snapshot(chat).await?;
        let mut state = snapshot.variables.clone();
        let (text, model_handle) = tokio::try_join!(
            self.inputs
                .resolve(&snapshot, text, ScriptTarget::UserInput, &mut state),
            self.config()
                .model_handles
                .model_handle(&snapshot.chat, &options)
        )?;
        let swipe = (!greeting.swipes.is_empty()).then(|| greeting.swipes.swap_remove(0));
        let greeting = swipe.map(|swipe| WindowMessage {
            id: greeting.id,
            position: 0,
            role: greeting.role,
            created: greeting.created,
            swipe: swipe.id,
            state: swipe.state,
            text: swipe.text,
            context_block: None,
            pinned: false,
            importance: None,
            tool_calls: Vec::new(),
            tool_rounds: Vec::new(),
        });
        let mut turn = self
            .assembly
            .collect_first((snapshot, greeting, text), &model_handle, &options)
            .await?;
        let made = self
            .assembly
            .make(&mut turn, &model_handle, &options)
            .await?;
        Ok(made.report(&turn, &model_handle, None))
    }

    /// The message that a previewed prompt answers.
    pub(crate) async fn reply_to_of_preview(
        &self,
        chat: &Chat,
        last: Option<Message>,
        text: String,
        options: &TurnOptions,
    ) -> ApiResult<ReplyTo> {
        Ok(match last {
            _ if !text.trim().is_empty() || !options.pictures.is_empty() => {
                let snapshot = self.library().snapshots.snapshot(chat.clone()).await?;
                let mut state = snapshot.variables.clone();
                let text = self
                    .inputs
                    .resolve(&snapshot, text, ScriptTarget::UserInput, &mut state)
                    .await?;
                self.inputs.embed_early(&snapshot, &text);
                ReplyTo::Draft(text)
            }
            Some(last) if convert::is_reply(last.role) && options.ask.is_none() => {
                if options.regenerate {
                    ReplyTo::Before(last.id)
                } else {
                    ReplyTo::Draft(String::new())
                }
            }
            _ => ReplyTo::Last,
        })
    }
}
