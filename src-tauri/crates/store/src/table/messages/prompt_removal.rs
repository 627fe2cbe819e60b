//! Removes stored prompts that contain forgotten items.

use std::collections::{HashMap, HashSet};

use domain::ChatId;
use rusqlite::params;
use uuid::Uuid;

use crate::StoreError;
use crate::access::ManifestsMut;
use crate::sql::Col;

impl ManifestsMut<'_> {
    /// Removes the prompts of a chat, starting with the message at `position`. A later prompt may
    /// depend on an earlier one, never the other way round.
    pub(crate) fn empty_from(&mut self, chat: ChatId, position: i64) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "UPDATE manifest SET json = '' WHERE octet_length(json) > 0 AND swipe IN (
                     SELECT swipe.id FROM message JOIN swipe ON swipe.message = message.id
                     WHERE message.chat = ?1 AND message.position >= ?2)",
            )?
            .execute(params![Col(chat), position])?;
        Ok(())
    }

    /// Removes the prompts that name one of these items, and all later ones of the same chats.
    pub(crate) fn empty_quoting(&mut self, gone: &HashSet<Uuid>) -> Result<(), StoreError> {
        for (chat, position) in self.first_quoting(gone)? {
            self.empty_from(chat, position)?;
        }
        Ok(())
    }

    /// For each chat, the first position whose prompt names one of these items.
    fn first_quoting(&self, gone: &HashSet<Uuid>) -> Result<HashMap<ChatId, i64>, StoreError> {
        let mut prompts = self.conn.prepare_cached(
            "SELECT message.chat, message.position, manifest.json FROM manifest
             JOIN swipe ON swipe.id = manifest.swipe JOIN message ON message.id = swipe.message
             WHERE octet_length(manifest.json) > 0",
        )?;
        let mut first = HashMap::new();
        let mut rows = prompts.query([])?;
        while let Some(row) = rows.next()? {
            let json = row.get_ref(2)?.as_str().unwrap_or_default();
            if ids_in(json).any(|id| gone.contains(&id)) {
                let position: i64 = row.get(1)?;
                let known = first
                    .entry(row.get::<_, Col<ChatId>>(0)?.0)
                    .or_insert(position);
                *known = position.min(*known);
            }
        }
        Ok(first)
    }
}

/// All ids in a text, in the form with hyphens.
fn ids_in(text: &str) -> impl Iterator<Item = Uuid> {
    const LENGTH: usize = 36;
    /// Number of characters before the first hyphen.
    const BEGIN: usize = 8;
    text.match_indices('-').filter_map(move |hyphen| {
        let start = hyphen.0.checked_sub(BEGIN)?;
        Uuid::try_parse(text.get(start..start + LENGTH)?).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_anywhere_in_a_text() {
        let id = Uuid::from_u128(7);
        let text = format!("é - \"message:{id}\", a-b, {}", Uuid::from_u128(9));
        let found: Vec<_> = ids_in(&text).collect();
        assert_eq!(found, [id, Uuid::from_u128(9)]);
    }
}
