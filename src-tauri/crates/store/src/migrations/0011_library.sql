-- The characters that the user likes best. Not in their cards: it is the reader's word and not the author's.
CREATE TABLE favourite (
    character BLOB PRIMARY KEY REFERENCES character (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- What lists show of a card, so that none of them reads whole cards. It is made from the card, and gone when that changes.
-- A vacuum keeps the numbers: they name the rows of the indexes below.
CREATE TABLE listing (
    number INTEGER PRIMARY KEY,
    character BLOB NOT NULL UNIQUE REFERENCES character (id) ON DELETE CASCADE,
    tagline TEXT NOT NULL,
    creator TEXT NOT NULL,
    tags TEXT NOT NULL CHECK (json_valid(tags))
) STRICT;
CREATE TRIGGER listing_stale AFTER UPDATE OF card_json ON character
BEGIN DELETE FROM listing WHERE character = new.id; END;

-- What characters are found by: whole words from their beginnings, and runs of letters in scripts without spaces. The text
-- itself is in the card.
CREATE VIRTUAL TABLE listing_words USING fts5(text, content = '', contentless_delete = 1, prefix = '2 3',
    tokenize = 'unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE listing_letters USING fts5(text, content = '', contentless_delete = 1, tokenize = 'trigram');
CREATE TRIGGER listing_gone AFTER DELETE ON listing
BEGIN
    DELETE FROM listing_words WHERE rowid = old.number;
    DELETE FROM listing_letters WHERE rowid = old.number;
END;

-- The list of a large library is answered by indexes alone, which therefore hold the column of their condition as well.
CREATE INDEX character_listed ON character (id, name, picture, created, deleted) WHERE deleted IS NULL;
CREATE INDEX chat_latest ON chat (character, updated, deleted) WHERE deleted IS NULL;
