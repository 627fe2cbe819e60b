-- The characters that were not present when a message was written. Everyone else was.
CREATE TABLE message_absence (
    message BLOB NOT NULL REFERENCES message (id) ON DELETE CASCADE,
    character BLOB NOT NULL REFERENCES character (id) ON DELETE CASCADE,
    chat BLOB NOT NULL REFERENCES chat (id) ON DELETE CASCADE,
    PRIMARY KEY (message, character)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_absence_character ON message_absence (character, chat);
CREATE INDEX message_absence_chat ON message_absence (chat);

-- Every way of adding a message records who is away.
CREATE TRIGGER message_absence_of_away AFTER INSERT ON message
BEGIN
    INSERT INTO message_absence (message, character, chat)
        SELECT new.id, character, new.chat FROM member_state WHERE chat = new.chat AND away = 1;
END;
