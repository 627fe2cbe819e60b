-- Number of durable commits. A file next to the lock has it as well, so that a lost log is noticed.
CREATE TABLE commit_counter (number INTEGER NOT NULL) STRICT;
INSERT INTO commit_counter VALUES (0);

-- Checksums of texts that users write, besides those of messages. The function `text_sum` belongs to the app. An upsert
-- would override a REPLACE in a trigger, so the old checksum is deleted first.
CREATE TABLE content_sum (
    kind TEXT NOT NULL CHECK (kind IN ('memory', 'character', 'lorebook', 'persona', 'note')),
    owner BLOB NOT NULL,
    -- The scope and key of a setting; empty for others.
    part TEXT NOT NULL,
    sum INTEGER NOT NULL,
    PRIMARY KEY (kind, owner, part)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER sum_new_memory AFTER INSERT ON memory
BEGIN
    DELETE FROM content_sum WHERE kind = 'memory' AND owner = new.id;
    INSERT INTO content_sum VALUES ('memory', new.id, '', text_sum(new.text));
END;
CREATE TRIGGER sum_changed_memory AFTER UPDATE OF id, text ON memory
BEGIN
    DELETE FROM content_sum WHERE kind = 'memory' AND owner = new.id;
    INSERT INTO content_sum VALUES ('memory', new.id, '', text_sum(new.text));
END;
CREATE TRIGGER sum_gone_memory AFTER DELETE ON memory
BEGIN DELETE FROM content_sum WHERE kind = 'memory' AND owner = old.id; END;

CREATE TRIGGER sum_new_character AFTER INSERT ON character
BEGIN
    DELETE FROM content_sum WHERE kind = 'character' AND owner = new.id;
    INSERT INTO content_sum VALUES ('character', new.id, '', text_sum(new.card_json));
END;
CREATE TRIGGER sum_changed_character AFTER UPDATE OF id, card_json ON character
BEGIN
    DELETE FROM content_sum WHERE kind = 'character' AND owner = new.id;
    INSERT INTO content_sum VALUES ('character', new.id, '', text_sum(new.card_json));
END;
CREATE TRIGGER sum_gone_character AFTER DELETE ON character
BEGIN DELETE FROM content_sum WHERE kind = 'character' AND owner = old.id; END;

CREATE TRIGGER sum_new_lorebook AFTER INSERT ON lorebook
BEGIN
    DELETE FROM content_sum WHERE kind = 'lorebook' AND owner = new.id;
    INSERT INTO content_sum VALUES ('lorebook', new.id, '', text_sum(new.json));
END;
CREATE TRIGGER sum_changed_lorebook AFTER UPDATE OF id, json ON lorebook
BEGIN
    DELETE FROM content_sum WHERE kind = 'lorebook' AND owner = new.id;
    INSERT INTO content_sum VALUES ('lorebook', new.id, '', text_sum(new.json));
END;
CREATE TRIGGER sum_gone_lorebook AFTER DELETE ON lorebook
BEGIN DELETE FROM content_sum WHERE kind = 'lorebook' AND owner = old.id; END;

CREATE TRIGGER sum_new_persona AFTER INSERT ON persona
BEGIN
    DELETE FROM content_sum WHERE kind = 'persona' AND owner = new.id;
    INSERT INTO content_sum VALUES ('persona', new.id, '', text_sum(new.name || char(0) || new.description || char(0) || new.instructions));
END;
CREATE TRIGGER sum_changed_persona AFTER UPDATE OF id, name, description, instructions ON persona
BEGIN
    DELETE FROM content_sum WHERE kind = 'persona' AND owner = new.id;
    INSERT INTO content_sum VALUES ('persona', new.id, '', text_sum(new.name || char(0) || new.description || char(0) || new.instructions));
END;
CREATE TRIGGER sum_gone_persona AFTER DELETE ON persona
BEGIN DELETE FROM content_sum WHERE kind = 'persona' AND owner = old.id; END;

CREATE TRIGGER sum_new_note AFTER INSERT ON scoped_setting
BEGIN
    DELETE FROM content_sum WHERE kind = 'note' AND owner = new.owner AND part = new.scope || ' ' || new.key;
    INSERT INTO content_sum VALUES ('note', new.owner, new.scope || ' ' || new.key, text_sum(new.value));
END;
CREATE TRIGGER sum_changed_note AFTER UPDATE ON scoped_setting
BEGIN
    DELETE FROM content_sum WHERE kind = 'note' AND owner = new.owner AND part = new.scope || ' ' || new.key;
    INSERT INTO content_sum VALUES ('note', new.owner, new.scope || ' ' || new.key, text_sum(new.value));
END;
CREATE TRIGGER sum_gone_note AFTER DELETE ON scoped_setting
BEGIN DELETE FROM content_sum WHERE kind = 'note' AND owner = old.owner AND part = old.scope || ' ' || old.key; END;

INSERT INTO content_sum SELECT 'memory', id, '', text_sum(text) FROM memory;
INSERT INTO content_sum SELECT 'character', id, '', text_sum(card_json) FROM character;
INSERT INTO content_sum SELECT 'lorebook', id, '', text_sum(json) FROM lorebook;
INSERT INTO content_sum
    SELECT 'persona', id, '', text_sum(name || char(0) || description || char(0) || instructions) FROM persona;
INSERT INTO content_sum SELECT 'note', owner, scope || ' ' || key, text_sum(value) FROM scoped_setting;
