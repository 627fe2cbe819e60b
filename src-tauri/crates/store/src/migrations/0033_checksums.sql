-- The first 8 bytes of the text's SHA-256, written together with the text. Absent only until the next start fills it in.
ALTER TABLE swipe ADD COLUMN checksum INTEGER;
CREATE INDEX swipe_without_checksum ON swipe (id) WHERE checksum IS NULL;
