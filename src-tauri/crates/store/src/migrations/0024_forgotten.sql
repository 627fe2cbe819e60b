-- Of the memories that were made from one message, one may be brought back when another was forgotten for good: what the message
-- said stays untold, for the words of both are in it.
CREATE TABLE forgotten_source (
    message BLOB PRIMARY KEY REFERENCES message (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE TRIGGER memory_forgotten BEFORE DELETE ON memory WHEN old.deleted IS NOT NULL AND old.origin <> 'keyframe'
BEGIN
    INSERT OR IGNORE INTO forgotten_source (message)
        SELECT memory_source.message FROM memory_source JOIN swipe ON swipe.id = memory_source.swipe
        WHERE memory_source.memory = old.number AND swipe.untold = 1;
END;
-- Other words may be told.
CREATE TRIGGER forgotten_source_rewritten AFTER UPDATE OF text ON swipe
WHEN substr(new.text, 1, length(old.text)) <> old.text
BEGIN DELETE FROM forgotten_source WHERE message = new.message; END;
