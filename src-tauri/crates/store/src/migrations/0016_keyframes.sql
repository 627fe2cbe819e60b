-- What stretches of a chat came to.
CREATE TABLE keyframe (
    number INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    chat BLOB NOT NULL REFERENCES chat (id) ON DELETE CASCADE,
    -- Positions of its messages.
    first INTEGER NOT NULL,
    last INTEGER NOT NULL CHECK (last >= first),
    summary TEXT NOT NULL CHECK (summary <> ''),
    analysis TEXT NOT NULL,
    rating INTEGER NOT NULL CHECK (rating BETWEEN 1 AND 10),
    characters TEXT NOT NULL CHECK (json_valid(characters)),
    -- First sentences of the messages, which no model has read.
    fallback INTEGER NOT NULL CHECK (fallback IN (0, 1)),
    -- A model was asked to read them, and its answer was of no use.
    tried INTEGER NOT NULL DEFAULT 0 CHECK (tried IN (0, 1)),
    created INTEGER NOT NULL
) STRICT;
CREATE INDEX keyframe_chat ON keyframe (chat, last);

-- The texts that a keyframe was made from, and it goes with the first of them: its row is written anew whenever what is shown
-- of a message changes, and is not there while a message is deleted or not to be told.
CREATE TABLE keyframe_source (
    keyframe INTEGER NOT NULL REFERENCES keyframe (number) ON DELETE CASCADE,
    text INTEGER NOT NULL REFERENCES message_text (number) ON DELETE CASCADE,
    PRIMARY KEY (keyframe, text)
) STRICT, WITHOUT ROWID;
CREATE INDEX keyframe_source_text ON keyframe_source (text);
CREATE TRIGGER keyframe_without_source AFTER DELETE ON keyframe_source
BEGIN DELETE FROM keyframe WHERE number = old.keyframe; END;
-- A digest that quotes it is written anew.
CREATE TRIGGER keyframe_gone AFTER DELETE ON keyframe
BEGIN
    UPDATE chat SET window_fingerprint = '', window_frozen = '' WHERE id = old.chat AND instr(window_frozen,
        lower(substr(hex(old.id), 1, 8) || '-' || substr(hex(old.id), 9, 4) || '-' || substr(hex(old.id), 13, 4) || '-'
            || substr(hex(old.id), 17, 4) || '-' || substr(hex(old.id), 21)));
END;

-- Up to which message facts were looked for.
CREATE TABLE chat_learned (
    chat BLOB PRIMARY KEY REFERENCES chat (id) ON DELETE CASCADE,
    position INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

ALTER TABLE memory ADD COLUMN origin TEXT NOT NULL DEFAULT 'user'
    CHECK (origin IN ('user', 'rule', 'model', 'keyframe'));
ALTER TABLE memory ADD COLUMN confidence INTEGER NOT NULL DEFAULT 10 CHECK (confidence BETWEEN 1 AND 10);
-- Until now only what somebody asked to remember was made from messages.
UPDATE memory SET origin = 'rule' WHERE number IN (SELECT memory FROM memory_source);
