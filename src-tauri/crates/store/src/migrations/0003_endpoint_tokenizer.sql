-- The tokenizer.json that the user gave for an endpoint's model.
ALTER TABLE endpoint ADD COLUMN tokenizer BLOB REFERENCES asset (hash);
