-- The file that reads pictures for a model (mmproj), if the user has chosen one. Without a path, the model reads none.
-- Without a row, the app looks for the file in the model's folder. The file stays in its folder.
CREATE TABLE model_projector (
    model BLOB PRIMARY KEY REFERENCES model (id) ON DELETE CASCADE,
    path TEXT CHECK (path <> '')
) STRICT, WITHOUT ROWID;
