//! What is being typed is understood, looked for and counted while it is: when it is sent, nobody waits for the encoder, and what
//! was met is known.

use std::sync::{Arc, Mutex, PoisonError};

use domain::ChatId;
use domain::chat::Chat;
use provider::ProviderError;
use tokio::task::AbortHandle;

use super::about;
use super::encoder::Encoder;
use super::recent::Recent;
use super::sense::{Sense, Understood};
use crate::Engine;
use crate::error::Answer;
use crate::turn::TurnOptions;

/// What was understood lately, and what is being looked for.
#[derive(Default)]
pub(crate) struct Lately {
    /// What is typed, what is looked at before it is sent, and what is asked again.
    known: Recent<Understood>,
    looking: Mutex<Option<AbortHandle>>,
}

impl Lately {
    /// What was typed before is not looked for any more.
    fn look(&self, looking: AbortHandle) {
        let before = self.looking.lock().unwrap_or_else(PoisonError::into_inner).replace(looking);
        before.inspect(AbortHandle::abort);
    }

    pub(super) fn of(&self, text: &str) -> Option<Understood> {
        self.known.of(text)
    }
}

impl Engine {
    /// What `encoder` makes of `text`, which is known from then on.
    pub(super) async fn understand(&self, encoder: &Encoder, text: &str) -> Result<Option<Understood>, ProviderError> {
        let Some(embedding) = encoder.understand(text).await? else { return Ok(None) };
        let understood = Arc::new(Sense::new(embedding, encoder.model()));
        self.reading().lately().known.put(text, Arc::clone(&understood));
        Ok(Some(understood))
    }

    /// Has the draft of a chat understood, and looked for, in the background. A turn does without.
    pub(crate) fn understand_draft(&self, chat: ChatId, draft: String) {
        if self.reading().encoder().is_none() || draft.trim().is_empty() {
            return;
        }
        let (engine, at_work) = (self.clone(), self.reading_ahead().at_work());
        let looking = tokio::spawn(async move {
            if let Err(error) = engine.try_to_understand_draft(chat, &draft).await {
                tracing::info!(%error, "a draft was not looked for, or would not fit");
            }
            drop(engine);
            drop(at_work);
        });
        self.reading().lately().look(looking.abort_handle());
    }

    async fn try_to_understand_draft(&self, id: ChatId, draft: &str) -> Answer<()> {
        let Some(encoder) = self.reading().encoder() else { return Ok(()) };
        let chat = self.chat(id).await?;
        if !self.resolved(&chat, None, None).await?.values.memory {
            return Ok(());
        }
        let (card, persona, last) =
            tokio::try_join!(self.chat_card(&chat), self.persona_in(&chat), self.likely_words(id))?;
        let said: Vec<&str> = [draft].into_iter().chain(last.as_deref()).collect();
        let words = about::plain(&said, &persona.name, [card.card.name(), card.card.spoken_name()]);
        if self.reading().lately().of(&words).is_none() {
            self.understand(encoder, &words).await?;
            self.look_for_draft(chat, draft).await?;
        }
        Ok(())
    }

    /// All that the turn would find and count, if it were sent now.
    async fn look_for_draft(&self, chat: Chat, draft: &str) -> Answer<()> {
        let options = TurnOptions::default();
        let (aim, answerer) = tokio::try_join!(
            self.aim_of_preview(&chat, None, draft.to_owned(), &options),
            self.answerer(&chat, &options)
        )?;
        let mut collected = self.collect(chat, aim, &answerer, &options).await?;
        collected.in_passing = true;
        self.make_as_is(&mut collected, &answerer, &options).await?;
        Ok(())
    }
}
