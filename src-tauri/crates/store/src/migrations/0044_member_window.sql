-- The context window of a character that missed messages of a chat. The other characters share the window of the chat.
CREATE TABLE member_window (
    chat BLOB NOT NULL REFERENCES chat (id) ON DELETE CASCADE,
    character BLOB NOT NULL REFERENCES character (id) ON DELETE CASCADE,
    epoch INTEGER NOT NULL,
    anchor BLOB,
    fingerprint TEXT NOT NULL,
    frozen TEXT NOT NULL,
    PRIMARY KEY (chat, character)
) STRICT, WITHOUT ROWID;
CREATE INDEX member_window_character ON member_window (character);

-- A retraction ends the windows of single characters, because they may quote the retracted text. Prompts of group chats
-- quote recalled text that is not stored with their messages, so their saved caches become stale as well.
CREATE TRIGGER member_window_retraction AFTER UPDATE ON withdrawal
BEGIN
    INSERT OR REPLACE INTO stale_cache (chat) SELECT chat FROM chat_member UNION SELECT chat FROM member_window;
    DELETE FROM member_window;
END;
