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
INSERT OR IGNORE INTO forgotten (memory, swipe)
    SELECT memory.id, memory_source.swipe FROM memory
    JOIN memory_source ON memory_source.memory = memory.number JOIN swipe ON swipe.id = memory_source.swipe
    WHERE memory.deleted IS NOT NULL AND memory.origin <> 'keyframe' AND swipe.untold = 1;

-- How often something was withdrawn from prompts: a turn that was made before that does not keep what it was made of.
CREATE TABLE withdrawal (number INTEGER NOT NULL) STRICT;
INSERT INTO withdrawal (number) VALUES (0);
