//! The public handle of the store: one file for each group of its methods. `open/start.rs` has
//! those that open a data folder.
//!
//! Guarantees
//! - Work on an open database runs on the threads of its connections, never on the caller's.
//! - Errors of the database and the disk name the data folder and the cause.
//! - The database closes when the last handle is dropped.

mod backups;
mod forgetting;
mod handle;
mod upkeep;

pub(crate) use handle::Parts;
pub use handle::Store;
