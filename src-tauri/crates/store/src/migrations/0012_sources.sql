-- Where things came from that an import of another app's folder brought: a second import takes only what is new.

-- A character's file, in the folder that was named.
CREATE TABLE character_file (
    folder TEXT NOT NULL,
    file TEXT NOT NULL,
    character BLOB NOT NULL REFERENCES character (id) ON DELETE CASCADE,
    PRIMARY KEY (folder, file)
) STRICT, WITHOUT ROWID;
CREATE INDEX character_file_character ON character_file (character);

-- The name of a chat's file: a title may change.
CREATE TABLE chat_file (
    chat BLOB PRIMARY KEY REFERENCES chat (id) ON DELETE CASCADE,
    file TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX chat_file_file ON chat_file (file);

-- Bindings of lorebooks that an import made once. Whether they stay is the user's word, so it never makes them again.
CREATE TABLE lorebook_granted (
    lorebook BLOB NOT NULL REFERENCES lorebook (id) ON DELETE CASCADE,
    scope TEXT NOT NULL CHECK (scope IN ('global', 'character', 'chat', 'persona')),
    owner BLOB NOT NULL CHECK (length(owner) = iif(scope = 'global', 0, 16)),
    PRIMARY KEY (lorebook, scope, owner)
) STRICT, WITHOUT ROWID;
CREATE INDEX lorebook_granted_to ON lorebook_granted (scope, owner);

-- As for the bindings themselves: an owner may be in one of three tables.
CREATE TRIGGER chat_granted AFTER DELETE ON chat
BEGIN DELETE FROM lorebook_granted WHERE scope = 'chat' AND owner = old.id; END;
CREATE TRIGGER character_granted AFTER DELETE ON character
BEGIN DELETE FROM lorebook_granted WHERE scope = 'character' AND owner = old.id; END;
CREATE TRIGGER persona_granted AFTER DELETE ON persona
BEGIN DELETE FROM lorebook_granted WHERE scope = 'persona' AND owner = old.id; END;
