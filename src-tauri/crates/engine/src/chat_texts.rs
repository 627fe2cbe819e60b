//! What a chat says instead of the texts of its character's card (S2.20).

use std::sync::Arc;

use domain::card::{Card, MAX_JSON};
use domain::chat::Chat;
use domain::overrides::{CardText, Instructor, Overrides, instructions};

use crate::Engine;
use crate::api::{CardField, Changed, ChatText};
use crate::collect::Collected;
use crate::error::{Answer, bad_input};

/// A card as one chat has it.
pub(crate) struct ChatCard {
    pub(crate) card: Arc<Card>,
    /// Changes with the card of the character.
    pub(crate) hash: u64,
    pub(crate) own: Overrides,
}

impl Engine {
    /// The texts of the card that a chat may replace, and what this one says instead.
    ///
    /// # Errors
    /// `NotFound` without the chat.
    pub async fn chat_texts(&self, chat: String) -> Answer<Vec<ChatText>> {
        let chat = self.chat(chat.parse()?).await?;
        let (card, _) = self.card(&self.character(chat.character).await?)?;
        let own = self.store().read(move |store| store.chat_texts().of(chat.id)).await?;
        let row = |text: CardText| ChatText {
            field: shown(text),
            card: text.of(&card).to_owned(),
            own: own.get(text).map(str::to_owned),
        };
        Ok(CardText::ALL.into_iter().map(row).collect())
    }

    /// Lets a chat say `text` where its card says something else; an empty text leaves the card's out. Without a text, or
    /// with the card's own, the card's words are back, and follow it when it is edited.
    ///
    /// # Errors
    /// `NotFound` without the chat; `BadInput` for a text that no card could hold.
    pub async fn set_chat_text(&self, chat: String, field: CardField, text: Option<String>) -> Answer<Vec<ChatText>> {
        let (chat, field) = (self.chat(chat.parse()?).await?, stored(field));
        if text.as_ref().is_some_and(|text| text.len() > MAX_JSON) {
            return Err(bad_input("The text is too long.", "Shorten it."));
        }
        let (card, _) = self.card(&self.character(chat.character).await?)?;
        let own = text.filter(|text| text != field.of(&card));
        let id = chat.id;
        self.store().write(move |store| store.chat_texts_mut().set(id, field, own.as_deref())).await?;
        self.events().changed(Changed::Messages, Some(id.to_string()));
        self.chat_texts(id.to_string()).await
    }

    /// The card of `chat`, with what the chat says instead of it.
    pub(crate) async fn chat_card(&self, chat: &Chat) -> Answer<ChatCard> {
        let id = chat.id;
        let own = async { Ok(self.store().read(move |store| store.chat_texts().of(id)).await?) };
        let (character, own) = tokio::try_join!(self.character(chat.character), own)?;
        let (card, hash) = self.card(&character)?;
        let card = if own.is_empty() { card } else { Arc::new(own.over(&card)) };
        Ok(ChatCard { card, hash, own })
    }
}

impl Collected {
    /// Whose instructions the model follows, and their words. In a scene of several no card's: it is written for one alone.
    pub(crate) fn instructions(&self) -> (Instructor, &str) {
        match instructions(&self.persona, &self.own_texts, &self.card) {
            (Instructor::Card, _) if self.group.is_scene() => (Instructor::Template, ""),
            instructions => instructions,
        }
    }

    /// What stands instead of the user's own text for the end of the prompt.
    pub(crate) fn post_history(&self) -> &str {
        let own = self.own_texts.get(CardText::PostHistory);
        match self.group.is_scene() {
            true => own.unwrap_or_default(),
            false => self.card.post_history_instructions(),
        }
    }
}

fn shown(text: CardText) -> CardField {
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
