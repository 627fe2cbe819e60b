-- What is to be told no more was only taken out of the texts, and came back when its swipe was shown again, or its deletion undone.
ALTER TABLE swipe ADD COLUMN untold INTEGER NOT NULL DEFAULT 0 CHECK (untold IN (0, 1));
UPDATE swipe SET untold = 1 WHERE id IN (
    SELECT swipe.id FROM message
    JOIN swipe ON swipe.message = message.id AND swipe.position = message.selected
    WHERE message.deleted IS NULL AND message.role IN ('user', 'character', 'narrator') AND swipe.state <> 'streaming'
        AND NOT EXISTS (SELECT 1 FROM message_text WHERE message_text.message = message.id));

DROP VIEW message_shown;
CREATE VIEW message_shown AS
    SELECT message.id AS message, message.chat, message.position, swipe.text
    FROM message JOIN swipe ON swipe.message = message.id AND swipe.position = message.selected
    WHERE message.deleted IS NULL AND message.role IN ('user', 'character', 'narrator') AND swipe.state <> 'streaming'
        AND swipe.untold = 0;

-- Other words may be told.
DROP TRIGGER message_text_of_swipe;
CREATE TRIGGER message_text_of_swipe AFTER UPDATE OF text, state ON swipe WHEN new.state <> 'streaming'
BEGIN
    UPDATE swipe SET untold = 0
        WHERE id = new.id AND untold = 1 AND substr(new.text, 1, length(old.text)) <> old.text;
    DELETE FROM message_text WHERE message = new.message;
    INSERT INTO message_text (message, chat, position, text) SELECT * FROM message_shown WHERE message = new.message;
END;

-- What is not judged is judged anew once it leaves the window, and what matters is kept word for word; not so what is untold.
CREATE TRIGGER untold_matters_to_nobody AFTER UPDATE OF importance ON message WHEN new.importance IS NULL
    AND EXISTS (SELECT 1 FROM swipe WHERE message = new.id AND position = new.selected AND untold = 1)
BEGIN UPDATE message SET importance = 1 WHERE id = new.id; END;

-- Messages whose words were edited, memories whose words were, and those that went with what they were made from: what was sent
-- still quotes them, and pages of the file may, until the next purge.
CREATE TABLE rewritten (id BLOB PRIMARY KEY CHECK (length(id) = 16)) STRICT, WITHOUT ROWID;
CREATE TRIGGER memory_rewritten AFTER UPDATE OF text ON memory WHEN new.text <> old.text
BEGIN INSERT OR IGNORE INTO rewritten (id) VALUES (new.id); END;
CREATE TRIGGER memory_gone AFTER DELETE ON memory
BEGIN INSERT OR IGNORE INTO rewritten (id) VALUES (old.id); END;
