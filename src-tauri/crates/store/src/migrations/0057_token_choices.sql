-- Probabilities of the tokens of a reply, as JSON.
CREATE TABLE token_choices (
    swipe BLOB PRIMARY KEY NOT NULL REFERENCES swipe (id) ON DELETE CASCADE,
    tokens TEXT NOT NULL CHECK (json_valid(tokens))
) STRICT;
-- They contain the text of the reply, so they go with it.
CREATE TRIGGER token_choices_text AFTER UPDATE OF text ON swipe WHEN old.text IS NOT new.text
BEGIN
    DELETE FROM token_choices WHERE swipe = new.id;
END;
