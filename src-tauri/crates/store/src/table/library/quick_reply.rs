//! The chats that show a set of quick replies.

use domain::{CharacterId, ChatId};
use rusqlite::params;

use crate::StoreError;
use crate::access::{QuickReplyBindings, QuickReplyBindingsMut};
use crate::sql::Col;

/// The chats that show a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuickReplyOwner {
    /// Every chat.
    Global,
    Character(CharacterId),
    Chat(ChatId),
}

impl QuickReplyBindings<'_> {
    /// The sets that chats of this character, this chat, or all chats show: ids, each with one
    /// owner. Global bindings come first, and then those of the character.
    pub fn of(
        &self,
        character: CharacterId,
        chat: ChatId,
    ) -> Result<Vec<(String, QuickReplyOwner)>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT quick_replies, scope FROM quick_reply_binding
                 WHERE scope = 'global' OR scope = 'character' AND owner = ?1 OR scope = 'chat' AND owner = ?2
                 ORDER BY CASE scope WHEN 'global' THEN 0 WHEN 'character' THEN 1 ELSE 2 END, quick_replies",
            )?
            .query_map(params![Col(character), Col(chat)], |row| {
                let owner = match row.get::<_, String>(1)?.as_str() {
                    "character" => QuickReplyOwner::Character(character),
                    "chat" => QuickReplyOwner::Chat(chat),
                    _ => QuickReplyOwner::Global,
                };
                Ok((row.get(0)?, owner))
            })?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

impl QuickReplyBindingsMut<'_> {
    /// Shows the set nowhere.
    pub fn forget(&mut self, quick_replies: &str) -> Result<(), StoreError> {
        let mut statement = self
            .conn
            .prepare_cached("DELETE FROM quick_reply_binding WHERE quick_replies = ?1")?;
        statement.execute([quick_replies])?;
        Ok(())
    }

    /// Lets these chats show the set, or no longer.
    pub fn bind(
        &mut self,
        quick_replies: &str,
        owner: QuickReplyOwner,
        bound: bool,
    ) -> Result<(), StoreError> {
        let sql = if bound {
            "INSERT OR IGNORE INTO quick_reply_binding (quick_replies, scope, owner) VALUES (?1, ?2, ?3)"
        } else {
            "DELETE FROM quick_reply_binding WHERE quick_replies = ?1 AND scope = ?2 AND owner = ?3"
        };
        let mut statement = self.conn.prepare_cached(sql)?;
        match owner {
            QuickReplyOwner::Global => {
                statement.execute(params![quick_replies, "global", Vec::<u8>::new()])?
            }
            QuickReplyOwner::Character(id) => {
                statement.execute(params![quick_replies, "character", Col(id)])?
            }
            QuickReplyOwner::Chat(id) => {
                statement.execute(params![quick_replies, "chat", Col(id)])?
            }
        };
        Ok(())
    }
}
