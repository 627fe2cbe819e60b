-- An endpoint uses one API and may need custom headers. This table stores only header names; the values are stored with
-- the key.
ALTER TABLE endpoint ADD COLUMN dialect TEXT NOT NULL DEFAULT 'openai';
ALTER TABLE endpoint ADD COLUMN headers TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(headers));

-- The models that an endpoint offers. A row keeps its id while the endpoint exists, so that chats can refer to it. A
-- model that is no longer offered has no position.
CREATE TABLE endpoint_model (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    endpoint BLOB NOT NULL REFERENCES endpoint (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    context INTEGER,
    typed INTEGER NOT NULL DEFAULT 0,
    position INTEGER,
    UNIQUE (endpoint, name)
) STRICT;

CREATE TRIGGER endpoint_model_settings AFTER DELETE ON endpoint_model
BEGIN DELETE FROM scoped_setting WHERE scope = 'model' AND owner = old.id; END;
