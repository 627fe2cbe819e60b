-- What a turn asks of a long chat is answered by indexes alone, however many messages it has (P-6).
DROP INDEX message_kept;
CREATE INDEX message_kept ON message (chat, position, role) WHERE deleted IS NULL;
CREATE INDEX message_pinned ON message (chat) WHERE pinned = 1 AND deleted IS NULL;
CREATE INDEX message_importance ON message (chat, importance) WHERE importance IS NOT NULL AND deleted IS NULL;

ALTER TABLE message_speaker ADD COLUMN chat BLOB REFERENCES chat (id) ON DELETE CASCADE;
UPDATE message_speaker SET chat = (SELECT chat FROM message WHERE message.id = message_speaker.message);
CREATE INDEX message_speaker_chat ON message_speaker (chat);
