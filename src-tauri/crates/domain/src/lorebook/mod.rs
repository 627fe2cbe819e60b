//! Lorebooks: SillyTavern's own JSON, the `character_book` of V2 and V3 cards, and the stand-alone `lorebook_v3`; those of
//! Agnai, NovelAI and RisuAI become SillyTavern's form.
//!
//! An [`Entry`] keeps the whole JSON it was read from. Its fields are a view on it: writing changes those that were edited
//! and leaves the rest, so whatever this program does not know survives import, edit and export (B2-07, LB-14).
//! One bad entry never sinks a book: it is kept as it was, and [`Skipped`] says why it does not count (formats 3.11).
//! Rule ids in comments (LB, B2, RT) and section numbers are those of the format checklist that the tests cite.

mod binding;
mod book;
mod edit;
mod entry;
mod error;
mod foreign;
mod raw;
mod value;

pub use binding::Binding;
pub use book::{Book, Form, Read};
pub use entry::{CharacterFilter, Entry, Logic, Position, Role, Uid};
pub use error::{BookError, Skipped};

/// Largest file that is read, in bytes.
pub const MAX_FILE: usize = 64 << 20;
