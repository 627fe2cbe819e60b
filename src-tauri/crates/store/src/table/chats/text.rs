//! Texts of a chat that replace texts of its character's card.

use domain::ChatId;
use domain::overrides::{CardText, Overrides};
use rusqlite::params;

use crate::StoreError;
use crate::access::{ChatTexts, ChatTextsMut};
use crate::sql::Col;

impl ChatTexts<'_> {
    /// Ignores fields that this version does not know.
    pub fn of(&self, chat: ChatId) -> Result<Overrides, StoreError> {
        let rows = self
            .conn
            .prepare_cached("SELECT field, text FROM chat_text WHERE chat = ?1")?
            .query_map([Col(chat)], |row| {
                Ok((CardText::named(&row.get::<_, String>(0)?), row.get(1)?))
            })?
            .filter_map(|row| row.map(|(field, text)| Some((field?, text))).transpose())
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

impl ChatTextsMut<'_> {
    /// `None` restores the card's text.
    pub fn set(
        &mut self,
        chat: ChatId,
        field: CardText,
        text: Option<&str>,
    ) -> Result<(), StoreError> {
        match text {
            Some(text) => self
                .conn
                .prepare_cached(
                    "INSERT INTO chat_text (chat, field, text) VALUES (?1, ?2, ?3)
                     ON CONFLICT (chat, field) DO UPDATE SET text = excluded.text",
                )?
                .execute(params![Col(chat), field.as_str(), text])?,
            None => self
                .conn
                .prepare_cached("DELETE FROM chat_text WHERE chat = ?1 AND field = ?2")?
                .execute(params![Col(chat), field.as_str()])?,
        };
        Ok(())
    }
}
