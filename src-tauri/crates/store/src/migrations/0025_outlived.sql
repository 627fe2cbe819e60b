-- Memories that stay when the chat they were made in is deleted, and the words there that they were made from: if the chat comes
-- back, they lead there again.
CREATE TABLE outlived (
    memory INTEGER NOT NULL REFERENCES memory (number) ON DELETE CASCADE,
    message BLOB NOT NULL REFERENCES message (id) ON DELETE CASCADE,
    swipe BLOB NOT NULL REFERENCES swipe (id) ON DELETE CASCADE,
    PRIMARY KEY (memory, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX outlived_message ON outlived (message);
CREATE INDEX outlived_swipe ON outlived (swipe);

DROP TRIGGER memory_without_source;
CREATE TRIGGER memory_without_source AFTER DELETE ON memory_source
WHEN NOT EXISTS (SELECT 1 FROM outlived WHERE memory = old.memory AND message = old.message)
BEGIN DELETE FROM memory WHERE number = old.memory; END;

-- Texts whose summary by a model was forgotten: none is asked for again while they say what they say.
CREATE TABLE summary_forgotten (
    text INTEGER PRIMARY KEY REFERENCES message_text (number) ON DELETE CASCADE
) STRICT;
