-- The texts of a swipe before each edit. They are purged with the trash.
CREATE TABLE revision (
    number INTEGER PRIMARY KEY,
    swipe BLOB NOT NULL REFERENCES swipe (id) ON DELETE CASCADE,
    text TEXT NOT NULL,
    -- The time of the edit that replaced the text.
    replaced INTEGER NOT NULL
) STRICT;
CREATE INDEX revision_swipe ON revision (swipe);
