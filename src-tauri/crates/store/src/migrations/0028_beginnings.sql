-- The user's first messages, by when they were said: chats that began as one have some of them in common.
CREATE INDEX message_beginning ON message (created, chat) WHERE role = 'user' AND position < 32;
