-- Folders of the chat list and of the character library. A folder with a tag is smart: it shows what has the tag, and
-- nothing is put in it.
CREATE TABLE folder (
    id BLOB PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('chat', 'character')),
    parent BLOB REFERENCES folder (id),
    name TEXT NOT NULL,
    colour TEXT,
    collapsed INTEGER NOT NULL DEFAULT 0,
    tag TEXT
) STRICT;

CREATE INDEX folder_parent ON folder (parent);

-- The place of a chat or a character in its list. Items without a row are not in a folder, not pinned, not archived.
CREATE TABLE chat_place (
    item BLOB PRIMARY KEY REFERENCES chat (id) ON DELETE CASCADE,
    folder BLOB REFERENCES folder (id) ON DELETE SET NULL,
    pinned INTEGER NOT NULL DEFAULT 0,
    archived INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX chat_place_folder ON chat_place (folder);

CREATE TABLE character_place (
    item BLOB PRIMARY KEY REFERENCES character (id) ON DELETE CASCADE,
    folder BLOB REFERENCES folder (id) ON DELETE SET NULL,
    pinned INTEGER NOT NULL DEFAULT 0,
    archived INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX character_place_folder ON character_place (folder);
