-- The private characters. While they are hidden, lists and searches leave them and their chats out.
CREATE TABLE private_character (
    character BLOB PRIMARY KEY REFERENCES character (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
