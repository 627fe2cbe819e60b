-- The emotion of a reply: a label, and the text of the reply's own tag if that is no known label.
ALTER TABLE swipe ADD COLUMN emotion TEXT;
ALTER TABLE swipe ADD COLUMN emotion_tag TEXT;
