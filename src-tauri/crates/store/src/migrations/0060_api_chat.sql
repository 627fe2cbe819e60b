-- The chat that clients of the local API continue when they name only the character.
CREATE TABLE api_chat (
    character BLOB PRIMARY KEY REFERENCES character (id) ON DELETE CASCADE,
    chat BLOB NOT NULL REFERENCES chat (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX api_chat_chat ON api_chat (chat);
