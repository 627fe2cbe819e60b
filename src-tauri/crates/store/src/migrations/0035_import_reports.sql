-- Reports of the newest imports, as JSON with the result for each file.
CREATE TABLE import_report (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    created INTEGER NOT NULL,
    imported INTEGER NOT NULL,
    skipped INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    cancelled INTEGER NOT NULL,
    json TEXT NOT NULL CHECK (json_valid(json))
) STRICT;
