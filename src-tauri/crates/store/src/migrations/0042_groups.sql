-- How the characters of a group chat take turns. A group without a row uses the defaults of the app.
CREATE TABLE chat_group (
    chat BLOB PRIMARY KEY REFERENCES chat (id) ON DELETE CASCADE,
    turn_order TEXT NOT NULL CHECK (turn_order IN ('natural', 'list', 'pooled', 'manual', 'director')),
    -- A character may answer its own message.
    self_responses INTEGER NOT NULL DEFAULT 0 CHECK (self_responses IN (0, 1)),
    -- Seconds between two replies while the characters talk by themselves.
    auto_delay INTEGER NOT NULL DEFAULT 5 CHECK (auto_delay BETWEEN 0 AND 3600),
    -- Fields of another app's group file that this app does not use, as a JSON object. They are exported unchanged.
    foreign_fields TEXT NOT NULL DEFAULT '{}'
) STRICT, WITHOUT ROWID;

-- The state of each character in a group chat, including the chat's own. A character without a row is neither muted nor
-- away. A character that has left keeps its row and is away.
CREATE TABLE member_state (
    chat BLOB NOT NULL REFERENCES chat (id) ON DELETE CASCADE,
    character BLOB NOT NULL REFERENCES character (id) ON DELETE CASCADE,
    muted INTEGER NOT NULL DEFAULT 0 CHECK (muted IN (0, 1)),
    away INTEGER NOT NULL DEFAULT 0 CHECK (away IN (0, 1)),
    PRIMARY KEY (chat, character)
) STRICT, WITHOUT ROWID;
CREATE INDEX member_state_character ON member_state (character);
