//! The lead of a group: the character of its `chat` row. A group does not belong to that character.
//! When the character is deleted, the next member leads the group, and the deleted one becomes a
//! member with its name on its messages.

use domain::{CharacterId, ChatId, Timestamp};
use rusqlite::{Connection, params};

use crate::StoreError;
use crate::access::StaleCachesMut;
use crate::sql::Col;

/// Card texts of a chat that describe its lead. Other texts, such as the scenario, stay with the
/// chat.
const OF_LEAD: &str = "('description', 'personality', 'mes_example')";

/// The name that prompts use for a character: the card's nickname, or else the name.
const SPOKEN_NAME: &str = "(SELECT coalesce(iif(json_valid(card_json),
        nullif(trim(card_json ->> '$.data.nickname'), ''), NULL), name)
    FROM character WHERE id = ?2)";

pub(crate) struct LeadsMut<'a> {
    pub(crate) conn: &'a Connection,
}

impl LeadsMut<'_> {
    /// Gives the groups of a deleted character to their first member that is not deleted. A group
    /// without such a member keeps its lead, and is hidden with it.
    pub(crate) fn leave(&mut self, character: CharacterId) -> Result<(), StoreError> {
        for (chat, next) in self.successors(character, None)? {
            self.conn
                .prepare_cached(
                    "INSERT INTO former_lead (chat, character) VALUES (?1, ?2) ON CONFLICT (chat) DO NOTHING",
                )?
                .execute(params![Col(chat), Col(character)])?;
            self.hand_over(chat, character, next)?;
        }
        Ok(())
    }

    /// Returns its groups to a restored character, and lets it lead those whose lead is still
    /// deleted.
    pub(crate) fn come_back(&mut self, character: CharacterId) -> Result<(), StoreError> {
        let led = self.pairs(
            "SELECT chat.id, chat.character FROM chat
             WHERE chat.character <> ?1 AND EXISTS (SELECT 1 FROM chat_member WHERE chat = chat.id AND character = ?1)
                 AND (EXISTS (SELECT 1 FROM former_lead WHERE chat = chat.id AND character = ?1)
                     OR EXISTS (SELECT 1 FROM character AS lead
                         WHERE lead.id = chat.character AND lead.deleted IS NOT NULL))",
            character,
            None,
        )?;
        for (chat, lead) in led {
            self.hand_over(chat, lead, character)?;
        }
        self.conn
            .prepare_cached("DELETE FROM former_lead WHERE character = ?1")?
            .execute([Col(character)])?;
        Ok(())
    }

    /// Gives groups away whose leads are about to be purged. A member in the trash that is not
    /// purged now may lead too.
    pub(crate) fn outlive(&mut self, purged: Timestamp) -> Result<(), StoreError> {
        let leads: Vec<CharacterId> = self
            .conn
            .prepare_cached(
                "SELECT id FROM character WHERE deleted <= ?1
                 AND EXISTS (SELECT 1 FROM chat WHERE chat.character = character.id)",
            )?
            .query_map([Col(purged)], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?;
        for lead in leads {
            for (chat, next) in self.successors(lead, Some(purged))? {
                self.hand_over(chat, lead, next)?;
            }
        }
        Ok(())
    }

    /// The groups that a character leads, each with the member that comes next. With `purged`,
    /// members deleted later than that come after those that are not deleted.
    fn successors(
        &self,
        lead: CharacterId,
        purged: Option<Timestamp>,
    ) -> Result<Vec<(ChatId, CharacterId)>, StoreError> {
        let all = self.pairs(
            "SELECT chat.id, (
                 SELECT member.id FROM chat_member JOIN character AS member ON member.id = chat_member.character
                 WHERE chat_member.chat = chat.id AND (member.deleted IS NULL OR member.deleted > ?2)
                 ORDER BY member.deleted IS NOT NULL, chat_member.position LIMIT 1) AS next
             FROM chat WHERE chat.character = ?1 AND next IS NOT NULL",
            lead,
            purged,
        )?;
        Ok(all)
    }

    fn pairs(
        &self,
        sql: &str,
        character: CharacterId,
        time: Option<Timestamp>,
    ) -> Result<Vec<(ChatId, CharacterId)>, StoreError> {
        let mut statement = self.conn.prepare_cached(sql)?;
        let row =
            |row: &rusqlite::Row<'_>| Ok((row.get::<_, Col<_>>(0)?.0, row.get::<_, Col<_>>(1)?.0));
        let rows = match (statement.parameter_count(), time) {
            (1, _) => statement
                .query_map([Col(character)], row)?
                .collect::<Result<_, _>>(),
            (_, time) => statement
                .query_map(params![Col(character), time.map(Col)], row)?
                .collect::<Result<_, _>>(),
        };
        Ok(rows?)
    }

    /// Makes the member `to` the lead of a group. `from` takes its place among the members, and its
    /// messages, which had no named speaker, keep its name.
    fn hand_over(
        &mut self,
        chat: ChatId,
        from: CharacterId,
        to: CharacterId,
    ) -> Result<(), StoreError> {
        let name_lead = format!(
            "INSERT INTO message_speaker (message, chat, character, name)
             SELECT id, chat, ?2, {SPOKEN_NAME} FROM message
             WHERE chat = ?1 AND role = 'character'
                 AND NOT EXISTS (SELECT 1 FROM message_speaker WHERE message_speaker.message = message.id)"
        );
        self.conn
            .prepare_cached(&name_lead)?
            .execute(params![Col(chat), Col(from)])?;
        let [put_aside, leave, take_back, forget] = [
            format!(
                "INSERT OR REPLACE INTO former_lead_text (chat, character, field, text)
                 SELECT chat, ?2, field, text FROM chat_text WHERE chat = ?1 AND field IN {OF_LEAD}"
            ),
            "DELETE FROM chat_text WHERE chat = ?1 AND field IN (
                 SELECT field FROM former_lead_text WHERE chat = ?1 AND character = ?2)"
                .to_owned(),
            "INSERT INTO chat_text (chat, field, text)
                 SELECT chat, field, text FROM former_lead_text WHERE chat = ?1 AND character = ?2"
                .to_owned(),
            "DELETE FROM former_lead_text WHERE chat = ?1 AND character = ?2".to_owned(),
        ];
        for (sql, of) in [
            (put_aside, from),
            (leave, from),
            (take_back, to),
            (forget, to),
        ] {
            self.conn
                .prepare_cached(&sql)?
                .execute(params![Col(chat), Col(of)])?;
        }
        self.conn
            .prepare_cached(
                "UPDATE chat_member SET character = ?2 WHERE chat = ?1 AND character = ?3",
            )?
            .execute(params![Col(chat), Col(from), Col(to)])?;
        self.conn
            .prepare_cached("UPDATE chat SET character = ?2 WHERE id = ?1")?
            .execute(params![Col(chat), Col(to)])?;
        StaleCachesMut { conn: self.conn }.mark(chat)
    }
}
