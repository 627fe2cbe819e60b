-- What is remembered. `number` is for the index of words, whose rows must keep their names when the file is rebuilt.
CREATE TABLE memory (
    number INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    type TEXT NOT NULL CHECK (type IN ('note', 'fact', 'event', 'relationship', 'personality', 'preference', 'rule',
        'outcome', 'decision', 'emotion', 'open_thread')),
    scope TEXT NOT NULL CHECK (scope IN ('profile', 'character', 'pair', 'chat')),
    character BLOB REFERENCES character (id) ON DELETE CASCADE,
    -- Of a pair; absent for the nameless user.
    persona BLOB REFERENCES persona (id) ON DELETE CASCADE,
    chat BLOB REFERENCES chat (id) ON DELETE CASCADE,
    text TEXT NOT NULL CHECK (text <> ''),
    importance INTEGER NOT NULL CHECK (importance BETWEEN 1 AND 10),
    pinned INTEGER NOT NULL CHECK (pinned IN (0, 1)),
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    deleted INTEGER,
    CHECK ((character IS NOT NULL) = (scope IN ('character', 'pair'))),
    CHECK (persona IS NULL OR scope = 'pair'),
    CHECK ((chat IS NOT NULL) = (scope = 'chat'))
) STRICT;
CREATE INDEX memory_standing ON memory (scope, character, persona, chat, pinned DESC, importance DESC, updated DESC)
    WHERE deleted IS NULL;
CREATE INDEX memory_character ON memory (character);
CREATE INDEX memory_persona ON memory (persona);
CREATE INDEX memory_chat ON memory (chat);

