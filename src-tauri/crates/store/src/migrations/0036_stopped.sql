-- Tells a reply that the user stopped from one that a crash or an error cut off. It only has a meaning while the state is
-- 'interrupted'.
ALTER TABLE swipe ADD COLUMN stopped INTEGER NOT NULL DEFAULT 0;
