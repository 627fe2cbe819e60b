-- Downloads of models that are not complete, as JSON.
CREATE TABLE download (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    created INTEGER NOT NULL,
    json TEXT NOT NULL CHECK (json_valid(json))
) STRICT;
