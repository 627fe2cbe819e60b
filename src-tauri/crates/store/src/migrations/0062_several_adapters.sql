-- A model can be loaded with several adapters (LoRA). The files stay in their folders.
CREATE TABLE model_adapter_list (
    model BLOB NOT NULL REFERENCES model (id) ON DELETE CASCADE,
    position INTEGER NOT NULL CHECK (position >= 0),
    path TEXT NOT NULL CHECK (path <> ''),
    weight REAL NOT NULL,
    PRIMARY KEY (model, position),
    UNIQUE (model, path)
) STRICT, WITHOUT ROWID;
INSERT INTO model_adapter_list (model, position, path, weight) SELECT model, 0, path, weight FROM model_adapter;
DROP TABLE model_adapter;
ALTER TABLE model_adapter_list RENAME TO model_adapter;
