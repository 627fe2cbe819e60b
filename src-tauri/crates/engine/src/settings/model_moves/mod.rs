//! Moves model files to another model folder.
//!
//! A copy gets its name only when it is complete, the library uses it only after its checksum was
//! compared, and the old files are deleted only after that. The stored job says which files belong
//! to the move, so that a later start can go on at any point, and a cancel deletes only its own
//! files.

pub(crate) mod files;
pub(crate) mod job;
pub(crate) mod moves;
pub(crate) mod operations;
pub(crate) mod run;
