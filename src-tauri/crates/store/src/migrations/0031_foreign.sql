-- Data of other apps for a chat, its messages and their swipes that this app does not use. Exports write this JSON back.
CREATE TABLE foreign_chat (
    chat BLOB PRIMARY KEY REFERENCES chat (id) ON DELETE CASCADE,
    -- The user's name in the other app. It applies while the chat has no persona.
    user_name TEXT NOT NULL,
    json TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE foreign_message (
    message BLOB PRIMARY KEY REFERENCES message (id) ON DELETE CASCADE,
    json TEXT NOT NULL
) STRICT;
CREATE TABLE foreign_swipe (
    swipe BLOB PRIMARY KEY REFERENCES swipe (id) ON DELETE CASCADE,
    json TEXT NOT NULL
) STRICT;

-- Translations and token counts no longer match a text that was edited.
CREATE TRIGGER foreign_swipe_edited AFTER UPDATE OF text ON swipe WHEN new.text <> old.text
BEGIN
    UPDATE foreign_swipe SET json = json_remove(json, '$.extra.display_text', '$.extra.reasoning_display_text',
        '$.extra.token_count', '$.extra.logprobs')
    WHERE swipe = new.id AND json_valid(json);
END;
