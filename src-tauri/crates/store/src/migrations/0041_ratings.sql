-- The user's rating of a swipe: 1 is good, -1 is bad, 0 is none.
ALTER TABLE swipe ADD COLUMN rating INTEGER NOT NULL DEFAULT 0 CHECK (rating IN (-1, 0, 1));
CREATE INDEX swipe_rated ON swipe (message) WHERE rating <> 0;
