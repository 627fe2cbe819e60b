-- Changes that the scripts of a swipe made to macro variables, as JSON. They apply while the swipe is shown.
ALTER TABLE swipe ADD COLUMN variables TEXT;
