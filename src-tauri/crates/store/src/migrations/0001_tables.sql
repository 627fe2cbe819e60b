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

-- What is remembered. `number` is for the index of words, whose rows must keep their names when the file is rebuilt.
CREATE TABLE memory (
    number INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    type TEXT NOT NULL CHECK (type IN ('note', 'fact', 'event', 'relationship', 'personality', 'preference', 'rule',
        'outcome', 'decision', 'emotion', 'open_thread')),
    scope TEXT NOT NULL CHECK (scope IN ('profile', 'character', 'pair', 'chat')),
    character BLOB REFERENCES character (id) ON DELETE CASCADE,
    -- Of a pair; absent for the nameless user.
    persona BLOB REFERENCES persona (id) ON DELETE CASCADE,
    chat BLOB REFERENCES chat (id) ON DELETE CASCADE,
    text TEXT NOT NULL CHECK (text <> ''),
    importance INTEGER NOT NULL CHECK (importance BETWEEN 1 AND 10),
    pinned INTEGER NOT NULL CHECK (pinned IN (0, 1)),
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    deleted INTEGER,
    CHECK ((character IS NOT NULL) = (scope IN ('character', 'pair'))),
    CHECK (persona IS NULL OR scope = 'pair'),
    CHECK ((chat IS NOT NULL) = (scope = 'chat'))
) STRICT;
CREATE INDEX memory_standing ON memory (scope, character, persona, chat, pinned DESC, importance DESC, updated DESC)
    WHERE deleted IS NULL;
CREATE INDEX memory_character ON memory (character);
CREATE INDEX memory_persona ON memory (persona);
CREATE INDEX memory_chat ON memory (chat);

