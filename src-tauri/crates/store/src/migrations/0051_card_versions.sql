-- Cards before each save in the editor. Restoring one keeps the card that it replaces.
CREATE TABLE card_version (
    number INTEGER PRIMARY KEY,
    character BLOB NOT NULL REFERENCES character (id) ON DELETE CASCADE,
    card_json TEXT NOT NULL,
    picture BLOB REFERENCES asset (hash),
    -- The time of the save that replaced it.
    replaced INTEGER NOT NULL
) STRICT;
CREATE INDEX card_version_character ON card_version (character, number);
CREATE INDEX card_version_picture ON card_version (picture);
