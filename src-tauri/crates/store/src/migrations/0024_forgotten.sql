-- Whose words stay untold: of the memories that were made from one message, one may be brought back while another is forgotten, and
-- that for good once it is purged.
CREATE TABLE forgotten (
    memory BLOB NOT NULL CHECK (length(memory) = 16),
    swipe BLOB NOT NULL REFERENCES swipe (id) ON DELETE CASCADE,
    PRIMARY KEY (memory, swipe)
) STRICT, WITHOUT ROWID;
CREATE INDEX forgotten_swipe ON forgotten (swipe);
-- Other words may be told.
CREATE TRIGGER forgotten_rewritten AFTER UPDATE OF text ON swipe
WHEN substr(new.text, 1, length(old.text)) <> old.text
BEGIN DELETE FROM forgotten WHERE swipe = new.id; END;
