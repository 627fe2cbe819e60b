//! Types of the data that the user owns.

mod backups;
mod card_assets;
mod characters;
mod drafts;
mod folders;
mod forgetting;
mod lorebooks;
mod memory;
mod quick_replies;
mod readable;
mod search;
mod updates;

pub use backups::*;
pub use card_assets::*;
pub use characters::*;
pub use drafts::*;
pub use folders::*;
pub use forgetting::*;
pub use lorebooks::*;
pub use memory::*;
pub use quick_replies::*;
pub use readable::*;
pub use search::*;
// The crate `updates` has the same name.
pub use self::updates::*;
