-- A message that the user hides from the model. It is shown folded, and never sent, searched or learned from.
ALTER TABLE message ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0 CHECK (hidden IN (0, 1));
-- The time of the message is unknown. `created` repeats the previous message, so that the order by time matches the chat.
ALTER TABLE message ADD COLUMN undated INTEGER NOT NULL DEFAULT 0 CHECK (undated IN (0, 1));

DROP VIEW message_shown;
CREATE VIEW message_shown AS
    SELECT message.id AS message, message.chat, message.position, swipe.text
    FROM message JOIN swipe ON swipe.message = message.id AND swipe.position = message.selected
    WHERE message.deleted IS NULL AND message.hidden = 0 AND message.role IN ('user', 'character', 'narrator')
        AND swipe.state <> 'streaming' AND swipe.untold = 0;

DROP TRIGGER message_text_of_message;
CREATE TRIGGER message_text_of_message AFTER UPDATE OF selected, deleted, hidden ON message
BEGIN
    DELETE FROM message_text WHERE message = new.id;
    INSERT INTO message_text (message, chat, position, text) SELECT * FROM message_shown WHERE message = new.id;
END;
