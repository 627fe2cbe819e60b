//! The tables, in one room for each subject and one file for each table.
//!
//! The file of a table has its row type, and the methods of the handles that the list in
//! `access.rs` defines. A room re-exports the row types.

pub(crate) mod chats;
pub(crate) mod library;
pub(crate) mod memory;
pub(crate) mod messages;
pub(crate) mod models;
pub(crate) mod system;
