-- Keys of the local API. Only the SHA-256 of a key is stored, so nobody can read a key from the file.
CREATE TABLE api_key (
    id BLOB PRIMARY KEY NOT NULL,
    name TEXT NOT NULL CHECK (name <> ''),
    hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    -- The first characters of the key, by which its owner recognises it.
    start TEXT NOT NULL,
    -- 0: only the characters in `api_key_character`, even if none of them is left.
    every_character INTEGER NOT NULL CHECK (every_character IN (0, 1)),
    raw_models INTEGER NOT NULL CHECK (raw_models IN (0, 1)),
    read_only INTEGER NOT NULL CHECK (read_only IN (0, 1)),
    created INTEGER NOT NULL,
    last_used INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE api_key_character (
    key BLOB NOT NULL REFERENCES api_key (id) ON DELETE CASCADE,
    character BLOB NOT NULL REFERENCES character (id) ON DELETE CASCADE,
    PRIMARY KEY (key, character)
) STRICT, WITHOUT ROWID;
CREATE INDEX api_key_character_owner ON api_key_character (character);
