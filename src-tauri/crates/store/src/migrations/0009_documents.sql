-- Texts that people attached to a chat.
CREATE TABLE document (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    chat BLOB NOT NULL REFERENCES chat (id) ON DELETE CASCADE,
    -- What the file was called.
    name TEXT NOT NULL CHECK (name <> ''),
    -- Size of the file.
    bytes INTEGER NOT NULL,
    created INTEGER NOT NULL,
    deleted INTEGER
) STRICT;
CREATE INDEX document_chat ON document (chat);

-- What they say, in passages. The numbers of one document's are neighbours, in its order, so that a search in it is one in
-- a stretch of the indexes. They are names as well, which rows must keep when the file is rebuilt.
CREATE TABLE passage (
    number INTEGER PRIMARY KEY,
    document BLOB NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    -- What it stands under; empty without one.
    heading TEXT NOT NULL,
    text TEXT NOT NULL CHECK (text <> '')
) STRICT;
CREATE INDEX passage_document ON passage (document);

-- As the indexes of messages and memories.
CREATE VIRTUAL TABLE passage_words USING fts5(heading, text, content = 'passage', content_rowid = 'number',
    tokenize = 'porter unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE passage_letters USING fts5(heading, text, content = 'passage', content_rowid = 'number',
    tokenize = 'trigram');
CREATE TRIGGER passage_words_new AFTER INSERT ON passage
BEGIN INSERT INTO passage_words (rowid, heading, text) VALUES (new.number, new.heading, new.text); END;
CREATE TRIGGER passage_words_gone AFTER DELETE ON passage
BEGIN
    INSERT INTO passage_words (passage_words, rowid, heading, text)
    VALUES ('delete', old.number, old.heading, old.text);
END;
CREATE TRIGGER passage_letters_new AFTER INSERT ON passage WHEN new.heading || new.text GLOB '*[฀-๿぀-ヿ㐀-鿿가-힣]*'
BEGIN INSERT INTO passage_letters (rowid, heading, text) VALUES (new.number, new.heading, new.text); END;
CREATE TRIGGER passage_letters_gone AFTER DELETE ON passage WHEN old.heading || old.text GLOB '*[฀-๿぀-ヿ㐀-鿿가-힣]*'
BEGIN
    INSERT INTO passage_letters (passage_letters, rowid, heading, text)
    VALUES ('delete', old.number, old.heading, old.text);
END;
