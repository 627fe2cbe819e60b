-- Memories that are kept and told no more: merged into one that says the same, superseded by a newer one, retired as old and
-- unsure, or crowded out. Nothing of them is lost, and nothing else is written: what takes their place stays as it was.
ALTER TABLE memory ADD COLUMN archived TEXT CHECK (archived IN ('merged', 'superseded', 'retired', 'crowded'));
ALTER TABLE memory ADD COLUMN archived_at INTEGER;
-- What a merged or superseded one gave way to. When that goes, it counts again, for its own words still stand.
ALTER TABLE memory ADD COLUMN replaced_by INTEGER REFERENCES memory (number) ON DELETE SET NULL;
-- The importance of that other one before it took this one's.
ALTER TABLE memory ADD COLUMN raised_from INTEGER CHECK (raised_from BETWEEN 1 AND 10);
-- Somebody took it out of the archive: it goes there no more by itself.
ALTER TABLE memory ADD COLUMN kept INTEGER NOT NULL DEFAULT 0 CHECK (kept IN (0, 1));
CREATE INDEX memory_replaced_by ON memory (replaced_by) WHERE replaced_by IS NOT NULL;
