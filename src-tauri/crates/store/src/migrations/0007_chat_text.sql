-- What a chat says instead of a text of its character's card; an empty text leaves the card's out.
CREATE TABLE chat_text (
    chat BLOB NOT NULL REFERENCES chat (id) ON DELETE CASCADE,
    -- As the card calls the field.
    field TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (chat, field)
) STRICT, WITHOUT ROWID;

-- Stands for the instructions of chat and card; empty where the persona has none.
ALTER TABLE persona ADD COLUMN instructions TEXT NOT NULL DEFAULT '';
