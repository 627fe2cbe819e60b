-- The pictures that came with a message, in their order.
CREATE TABLE message_picture (
    message BLOB NOT NULL REFERENCES message (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    asset BLOB NOT NULL REFERENCES asset (hash),
    -- What the file was called; empty for what was pasted.
    name TEXT NOT NULL,
    PRIMARY KEY (message, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_picture_asset ON message_picture (asset);
