-- How many vectors a group has, and which came last: to count them took a turn longer than to search them.
CREATE TABLE vector_group (
    -- 'message', or the kind of a meaning.
    kind TEXT NOT NULL,
    -- The chat, or what a meaning is looked for among.
    among BLOB NOT NULL CHECK (length(among) = 16),
    vectors INTEGER NOT NULL,
    last INTEGER NOT NULL,
    PRIMARY KEY (kind, among)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER vector_group_of_new_vector AFTER INSERT ON message_vector
BEGIN
    INSERT INTO vector_group (kind, among, vectors, last) VALUES ('message', new.chat, 1, new.number)
    ON CONFLICT (kind, among) DO UPDATE SET vectors = vectors + 1, last = excluded.last;
END;
CREATE TRIGGER vector_group_of_gone_vector AFTER DELETE ON message_vector
BEGIN
    UPDATE vector_group SET vectors = vectors - 1 WHERE kind = 'message' AND among = old.chat;
    DELETE FROM vector_group WHERE kind = 'message' AND among = old.chat AND vectors = 0;
END;
CREATE TRIGGER vector_group_of_new_meaning AFTER INSERT ON meaning
BEGIN
    INSERT INTO vector_group (kind, among, vectors, last) VALUES (new.kind, new.among, 1, new.number)
    ON CONFLICT (kind, among) DO UPDATE SET vectors = vectors + 1, last = excluded.last;
END;
CREATE TRIGGER vector_group_of_gone_meaning AFTER DELETE ON meaning
BEGIN
    UPDATE vector_group SET vectors = vectors - 1 WHERE kind = old.kind AND among = old.among;
    DELETE FROM vector_group WHERE kind = old.kind AND among = old.among AND vectors = 0;
END;

-- What was there before this.
INSERT INTO vector_group (kind, among, vectors, last)
SELECT 'message', chat, count(*), max(number) FROM message_vector GROUP BY chat;
INSERT INTO vector_group (kind, among, vectors, last)
SELECT kind, among, count(*), max(number) FROM meaning GROUP BY kind, among;
