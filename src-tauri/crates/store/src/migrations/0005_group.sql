-- Who takes part besides the chat's own character, in the order of their turns.
CREATE TABLE chat_member (
    chat BLOB NOT NULL REFERENCES chat (id) ON DELETE CASCADE,
    character BLOB NOT NULL REFERENCES character (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    PRIMARY KEY (chat, character)
) STRICT, WITHOUT ROWID;
CREATE INDEX chat_member_character ON chat_member (character);

-- Who says a message that is not the chat's own character's, nor the user's; of an event, whose turn it announces.
-- The name is kept as it was: what was sent to the model stays as it is when a card is renamed or purged.
CREATE TABLE message_speaker (
    message BLOB PRIMARY KEY REFERENCES message (id) ON DELETE CASCADE,
    character BLOB REFERENCES character (id) ON DELETE SET NULL,
    name TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX message_speaker_character ON message_speaker (character);
