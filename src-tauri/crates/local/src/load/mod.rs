//! Choices about loading a model: the user's options, the next attempt after a failure, and the
//! reasons to show.

mod fallback;
mod note;
mod options;
mod reason;

pub(crate) use fallback::{Attempt, Ladder};
pub use note::LoadNote;
pub use options::LoadOptions;
pub use reason::LoadReason;
pub(crate) use reason::{DeathDetail, died_by_itself};
