-- What was said is searched in memory, by words and their neighbours: an index on the disk weighs a row in a microsecond or two,
-- so common words had to be left out, and it knows no neighbours.
DROP TRIGGER message_words_new;
DROP TRIGGER message_words_gone;
DROP TRIGGER message_letters_new;
DROP TRIGGER message_letters_gone;
DROP TABLE message_words;
DROP TABLE message_letters;

-- How many texts a chat shows, and the number of the last change to them. While it is the same, so are the texts.
CREATE TABLE text_group (
    chat BLOB PRIMARY KEY REFERENCES chat (id) ON DELETE CASCADE,
    texts INTEGER NOT NULL,
    last INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The change that a text came with: no other text of its chat ever has the same, as `number` may.
ALTER TABLE message_text ADD COLUMN change INTEGER NOT NULL DEFAULT 0;
UPDATE message_text SET change = number;
INSERT INTO text_group (chat, texts, last) SELECT chat, count(*), max(change) FROM message_text GROUP BY chat;
CREATE INDEX message_text_change ON message_text (chat, change);

CREATE TRIGGER text_group_of_new_text AFTER INSERT ON message_text
BEGIN
    INSERT INTO text_group (chat, texts, last) VALUES (new.chat, 1, 1)
    ON CONFLICT (chat) DO UPDATE SET texts = texts + 1, last = last + 1;
    UPDATE message_text SET change = (SELECT last FROM text_group WHERE chat = new.chat) WHERE number = new.number;
END;
CREATE TRIGGER text_group_of_gone_text AFTER DELETE ON message_text
BEGIN UPDATE text_group SET texts = texts - 1, last = last + 1 WHERE chat = old.chat; END;
