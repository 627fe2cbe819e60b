-- Texts that were typed into a form and are not stored in their item yet. Each writer, such as a window, has its own row.
CREATE TABLE draft (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    -- The form.
    kind TEXT NOT NULL CHECK (kind <> ''),
    -- The item that the form belongs to, and the part of it; either may be empty.
    owner TEXT NOT NULL,
    target TEXT NOT NULL,
    text TEXT NOT NULL,
    -- Identifies the stored value that the writer saw.
    base TEXT NOT NULL,
    saved INTEGER NOT NULL,
    -- The rows that the owner and the target name. A draft goes with each of them.
    chat BLOB REFERENCES chat (id) ON DELETE CASCADE,
    message BLOB REFERENCES message (id) ON DELETE CASCADE,
    character BLOB REFERENCES character (id) ON DELETE CASCADE,
    lorebook BLOB REFERENCES lorebook (id) ON DELETE CASCADE,
    persona BLOB REFERENCES persona (id) ON DELETE CASCADE,
    memory BLOB REFERENCES memory (id) ON DELETE CASCADE,
    model BLOB REFERENCES model (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX draft_place ON draft (kind, owner, target);
CREATE INDEX draft_chat ON draft (chat) WHERE chat IS NOT NULL;
CREATE INDEX draft_message ON draft (message) WHERE message IS NOT NULL;
CREATE INDEX draft_character ON draft (character) WHERE character IS NOT NULL;
CREATE INDEX draft_lorebook ON draft (lorebook) WHERE lorebook IS NOT NULL;
CREATE INDEX draft_persona ON draft (persona) WHERE persona IS NOT NULL;
CREATE INDEX draft_memory ON draft (memory) WHERE memory IS NOT NULL;
CREATE INDEX draft_model ON draft (model) WHERE model IS NOT NULL;
