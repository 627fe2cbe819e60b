-- The first 8 bytes of the text's SHA-256, written together with the text. The next start fills in missing values.
ALTER TABLE swipe ADD COLUMN checksum INTEGER;
CREATE INDEX swipe_without_checksum ON swipe (id) WHERE checksum IS NULL;
