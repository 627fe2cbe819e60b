//! Opens a data folder.
//!
//! Guarantees
//! - Nothing is changed before the lock is held and the file is known to be ours.
//! - A database that was not closed cleanly is checked before it is used.
//! - An upgrade keeps a verified backup of the old format.

mod examine;
pub(crate) mod lock;
mod notice;
mod start;

pub use notice::{Notice, Opened, Options};
#[cfg(test)]
pub(crate) use start::open;
