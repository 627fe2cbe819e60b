-- Full-text search over everything besides messages: earlier texts of messages, notes, memories, lorebook entries and
-- characters. The functions `search_words`, `search_letters`, `search_card` and `search_entries` belong to the app.
CREATE TABLE search_item (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('revision', 'note', 'override', 'memory', 'entry', 'character')),
    -- The swipe of a revision, the owner of a note, the chat of an override, the lorebook or card of an entry.
    owner BLOB NOT NULL,
    -- The number of a revision, the scope of a note, the field of an override, the uid of an entry.
    part TEXT NOT NULL,
    title TEXT NOT NULL,
    -- The indexed text, so that exactly its words leave the index, whatever later versions extract from a source.
    text TEXT NOT NULL,
    UNIQUE (kind, owner, part)
) STRICT;

CREATE VIRTUAL TABLE search_item_words USING fts5(kind, words, letters, content = '', tokenize = 'ascii');
-- Deleted words leave the file, instead of being marked as deleted.
INSERT INTO search_item_words (search_item_words, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER search_item_new AFTER INSERT ON search_item
BEGIN
    INSERT INTO search_item_words (rowid, kind, words, letters) VALUES (new.number, new.kind,
        search_words(new.title || char(10) || new.text), search_letters(new.title || char(10) || new.text));
END;
CREATE TRIGGER search_item_changed AFTER UPDATE OF title, text ON search_item
WHEN new.title <> old.title OR new.text <> old.text
BEGIN
    INSERT INTO search_item_words (search_item_words, rowid, kind, words, letters)
        VALUES ('delete', old.number, old.kind, search_words(old.title || char(10) || old.text),
            search_letters(old.title || char(10) || old.text));
    INSERT INTO search_item_words (rowid, kind, words, letters) VALUES (new.number, new.kind,
        search_words(new.title || char(10) || new.text), search_letters(new.title || char(10) || new.text));
END;
CREATE TRIGGER search_item_gone AFTER DELETE ON search_item
BEGIN
    INSERT INTO search_item_words (search_item_words, rowid, kind, words, letters)
        VALUES ('delete', old.number, old.kind, search_words(old.title || char(10) || old.text),
            search_letters(old.title || char(10) || old.text));
END;

-- Earlier texts of messages. They go with their swipe, and with the purge of the trash.
CREATE TRIGGER search_new_revision AFTER INSERT ON revision
BEGIN
    INSERT INTO search_item (kind, owner, part, title, text)
        VALUES ('revision', new.swipe, CAST(new.number AS TEXT), '', new.text);
END;
CREATE TRIGGER search_gone_revision AFTER DELETE ON revision
BEGIN
    DELETE FROM search_item
        WHERE kind = 'revision' AND owner = old.swipe AND part = CAST(old.number AS TEXT);
END;

CREATE TRIGGER search_new_memory AFTER INSERT ON memory
BEGIN INSERT INTO search_item (kind, owner, part, title, text) VALUES ('memory', new.id, '', '', new.text); END;
CREATE TRIGGER search_changed_memory AFTER UPDATE OF text ON memory WHEN new.text <> old.text
BEGIN UPDATE search_item SET text = new.text WHERE kind = 'memory' AND owner = new.id; END;
CREATE TRIGGER search_gone_memory AFTER DELETE ON memory
BEGIN DELETE FROM search_item WHERE kind = 'memory' AND owner = old.id; END;

-- Texts of a chat that replace those of its character's card. An empty text leaves the card's out.
CREATE TRIGGER search_new_override AFTER INSERT ON chat_text WHEN new.text <> ''
BEGIN
    INSERT INTO search_item (kind, owner, part, title, text)
        VALUES ('override', new.chat, new.field, '', new.text);
END;
CREATE TRIGGER search_changed_override AFTER UPDATE OF text ON chat_text WHEN new.text <> old.text
BEGIN
    DELETE FROM search_item WHERE kind = 'override' AND owner = new.chat AND part = new.field;
    INSERT INTO search_item (kind, owner, part, title, text)
        SELECT 'override', new.chat, new.field, '', new.text WHERE new.text <> '';
END;
CREATE TRIGGER search_gone_override AFTER DELETE ON chat_text
BEGIN DELETE FROM search_item WHERE kind = 'override' AND owner = old.chat AND part = old.field; END;

-- Author's notes are settings of a chat, a character or all chats.
CREATE VIEW author_note AS
    SELECT owner, scope, value ->> '$' AS text FROM scoped_setting
    WHERE key = 'author_note' AND json_type(value) = 'text' AND value ->> '$' <> '';
CREATE TRIGGER search_new_note AFTER INSERT ON scoped_setting WHEN new.key = 'author_note'
BEGIN
    INSERT INTO search_item (kind, owner, part, title, text)
        SELECT 'note', owner, scope, '', text FROM author_note WHERE owner = new.owner AND scope = new.scope;
END;
CREATE TRIGGER search_changed_note AFTER UPDATE OF value ON scoped_setting WHEN new.key = 'author_note'
BEGIN
    DELETE FROM search_item WHERE kind = 'note' AND owner = new.owner AND part = new.scope;
    INSERT INTO search_item (kind, owner, part, title, text)
        SELECT 'note', owner, scope, '', text FROM author_note WHERE owner = new.owner AND scope = new.scope;
END;
CREATE TRIGGER search_gone_note AFTER DELETE ON scoped_setting WHEN old.key = 'author_note'
BEGIN DELETE FROM search_item WHERE kind = 'note' AND owner = old.owner AND part = old.scope; END;

-- Lorebooks and cards are rewritten as a whole for each change, so only entries that differ are indexed again.
CREATE TRIGGER search_new_lorebook AFTER INSERT ON lorebook
BEGIN
    INSERT INTO search_item (kind, owner, part, title, text)
        SELECT 'entry', new.id, value ->> 0, value ->> 1, value ->> 2 FROM json_each(search_entries(new.json, 0));
END;
CREATE TRIGGER search_changed_lorebook AFTER UPDATE OF json ON lorebook WHEN new.json <> old.json
BEGIN
    DELETE FROM search_item WHERE kind = 'entry' AND owner = new.id
        AND part NOT IN (SELECT value ->> 0 FROM json_each(search_entries(new.json, 0)));
    INSERT INTO search_item (kind, owner, part, title, text)
        SELECT 'entry', new.id, value ->> 0, value ->> 1, value ->> 2 FROM json_each(search_entries(new.json, 0))
        WHERE true
        ON CONFLICT (kind, owner, part) DO UPDATE SET title = excluded.title, text = excluded.text;
END;
CREATE TRIGGER search_gone_lorebook AFTER DELETE ON lorebook
BEGIN DELETE FROM search_item WHERE kind = 'entry' AND owner = old.id; END;

CREATE TRIGGER search_new_card AFTER INSERT ON character
BEGIN
    INSERT INTO search_item (kind, owner, part, title, text)
        VALUES ('character', new.id, '', new.name, search_card(new.card_json));
    INSERT INTO search_item (kind, owner, part, title, text)
        SELECT 'entry', new.id, value ->> 0, value ->> 1, value ->> 2 FROM json_each(search_entries(new.card_json, 1));
END;
CREATE TRIGGER search_changed_card AFTER UPDATE OF name, card_json ON character
WHEN new.name <> old.name OR new.card_json <> old.card_json
BEGIN
    UPDATE search_item SET title = new.name, text = search_card(new.card_json)
        WHERE kind = 'character' AND owner = new.id;
    DELETE FROM search_item WHERE kind = 'entry' AND owner = new.id
        AND part NOT IN (SELECT value ->> 0 FROM json_each(search_entries(new.card_json, 1)));
    INSERT INTO search_item (kind, owner, part, title, text)
        SELECT 'entry', new.id, value ->> 0, value ->> 1, value ->> 2 FROM json_each(search_entries(new.card_json, 1))
        WHERE true
        ON CONFLICT (kind, owner, part) DO UPDATE SET title = excluded.title, text = excluded.text;
END;
CREATE TRIGGER search_gone_card AFTER DELETE ON character
BEGIN DELETE FROM search_item WHERE kind IN ('character', 'entry') AND owner = old.id; END;

INSERT INTO search_item (kind, owner, part, title, text)
    SELECT 'revision', swipe, CAST(number AS TEXT), '', text FROM revision ORDER BY number;
INSERT INTO search_item (kind, owner, part, title, text)
    SELECT 'memory', id, '', '', text FROM memory ORDER BY number;
INSERT INTO search_item (kind, owner, part, title, text)
    SELECT 'override', chat, field, '', text FROM chat_text WHERE text <> '';
INSERT INTO search_item (kind, owner, part, title, text) SELECT 'note', owner, scope, '', text FROM author_note;
INSERT INTO search_item (kind, owner, part, title, text)
    SELECT 'entry', lorebook.id, value ->> 0, value ->> 1, value ->> 2
    FROM lorebook, json_each(search_entries(lorebook.json, 0)) ORDER BY lorebook.created;
INSERT INTO search_item (kind, owner, part, title, text)
    SELECT 'entry', character.id, value ->> 0, value ->> 1, value ->> 2
    FROM character, json_each(search_entries(character.card_json, 1)) ORDER BY character.created;
INSERT INTO search_item (kind, owner, part, title, text)
    SELECT 'character', id, '', name, search_card(card_json) FROM character ORDER BY created;
