//! Texts with which one chat overrides those of its character's card.

use std::sync::Arc;

use domain::ChatId;
use domain::card::{Card, MAX_JSON};
use domain::chat::Chat;
use domain::overrides::{CardText, Overrides};

use crate::api::{CardField, Changed, ChatText};
use crate::base::error::{ApiResult, bad_input, not_found};
use crate::library::characters::Characters;
use crate::library::characters::card_rows::CardRows;

/// The card as it applies in one chat.
pub(crate) struct ChatCard {
    pub(crate) card: Arc<Card>,
    /// Changes whenever the character's card changes.
    pub(crate) hash: u64,
    pub(crate) own: Overrides,
}

impl Characters {
    /// Lists the card texts that a chat can override, with this chat's overrides.
    ///
    /// # Errors
    /// `NotFound` if the chat does not exist.
    pub(crate) async fn chat_texts(&self, chat: ChatId) -> ApiResult<Vec<ChatText>> {
        let chat = self.chat_lookup.chat(chat).await?;
        let (card, _) = self.card(&self.character(chat.character).await?)?;
        let own = self
            .base()
            .store()
            .read(move |store| store.chat_texts().of(chat.id))
            .await?;
        let row = |text: CardText| ChatText {
            field: shown(text),
            card: text.of(&card).to_owned(),
            own: own.get(text).map(str::to_owned),
        };
        Ok(CardText::ALL.into_iter().map(row).collect())
    }

    /// Overrides one text of the card in a chat. An empty text leaves the card's text out. `None`,
    /// or the card's own text, removes the override, so that later edits of the card apply.
    ///
    /// # Errors
    /// `NotFound` if the chat does not exist; `BadInput` if the text is too long for a card.
    pub(crate) async fn set_chat_text(
        &self,
        chat: ChatId,
        field: CardField,
        text: Option<String>,
    ) -> ApiResult<Vec<ChatText>> {
        let chat = self.chat_lookup.chat(chat).await?;
        let field = stored(field);
        if text.as_ref().is_some_and(|text| text.len() > MAX_JSON) {
            return Err(bad_input("The text is too long.", "Shorten it."));
        }
        let (card, _) = self.card(&self.character(chat.character).await?)?;
        let own = text.filter(|text| text != field.of(&card));
        let id = chat.id;
        self.base()
            .store()
            .write(move |store| store.chat_texts_mut().set(id, field, own.as_deref()))
            .await?;
        self.base()
            .events()
            .changed(Changed::Messages, Some(id.to_string()));
        self.chat_texts(id).await
    }

    /// The card of `chat`, with the chat's overrides applied.
    pub(crate) async fn chat_card(&self, chat: &Chat) -> ApiResult<ChatCard> {
        let chat = chat.clone();
        let rows = self
            .base()
            .store()
            .read(move |store| CardRows::read(store, &chat))
            .await?;
        self.card_of(rows)
    }

    /// # Errors
    /// `NotFound` if the character is gone.
    pub(crate) fn card_of(&self, rows: CardRows) -> ApiResult<ChatCard> {
        let CardRows { character, own } = rows;
        let (card, hash) = self.card(&character.ok_or_else(|| not_found("character"))?)?;
        let card = if own.is_empty() {
            card
        } else {
            Arc::new(own.over(&card))
        };
        Ok(ChatCard { card, hash, own })
    }
}

pub(crate) fn shown(text: CardText) -> CardField {
    match text {
        CardText::Description => CardField::Description,
        CardText::Personality => CardField::Personality,
        CardText::Scenario => CardField::Scenario,
        CardText::Examples => CardField::MessageExamples,
        CardText::SystemPrompt => CardField::SystemPrompt,
        CardText::PostHistory => CardField::PostHistoryInstructions,
    }
}

fn stored(field: CardField) -> CardText {
    match field {
        CardField::Description => CardText::Description,
        CardField::Personality => CardText::Personality,
        CardField::Scenario => CardText::Scenario,
        CardField::MessageExamples => CardText::Examples,
        CardField::SystemPrompt => CardText::SystemPrompt,
        CardField::PostHistoryInstructions => CardText::PostHistory,
    }
}