-- The words that a memory was made from: it is hidden while one of them is, and goes with them.
CREATE TABLE memory_source (
    memory INTEGER NOT NULL REFERENCES memory (number) ON DELETE CASCADE,
    message BLOB NOT NULL REFERENCES message (id) ON DELETE CASCADE,
    swipe BLOB NOT NULL REFERENCES swipe (id) ON DELETE CASCADE,
    PRIMARY KEY (memory, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_source_message ON memory_source (message);
CREATE INDEX memory_source_swipe ON memory_source (swipe);
CREATE TRIGGER memory_without_source AFTER DELETE ON memory_source
BEGIN DELETE FROM memory WHERE number = old.memory; END;
-- A text that goes on says what it said; one that was rewritten may not.
CREATE TRIGGER memory_source_rewritten AFTER UPDATE OF text ON swipe
WHEN substr(new.text, 1, length(old.text)) <> old.text
BEGIN DELETE FROM memory_source WHERE swipe = old.id; END;

-- The text of each message as it is shown, for the search: not deleted, the chosen swipe, and written to its end.
CREATE TABLE message_text (
    number INTEGER PRIMARY KEY,
    message BLOB NOT NULL UNIQUE REFERENCES message (id) ON DELETE CASCADE,
    chat BLOB NOT NULL,
    position INTEGER NOT NULL,
    text TEXT NOT NULL
) STRICT;
CREATE INDEX message_text_chat ON message_text (chat, position);
CREATE VIEW message_shown AS
    SELECT message.id AS message, message.chat, message.position, swipe.text
    FROM message JOIN swipe ON swipe.message = message.id AND swipe.position = message.selected
    WHERE message.deleted IS NULL AND message.role IN ('user', 'character', 'narrator') AND swipe.state <> 'streaming';

CREATE TRIGGER message_text_of_new_swipe AFTER INSERT ON swipe WHEN new.state <> 'streaming'
BEGIN
    DELETE FROM message_text WHERE message = new.message;
    INSERT INTO message_text (message, chat, position, text) SELECT * FROM message_shown WHERE message = new.message;
END;
CREATE TRIGGER message_text_of_swipe AFTER UPDATE OF text, state ON swipe WHEN new.state <> 'streaming'
BEGIN
    DELETE FROM message_text WHERE message = new.message;
    INSERT INTO message_text (message, chat, position, text) SELECT * FROM message_shown WHERE message = new.message;
END;
CREATE TRIGGER message_text_of_message AFTER UPDATE OF selected, deleted ON message
BEGIN
    DELETE FROM message_text WHERE message = new.id;
    INSERT INTO message_text (message, chat, position, text) SELECT * FROM message_shown WHERE message = new.id;
END;

-- Words by their English stems; for scripts that put no spaces between words, every three letters of them.
CREATE VIRTUAL TABLE message_words USING fts5(text, content = 'message_text', content_rowid = 'number',
    tokenize = 'porter unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE message_letters USING fts5(text, content = 'message_text', content_rowid = 'number',
    tokenize = 'trigram');
CREATE VIRTUAL TABLE memory_words USING fts5(text, content = 'memory', content_rowid = 'number',
    tokenize = 'porter unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE memory_letters USING fts5(text, content = 'memory', content_rowid = 'number',
    tokenize = 'trigram');

CREATE TRIGGER message_words_new AFTER INSERT ON message_text
BEGIN INSERT INTO message_words (rowid, text) VALUES (new.number, new.text); END;
CREATE TRIGGER message_words_gone AFTER DELETE ON message_text
BEGIN INSERT INTO message_words (message_words, rowid, text) VALUES ('delete', old.number, old.text); END;
CREATE TRIGGER message_letters_new AFTER INSERT ON message_text WHEN new.text GLOB '*[฀-๿぀-ヿ㐀-鿿가-힣]*'
BEGIN INSERT INTO message_letters (rowid, text) VALUES (new.number, new.text); END;
CREATE TRIGGER message_letters_gone AFTER DELETE ON message_text WHEN old.text GLOB '*[฀-๿぀-ヿ㐀-鿿가-힣]*'
BEGIN INSERT INTO message_letters (message_letters, rowid, text) VALUES ('delete', old.number, old.text); END;

CREATE TRIGGER memory_words_new AFTER INSERT ON memory
BEGIN INSERT INTO memory_words (rowid, text) VALUES (new.number, new.text); END;
CREATE TRIGGER memory_words_gone AFTER DELETE ON memory
BEGIN INSERT INTO memory_words (memory_words, rowid, text) VALUES ('delete', old.number, old.text); END;
CREATE TRIGGER memory_words_changed AFTER UPDATE OF text ON memory
BEGIN
    INSERT INTO memory_words (memory_words, rowid, text) VALUES ('delete', old.number, old.text);
    INSERT INTO memory_words (rowid, text) VALUES (new.number, new.text);
END;
CREATE TRIGGER memory_letters_new AFTER INSERT ON memory WHEN new.text GLOB '*[฀-๿぀-ヿ㐀-鿿가-힣]*'
BEGIN INSERT INTO memory_letters (rowid, text) VALUES (new.number, new.text); END;
CREATE TRIGGER memory_letters_gone AFTER DELETE ON memory WHEN old.text GLOB '*[฀-๿぀-ヿ㐀-鿿가-힣]*'
BEGIN INSERT INTO memory_letters (memory_letters, rowid, text) VALUES ('delete', old.number, old.text); END;
CREATE TRIGGER memory_letters_before AFTER UPDATE OF text ON memory WHEN old.text GLOB '*[฀-๿぀-ヿ㐀-鿿가-힣]*'
BEGIN INSERT INTO memory_letters (memory_letters, rowid, text) VALUES ('delete', old.number, old.text); END;
CREATE TRIGGER memory_letters_after AFTER UPDATE OF text ON memory WHEN new.text GLOB '*[฀-๿぀-ヿ㐀-鿿가-힣]*'
BEGIN INSERT INTO memory_letters (rowid, text) VALUES (new.number, new.text); END;
