-- What an endpoint was found to refuse, for each of its models. What the JSON means is the engine's business.
CREATE TABLE endpoint_dialect (
    endpoint BLOB NOT NULL REFERENCES endpoint (id) ON DELETE CASCADE,
    model TEXT NOT NULL,
    json TEXT NOT NULL CHECK (json_valid(json)),
    PRIMARY KEY (endpoint, model)
) STRICT, WITHOUT ROWID;
