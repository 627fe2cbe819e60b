-- Models whose files are on the way to another folder, as JSON.
CREATE TABLE model_move (
    model BLOB PRIMARY KEY REFERENCES model (id) ON DELETE CASCADE,
    json TEXT NOT NULL CHECK (json_valid(json))
) STRICT, WITHOUT ROWID;
