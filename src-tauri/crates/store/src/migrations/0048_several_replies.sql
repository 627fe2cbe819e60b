-- In natural order, several characters of a group may answer one message. Groups from before answer with one reply.
ALTER TABLE chat_group ADD COLUMN several_replies INTEGER NOT NULL DEFAULT 0 CHECK (several_replies IN (0, 1));
