//! Locks and unlocks the data folder, and switches its encryption on and off.
//!
//! Locking restarts the app, so that nothing of the chats stays in its memory.

pub(crate) mod conversion;
pub(crate) mod folder_access;
pub(crate) mod lock_conditions;
pub(crate) mod lock_watch;
pub(crate) mod locking;
#[cfg(target_os = "linux")]
mod logind;
mod running_replies;
