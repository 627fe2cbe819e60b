-- What is found by its meaning besides messages: memories, passages of documents, and entries of lorebooks that are marked for
-- it. They are short, so the vectors of their pieces are not kept.
CREATE TABLE meaning (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('memory', 'passage', 'entry')),
    -- The number of the memory, the passage or the entry.
    owner INTEGER NOT NULL,
    -- What it is looked for among: the chat of a passage, the book of an entry; one for all memories.
    among BLOB NOT NULL CHECK (length(among) = 16),
    -- Of a text that is read in several parts.
    part INTEGER NOT NULL,
    -- What made it: vectors of two models say nothing to each other.
    model TEXT NOT NULL,
    -- Of the bytes of `vector`.
    scale REAL NOT NULL,
    vector BLOB NOT NULL,
    UNIQUE (kind, owner, part)
) STRICT;
CREATE INDEX meaning_among ON meaning (kind, among);

-- What nothing has read yet. It outlives the program (S2.32, S3.30).
CREATE TABLE meaning_unread (
    kind TEXT NOT NULL,
    owner INTEGER NOT NULL,
    PRIMARY KEY (kind, owner)
) STRICT, WITHOUT ROWID;

-- Entries that are marked to be found by their meaning, in the words that are read. Books are read by the program, for they
-- come in several forms.
CREATE TABLE lore_entry (
    number INTEGER PRIMARY KEY,
    -- The lorebook, or the character in whose card it is.
    book BLOB NOT NULL CHECK (length(book) = 16),
    uid TEXT NOT NULL,
    text TEXT NOT NULL CHECK (text <> ''),
    UNIQUE (book, uid)
) STRICT;

-- Books that are to be looked through for such entries.
CREATE TABLE lore_unread (
    book BLOB PRIMARY KEY CHECK (length(book) = 16)
) STRICT, WITHOUT ROWID;

CREATE VIEW meaningful AS
    SELECT 'memory' AS kind, number AS owner, zeroblob(16) AS among, text FROM memory
    UNION ALL
    SELECT 'passage', passage.number, document.chat, trim(passage.heading || char(10) || passage.text, char(10))
    FROM passage JOIN document ON document.id = passage.document
    UNION ALL
    SELECT 'entry', number, book, text FROM lore_entry;

-- An owner may be in one of three tables, so triggers do what foreign keys cannot.
CREATE TRIGGER meaning_of_new_memory AFTER INSERT ON memory
BEGIN INSERT OR IGNORE INTO meaning_unread (kind, owner) VALUES ('memory', new.number); END;
CREATE TRIGGER meaning_of_changed_memory AFTER UPDATE OF text ON memory WHEN new.text <> old.text
BEGIN
    DELETE FROM meaning WHERE kind = 'memory' AND owner = new.number;
    INSERT OR IGNORE INTO meaning_unread (kind, owner) VALUES ('memory', new.number);
END;
CREATE TRIGGER meaning_of_gone_memory AFTER DELETE ON memory
BEGIN
    DELETE FROM meaning WHERE kind = 'memory' AND owner = old.number;
    DELETE FROM meaning_unread WHERE kind = 'memory' AND owner = old.number;
END;
CREATE TRIGGER meaning_of_new_passage AFTER INSERT ON passage
BEGIN INSERT OR IGNORE INTO meaning_unread (kind, owner) VALUES ('passage', new.number); END;
CREATE TRIGGER meaning_of_gone_passage AFTER DELETE ON passage
BEGIN
    DELETE FROM meaning WHERE kind = 'passage' AND owner = old.number;
    DELETE FROM meaning_unread WHERE kind = 'passage' AND owner = old.number;
END;
CREATE TRIGGER meaning_of_new_entry AFTER INSERT ON lore_entry
BEGIN INSERT OR IGNORE INTO meaning_unread (kind, owner) VALUES ('entry', new.number); END;
CREATE TRIGGER meaning_of_changed_entry AFTER UPDATE OF text ON lore_entry WHEN new.text <> old.text
BEGIN
    DELETE FROM meaning WHERE kind = 'entry' AND owner = new.number;
    INSERT OR IGNORE INTO meaning_unread (kind, owner) VALUES ('entry', new.number);
END;
CREATE TRIGGER meaning_of_gone_entry AFTER DELETE ON lore_entry
BEGIN
    DELETE FROM meaning WHERE kind = 'entry' AND owner = old.number;
    DELETE FROM meaning_unread WHERE kind = 'entry' AND owner = old.number;
END;

-- Most books have no such entry, and a library has thousands of cards: only those are looked through that name the field.
CREATE TRIGGER entries_of_new_lorebook AFTER INSERT ON lorebook WHEN instr(new.json, 'vectorized')
BEGIN INSERT OR IGNORE INTO lore_unread (book) VALUES (new.id); END;
CREATE TRIGGER entries_of_changed_lorebook AFTER UPDATE OF json ON lorebook
WHEN instr(new.json, 'vectorized') OR instr(old.json, 'vectorized')
BEGIN INSERT OR IGNORE INTO lore_unread (book) VALUES (new.id); END;
CREATE TRIGGER entries_of_gone_lorebook AFTER DELETE ON lorebook
BEGIN
    DELETE FROM lore_entry WHERE book = old.id;
    DELETE FROM lore_unread WHERE book = old.id;
END;
CREATE TRIGGER entries_of_new_card AFTER INSERT ON character WHEN instr(new.card_json, 'vectorized')
BEGIN INSERT OR IGNORE INTO lore_unread (book) VALUES (new.id); END;
CREATE TRIGGER entries_of_changed_card AFTER UPDATE OF card_json ON character
WHEN instr(new.card_json, 'vectorized') OR instr(old.card_json, 'vectorized')
BEGIN INSERT OR IGNORE INTO lore_unread (book) VALUES (new.id); END;
CREATE TRIGGER entries_of_gone_card AFTER DELETE ON character
BEGIN
    DELETE FROM lore_entry WHERE book = old.id;
    DELETE FROM lore_unread WHERE book = old.id;
END;

-- What was there before this.
INSERT INTO meaning_unread (kind, owner) SELECT kind, owner FROM meaningful;
INSERT INTO lore_unread (book) SELECT id FROM lorebook WHERE instr(json, 'vectorized');
INSERT INTO lore_unread (book) SELECT id FROM character WHERE instr(card_json, 'vectorized');
