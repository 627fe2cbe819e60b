-- A group does not belong to one character. The character of its row leads it; when that character is deleted, the next
-- member leads. A restored character leads its group again.
CREATE TABLE former_lead (
    chat BLOB PRIMARY KEY REFERENCES chat (id) ON DELETE CASCADE,
    character BLOB NOT NULL REFERENCES character (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX former_lead_character ON former_lead (character);

-- Texts of the chat that replace those of a character's card, while that character does not lead the chat.
CREATE TABLE former_lead_text (
    chat BLOB NOT NULL REFERENCES chat (id) ON DELETE CASCADE,
    character BLOB NOT NULL REFERENCES character (id) ON DELETE CASCADE,
    field TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (chat, character, field)
) STRICT, WITHOUT ROWID;
CREATE INDEX former_lead_text_character ON former_lead_text (character);

-- Groups that were hidden with their deleted first character come back. The next member leads them.
INSERT INTO former_lead (chat, character)
    SELECT chat.id, chat.character FROM chat JOIN character ON character.id = chat.character
    WHERE character.deleted IS NOT NULL AND EXISTS (
        SELECT 1 FROM chat_member JOIN character AS member ON member.id = chat_member.character
        WHERE chat_member.chat = chat.id AND member.deleted IS NULL);
INSERT INTO message_speaker (message, chat, character, name)
    SELECT message.id, message.chat, character.id, coalesce(iif(json_valid(character.card_json),
        nullif(trim(character.card_json ->> '$.data.nickname'), ''), NULL), character.name)
    FROM former_lead JOIN message ON message.chat = former_lead.chat
    JOIN character ON character.id = former_lead.character
    WHERE message.role = 'character'
        AND NOT EXISTS (SELECT 1 FROM message_speaker AS named WHERE named.message = message.id);
INSERT INTO former_lead_text (chat, character, field, text)
    SELECT chat_text.chat, former_lead.character, chat_text.field, chat_text.text
    FROM former_lead JOIN chat_text ON chat_text.chat = former_lead.chat
    WHERE chat_text.field IN ('description', 'personality', 'mes_example');
DELETE FROM chat_text WHERE field IN ('description', 'personality', 'mes_example')
    AND chat IN (SELECT chat FROM former_lead);
INSERT OR REPLACE INTO stale_cache (chat) SELECT chat FROM former_lead;
UPDATE chat SET character = (
    SELECT member.id FROM chat_member JOIN character AS member ON member.id = chat_member.character
    WHERE chat_member.chat = chat.id AND member.deleted IS NULL ORDER BY chat_member.position LIMIT 1)
    WHERE id IN (SELECT chat FROM former_lead);
UPDATE chat_member SET character = (SELECT character FROM former_lead WHERE former_lead.chat = chat_member.chat)
    WHERE character = (
        SELECT chat.character FROM chat JOIN former_lead ON former_lead.chat = chat.id
        WHERE chat.id = chat_member.chat);
