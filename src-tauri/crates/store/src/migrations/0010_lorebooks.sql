-- Lorebooks outside cards.
CREATE TABLE lorebook (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    name TEXT NOT NULL CHECK (name <> ''),
    -- The whole book in the form it came in, every unknown field included.
    json TEXT NOT NULL CHECK (json_valid(json)),
    -- The imported file itself, byte for byte.
    source BLOB REFERENCES asset (hash),
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    deleted INTEGER
) STRICT;
CREATE INDEX lorebook_source ON lorebook (source);

-- Where a book counts: everywhere, or with a character, in a chat, with a persona.
CREATE TABLE lorebook_binding (
    lorebook BLOB NOT NULL REFERENCES lorebook (id) ON DELETE CASCADE,
    scope TEXT NOT NULL CHECK (scope IN ('global', 'character', 'chat', 'persona')),
    owner BLOB NOT NULL CHECK (length(owner) = iif(scope = 'global', 0, 16)),
    PRIMARY KEY (lorebook, scope, owner)
) STRICT, WITHOUT ROWID;
CREATE INDEX lorebook_bound ON lorebook_binding (scope, owner);

-- An owner may be in one of three tables, so triggers do what foreign keys cannot.
CREATE TRIGGER chat_lorebooks AFTER DELETE ON chat
BEGIN DELETE FROM lorebook_binding WHERE scope = 'chat' AND owner = old.id; END;
CREATE TRIGGER character_lorebooks AFTER DELETE ON character
BEGIN DELETE FROM lorebook_binding WHERE scope = 'character' AND owner = old.id; END;
CREATE TRIGGER persona_lorebooks AFTER DELETE ON persona
BEGIN DELETE FROM lorebook_binding WHERE scope = 'persona' AND owner = old.id; END;
