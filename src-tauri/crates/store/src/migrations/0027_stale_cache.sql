-- Chats whose saved KV caches may hold words that were withdrawn from prompts. A number is never given twice, so what is noted anew
-- while the files before are being deleted stays.
CREATE TABLE stale_cache (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    chat BLOB NOT NULL UNIQUE REFERENCES chat (id) ON DELETE CASCADE
) STRICT;
-- What was withdrawn before this was noted nowhere, and another program than the one that saved them takes up none of these files.
INSERT INTO stale_cache (chat) SELECT id FROM chat;
