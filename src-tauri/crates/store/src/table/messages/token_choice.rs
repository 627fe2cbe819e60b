//! Probabilities of the tokens of replies. A change of a swipe's text deletes them.

use domain::token_choice::TokenChoices;
use domain::{ChatId, SwipeId};
use rusqlite::{OptionalExtension, params};

use crate::StoreError;
use crate::access::{StoredChoices, StoredChoicesMut};
use crate::sql::Col;

/// Maximum size of the tokens of a reply, in bytes of JSON. Larger ones are not stored.
const MAX_BYTES: usize = 4 << 20;

impl StoredChoices<'_> {
    /// The tokens of a swipe. Unreadable ones count as absent.
    pub fn of(&self, swipe: SwipeId) -> Result<Option<TokenChoices>, StoreError> {
        let json: Option<String> = self
            .conn
            .prepare_cached("SELECT tokens FROM token_choices WHERE swipe = ?1")?
            .query_row([Col(swipe)], |row| row.get(0))
            .optional()?;
        Ok(json.and_then(|json| serde_json::from_str(&json).ok()))
    }

    /// The swipes of a chat that have tokens.
    pub fn swipes(&self, chat: ChatId) -> Result<Vec<SwipeId>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT swipe.id FROM token_choices JOIN swipe ON swipe.id = token_choices.swipe
                 JOIN message ON message.id = swipe.message
                 WHERE message.chat = ?1 AND message.deleted IS NULL",
            )?
            .query_map([Col(chat)], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

impl StoredChoicesMut<'_> {
    /// Stores the tokens of a swipe, after its text.
    pub fn put(&mut self, swipe: SwipeId, choices: &TokenChoices) -> Result<(), StoreError> {
        let Some(json) = serde_json::to_string(choices)
            .ok()
            .filter(|json| json.len() <= MAX_BYTES)
        else {
            return Ok(());
        };
        self.conn
            .prepare_cached("INSERT OR REPLACE INTO token_choices (swipe, tokens) VALUES (?1, ?2)")?
            .execute(params![Col(swipe), json])?;
        Ok(())
    }
}
