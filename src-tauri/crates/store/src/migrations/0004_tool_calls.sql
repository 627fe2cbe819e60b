-- What a model asked of tools in this text, as JSON; absent where it asked for none.
ALTER TABLE swipe ADD COLUMN tool_calls TEXT CHECK (tool_calls IS NULL OR json_valid(tool_calls));
