-- Words, separated by commas. A chat whose scene contains one of them shows the background. Empty: none.
ALTER TABLE background ADD COLUMN scene_words TEXT NOT NULL DEFAULT '';
