-- Luminance of the greys that bound the colours of a background, from 0 to 1. NULL: not measured yet.
ALTER TABLE background ADD COLUMN darkest REAL;
ALTER TABLE background ADD COLUMN lightest REAL;
