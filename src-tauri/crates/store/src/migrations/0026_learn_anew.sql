-- Messages that say something else since facts were learned from them, which went with the old words: a model looks for facts there
-- once more. Those that are still to be read, or read again, with what is around them are none of these.
CREATE TABLE learn_anew (
    message BLOB PRIMARY KEY REFERENCES message (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
