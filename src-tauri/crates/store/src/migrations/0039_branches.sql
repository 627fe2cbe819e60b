-- The chat, and the message in it, from which another chat was branched.
CREATE TABLE branch (
    chat BLOB PRIMARY KEY REFERENCES chat (id) ON DELETE CASCADE,
    origin BLOB NOT NULL REFERENCES chat (id) ON DELETE CASCADE,
    -- The last message that both have; absent once it is purged.
    message BLOB REFERENCES message (id) ON DELETE SET NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX branch_origin ON branch (origin);
CREATE INDEX branch_message ON branch (message);

-- The branches of a purged chat become branches of its own origin, so that the story keeps one tree.
CREATE TRIGGER branch_of_gone BEFORE DELETE ON chat
BEGIN
    UPDATE branch SET
        message = (SELECT message FROM branch AS own WHERE own.chat = old.id),
        origin = (SELECT origin FROM branch AS own WHERE own.chat = old.id)
    WHERE origin = old.id AND EXISTS (SELECT 1 FROM branch AS own WHERE own.chat = old.id);
END;

-- A named bookmark on a message.
CREATE TABLE checkpoint (
    message BLOB PRIMARY KEY REFERENCES message (id) ON DELETE CASCADE,
    name TEXT NOT NULL CHECK (name <> ''),
    created INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
