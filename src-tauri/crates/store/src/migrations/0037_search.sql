-- Full-text search over every version of every message. The functions `search_words` and `search_letters` belong to the
-- app. The numbers exist because a VACUUM may change the row ids of `swipe`.
CREATE TABLE swipe_number (
    number INTEGER PRIMARY KEY,
    swipe BLOB NOT NULL UNIQUE REFERENCES swipe (id) ON DELETE CASCADE
) STRICT;

CREATE VIRTUAL TABLE swipe_search USING fts5(words, letters, content = '', tokenize = 'ascii');
-- Deleted words leave the file, instead of being marked as deleted.
INSERT INTO swipe_search (swipe_search, rank) VALUES ('secure-delete', 1);

INSERT INTO swipe_number (swipe) SELECT id FROM swipe ORDER BY created, position;
INSERT INTO swipe_search (rowid, words, letters)
    SELECT number, search_words(text), search_letters(text)
    FROM swipe_number JOIN swipe ON swipe.id = swipe_number.swipe;

CREATE TRIGGER swipe_search_new AFTER INSERT ON swipe
BEGIN
    INSERT INTO swipe_number (swipe) VALUES (new.id);
    INSERT INTO swipe_search (rowid, words, letters)
        SELECT number, search_words(new.text), search_letters(new.text) FROM swipe_number WHERE swipe = new.id;
END;

CREATE TRIGGER swipe_search_changed AFTER UPDATE OF text ON swipe WHEN new.text <> old.text
BEGIN
    INSERT INTO swipe_search (swipe_search, rowid, words, letters)
        SELECT 'delete', number, search_words(old.text), search_letters(old.text)
        FROM swipe_number WHERE swipe = old.id;
    INSERT INTO swipe_search (rowid, words, letters)
        SELECT number, search_words(new.text), search_letters(new.text) FROM swipe_number WHERE swipe = new.id;
END;

CREATE TRIGGER swipe_search_gone BEFORE DELETE ON swipe
BEGIN
    INSERT INTO swipe_search (swipe_search, rowid, words, letters)
        SELECT 'delete', number, search_words(old.text), search_letters(old.text)
        FROM swipe_number WHERE swipe = old.id;
END;
