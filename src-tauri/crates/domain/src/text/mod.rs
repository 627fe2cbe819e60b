//! Text of people and models: plain text, lines, search queries and writing systems.

pub mod plain;
pub mod plain_line;
pub mod script;
pub mod search_query;
pub mod shown_text;
