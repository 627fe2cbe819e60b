-- Choices of the window's page, such as the text size. The page defines their meaning.
CREATE TABLE page_value (
    key TEXT PRIMARY KEY NOT NULL CHECK (length(key) BETWEEN 1 AND 100),
    -- At most 64 KiB.
    value TEXT NOT NULL CHECK (length(CAST(value AS BLOB)) <= 65536)
) STRICT;
