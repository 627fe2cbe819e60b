-- Servers that offer tools. `transport` is JSON without the values of variables and headers, which are in the keychain.
-- `tools` is JSON of the tools that the server listed last.
CREATE TABLE tool_server (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    name TEXT NOT NULL UNIQUE COLLATE NOCASE,
    enabled INTEGER NOT NULL DEFAULT 0 CHECK (enabled IN (0, 1)),
    transport TEXT NOT NULL CHECK (json_valid(transport)),
    tools TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tools))
) STRICT;

-- What the user has decided about a tool: everywhere, or in one chat. `definition` identifies the definition that the
-- user saw.
CREATE TABLE server_tool_grant (
    server BLOB NOT NULL REFERENCES tool_server (id) ON DELETE CASCADE,
    tool TEXT NOT NULL,
    chat BLOB REFERENCES chat (id) ON DELETE CASCADE,
    allowed INTEGER NOT NULL CHECK (allowed IN (0, 1)),
    definition TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX server_tool_grant_place ON server_tool_grant (server, tool, coalesce(chat, x''));
CREATE INDEX server_tool_grant_chat ON server_tool_grant (chat) WHERE chat IS NOT NULL;
