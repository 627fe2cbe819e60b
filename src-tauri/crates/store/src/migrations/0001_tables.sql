-- Shipped: never edited. Add a numbered file instead.
-- Ids are 16 bytes of UUID, hashes 32 bytes of SHA-256, times milliseconds since 1970 UTC.
-- `deleted` is the time at which the user deleted the row; until it is purged, it can be restored.

CREATE TABLE asset (
    hash BLOB PRIMARY KEY CHECK (length(hash) = 32),
    mime TEXT NOT NULL,
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    created INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE character (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    name TEXT NOT NULL,
    card_json TEXT NOT NULL,
    spec TEXT NOT NULL,
    picture BLOB REFERENCES asset (hash),
    source BLOB REFERENCES asset (hash),
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    deleted INTEGER
) STRICT;
CREATE INDEX character_picture ON character (picture);
CREATE INDEX character_source ON character (source);

CREATE TABLE persona (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    name TEXT NOT NULL CHECK (name <> ''),
    description TEXT NOT NULL
) STRICT;

CREATE TABLE chat (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    character BLOB NOT NULL REFERENCES character (id) ON DELETE CASCADE,
    persona BLOB REFERENCES persona (id) ON DELETE SET NULL,
    title TEXT NOT NULL,
    -- JSON of the chosen model; absent where the default applies. Not a foreign key: a model file may come back.
    model TEXT CHECK (model IS NULL OR json_valid(model)),
    draft TEXT NOT NULL,
    window_epoch INTEGER NOT NULL,
    window_anchor BLOB,
    window_fingerprint TEXT NOT NULL,
    -- What the epoch froze, such as its digest; the context crate reads and writes it.
    window_frozen TEXT NOT NULL,
    -- Messages up to this position belong to earlier scenes, which the prompt leaves out.
    scene_after INTEGER,
    -- JSON of what the macros of this chat's texts have set.
    variables TEXT NOT NULL CHECK (json_valid(variables)),
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    deleted INTEGER
) STRICT;
CREATE INDEX chat_character ON chat (character, updated);
CREATE INDEX chat_persona ON chat (persona);

CREATE TABLE message (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    chat BLOB NOT NULL REFERENCES chat (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('user', 'character', 'narrator', 'tool', 'event')),
    created INTEGER NOT NULL,
    -- Position of the swipe that is shown and sent.
    selected INTEGER NOT NULL,
    context_block TEXT,
    -- Kept in the prompt word for word when it leaves the window.
    pinned INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
    -- 1 to 10, once something has judged it.
    importance INTEGER CHECK (importance BETWEEN 1 AND 10),
    deleted INTEGER,
    UNIQUE (chat, position)
) STRICT;
CREATE INDEX message_kept ON message (chat, position) WHERE deleted IS NULL;

CREATE TABLE swipe (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    message BLOB NOT NULL REFERENCES message (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    text TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('streaming', 'finished', 'interrupted')),
    created INTEGER NOT NULL,
    model TEXT,
    UNIQUE (message, position)
) STRICT;
CREATE INDEX swipe_streaming ON swipe (state) WHERE state = 'streaming';

CREATE TABLE manifest (
    swipe BLOB PRIMARY KEY REFERENCES swipe (id) ON DELETE CASCADE,
    json TEXT NOT NULL,
    -- A few numbers of it, for lists: the whole of it is as long as the prompt.
    figures TEXT NOT NULL
) STRICT;

-- What shapes prompts: templates, modes, regex scripts. A row with a built-in's key stands in its place.
CREATE TABLE preset (
    kind TEXT NOT NULL CHECK (kind IN ('template', 'mode', 'regexScript', 'chatFormat')),
    key TEXT NOT NULL CHECK (key <> ''),
    -- The character whose card brought it; absent for the user's own.
    character BLOB REFERENCES character (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    position INTEGER NOT NULL,
    json TEXT NOT NULL CHECK (json_valid(json)),
    -- The foreign file it was made from, as it came.
    source TEXT,
    updated INTEGER NOT NULL,
    PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX preset_character ON preset (character);

CREATE TABLE token_count (
    tokenizer TEXT NOT NULL,
    text BLOB NOT NULL CHECK (length(text) = 32),
    count INTEGER NOT NULL CHECK (count >= 0),
    PRIMARY KEY (tokenizer, text)
) STRICT, WITHOUT ROWID;

CREATE TABLE model (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    name TEXT NOT NULL,
    path TEXT NOT NULL,
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    sha256 TEXT NOT NULL,
    architecture TEXT NOT NULL,
    context INTEGER NOT NULL
) STRICT;

CREATE TABLE endpoint (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    name TEXT NOT NULL,
    url TEXT NOT NULL,
    model TEXT NOT NULL,
    context INTEGER NOT NULL
) STRICT;

CREATE TABLE setting (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL CHECK (json_valid(value))
) STRICT, WITHOUT ROWID;

-- Settings of prompts and replies, a layer for each owner: the id of a chat, a character, a model file or an endpoint;
-- empty for the global layer.
CREATE TABLE scoped_setting (
    scope TEXT NOT NULL CHECK (scope IN ('global', 'model', 'character', 'chat')),
    owner BLOB NOT NULL CHECK (length(owner) = iif(scope = 'global', 0, 16)),
    key TEXT NOT NULL,
    value TEXT NOT NULL CHECK (json_valid(value)),
    PRIMARY KEY (scope, owner, key)
) STRICT, WITHOUT ROWID;

-- An owner may be in one of four tables, so triggers do what foreign keys cannot.
CREATE TRIGGER chat_settings AFTER DELETE ON chat
BEGIN DELETE FROM scoped_setting WHERE scope = 'chat' AND owner = old.id; END;
CREATE TRIGGER character_settings AFTER DELETE ON character
BEGIN DELETE FROM scoped_setting WHERE scope = 'character' AND owner = old.id; END;
CREATE TRIGGER model_settings AFTER DELETE ON model
BEGIN DELETE FROM scoped_setting WHERE scope = 'model' AND owner = old.id; END;
CREATE TRIGGER endpoint_settings AFTER DELETE ON endpoint
BEGIN DELETE FROM scoped_setting WHERE scope = 'model' AND owner = old.id; END;

CREATE TABLE calibration (
    endpoint BLOB NOT NULL REFERENCES endpoint (id) ON DELETE CASCADE,
    model TEXT NOT NULL,
    json TEXT NOT NULL CHECK (json_valid(json)),
    PRIMARY KEY (endpoint, model)
) STRICT, WITHOUT ROWID;
