-- Messages as vectors, a row for each passage of a text. They are made from a row of message_text and go with it: that row is
-- written anew whenever what is shown of the message changes.
CREATE TABLE message_vector (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    text INTEGER NOT NULL REFERENCES message_text (number) ON DELETE CASCADE,
    chat BLOB NOT NULL,
    position INTEGER NOT NULL,
    passage INTEGER NOT NULL,
    -- What made it: vectors of two models say nothing to each other.
    model TEXT NOT NULL,
    -- Of the bytes of `vector`.
    scale REAL NOT NULL,
    vector BLOB NOT NULL,
    -- The pieces of the passage, two bytes each.
    pieces BLOB NOT NULL,
    UNIQUE (text, passage)
) STRICT;
CREATE INDEX message_vector_chat ON message_vector (chat);

-- Every piece's own vector, apart: a search looks at few of them, and at all of the above.
CREATE TABLE message_pieces (
    number INTEGER PRIMARY KEY REFERENCES message_vector (number) ON DELETE CASCADE,
    vectors BLOB NOT NULL
) STRICT;

-- Texts that nothing has read yet. What is in it outlives the program (S3.30).
CREATE TABLE message_unread (
    text INTEGER PRIMARY KEY REFERENCES message_text (number) ON DELETE CASCADE
) STRICT;
CREATE TRIGGER message_unread_new AFTER INSERT ON message_text
BEGIN INSERT OR IGNORE INTO message_unread (text) VALUES (new.number); END;
