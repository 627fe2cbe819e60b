-- Texts belong to a chat, to a character in all chats, or to a lorebook wherever it counts. Neither of the two tables can be
-- changed in place, and the drop of one takes what refers to it along; so both are written anew. Numbers of passages stay, and
-- so does what the indexes and the vectors know of them.
DROP VIEW meaningful;
CREATE TABLE passage_kept (number INTEGER PRIMARY KEY, document BLOB NOT NULL, heading TEXT NOT NULL, text TEXT NOT NULL) STRICT;
INSERT INTO passage_kept (number, document, heading, text) SELECT number, document, heading, text FROM passage;
DROP TABLE passage;
CREATE TABLE document_kept (
    id BLOB NOT NULL, chat BLOB NOT NULL, name TEXT NOT NULL, bytes INTEGER NOT NULL, created INTEGER NOT NULL, deleted INTEGER
) STRICT;
INSERT INTO document_kept (id, chat, name, bytes, created, deleted)
SELECT id, chat, name, bytes, created, deleted FROM document;
DROP TABLE document;

CREATE TABLE document (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    -- Whose it is: one of these.
    chat BLOB REFERENCES chat (id) ON DELETE CASCADE,
    character BLOB REFERENCES character (id) ON DELETE CASCADE,
    lorebook BLOB REFERENCES lorebook (id) ON DELETE CASCADE,
    -- What the file was called.
    name TEXT NOT NULL CHECK (name <> ''),
    -- Size of the file.
    bytes INTEGER NOT NULL,
    created INTEGER NOT NULL,
    deleted INTEGER,
    CHECK ((chat IS NOT NULL) + (character IS NOT NULL) + (lorebook IS NOT NULL) = 1)
) STRICT;
INSERT INTO document (id, chat, name, bytes, created, deleted)
SELECT id, chat, name, bytes, created, deleted FROM document_kept ORDER BY created, id;
DROP TABLE document_kept;
CREATE INDEX document_chat ON document (chat);
CREATE INDEX document_character ON document (character);
CREATE INDEX document_lorebook ON document (lorebook);

CREATE TABLE passage (
    number INTEGER PRIMARY KEY,
    document BLOB NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    -- What it stands under; empty without one.
    heading TEXT NOT NULL,
    text TEXT NOT NULL CHECK (text <> '')
) STRICT;
INSERT INTO passage (number, document, heading, text) SELECT number, document, heading, text FROM passage_kept;
DROP TABLE passage_kept;
CREATE INDEX passage_document ON passage (document);
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
CREATE TRIGGER meaning_of_new_passage AFTER INSERT ON passage
BEGIN INSERT OR IGNORE INTO meaning_unread (kind, owner) VALUES ('passage', new.number); END;
CREATE TRIGGER meaning_of_gone_passage AFTER DELETE ON passage
BEGIN
    DELETE FROM meaning WHERE kind = 'passage' AND owner = old.number;
    DELETE FROM meaning_unread WHERE kind = 'passage' AND owner = old.number;
END;

-- A passage is looked for among those of the same owner.
CREATE VIEW meaningful AS
    SELECT 'memory' AS kind, number AS owner, zeroblob(16) AS among, text FROM memory
    UNION ALL
    SELECT 'passage', passage.number, coalesce(document.chat, document.character, document.lorebook),
        trim(passage.heading || char(10) || passage.text, char(10))
    FROM passage JOIN document ON document.id = passage.document
    UNION ALL
    SELECT 'entry', number, book, text FROM lore_entry;
