//! Full-text search: the terms of a text, queries of the index, and highlighted excerpts.

mod excerpt;
mod fold;
mod query;
mod sources;
mod terms;

use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;

pub use excerpt::Excerpt;
pub(crate) use fold::fold;
pub(crate) use query::index_query;
pub(crate) use sources::card_texts;

/// Registers the functions that the index and its queries call. Every connection that writes needs
/// them.
pub fn register(conn: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    let text =
        |context: &rusqlite::functions::Context<'_>| -> rusqlite::Result<String> { context.get(0) };
    conn.create_scalar_function("search_words", 1, flags, move |context| {
        Ok(terms::joined(terms::words(&text(context)?)))
    })?;
    conn.create_scalar_function("text_sum", 1, flags, |context| {
        Ok(context
            .get_raw(0)
            .as_bytes_or_null()
            .map(|bytes| bytes.map(crate::checksum::of_bytes))?)
    })?;
    conn.create_scalar_function("search_card", 1, flags, move |context| {
        Ok(sources::card(&text(context)?))
    })?;
    conn.create_scalar_function("search_entries", 2, flags, move |context| {
        Ok(sources::entries(&text(context)?, context.get(1)?))
    })?;
    conn.create_scalar_function("search_name", 1, flags, move |context| {
        Ok(fold(&text(context)?))
    })?;
    conn.create_scalar_function("search_letters", 1, flags, move |context| {
        Ok(terms::joined(terms::letters(&text(context)?)))
    })
}
