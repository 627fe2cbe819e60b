//! Prefetch: embeds, searches and counts a draft while the user types it, so that sending it does
//! not wait for any of these.

use domain::ChatId;
use domain::chat::Chat;
use recall::hints;

use crate::api::{Draft, TurnOptions};
use crate::base::error::{ApiResult, without_content};
use crate::learn::handle::Learning;

impl Learning {
    /// Stores the draft, and prefetches what its turn will need.
    pub(crate) async fn save_draft(&self, id: ChatId, text: String) -> ApiResult<()> {
        self.library().chats.keep_draft(id, text.clone()).await?;
        self.understand_draft(id, text);
        Ok(())
    }

    /// Works like [`Self::save_draft`], and keeps a text of another window as a draft.
    pub(crate) async fn keep_draft(
        &self,
        id: ChatId,
        text: String,
        known: String,
    ) -> ApiResult<Vec<Draft>> {
        let others = self
            .library()
            .drafts
            .replace_draft(id, text.clone(), &known)
            .await?;
        self.understand_draft(id, text);
        Ok(others)
    }

    /// Prefetches for the draft of a chat in the background. A turn works without it too.
    pub(crate) fn understand_draft(&self, chat: ChatId, draft: String) {
        if self.recall_service().reading().encoder().is_none() || draft.trim().is_empty() {
            return;
        }
        let learning = self.clone();
        let at_work = self.base().idle().at_work();
        let looking = tokio::spawn(async move {
            if let Err(error) = learning.try_to_understand_draft(chat, &draft).await {
                tracing::info!(
                    error = without_content(&error),
                    "the prefetch for a draft failed, or its prompt does not fit"
                );
            }
            drop(learning);
            drop(at_work);
        });
        self.recall_service()
            .reading()
            .lately()
            .look(looking.abort_handle());
    }

    async fn try_to_understand_draft(&self, id: ChatId, draft: &str) -> ApiResult<()> {
        let Some(encoder) = self.recall_service().reading().encoder() else {
            return Ok(());
        };
        let chat = self.library().chat_lookup.chat(id).await?;
        if !self
            .config()
            .setting_layers
            .resolved(&chat, None, None)
            .await?
            .values
            .memory
        {
            return Ok(());
        }
        let (card, persona, last) = tokio::try_join!(
            self.library().characters.chat_card(&chat),
            self.library().personas.persona_in(&chat),
            self.likely_words(id)
        )?;
        let said: Vec<&str> = [draft].into_iter().chain(last.as_deref()).collect();
        let words = hints::plain(
            &said,
            &persona.name,
            [card.card.name(), card.card.display_name()],
        );
        if self
            .recall_service()
            .reading()
            .lately()
            .of(&words, encoder.model())
            .is_none()
        {
            self.recall_service().understand(&encoder, &words).await?;
            self.look_for_draft(chat, draft).await?;
        }
        Ok(())
    }

    /// Assembles the prompt as if the draft were sent now; that fills all caches.
    async fn look_for_draft(&self, chat: Chat, draft: &str) -> ApiResult<()> {
        let options = TurnOptions::default();
        let (reply_to, model_handle) = tokio::try_join!(
            self.turns()
                .previews
                .reply_to_of_preview(&chat, None, draft.to_owned(), &options),
            self.config().model_handles.model_handle(&chat, &options)
        )?;
        let mut turn = self
            .turns()
            .assembly
            .collect(chat, reply_to, &model_handle, &options)
            .await?;
        turn.inputs.in_passing = true;
        self.turns()
            .assembly
            .make_as_is(&mut turn, &model_handle, &options)
            .await?;
        Ok(())
    }
}
