-- A message is understood by what stands around it: the vector of a passage is that of the passage among its neighbours. Those of
-- passages alone go; they are made anew.
DELETE FROM message_vector;
INSERT OR IGNORE INTO message_unread (text) SELECT number FROM message_text;

-- Whatever comes or goes beside a text changes what it is understood by.
CREATE TRIGGER message_unread_beside_new AFTER INSERT ON message_text
BEGIN
    INSERT OR IGNORE INTO message_unread (text) SELECT number FROM message_text
        WHERE chat = new.chat AND position < new.position ORDER BY position DESC LIMIT 1;
    INSERT OR IGNORE INTO message_unread (text) SELECT number FROM message_text
        WHERE chat = new.chat AND position > new.position ORDER BY position LIMIT 1;
END;
CREATE TRIGGER message_unread_beside_gone AFTER DELETE ON message_text
BEGIN
    INSERT OR IGNORE INTO message_unread (text) SELECT number FROM message_text
        WHERE chat = old.chat AND position < old.position ORDER BY position DESC LIMIT 1;
    INSERT OR IGNORE INTO message_unread (text) SELECT number FROM message_text
        WHERE chat = old.chat AND position > old.position ORDER BY position LIMIT 1;
END;
