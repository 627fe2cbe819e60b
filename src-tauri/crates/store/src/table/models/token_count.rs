//! Cached token counts by text and tokenizer.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, params};
use sha2::{Digest, Sha256};

use crate::StoreError;
use crate::access::{TokenCounts, TokenCountsMut};

/// SHA-256 of a text. The text itself is not stored here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TextHash([u8; 32]);

impl TextHash {
    pub fn of(text: &str) -> Self {
        Self::joined([text])
    }

    /// Hash of the concatenated parts.
    pub fn joined<'t>(parts: impl IntoIterator<Item = &'t str>) -> Self {
        let hasher = parts
            .into_iter()
            .fold(Sha256::new(), |hasher, part| hasher.chain_update(part));
        Self(hasher.finalize().into())
    }
}

impl TokenCounts<'_> {
    /// Cached counts of `texts` by `tokenizer`.
    pub fn get_many(
        &self,
        tokenizer: &str,
        texts: &[TextHash],
    ) -> Result<HashMap<TextHash, u32>, StoreError> {
        let mut statement = self
            .conn
            .prepare_cached("SELECT count FROM token_count WHERE tokenizer = ?1 AND text = ?2")?;
        let mut known = HashMap::with_capacity(texts.len());
        for text in texts {
            let count = statement
                .query_row(params![tokenizer, text.0], |row| row.get(0))
                .optional()?;
            known.extend(count.map(|count| (*text, count)));
        }
        Ok(known)
    }
}

impl TokenCountsMut<'_> {
    pub fn insert_many(
        &mut self,
        tokenizer: &str,
        counts: &[(TextHash, u32)],
    ) -> Result<(), StoreError> {
        let mut statement = self.conn.prepare_cached(
            "INSERT INTO token_count (tokenizer, text, count) VALUES (?1, ?2, ?3)
             ON CONFLICT (tokenizer, text) DO UPDATE SET count = excluded.count",
        )?;
        for (text, count) in counts {
            statement.execute(params![tokenizer, text.0, count])?;
        }
        Ok(())
    }
}
