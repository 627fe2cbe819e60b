-- The chats that show a set of quick replies: all, those of a character, or one. `quick_replies` is the id in the
-- set's key in `setting`.
CREATE TABLE quick_reply_binding (
    quick_replies TEXT NOT NULL CHECK (quick_replies <> ''),
    scope TEXT NOT NULL CHECK (scope IN ('global', 'character', 'chat')),
    owner BLOB NOT NULL CHECK (length(owner) = iif(scope = 'global', 0, 16)),
    PRIMARY KEY (quick_replies, scope, owner)
) STRICT, WITHOUT ROWID;
CREATE INDEX quick_reply_bound ON quick_reply_binding (scope, owner);

-- An owner may be in one of two tables, so triggers do what foreign keys cannot.
CREATE TRIGGER chat_quick_replies AFTER DELETE ON chat
BEGIN DELETE FROM quick_reply_binding WHERE scope = 'chat' AND owner = old.id; END;
CREATE TRIGGER character_quick_replies AFTER DELETE ON character
BEGIN DELETE FROM quick_reply_binding WHERE scope = 'character' AND owner = old.id; END;
