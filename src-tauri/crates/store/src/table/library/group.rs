//! Group scenes: the additional characters of a chat with their settings, the speakers of its
//! messages, and who was present at each.

use std::collections::{HashMap, HashSet};

use domain::chat::{GroupSettings, MemberState, Speaker, TurnOrder, WindowState};
use domain::{CharacterId, ChatId, MessageId};
use rusqlite::{OptionalExtension, Row, params};

use crate::StoreError;
use crate::access::{Groups, GroupsMut};
use crate::sql::Col;

impl Groups<'_> {
    /// Members in turn order, without deleted characters.
    pub fn members(&self, chat: ChatId) -> Result<Vec<CharacterId>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT chat_member.character FROM chat_member JOIN character ON character.id = chat_member.character
                 WHERE chat_member.chat = ?1 AND character.deleted IS NULL ORDER BY chat_member.position",
            )?
            .query_map([Col(chat)], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Settings of the group; the defaults if none are stored.
    pub fn settings(&self, chat: ChatId) -> Result<GroupSettings, StoreError> {
        let row = self
            .conn
            .prepare_cached(
                "SELECT turn_order, self_responses, several_replies, auto_delay, foreign_fields FROM chat_group
                 WHERE chat = ?1",
            )?
            .query_row([Col(chat)], settings_from_row)
            .optional()?;
        Ok(row.unwrap_or_default())
    }

    /// States of the characters that have one, including characters that have left.
    pub fn states(&self, chat: ChatId) -> Result<HashMap<CharacterId, MemberState>, StoreError> {
        let rows = self
            .conn
            .prepare_cached("SELECT character, muted, away FROM member_state WHERE chat = ?1")?
            .query_map([Col(chat)], |row| {
                Ok((
                    row.get::<_, Col<_>>(0)?.0,
                    MemberState {
                        muted: row.get(1)?,
                        away: row.get(2)?,
                    },
                ))
            })?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Messages of any chat that the character missed, each with its chat.
    pub fn missed_by(
        &self,
        character: CharacterId,
    ) -> Result<HashMap<MessageId, ChatId>, StoreError> {
        let rows = self
            .conn
            .prepare_cached("SELECT message, chat FROM message_absence WHERE character = ?1")?
            .query_map([Col(character)], |row| {
                Ok((row.get::<_, Col<_>>(0)?.0, row.get::<_, Col<_>>(1)?.0))
            })?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// The characters that missed any of the messages.
    pub fn absent_from(&self, messages: &[MessageId]) -> Result<HashSet<CharacterId>, StoreError> {
        let mut absent = HashSet::new();
        let mut statement = self
            .conn
            .prepare_cached("SELECT character FROM message_absence WHERE message = ?1")?;
        for message in messages {
            let mut rows = statement.query([Col(*message)])?;
            while let Some(row) = rows.next()? {
                absent.insert(row.get::<_, Col<_>>(0)?.0);
            }
        }
        Ok(absent)
    }

    /// The characters that missed messages of a chat, each with the number of these messages that
    /// still exist.
    pub fn absentees(&self, chat: ChatId) -> Result<HashMap<CharacterId, u32>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT message_absence.character, count(message.id) FILTER (WHERE message.deleted IS NULL)
                 FROM message_absence JOIN message ON message.id = message_absence.message
                 WHERE message_absence.chat = ?1 GROUP BY message_absence.character",
            )?
            .query_map([Col(chat)], |row| Ok((row.get::<_, Col<_>>(0)?.0, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// The window of a character that missed messages of the chat.
    pub fn window(
        &self,
        chat: ChatId,
        character: CharacterId,
    ) -> Result<Option<WindowState>, StoreError> {
        let row = self
            .conn
            .prepare_cached(
                "SELECT epoch, anchor, fingerprint, frozen FROM member_window WHERE chat = ?1 AND character = ?2",
            )?
            .query_row(params![Col(chat), Col(character)], window_from_row)
            .optional()?;
        Ok(row)
    }

    /// Speakers of the messages that the chat's own character did not write.
    pub fn speakers(&self, chat: ChatId) -> Result<HashMap<MessageId, Speaker>, StoreError> {
        let rows = self
            .conn
            .prepare_cached("SELECT message, character, name FROM message_speaker WHERE chat = ?1")?
            .query_map([Col(chat)], speaker_from_row)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

impl GroupsMut<'_> {
    /// Replaces the members, in this order. Each may occur only once. Members in the trash stay, so
    /// that they take part again when they are restored.
    pub fn set_members(&mut self, chat: ChatId, members: &[CharacterId]) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "DELETE FROM chat_member WHERE chat = ?1 AND character IN (SELECT id FROM character WHERE deleted IS NULL)",
            )?
            .execute([Col(chat)])?;
        let mut statement = self.conn.prepare_cached(
            "INSERT INTO chat_member (chat, character, position) VALUES (?1, ?2, ?3)",
        )?;
        for (position, member) in (0_i64..).zip(members) {
            statement.execute(params![Col(chat), Col(*member), position])?;
        }
        Ok(())
    }

    /// Keeps `name` as the user's name of all messages of the chat so far that have none of their
    /// own.
    pub fn keep_user_name(&mut self, chat: ChatId, name: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT OR IGNORE INTO message_speaker (message, chat, character, name)
                 SELECT id, chat, NULL, ?2 FROM message WHERE chat = ?1 AND role = 'user'",
            )?
            .execute(params![Col(chat), name])?;
        Ok(())
    }

    pub fn set_speaker(&mut self, message: MessageId, speaker: &Speaker) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO message_speaker (message, chat, character, name)
                 VALUES (?1, (SELECT chat FROM message WHERE id = ?1), ?2, ?3)
                 ON CONFLICT (message) DO UPDATE SET character = excluded.character, name = excluded.name",
            )?
            .execute(params![Col(message), speaker.character.map(Col), speaker.name])?;
        Ok(())
    }
}

