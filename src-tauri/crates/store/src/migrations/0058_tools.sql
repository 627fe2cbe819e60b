-- The tool rounds of a reply as JSON; absent where it has none.
ALTER TABLE swipe ADD COLUMN tool_rounds TEXT CHECK (tool_rounds IS NULL OR json_valid(tool_rounds));

-- Decisions of the user about tools. Without a chat a decision applies in all chats.
CREATE TABLE tool_grant (
    -- Server of the tool; empty for the app's own.
    source TEXT NOT NULL,
    tool TEXT NOT NULL,
    chat BLOB REFERENCES chat (id) ON DELETE CASCADE,
    allowed INTEGER NOT NULL CHECK (allowed IN (0, 1)),
    created INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX tool_grant_everywhere ON tool_grant (source, tool) WHERE chat IS NULL;
CREATE UNIQUE INDEX tool_grant_in_chat ON tool_grant (chat, source, tool) WHERE chat IS NOT NULL;
