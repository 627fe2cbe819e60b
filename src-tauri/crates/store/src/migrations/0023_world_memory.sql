-- A memory may count in every chat in which one lorebook counts. The scopes that a row may name cannot be changed in place, and
-- to write the table anew would take along what refers to it: so a world's memory has the scope of everybody, narrowed by its
-- world. It is hidden while the book is, and goes with it.
ALTER TABLE memory ADD COLUMN world BLOB REFERENCES lorebook (id) ON DELETE CASCADE CHECK (world IS NULL OR scope = 'profile');
CREATE INDEX memory_world ON memory (world) WHERE world IS NOT NULL;
-- Those of a world are found without a walk through everybody's, and the other way round.
DROP INDEX memory_standing;
CREATE INDEX memory_standing ON memory (scope, character, persona, chat, world, pinned DESC, importance DESC, updated DESC)
    WHERE deleted IS NULL;
