-- Where the description of a persona is in the prompt.
ALTER TABLE persona ADD COLUMN position TEXT NOT NULL DEFAULT 'template'
    CHECK (position IN ('template', 'afterCard', 'inChat', 'absent'));
-- For 'inChat': number of messages from the end, and the role.
ALTER TABLE persona ADD COLUMN depth INTEGER NOT NULL DEFAULT 2 CHECK (depth >= 0);
ALTER TABLE persona ADD COLUMN role TEXT NOT NULL DEFAULT 'system' CHECK (role IN ('system', 'user', 'character'));

-- The persona of new chats with a character.
CREATE TABLE bound_persona (
    character BLOB PRIMARY KEY REFERENCES character (id) ON DELETE CASCADE,
    persona BLOB NOT NULL REFERENCES persona (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX bound_persona_persona ON bound_persona (persona);

-- Whether the user decided to keep the user's name of an imported chat.
ALTER TABLE foreign_chat ADD COLUMN name_settled INTEGER NOT NULL DEFAULT 0 CHECK (name_settled IN (0, 1));
