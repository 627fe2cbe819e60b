//! Lorebooks: SillyTavern's JSON, the `character_book` of V2 and V3 cards, and stand-alone
//! `lorebook_v3` files. Those of Agnai, NovelAI and RisuAI are converted to SillyTavern's format.
//! Entries with other names for their fields get ours beside them.
//!
//! An [`Entry`] keeps the whole JSON it was read from, and its fields are a view on it. Writing
//! changes only edited fields, so unknown data survives import, edit and export. One bad entry does
//! not fail a book: it is kept unchanged, and [`Skipped`] says why it is inactive.

mod binding;
mod book;
mod edit;
mod entry;
mod error;
mod foreign;
mod raw;
mod value;

pub use binding::Binding;
pub use book::{Book, BookFormat, MAX_FILE, ReadBook};
pub use entry::{CharacterFilter, Entry, InsertionRole, KeyLogic, Position, Uid};
pub use error::{BookError, Skipped};
pub(crate) use foreign::native_entries;
