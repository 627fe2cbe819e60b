-- The quirks found for each model of an endpoint, such as refused parameters. The engine defines the JSON.
CREATE TABLE endpoint_dialect (
    endpoint BLOB NOT NULL REFERENCES endpoint (id) ON DELETE CASCADE,
    model TEXT NOT NULL,
    json TEXT NOT NULL CHECK (json_valid(json)),
    PRIMARY KEY (endpoint, model)
) STRICT, WITHOUT ROWID;