-- The words that a memory was made from: it is hidden while one of them is, and goes with them.
CREATE TABLE memory_source (
    memory INTEGER NOT NULL REFERENCES memory (number) ON DELETE CASCADE,
    message BLOB NOT NULL REFERENCES message (id) ON DELETE CASCADE,
    swipe BLOB NOT NULL REFERENCES swipe (id) ON DELETE CASCADE,
    PRIMARY KEY (memory, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_source_message ON memory_source (message);
CREATE INDEX memory_source_swipe ON memory_source (swipe);
CREATE TRIGGER memory_without_source AFTER DELETE ON memory_source
BEGIN DELETE FROM memory WHERE number = old.memory; END;
-- A text that goes on says what it said; one that was rewritten may not.
CREATE TRIGGER memory_source_rewritten AFTER UPDATE OF text ON swipe
WHEN substr(new.text, 1, length(old.text)) <> old.text
BEGIN DELETE FROM memory_source WHERE swipe = old.id; END;

-- The text of each message as it is shown, for the search: not deleted, the chosen swipe, and written to its end.
CREATE TABLE message_text (
    number INTEGER PRIMARY KEY,
    message BLOB NOT NULL UNIQUE REFERENCES message (id) ON DELETE CASCADE,
    chat BLOB NOT NULL,
    position INTEGER NOT NULL,
    text TEXT NOT NULL
) STRICT;
CREATE INDEX message_text_chat ON message_text (chat, position);
CREATE VIEW message_shown AS
    SELECT message.id AS message, message.chat, message.position, swipe.text
    FROM message JOIN swipe ON swipe.message = message.id AND swipe.position = message.selected
    WHERE message.deleted IS NULL AND message.role IN ('user', 'character', 'narrator') AND swipe.state <> 'streaming';

CREATE TRIGGER message_text_of_new_swipe AFTER INSERT ON swipe WHEN new.state <> 'streaming'
BEGIN
    DELETE FROM message_text WHERE message = new.message;
    INSERT INTO message_text (message, chat, position, text) SELECT * FROM message_shown WHERE message = new.message;
END;
CREATE TRIGGER message_text_of_swipe AFTER UPDATE OF text, state ON swipe WHEN new.state <> 'streaming'
BEGIN
    DELETE FROM message_text WHERE message = new.message;
    INSERT INTO message_text (message, chat, position, text) SELECT * FROM message_shown WHERE message = new.message;
END;
CREATE TRIGGER message_text_of_message AFTER UPDATE OF selected, deleted ON message
BEGIN
    DELETE FROM message_text WHERE message = new.id;
    INSERT INTO message_text (message, chat, position, text) SELECT * FROM message_shown WHERE message = new.id;
END;

-- Words by their English stems; for scripts that put no spaces between words, every three letters of them.
CREATE VIRTUAL TABLE message_words USING fts5(text, content = 'message_text', content_rowid = 'number',
    tokenize = 'porter unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE message_letters USING fts5(text, content = 'message_text', content_rowid = 'number',
    tokenize = 'trigram');
CREATE VIRTUAL TABLE memory_words USING fts5(text, content = 'memory', content_rowid = 'number',
    tokenize = 'porter unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE memory_letters USING fts5(text, content = 'memory', content_rowid = 'number',
    tokenize = 'trigram');

CREATE TRIGGER message_words_new AFTER INSERT ON message_text
BEGIN INSERT INTO message_words (rowid, text) VALUES (new.number, new.text); END;
CREATE TRIGGER message_words_gone AFTER DELETE ON message_text
BEGIN INSERT INTO message_words (message_words, rowid, text) VALUES ('delete', old.number, old.text); END;
CREATE TRIGGER message_letters_new AFTER INSERT ON message_text WHEN new.text GLOB '*[฀-๿぀-ヿ㐀-鿿가-힣]*'
BEGIN INSERT INTO message_letters (rowid, text) VALUES (new.number, new.text); END;
CREATE TRIGGER message_letters_gone AFTER DELETE ON message_text WHEN old.text GLOB '*[฀-๿぀-ヿ㐀-鿿가-힣]*'
BEGIN INSERT INTO message_letters (message_letters, rowid, text) VALUES ('delete', old.number, old.text); END;

CREATE TRIGGER memory_words_new AFTER INSERT ON memory
BEGIN INSERT INTO memory_words (rowid, text) VALUES (new.number, new.text); END;
CREATE TRIGGER memory_words_gone AFTER DELETE ON memory
BEGIN INSERT INTO memory_words (memory_words, rowid, text) VALUES ('delete', old.number, old.text); END;
CREATE TRIGGER memory_words_changed AFTER UPDATE OF text ON memory
BEGIN
    INSERT INTO memory_words (memory_words, rowid, text) VALUES ('delete', old.number, old.text);
    INSERT INTO memory_words (rowid, text) VALUES (new.number, new.text);
END;
CREATE TRIGGER memory_letters_new AFTER INSERT ON memory WHEN new.text GLOB '*[฀-๿぀-ヿ㐀-鿿가-힣]*'
BEGIN INSERT INTO memory_letters (rowid, text) VALUES (new.number, new.text); END;
CREATE TRIGGER memory_letters_gone AFTER DELETE ON memory WHEN old.text GLOB '*[฀-๿぀-ヿ㐀-鿿가-힣]*'
BEGIN INSERT INTO memory_letters (memory_letters, rowid, text) VALUES ('delete', old.number, old.text); END;
CREATE TRIGGER memory_letters_before AFTER UPDATE OF text ON memory WHEN old.text GLOB '*[฀-๿぀-ヿ㐀-鿿가-힣]*'
BEGIN INSERT INTO memory_letters (memory_letters, rowid, text) VALUES ('delete', old.number, old.text); END;
CREATE TRIGGER memory_letters_after AFTER UPDATE OF text ON memory WHEN new.text GLOB '*[฀-๿぀-ヿ㐀-鿿가-힣]*'
BEGIN INSERT INTO memory_letters (rowid, text) VALUES (new.number, new.text); END;

-- What was said before this.
INSERT INTO message_text (message, chat, position, text) SELECT * FROM message_shown;
