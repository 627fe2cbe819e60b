-- Files that were put to a card here. `path` is where the card says that each lies, as for those in its own file.
CREATE TABLE card_file (
    character BLOB NOT NULL REFERENCES character (id) ON DELETE CASCADE,
    path TEXT NOT NULL CHECK (path <> ''),
    asset BLOB NOT NULL REFERENCES asset (hash),
    PRIMARY KEY (character, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX card_file_asset ON card_file (asset);

ALTER TABLE persona ADD COLUMN picture BLOB REFERENCES asset (hash);
CREATE INDEX persona_picture ON persona (picture);

-- Pictures that another app showed behind its chats.
CREATE TABLE background (
    asset BLOB PRIMARY KEY REFERENCES asset (hash),
    -- What the file was called.
    name TEXT NOT NULL CHECK (name <> ''),
    created INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
