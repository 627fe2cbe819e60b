//! Lowest layer: errors, clock, events, options and state that every layer shares.

pub(crate) mod clock;
pub(crate) mod error;
pub(crate) mod events;
pub(crate) mod files;
pub(crate) mod handle;
pub(crate) mod idle;
pub(crate) mod log_folder;
pub(crate) mod memory_meter;
pub(crate) mod open_store;
pub(crate) mod options;
pub(crate) mod panics;
pub(crate) mod picture;
pub(crate) mod protection;
pub(crate) mod random;
pub(crate) mod records;
pub(crate) mod running;
pub(crate) mod secrets;
pub(crate) mod step;
pub(crate) mod tool_source;
pub(crate) mod vision;
