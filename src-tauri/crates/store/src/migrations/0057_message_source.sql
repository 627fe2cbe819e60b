-- How a message reached the chat.
ALTER TABLE message ADD COLUMN source TEXT NOT NULL DEFAULT 'typed'
    CHECK (source IN ('typed', 'voice', 'api', 'tool'));