impl GroupsMut<'_> {
    pub fn set_settings(
        &mut self,
        chat: ChatId,
        settings: &GroupSettings,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO chat_group (chat, turn_order, self_responses, several_replies, auto_delay, foreign_fields)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (chat) DO UPDATE SET turn_order = excluded.turn_order,
                     self_responses = excluded.self_responses, several_replies = excluded.several_replies,
                     auto_delay = excluded.auto_delay,
                     foreign_fields = excluded.foreign_fields",
            )?
            .execute(params![
                Col(chat),
                settings.order.as_str(),
                settings.self_responses,
                settings.several_replies,
                settings.auto_delay,
                settings.foreign
            ])?;
        Ok(())
    }

    /// Sets the state from now on. Messages that are stored later record who is away.
    pub fn set_state(
        &mut self,
        chat: ChatId,
        character: CharacterId,
        state: MemberState,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO member_state (chat, character, muted, away) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (chat, character) DO UPDATE SET muted = excluded.muted, away = excluded.away",
            )?
            .execute(params![Col(chat), Col(character), state.muted, state.away])?;
        Ok(())
    }

    /// Records that the character missed all messages of the chat so far.
    pub fn set_missed_all(
        &mut self,
        chat: ChatId,
        character: CharacterId,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT OR IGNORE INTO message_absence (message, character, chat)
                 SELECT id, ?2, chat FROM message WHERE chat = ?1",
            )?
            .execute(params![Col(chat), Col(character)])?;
        Ok(())
    }

    /// Records that the character was present at all messages of the chat so far. Its own window
    /// ends.
    pub fn set_heard_all(
        &mut self,
        chat: ChatId,
        character: CharacterId,
    ) -> Result<(), StoreError> {
        for sql in [
            "DELETE FROM message_absence WHERE chat = ?1 AND character = ?2",
            "DELETE FROM member_window WHERE chat = ?1 AND character = ?2",
        ] {
            self.conn
                .prepare_cached(sql)?
                .execute(params![Col(chat), Col(character)])?;
        }
        Ok(())
    }

    /// Records that the character was present at one message, such as its own.
    pub fn set_heard(
        &mut self,
        message: MessageId,
        character: CharacterId,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("DELETE FROM message_absence WHERE message = ?1 AND character = ?2")?
            .execute(params![Col(message), Col(character)])?;
        Ok(())
    }

    /// Copies who was present at a message to its copy, for example in a branch.
    pub fn copy_presence(&mut self, from: MessageId, to: MessageId) -> Result<(), StoreError> {
        for sql in [
            "DELETE FROM message_absence WHERE message = ?2 AND ?1 IS NOT NULL",
            "INSERT INTO message_absence (message, character, chat)
                 SELECT message.id, message_absence.character, message.chat
                 FROM message_absence JOIN message ON message.id = ?2 WHERE message_absence.message = ?1",
        ] {
            self.conn.prepare_cached(sql)?.execute(params![Col(from), Col(to)])?;
        }
        Ok(())
    }

    pub fn set_window(
        &mut self,
        chat: ChatId,
        character: CharacterId,
        window: &WindowState,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT OR REPLACE INTO member_window (chat, character, epoch, anchor, fingerprint, frozen)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                Col(chat),
                Col(character),
                window.epoch,
                window.anchor.map(Col),
                window.fingerprint,
                window.frozen
            ])?;
        Ok(())
    }

    /// Ends the windows of single characters.
    pub fn end_windows(&mut self, chat: ChatId) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("DELETE FROM member_window WHERE chat = ?1")?
            .execute([Col(chat)])?;
        Ok(())
    }
}

fn settings_from_row(row: &Row<'_>) -> rusqlite::Result<GroupSettings> {
    let order: String = row.get(0)?;
    Ok(GroupSettings {
        order: TurnOrder::ALL
            .into_iter()
            .find(|known| known.as_str() == order)
            .unwrap_or_default(),
        self_responses: row.get(1)?,
        several_replies: row.get(2)?,
        auto_delay: row.get(3)?,
        foreign: row.get(4)?,
    })
}

fn window_from_row(row: &Row<'_>) -> rusqlite::Result<WindowState> {
    Ok(WindowState {
        epoch: row.get(0)?,
        anchor: row.get::<_, Option<Col<_>>>(1)?.map(|Col(id)| id),
        fingerprint: row.get(2)?,
        frozen: row.get(3)?,
    })
}

fn speaker_from_row(row: &Row<'_>) -> rusqlite::Result<(MessageId, Speaker)> {
    let character = row.get::<_, Option<Col<_>>>(1)?.map(|Col(id)| id);
    Ok((
        row.get::<_, Col<_>>(0)?.0,
        Speaker {
            character,
            name: row.get(2)?,
        },
    ))
}
