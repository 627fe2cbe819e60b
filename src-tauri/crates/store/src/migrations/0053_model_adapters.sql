-- The adapter (LoRA) with which a model is loaded. The file stays in its folder.
CREATE TABLE model_adapter (
    model BLOB PRIMARY KEY REFERENCES model (id) ON DELETE CASCADE,
    path TEXT NOT NULL CHECK (path <> ''),
    weight REAL NOT NULL
) STRICT, WITHOUT ROWID;
